package workflow

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/inspect"
	"hyperscale/core/workflow/language"
)

// providedBytesMax bounds a value that a workflow gives to others, as JSON.
const providedBytesMax = 32 << 10

type provideValue struct {
	language.Opaque
	name string
	fn   *starlark.Function
	to   []string
	site syntax.Position
}

type useValue struct {
	language.Opaque
	name string
	of   string
	site syntax.Position
}

// provided is a value that a workflow computes for others.
type provided struct {
	name string
	fn   *starlark.Function
	to   []uint32 // workflows, in the plan's order
}

func checkContextName(fn, name string) error {
	if err := language.CheckName(fn, "#1", name); err != nil {
		return err
	}
	if strings.Contains(name, "-") || name[0] >= '0' && name[0] <= '9' {
		return language.Faultf("%s: %q cannot stand behind vu.use.", fn, name).In("#1").Do("use letters, digits and _, and a letter first")
	}
	return nil
}

func (l *loader) provide(site syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [3]starlark.Value
	if err := language.Bind("provide", []string{"name", "run", "to"}, 2, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	name, ok := in[0].(starlark.String)
	if !ok {
		return nil, language.Faultf("provide: the first argument must be the value's name").In("#1").Do("write provide(\"tokens\", fetch_tokens, to = [\"shop\"])")
	}
	if err := checkContextName("provide", string(name)); err != nil {
		return nil, err
	}
	fn, ok := in[1].(*starlark.Function)
	if !ok {
		return nil, language.Faultf("provide(%q): give the function that makes the value", string(name)).In("#2").Do("write provide(%q, function, to = [...])", string(name))
	}
	if !takesOnlyVU(fn) {
		return nil, language.Faultf("provide(%q): its function must take the virtual user and nothing else", string(name)).In("#2").Do("write def %s(vu)", nonLambda(fn))
	}
	l.role(inspect.Action, "provide", fn, false)
	to, err := language.Names("provide", "to", "workflows", in[2])
	if err != nil {
		return nil, err
	}
	if len(to) == 0 {
		return nil, language.Faultf("provide(%q): to is missing: which workflows use it?", string(name)).Do("write to = [\"workflow\"]")
	}
	return &provideValue{language.Opaque{Kind: "provide"}, string(name), fn, to, site}, nil
}

func (l *loader) use(site syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [2]starlark.Value
	if err := language.Bind("use", []string{"name", "of"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	name, ok := in[0].(starlark.String)
	if !ok {
		return nil, language.Faultf("use: the first argument must be the value's name").In("#1").Do("write use(\"tokens\", of = [\"auth\"])")
	}
	if err := checkContextName("use", string(name)); err != nil {
		return nil, err
	}
	of, err := language.Names("use", "of", "workflows", in[1])
	if err != nil {
		return nil, err
	}
	if len(of) != 1 {
		return nil, language.Faultf("use(%q): of must name the one workflow that provides it, not %d", string(name), len(of)).In("of").Do("write of = [\"workflow\"]")
	}
	return &useValue{language.Opaque{Kind: "use"}, string(name), of[0], site}, nil
}

// readContext reads provide and use.
func (d *declaration) readContext(in arguments) error {
	for _, word := range []string{"provide", "use"} {
		if in.of(word) == nil {
			continue
		}
		values, err := language.List("workflow", word, word+"(...)", in.of(word))
		if err != nil {
			return err
		}
		if len(values) > message.ProvidedMax {
			return language.Faultf("workflow %q: %s has %d values, the limit is %d", d.plan.Name, word, len(values), message.ProvidedMax).In(word).Do("put some of them into one dict")
		}
		for i, v := range values {
			if err := d.addContext(word, v); err != nil {
				return err.In(word).At(i)
			}
		}
	}
	return nil
}

func (d *declaration) addContext(word string, v starlark.Value) *language.Fault {
	name := ""
	taken := func(name string) *language.Fault {
		return language.Faultf("workflow %q: %s(%q) stands twice in it", d.plan.Name, word, name).Do("take one of them out")
	}
	switch v := v.(type) {
	case *provideValue:
		if name = v.name; word == "provide" {
			if slices.ContainsFunc(d.provides, func(o *provideValue) bool { return o.name == name }) {
				return taken(name)
			}
			d.provides = append(d.provides, v)
			return nil
		}
	case *useValue:
		if name = v.name; word == "use" {
			if slices.ContainsFunc(d.uses, func(o *useValue) bool { return o.name == name }) {
				return taken(name)
			}
			d.uses = append(d.uses, v)
			return nil
		}
	}
	return language.Faultf("workflow %q: %s has %s in it", d.plan.Name, word, language.Describe(v)).Do("write %s = [%s(\"name\", ...)]", word, word)
}

// linkContext checks that both sides of each value name each other, and that the user of a
// value begins after it exists.
func (l *loader) linkContext() error {
	all := make([]string, len(l.declared))
	for i, d := range l.declared {
		all[i] = d.plan.Name
	}
	for _, d := range l.declared {
		for _, u := range d.uses {
			if f := l.linkUse(d, u, all); f != nil {
				return f.Of(u.site)
			}
		}
	}
	for _, d := range l.declared {
		for _, p := range d.provides {
			for k, to := range p.to {
				at := slices.Index(all, to)
				if at < 0 {
					f := language.Faultf("workflow %q provides %q to %q, which is not a workflow", d.plan.Name, p.name, language.Clip(to, 40))
					return f.Meant(to, all).In("to").At(k).Of(p.site)
				}
				if !slices.ContainsFunc(l.declared[at].uses, func(u *useValue) bool { return u.name == p.name && u.of == d.plan.Name }) {
					f := language.Faultf("workflow %q provides %q to %q, which does not use it", d.plan.Name, p.name, to)
					return f.In("to").At(k).Of(p.site).Do("write use = [use(%q, of = [%q])] there, or take it out here", p.name, d.plan.Name)
				}
			}
		}
	}
	return nil
}

func (l *loader) linkUse(d *declaration, u *useValue, all []string) *language.Fault {
	at := slices.Index(all, u.of)
	if at < 0 {
		f := language.Faultf("workflow %q uses %q of %q, which is not a workflow", d.plan.Name, u.name, language.Clip(u.of, 40))
		return f.Meant(u.of, all).In("of").At(0)
	}
	from := l.declared[at]
	if !l.dependsOn(d, u.of) {
		f := language.Faultf("workflow %q uses %q of %q, and does not depend on it: the value would not be there yet", d.plan.Name, u.name, u.of)
		return f.In("of").At(0).Do("write depends = [%q]", u.of)
	}
	var known []string
	for _, p := range from.provides {
		if known = append(known, p.name); p.name != u.name {
			continue
		}
		if slices.Contains(p.to, d.plan.Name) {
			return nil
		}
		f := language.Faultf("workflow %q uses %q of %q, which does not provide it to %q", d.plan.Name, u.name, u.of, d.plan.Name)
		return f.In("of").At(0).Do("add %q to the list to of provide(%q) there", d.plan.Name, u.name)
	}
	f := language.Faultf("workflow %q uses %q of %q, which does not provide it", d.plan.Name, u.name, u.of).In("#1")
	if len(known) == 0 {
		return f.Do("write provide = [provide(%q, function, to = [%q])] there", u.name, d.plan.Name)
	}
	return f.Meant(u.name, known)
}

// dependsOn reports whether a workflow depends on another one, directly or not.
func (l *loader) dependsOn(d *declaration, name string) bool {
	before := slices.Clone(d.depends)
	for i := 0; i < len(before); i++ {
		at := slices.IndexFunc(l.declared, func(o *declaration) bool { return o.plan.Name == before[i] })
		for _, on := range l.declared[at].depends {
			if !slices.Contains(before, on) {
				before = append(before, on)
			}
		}
	}
	return slices.Contains(before, name)
}

// resolveContext sets what a workflow provides, and the names of what it uses.
func (d *declaration) resolveContext(w *Workflow, position func(name string) uint32) {
	for _, p := range d.provides {
		one := provided{name: p.name, fn: p.fn}
		for _, to := range p.to {
			one.to = append(one.to, position(to))
		}
		slices.Sort(one.to)
		one.to = slices.Compact(one.to)
		w.provides = append(w.provides, one)
	}
	for _, u := range d.uses {
		w.uses = append(w.uses, u.name)
	}
}

// Given holds what other workflows have provided: frozen, for all virtual users of an executor.
// The zero Given is empty.
type Given struct{ values *language.Namespace }

// Uses reports whether the workflow uses values of others: see Take.
func (w *Workflow) Uses() bool { return len(w.uses) > 0 }

// Take reads the values that other workflows have provided to this one.
func (w *Workflow) Take(all []message.Provided) (Given, error) {
	if len(w.uses) == 0 {
		return Given{}, nil
	}
	members := starlark.StringDict{}
	m := &guard.Meter{Limits: &w.limits, Bytes: w.limits.CallBytes, Total: w.limits.CallBytes}
	thread := &starlark.Thread{Name: w.Plan.Name}
	thread.SetLocal(guard.MeterKey, m)
	for _, name := range w.uses {
		i := slices.IndexFunc(all, func(p message.Provided) bool { return p.Name == name })
		if i < 0 {
			return Given{}, fmt.Errorf("workflow %q uses %q, which no workflow before it has provided", w.Plan.Name, name)
		}
		v, err := builtin.DecodeJSON(thread, string(all[i].Value))
		if err != nil {
			return Given{}, fmt.Errorf("workflow %q uses %q: %w", w.Plan.Name, name, err)
		}
		v.Freeze()
		members[name] = v
	}
	return Given{language.NewNamespace("vu.use", members)}, nil
}

// Give sets vu.use of the virtual user to what Take has read. Call it before the first Call.
func (v *VU) Give(g Given) { v.given = g }

// Provided returns the results of Run(HookProvide).
func (v *VU) Provided() []message.Provided { return v.provided }

// provide runs the functions that compute values for other workflows.
func (v *VU) provide() Outcome {
	v.provided = nil
	for _, p := range v.w.provides {
		c := &call{kind: message.StepAction, name: fmt.Sprintf("provide(%q)", p.name), fn: p.fn}
		r := v.runner()
		value, err := starlark.Call(&r.thread, c.fn, starlark.Tuple{v.value()}, nil)
		if err != nil {
			return r.failed(err)
		}
		text, err := builtin.EncodeJSON(&r.thread, value)
		switch {
		case err != nil:
			return c.wrong("must return what can be written as JSON: %v", err)
		case len(text) > providedBytesMax:
			return c.wrong("must return at most %s as JSON, not %s", guard.Size(providedBytesMax), guard.Size(uint64(len(text))))
		}
		v.provided = append(v.provided, message.Provided{Name: p.name, To: slices.Clone(p.to), Value: text})
		v.idle = append(v.idle, r)
	}
	return Outcome{OK: true}
}

// The functions that run once in each datacenter of a job, and the workflows that run them.
const (
	beforeAll = "before_all"
	afterAll  = "after_all"
)

// once is a function that runs before or after all workflows.
type once struct {
	fn   *starlark.Function
	site syntax.Position
}

func (l *loader) beforeAll(site syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return starlark.None, l.readOnce(beforeAll, &l.before, site, args, kwargs)
}

func (l *loader) afterAll(site syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return starlark.None, l.readOnce(afterAll, &l.after, site, args, kwargs)
}

func (l *loader) readOnce(word string, to **once, site syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) error {
	var in [1]starlark.Value
	if err := language.Bind(word, []string{"run"}, 1, args, kwargs, in[:]); err != nil {
		return err
	}
	fn, ok := in[0].(*starlark.Function)
	switch {
	case !ok:
		return language.Faultf("%s: give the function that runs once", word).Do("write def prepare(vu), and %s(prepare)", word)
	case !takesOnlyVU(fn):
		return language.Faultf("%s: its function must take the virtual user and nothing else", word).In("#1").Do("write def %s(vu)", nonLambda(fn))
	case *to != nil:
		return language.Faultf("%s stands twice, first in line %d of %s", word, (*to).site.Line, (*to).site.Filename()).Do("call both functions in one")
	}
	l.role(inspect.Action, word, fn, false)
	*to = &once{fn, site}
	return nil
}

// declareOnce declares a workflow for each function that runs once: one before all others, which
// use what it returns, and one after them.
func (l *loader) declareOnce() error {
	load := slices.Clone(l.declared)
	var names []string
	for _, d := range load {
		if d.plan.Name == beforeAll && l.before != nil || d.plan.Name == afterAll && l.after != nil {
			return language.Faultf("workflow %q has the name of the one that runs %s(...)", d.plan.Name, d.plan.Name).In("name").Of(d.site).Do("give it another name")
		}
		names = append(names, d.plan.Name)
	}
	if l.after != nil {
		d := alone(afterAll, l.after.site)
		d.hooks[HookTeardown], d.startAfter = l.after.fn, names
		l.declared, load = append(l.declared, d), append(load, d)
		names = append(slices.Clone(names), afterAll)
	}
	if l.before == nil {
		return nil
	}
	d := alone(beforeAll, l.before.site)
	d.provides = []*provideValue{{language.Opaque{Kind: "provide"}, beforeAll, l.before.fn, names, l.before.site}}
	for _, other := range load {
		if len(other.uses) == message.ProvidedMax {
			return language.Faultf("workflow %q uses %d values, and the one of before_all is one more than the limit", other.plan.Name, len(other.uses)).In("use").Of(other.site).Do("put some of them into one dict")
		}
		other.depends = append(other.depends, beforeAll)
		other.uses = append(other.uses, &useValue{language.Opaque{Kind: "use"}, beforeAll, beforeAll, l.before.site})
	}
	l.declared = append([]*declaration{d}, l.declared...)
	return nil
}

// alone declares a workflow of one virtual user, whose only step does nothing.
func alone(name string, site syntax.Position) *declaration {
	const source = "def nothing(vu):\n    pass\n"
	globals, err := starlark.ExecFileOptions(&syntax.FileOptions{}, &starlark.Thread{Name: name}, name, source, nil)
	if err != nil {
		node.Bug("workflow: %v", err)
	}
	fn, _ := globals["nothing"].(*starlark.Function)
	return &declaration{
		site: site, plan: message.WorkflowPlan{Name: name, VUs: 1, Timeout: timeoutDefault, GracefulStop: message.GracefulStopDefault},
		steps: []*stepValue{{Opaque: language.Opaque{Kind: "action"}, kind: message.StepAction, name: "once", fn: fn, site: site}}, elements: []int{1},
	}
}
