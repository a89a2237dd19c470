package workflow

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow/broker"
	"hyperscale/core/workflow/demand"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
)

// call is the function of a step that is not a request.
type call struct {
	kind message.StepKind
	name string
	fn   *starlark.Function
	// refs are the steps whose responses the function takes after vu, first by position, then
	// by name.
	refs  []int
	named []namedRef

	direct *inlined // nil: the interpreter runs it
}

type namedRef struct {
	name starlark.String
	step int
}

// build turns the declarations into the program.
func (l *loader) build(limits guard.Limits) (*Program, error) {
	if err := l.refused(plan.CheckProgram(l.program)); err != nil {
		return nil, err
	}
	if len(l.declared) == 0 {
		return nil, &language.Error{File: l.program.Main, Message: "the file declares no workflow",
			Remedy: "write workflow(name = \"...\", steps = [...])"}
	}
	if err := l.declareOnce(); err != nil {
		return nil, err
	}
	order, err := l.orderWorkflows()
	if err != nil {
		return nil, err
	}
	if err := l.linkContext(); err != nil {
		return nil, err
	}
	shared := sendNamespace()
	p := &Program{plan: l.plan, vault: l.vault, files: l.files.elsewhereAll(), shared: sharedBy(l.modules, l.declared)}
	p.plan.Workflows = make([]message.WorkflowPlan, len(order))
	taken := broker.Clients{}
	for i, from := range order {
		d := l.declared[from]
		d.taken = taken
		w := &Workflow{HTTP: d.http, HeadsUnread: !l.usage.heads, BodiesUnread: !l.usage.bodies, limits: limits, send: shared, Customs: l.customs}
		if err := d.build(w); err != nil {
			return nil, err
		}
		d.resolveContext(w, func(name string) uint32 {
			return uint32(slices.IndexFunc(order, func(i int) bool { return l.declared[i].plan.Name == name }))
		})
		p.plan.Workflows[i] = d.plan
		w.Plan = &p.plan.Workflows[i]
		for k := range w.Steps {
			w.Steps[k].Plan = &w.Plan.Steps[k]
			for _, c := range []*call{w.Steps[k].call, w.Steps[k].when} {
				if c != nil && len(c.named) == 0 {
					c.direct = l.directly(c.fn, shared)
				}
			}
		}
		p.workflows = append(p.workflows, w)
		if l.after != nil && d.plan.Name == afterAll {
			p.plan.AfterAll = uint32(i + 1)
		}
	}
	return p, l.refused(plan.Check(&p.plan))
}

