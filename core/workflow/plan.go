package workflow

import (
	"slices"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow/extract"
	"hyperscale/core/workflow/inspect"
	"hyperscale/core/workflow/language"
)

// timeoutDefault is the timeout of a request if neither it nor its workflow sets one. It is
// long enough for slow pages, and the run's end waits for it.
const timeoutDefault = 30 * time.Second

// workflow declares a workflow. Checks that need the other workflows run after all files are
// loaded.
func (l *loader) workflow(site syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	in := make(arguments, len(workflowArguments()))
	if err := language.Bind("workflow", workflowArguments(), 0, args, kwargs, in); err != nil {
		return nil, err
	}
	name, ok := in.of("name").(starlark.String)
	if !ok {
		if in.of("name") == nil {
			return nil, language.Faultf("workflow: name is missing").Do("write name = \"...\"")
		}
		return nil, language.WrongType("workflow", "name", "a text", in.of("name"))
	}
	if err := language.CheckName("workflow", "name", string(name)); err != nil {
		return nil, err
	}
	for _, other := range l.declared {
		if other.plan.Name == string(name) {
			return nil, language.Faultf("workflow %q is declared twice, first in line %d of %s", string(name), other.site.Line, other.site.Filename()).In("name").Do("give one of them another name")
		}
	}
	if len(l.declared) == plan.WorkflowsMax {
		return nil, language.Faultf("more than %d workflows", plan.WorkflowsMax)
	}
	d := &declaration{site: site, plan: message.WorkflowPlan{Name: string(name), VUs: 1, Timeout: timeoutDefault, GracefulStop: message.GracefulStopDefault}}
	if err := d.load(*l.program, in); err != nil {
		return nil, err
	}
	if err := d.lists(in); err != nil {
		return nil, err
	}
	if err := d.placement(in); err != nil {
		return nil, err
	}
	if err := d.takes(in); err != nil {
		return nil, err
	}
	if err := d.readHooks(in); err != nil {
		return nil, err
	}
	for h, fn := range d.hooks {
		l.role(inspect.Action, Hook(h).String(), fn, false)
	}
	if err := d.readContext(in); err != nil {
		return nil, err
	}
	l.declared = append(l.declared, d)
	return starlark.None, nil
}

func (d *declaration) lists(in arguments) (err error) {
	if in.of("steps") == nil {
		return language.Faultf("workflow %q has no steps", d.plan.Name).Do("write steps = [step(\"home\", http.get(url))]")
	}
	values, err := language.List("workflow", "steps", "steps", in.of("steps"))
	if err != nil {
		return err
	}
	if err := d.list(values); err != nil {
		return err
	}
	if d.thresholds, err = language.Names("workflow", "thresholds", "conditions", in.of("thresholds")); err != nil {
		return err
	}
	if len(d.thresholds) > plan.ThresholdsMax {
		return language.Faultf("workflow %q has %d thresholds, the limit is %d", d.plan.Name, len(d.thresholds), plan.ThresholdsMax).In("thresholds")
	}
	if d.aborts, err = language.Names("workflow", "abort_when", "conditions", in.of("abort_when")); err != nil {
		return err
	}
	if len(d.aborts) > plan.AbortsMax {
		return language.Faultf("workflow %q has %d conditions to abort, the limit is %d", d.plan.Name, len(d.aborts), plan.AbortsMax).In("abort_when")
	}
	for _, list := range []struct {
		name string
		to   *[]string
	}{{"depends", &d.depends}, {"start_after", &d.startAfter}} {
		if *list.to, err = language.Names("workflow", list.name, "names", in.of(list.name)); err != nil {
			return err
		}
		if i := slices.Index(*list.to, d.plan.Name); i >= 0 {
			return language.Faultf("workflow %q waits for itself", d.plan.Name).In(list.name).At(i).Do("take it out")
		}
	}
	for i, name := range d.startAfter {
		if slices.Contains(d.depends, name) {
			return language.Faultf("workflow %q depends on %q and starts after it", d.plan.Name, language.Clip(name, 40)).In("start_after").At(i).Do("it waits for it anyway: take it out here, or there if it shall start even when that one fails")
		}
	}
	return nil
}