// protocol returns the protocol of a step's request, empty for HTTP over TCP, if the client can carry it.
func (d *declaration) protocol(name string, s *stepValue) (string, error) {
	switch r := s.request; {
	case r == nil:
		return "", nil
	case r.Shared() != nil && d.plan.Session == message.SessionNone:
		return "", language.Faultf("workflow %q: step %q shares connections, and session = \"none\" closes them after each iteration", d.plan.Name, name).Of(s.site).Do("take one of them out")
	case r.GRPC != nil && d.http.Proxy != nil:
		return "", language.Faultf("workflow %q: step %q calls gRPC through a proxy, which carries HTTP/1.1", d.plan.Name, name).Of(s.site).Do("take the proxy out of http.client, or put the step into a workflow of its own")
	case r.GRPC != nil:
		return plan.ProtocolGRPC, nil
	case r.Stream != nil:
		return plan.ProtocolSSE, nil
	case r.Socket != nil:
		return plan.ProtocolWebSocket, nil
	case r.Redis != nil && d.http.Proxy != nil:
		return "", language.Faultf("workflow %q: step %q goes to Redis through a proxy, which carries HTTP", d.plan.Name, name).Of(s.site).Do("take the proxy out of http.client, or put the step into a workflow of its own")
	case r.Redis != nil:
		return plan.ProtocolRedis, nil
	case r.SMTP != nil && d.http.Proxy != nil:
		return "", language.Faultf("workflow %q: step %q goes to a mail server through a proxy, which carries HTTP", d.plan.Name, name).Of(s.site).Do("take the proxy out of http.client, or put the step into a workflow of its own")
	case r.SMTP != nil:
		return plan.ProtocolSMTP, nil
	case r.AMQP != nil && d.http.Proxy != nil:
		return "", language.Faultf("workflow %q: step %q goes to RabbitMQ through a proxy, which carries HTTP", d.plan.Name, name).Of(s.site).Do("take the proxy out of http.client, or put the step into a workflow of its own")
	case r.AMQP != nil:
		return plan.ProtocolAMQP, nil
	case r.FTP != nil && d.http.Proxy != nil:
		return "", language.Faultf("workflow %q: step %q goes to %s:// through a proxy, which carries HTTP", d.plan.Name, name, r.FTP.Target.Scheme).Of(s.site).Do("take the proxy out of http.client, or put the step into a workflow of its own")
	case r.FTP != nil:
		return plan.ProtocolFTP, nil
	case r.SFTP != nil && d.http.Proxy != nil:
		return "", language.Faultf("workflow %q: step %q goes to %s:// through a proxy, which carries HTTP", d.plan.Name, name, r.SFTP.Target.Scheme).Of(s.site).Do("take the proxy out of http.client, or put the step into a workflow of its own")
	case r.SFTP != nil:
		return plan.ProtocolSFTP, nil
	case r.NATS != nil && d.http.Proxy != nil:
		return "", language.Faultf("workflow %q: step %q goes to NATS through a proxy, which carries HTTP", d.plan.Name, name).Of(s.site).Do("take the proxy out of http.client, or put the step into a workflow of its own")
	case r.NATS != nil:
		return plan.ProtocolNATS, nil
	case r.Kafka != nil && d.http.Proxy != nil:
		return "", language.Faultf("workflow %q: step %q goes to Kafka through a proxy, which carries HTTP", d.plan.Name, name).Of(s.site).Do("take the proxy out of http.client, or put the step into a workflow of its own")
	case r.Kafka != nil:
		return plan.ProtocolKafka, nil
	case r.MongoDB != nil && d.http.Proxy != nil:
		return "", language.Faultf("workflow %q: step %q goes to MongoDB through a proxy, which carries HTTP", d.plan.Name, name).Of(s.site).Do("take the proxy out of http.client, or put the step into a workflow of its own")
	case r.MongoDB != nil:
		return plan.ProtocolMongoDB, nil
	case r.MQTT != nil && d.http.Proxy != nil:
		return "", language.Faultf("workflow %q: step %q goes to MQTT through a proxy, which carries HTTP", d.plan.Name, name).Of(s.site).Do("take the proxy out of http.client, or put the step into a workflow of its own")
	case r.MQTT != nil:
		return plan.ProtocolMQTT, d.clients(name, s)
	case r.SQL != nil && d.http.Proxy != nil:
		return "", language.Faultf("workflow %q: step %q goes to %s through a proxy, which carries HTTP", d.plan.Name, name, r.SQL.Server()).Of(s.site).Do("take the proxy out of http.client, or put the step into a workflow of its own")
	case r.SQL != nil:
		return plan.ProtocolSQL, nil
	case r.Raw != nil && d.http.Proxy != nil:
		return "", language.Faultf("workflow %q: step %q goes to %s:// through a proxy, which carries HTTP", d.plan.Name, name, r.Raw.Target.Scheme).Of(s.site).Do("take the proxy out of http.client, or put the step into a workflow of its own")
	case r.Raw != nil:
		return plan.ProtocolTCP, nil
	case r.Custom != nil:
		return plan.ProtocolCustom, nil
	case r.Datagram != nil && d.http.Proxy != nil:
		return "", language.Faultf("workflow %q: step %q goes to udp:// through a proxy, which carries HTTP", d.plan.Name, name).Of(s.site).Do("take the proxy out of http.client, or put the step into a workflow of its own")
	case r.Datagram != nil:
		return plan.ProtocolUDP, nil
	case d.http.Bare(r):
		return "", language.Faultf("workflow %q: step %q goes to http://, and version = \"3\" has TLS always", d.plan.Name, name).Of(s.site).Do("write https://, or version = \"auto\" in http.client")
	case d.http.Version == request.Version3:
		return plan.ProtocolHTTP3, nil
	}
	return "", nil
}