// parallelValue is the result of parallel: steps of a list that begin together.
type parallelValue struct {
	language.Opaque
	steps []*stepValue
	site  syntax.Position
}

func (l *loader) parallel(site syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	const remedy = "write parallel(step(...), step(...)), or parallel(*pages) with a list of steps"
	if len(kwargs) > 0 {
		return nil, language.Faultf("parallel takes steps, none of its arguments has a name").Do(remedy)
	}
	if len(args) == 0 {
		return nil, language.Faultf("parallel has no step in it").Do(remedy)
	}
	p := &parallelValue{Opaque: language.Opaque{Kind: "parallel"}, site: site}
	for _, v := range args {
		switch v := v.(type) {
		case *stepValue:
			p.steps = append(p.steps, v)
		case *parallelValue:
			return nil, language.Faultf("parallel has another parallel in it").Do("list the steps of both in one: all of them begin together")
		default:
			return nil, language.Faultf("parallel has %s in it", language.Describe(v)).Do(remedy)
		}
	}
	return p, nil
}

// list reads the elements of steps. Without an after they are a sequence.
func (d *declaration) list(values []starlark.Value) error {
	var together *parallelValue
	for i, v := range values {
		members := 1
		switch v := v.(type) {
		case *stepValue:
			d.steps = append(d.steps, v)
		case *parallelValue:
			together, members = v, len(v.steps)
			d.steps = append(d.steps, v.steps...)
		default:
			f := language.Faultf("workflow %q: steps has %s in it", d.plan.Name, language.Describe(v)).In("steps").At(i)
			return f.Do("wrap it: step(...), check(...), metric(...) or action(...)")
		}
		d.elements = append(d.elements, members)
	}
	if len(d.steps) == 0 || len(d.steps) > plan.StepsMax {
		return language.Faultf("workflow %q has %d steps", d.plan.Name, len(d.steps)).In("steps").Do("it needs at least one, and at most %d", plan.StepsMax)
	}
	i := slices.IndexFunc(d.steps, func(s *stepValue) bool { return s.placed })
	if i >= 0 && together != nil {
		f := language.Faultf("workflow %q: steps has a parallel(...), and %s %q has an after", d.plan.Name, d.steps[i].Opaque.Kind, d.steps[i].name)
		return f.In("after").Of(d.steps[i].site).Do("take each after out: steps run in the order of their list; or take parallel(...) out: with after, steps begin together unless it orders them")
	}
	d.graph = i >= 0
	return nil
}

// mix makes neighbouring weighted steps one element, of which an iteration takes one.
func (d *declaration) mix() error {
	var joined []int
	last, mixed, at := false, false, 0
	for _, members := range d.elements {
		weighted := slices.IndexFunc(d.steps[at:at+members], func(s *stepValue) bool { return s.weight > 0 })
		alone := weighted >= 0 && members == 1
		switch {
		case alone && last:
			joined[len(joined)-1]++
		case weighted >= 0 && mixed:
			s := d.steps[at+weighted]
			f := language.Faultf("workflow %q: step %q has a weight, and does not stand beside the others that have one", d.plan.Name, s.name)
			return f.In("weight").Of(s.site).Do("list all weighted steps one after another: an iteration takes one of them")
		default:
			joined = append(joined, members)
		}
		last, mixed, at = alone, mixed || weighted >= 0, at+members
	}
	d.elements = joined
	return nil
}

// sequence returns what each step waits for: the steps of the element before its own.
func (d *declaration) sequence() (waits [][]uint32) {
	var before []uint32
	for _, members := range d.elements {
		var element []uint32
		for range members {
			element = append(element, uint32(len(waits)))
			waits = append(waits, before)
		}
		before = element
	}
	return waits
}