// sharedBy lists where connections go that virtual users share: of clients that have a name, and of steps.
func sharedBy(modules map[string]*module, declared []*declaration) (all []*request.Target) {
	add := func(t *request.Target) {
		if t != nil && !slices.Contains(all, t) { // one of a client
			all = append(all, t)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(modules)) {
		globals := modules[file].globals
		for _, name := range globals.Keys() {
			if c, is := globals[name].(request.Sharer); is {
				add(c.Shared())
			}
		}
	}
	for _, d := range declared {
		for _, s := range d.steps {
			add(s.request.Shared())
		}
	}
	return all
}

// clients rejects a client identifier of MQTT that two virtual users would have.
func (d *declaration) clients(name string, s *stepValue) error {
	wrong := broker.CheckClient(d.plan.Name, name, d.plan.VUs, s.request.MQTT)
	if wrong == nil {
		wrong = d.taken.Claim(d.plan.Name, name, s.request.MQTT)
	}
	if wrong == nil {
		return nil
	}
	return wrong.Of(s.site)
}

// refused reports together all faults that a gate would reject, at the place of the first.
func (l *loader) refused(faults []plan.Fault) error {
	if len(faults) == 0 {
		return nil
	}
	first := faults[0]
	message, remedy := first.What(), first.Remedy
	if len(faults) > 1 {
		message, remedy = first.String(), "also: "+plan.Text(faults[1:])
	}
	at := slices.IndexFunc(l.declared, func(d *declaration) bool { return d.plan.Name == first.Workflow })
	if at < 0 {
		return &language.Error{File: l.program.Main, Message: message, Remedy: remedy}
	}
	return language.Faultf("%s", message).In(first.Key).Of(l.declared[at].site).Do("%s", remedy)
}

// orderWorkflows sorts by dependency, otherwise as declared, and sets Depends and Layer.
func (l *loader) orderWorkflows() ([]int, error) {
	all := make([]string, len(l.declared))
	for i, d := range l.declared {
		all[i] = d.plan.Name
	}
	var depends, startAfter, after [][]string
	for _, d := range l.declared {
		for k, name := range d.depends {
			if !slices.Contains(all, name) {
				f := language.Faultf("workflow %q depends on %q, which is not a workflow", d.plan.Name, language.Clip(name, 40)).Meant(name, others(all, d.plan.Name))
				if f.Remedy == "" {
					f.Do("declare workflow(name = %q, ...), or take it out", language.Clip(name, 40))
				}
				return nil, f.In("depends").At(k).Of(d.site)
			}
		}
		for k, name := range d.startAfter {
			if !slices.Contains(all, name) {
				f := language.Faultf("workflow %q starts after %q, which is not a workflow", d.plan.Name, language.Clip(name, 40)).Meant(name, others(all, d.plan.Name))
				if f.Remedy == "" {
					f.Do("declare workflow(name = %q, ...), or take it out", language.Clip(name, 40))
				}
				return nil, f.In("start_after").At(k).Of(d.site)
			}
		}
		depends, startAfter = append(depends, d.depends), append(startAfter, d.startAfter)
		after = append(after, slices.Concat(d.depends, d.startAfter))
	}
	numbered := numbers(all, after)
	order, position, cycle := arrange(numbered)
	if cycle != nil {
		d := l.declared[cycle[0]]
		f := language.Faultf("workflows depend on each other in a circle: %s", circle(all, cycle))
		if len(d.depends) == 0 {
			return nil, f.In("start_after").Of(d.site).Do("take one of them out of start_after")
		}
		return nil, f.In("depends").Of(d.site).Do("take one of them out of depends")
	}
	for _, from := range order {
		d := l.declared[from]
		layer := func(i uint32) uint32 { return l.declared[order[i]].plan.Layer }
		d.plan.Layer = plan.Above(ascending(numbered[from], position), layer)
		d.plan.Depends = ascending(numbers(all, depends[from:from+1])[0], position)
		d.plan.StartAfter = ascending(numbers(all, startAfter[from:from+1])[0], position)
	}
	return order, nil
}

// others returns the names but one: nothing comes after itself.
func others(all []string, but string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return name == but })
}

// numbers returns the index of each name; all of them must exist.
func numbers(all []string, lists [][]string) [][]int {
	at := make(map[string]int, len(all))
	for i, name := range all {
		at[name] = i
	}
	out := make([][]int, len(lists))
	for i, names := range lists {
		for _, name := range names {
			out[i] = append(out[i], at[name])
		}
	}
	return out
}