// orderSteps sorts by after, otherwise as listed, and returns what each waits for, by its place.
func (d *declaration) orderSteps(all []string) (order []int, waits [][]uint32, err error) {
	if !d.graph {
		if err := d.mix(); err != nil {
			return nil, nil, err
		}
		for i := range d.steps {
			order = append(order, i)
		}
		return order, d.sequence(), nil
	}
	after := make([][]string, len(all))
	for i, s := range d.steps {
		after[i] = s.after
		for k, name := range s.after {
			if name == all[i] {
				return nil, nil, language.Faultf("workflow %q: step %q comes after itself", d.plan.Name, name).In("after").At(k).Of(s.site)
			}
			if !slices.Contains(all, name) {
				f := language.Faultf("workflow %q: %s %q comes after %q, which is not a step", d.plan.Name, s.Opaque.Kind, all[i], language.Clip(name, 40))
				if f.Meant(name, others(all, all[i])); f.Remedy == "" {
					f.Do("take it out: there is no other step")
				}
				return nil, nil, f.In("after").At(k).Of(s.site)
			}
		}
	}
	numbered := numbers(all, after)
	order, position, cycle := arrange(numbered)
	if cycle != nil {
		f := language.Faultf("workflow %q: steps come after each other in a circle: %s", d.plan.Name, circle(all, cycle))
		return nil, nil, f.In("after").Of(d.steps[cycle[0]].site).Do("take one of them out of after")
	}
	for _, from := range order {
		waits = append(waits, ascending(numbered[from], position))
	}
	return order, waits, nil
}

// need moves what a step of a sequence needs from Behind to After: the steps whose responses it
// takes, and those that extract what it fills in.
func (d *declaration) need(w *Workflow, at int) error {
	p, step := &d.plan.Steps[at], &w.Steps[at]
	needs := slices.Clone(step.Takes)
	for _, i := range step.Needs {
		if i < w.Columns {
			continue
		}
		k, err := d.source(w, at, i)
		if err != nil {
			return err
		}
		needs = append(needs, k)
	}
	slices.Sort(needs)
	for _, k := range slices.Compact(needs) {
		p.After = append(p.After, uint32(k))
	}
	waits := p.Behind
	p.Behind = nil
	for _, k := range waits {
		if _, needed := slices.BinarySearch(p.After, k); !needed {
			p.Behind = append(p.Behind, k)
		}
	}
	return nil
}

// source returns the step that a value comes from: of those before that extract it the last one
// which each iteration takes.
func (d *declaration) source(w *Workflow, at, value int) (int, error) {
	var sometimes []int
	for _, k := range ancestors(d.plan.Steps, at) { // the last one first
		switch {
		case !w.Steps[k].extracts(value) || d.plan.Steps[k].Weight > 0:
		case !w.Steps[k].Conditional():
			return k, nil
		default:
			sometimes = append(sometimes, k)
		}
	}
	if len(sometimes) > 1 {
		steps := d.plan.Steps
		f := language.Faultf("workflow %q: step %q fills in ${%s}, which steps %q and %q extract, and neither in each iteration", d.plan.Name, steps[at].Name, w.Vars[value], steps[sometimes[1]].Name, steps[sometimes[0]].Name)
		return 0, f.Of(d.steps[at].site).Do("take the when out of the first, or give their values two names")
	}
	return sometimes[0], nil
}

// takes lists the steps whose responses the functions of a step take.
func (s *Step) takes() (list []int) {
	for _, c := range []*call{s.call, s.when} {
		if c == nil {
			continue
		}
		list = append(list, c.refs...)
		for _, ref := range c.named {
			list = append(list, ref.step)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// ancestors lists all steps that at waits for, directly or not, the last one first.
func ancestors(steps []message.StepPlan, at int) []int {
	found := make([]bool, at+1)
	found[at] = true
	var out []int
	for i := at; i >= 0; i-- {
		if !found[i] {
			continue
		}
		if i < at {
			out = append(out, i)
		}
		for _, list := range [][]uint32{steps[i].After, steps[i].Behind} {
			for _, k := range list {
				found[k] = true
			}
		}
	}
	return out
}

// extracts reports whether a step extracts a value, by its index in Workflow.Vars.
func (s *Step) extracts(i int) bool {
	return slices.ContainsFunc(s.Extract, func(e extract.Extract) bool { return e.Var == i })
}

// placing says how a step comes after another.
func (d *declaration) placing(name string) string {
	if d.graph {
		return "write after = [\"" + name + "\"]"
	}
	return "list \"" + name + "\" before it; steps of one parallel(...) begin together"
}