// ascending converts dependencies into ascending positions.
func ascending(after, position []int) (at []uint32) {
	for _, from := range after {
		at = append(at, uint32(position[from]))
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// arrange returns an order in which each item follows its dependencies, otherwise as given, and
// the position of each in it; or a cycle.
func arrange(after [][]int) (order, position, cycle []int) {
	waits := make([]int, len(after))
	behind := make([][]int, len(after))
	for i, list := range after {
		waits[i] = len(list)
		for _, from := range list {
			behind[from] = append(behind[from], i)
		}
	}
	position = make([]int, len(after))
	placed := make([]bool, len(after))
	for len(order) < len(after) {
		next := -1
		for i := range after {
			if !placed[i] && waits[i] == 0 {
				next = i
				break
			}
		}
		if next < 0 {
			return nil, nil, findCircle(after, placed)
		}
		placed[next], position[next] = true, len(order)
		order = append(order, next)
		for _, i := range behind[next] {
			waits[i]--
		}
	}
	return order, position, nil
}

// findCircle walks from one unplaced item to an unplaced dependency, until one repeats.
func findCircle(after [][]int, placed []bool) []int {
	at := slices.Index(placed, false)
	var path []int
	for {
		if k := slices.Index(path, at); k >= 0 {
			return path[k:]
		}
		path = append(path, at)
		at = after[at][slices.IndexFunc(after[at], func(i int) bool { return !placed[i] })]
	}
}

func circle(all []string, cycle []int) string {
	var b strings.Builder
	for _, i := range cycle {
		b.WriteString(all[i] + " -> ")
	}
	return b.String() + all[cycle[0]]
}

// build checks a workflow's steps and thresholds, and fills plan and steps.
func (d *declaration) build(w *Workflow) error {
	all, err := d.nameSteps()
	if err != nil {
		return err
	}
	order, waits, err := d.orderSteps(all)
	if err != nil {
		return err
	}
	w.Steps = make([]Step, len(order))
	d.plan.Steps = make([]message.StepPlan, len(order))
	for at, from := range order {
		s := d.steps[from]
		p := &d.plan.Steps[at]
		p.Name, p.Kind, p.Unit = all[from], s.kind, s.unit
		p.Layer = plan.Above(waits[at], func(i uint32) uint32 { return d.plan.Steps[i].Layer })
		if d.graph {
			p.After = waits[at]
		} else {
			p.Behind = waits[at]
		}
		d.plan.Test = d.plan.Test || s.kind.Measured()
		w.Steps[at].Request = d.http.Apply(s.request)
		p.Weight, p.Tags = s.weight, s.tags
		if p.Protocol, err = d.protocol(p.Name, s); err != nil {
			return err
		}
		d.plan.Weighted = d.plan.Weighted || s.weight > 0
		if s.fn != nil {
			if w.Steps[at].call, err = d.bindStep(s, s.fn, at, s.Opaque.Kind); err != nil {
				return err
			}
		}
		if s.when != nil {
			if w.Steps[at].when, err = d.bindStep(s, s.when, at, "when of step"); err != nil {
				return err
			}
		}
		w.Steps[at].Takes = w.Steps[at].takes()
	}
	if err := d.checkWeights(all); err != nil {
		return err
	}
	if err := d.declareVars(w, order); err != nil {
		return err
	}
	for at, from := range order {
		if err := d.fill(w, at, d.steps[from]); err != nil {
			return err
		}
	}
	for at := range w.Steps {
		if d.graph {
			break
		}
		if err := d.need(w, at); err != nil {
			return err
		}
	}
	w.hooks, w.Feed = d.hooks, d.feed
	return d.conditions()
}

// conditions reads thresholds and abort_when, which name steps.
func (d *declaration) conditions() error {
	of := demand.Judged{Steps: d.plan.Steps, Stages: d.plan.Stages[len(d.plan.Stages)-d.stages:], Duration: d.plan.Duration}
	for i, expr := range d.thresholds {
		t, f := demand.ParseThreshold(expr, of)
		if f != nil {
			f.Message = fmt.Sprintf("workflow %q: threshold %q: %s", d.plan.Name, language.Clip(expr, 80), f.Message)
			return f.In("thresholds").At(i).Of(d.site)
		}
		d.plan.Thresholds = append(d.plan.Thresholds, t)
		if len(plan.Cuts(&d.plan)) > plan.CutsMax {
			return language.Faultf("workflow %q: its thresholds look at more than %d parts of its time", d.plan.Name, plan.CutsMax+1).In("thresholds").At(i).Of(d.site).Do("write a longer time behind over")
		}
	}
	for i, expr := range d.aborts {
		a, f := demand.ParseAbort(expr, of)
		if f != nil {
			f.Message = fmt.Sprintf("workflow %q: abort_when %q: %s", d.plan.Name, language.Clip(expr, 80), f.Message)
			return f.In("abort_when").At(i).Of(d.site)
		}
		d.plan.AbortWhen = append(d.plan.AbortWhen, a)
	}
	return nil
}

// checkWeights rejects mixes with which some iterations could not continue.
func (d *declaration) checkWeights(all []string) error {
	weighted := 0
	for i, s := range d.steps {
		if s.weight > 0 {
			weighted++
		}
		for k, name := range s.after {
			if d.steps[slices.Index(all, name)].weight > 0 {
				f := language.Faultf("workflow %q: %s %q comes after %q, which not every iteration takes: it has a weight", d.plan.Name, s.Opaque.Kind, all[i], name)
				return f.In("after").At(k).Of(s.site).Do("let one function do both: step(%q, weight = ...)", name)
			}
		}
	}
	if weighted == 1 {
		s := d.steps[slices.IndexFunc(d.steps, func(s *stepValue) bool { return s.weight > 0 })]
		return language.Faultf("workflow %q: step %q is the only one that has a weight, every iteration would take it", d.plan.Name, s.name).In("weight").Of(s.site).Do("give others a weight too, or take it out")
	}
	return nil
}

// nameSteps names the lambdas and rejects names that are taken.
func (d *declaration) nameSteps() ([]string, error) {
	all := make([]string, len(d.steps))
	for i, s := range d.steps {
		all[i] = s.name
		if s.name == "" {
			same := 1
			for _, before := range d.steps[:i] {
				if before.kind == s.kind {
					same++
				}
			}
			all[i] = fmt.Sprintf("%s_%d", s.Opaque.Kind, same)
		}
		if k := slices.Index(all[:i], all[i]); k >= 0 {
			f := language.Faultf("workflow %q has two steps called %q, the other is in line %d", d.plan.Name, all[i], d.steps[k].site.Line)
			return nil, f.Of(s.site).Do("give this one another name: %s(\"name\", ...)", s.Opaque.Kind)
		}
		if d.hookNamed(all[i]) {
			f := language.Faultf("workflow %q: %q cannot be a step's name, the workflow has a function of that name beside its steps", d.plan.Name, all[i])
			return nil, f.Of(s.site).Do("call it %q", all[i]+"_step")
		}
		if slices.Contains(demand.ThresholdWords(), all[i]) {
			f := language.Faultf("workflow %q: %q cannot be a step's name, it is a word of thresholds", d.plan.Name, all[i])
			return nil, f.Of(s.site).Do("call it %q", all[i]+"_step")
		}
	}
	return all, nil
}

// bindStep finds the step for each parameter of a function of s; what names the function.
func (d *declaration) bindStep(s *stepValue, fn *starlark.Function, at int, what string) (*call, error) {
	steps := d.plan.Steps
	c := &call{kind: s.kind, name: steps[at].Name, fn: fn}
	wrong := func(format string, args ...any) *language.Fault {
		f := language.Faultf("workflow %q: %s %q: ", d.plan.Name, what, c.name)
		f.Message += fmt.Sprintf(format, args...)
		return f.Of(s.site)
	}
	if fn.HasVarargs() || fn.HasKwargs() {
		return nil, wrong("its function takes *args or **kwargs").Do("name its parameters: vu and the steps whose responses it takes")
	}
	if fn.NumParams() == 0 {
		return nil, wrong("its function has no parameters").Do("its first one is the virtual user: def %s(vu)", nonLambda(fn))
	}
	before := ancestors(steps, at)
	byName := false
	for i := 1; i < fn.NumParams(); i++ {
		name, _ := fn.Param(i)
		byName = byName || i >= fn.NumParams()-fn.NumKwonlyParams()
		k := slices.IndexFunc(steps[:at], func(p message.StepPlan) bool { return p.Name == name })
		switch {
		case k >= 0 && slices.Contains(before, k) && steps[k].Weight > 0:
			return nil, wrong("its parameter %q is a step that not every iteration takes: it has a weight", name).Do("let one function do both: step(%q, weight = ...)", name)
		case k >= 0 && slices.Contains(before, k) && steps[k].Kind.Measured():
			if byName {
				c.named = append(c.named, namedRef{starlark.String(name), k})
			} else {
				c.refs = append(c.refs, k)
			}
		case fn.ParamDefault(i) != nil:
			byName = true // its own constant, as lambda vu, path = path: ...
		case k >= 0 && slices.Contains(before, k):
			return nil, wrong("its parameter %q is no request, it has no response", name).Do("take the parameter out")
		case slices.ContainsFunc(d.steps, func(o *stepValue) bool { return o.name == name }):
			return nil, wrong("its parameter %q is a step that it does not come after", name).Do("%s", d.placing(name))
		default:
			known := make([]string, 0, len(before))
			for _, k := range before {
				known = append(known, steps[k].Name)
			}
			return nil, wrong("its parameter %q is not a step", name).Meant(name, known)
		}
	}
	return c, nil
}
