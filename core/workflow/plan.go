package workflow

import (
	"slices"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/message"
)

// TimeoutDefault is a request's when neither it nor its workflow says one: long
// enough for slow pages, and the run's end waits for it.
const timeoutDefault = 30 * time.Second

func workflowArguments() []string {
	return []string{"name", "vus", "duration", "steps", "thresholds", "timeout", "think", "depends", "http"}
}

// workflow declares a workflow. What needs the other workflows is checked when
// all files are loaded.
func (l *loader) workflow(site syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [9]starlark.Value
	if err := bind("workflow", workflowArguments(), 0, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	name, ok := in[0].(starlark.String)
	if !ok {
		if in[0] == nil {
			return nil, faultf("workflow: name is missing").do("write name = \"...\"")
		}
		return nil, wrongType("workflow", "name", "a text", in[0])
	}
	if err := checkName("workflow", "name", string(name)); err != nil {
		return nil, err
	}
	for _, other := range l.declared {
		if other.plan.Name == string(name) {
			return nil, faultf("workflow %q is declared twice, first in line %d of %s", string(name), other.site.Line, other.site.Filename()).in("name").do("give one of them another name")
		}
	}
	if len(l.declared) == workflowsMax {
		return nil, faultf("more than %d workflows", workflowsMax)
	}
	d := &declaration{site: site, plan: message.WorkflowPlan{Name: string(name), VUs: 1, Timeout: timeoutDefault}}
	if err := d.load(l.program, in[:]); err != nil {
		return nil, err
	}
	if err := d.lists(in[:]); err != nil {
		return nil, err
	}
	if in[8] != nil {
		client, ok := in[8].(*clientValue)
		if !ok {
			return nil, wrongType("workflow", "http", "http.client(...)", in[8])
		}
		d.http = client.options
	}
	l.declared = append(l.declared, d)
	return starlark.None, nil
}

// load reads how much and how long; what the program overrides stands above.
func (d *declaration) load(p message.Program, in []starlark.Value) (err error) {
	if in[1] != nil {
		n, err := integer("workflow", "vus", in[1], 1, vusMax)
		if err != nil {
			if f, ok := err.(*fault); ok {
				f.do("vus is how many virtual users run at the same time")
			}
			return err
		}
		d.plan.VUs = uint64(n)
	}
	for _, d := range []struct {
		at int
		to *time.Duration
	}{{2, &d.plan.Duration}, {5, &d.plan.Timeout}, {6, &d.plan.Think}} {
		if in[d.at] == nil {
			continue
		}
		if *d.to, err = duration("workflow", workflowArguments()[d.at], in[d.at]); err != nil {
			return err
		}
	}
	if p.VUs > vusMax {
		return faultf("%d virtual users are set from outside, the limit is %d", p.VUs, vusMax).do("set --vus to less")
	}
	if p.Duration < 0 || p.Duration > durationMax {
		return faultf("a duration of %v is set from outside", p.Duration).do("set --duration to more than nothing and at most \"744h\"")
	}
	if p.VUs > 0 {
		d.plan.VUs = p.VUs
	}
	if p.Duration > 0 {
		d.plan.Duration = p.Duration
	}
	return nil
}

func (d *declaration) lists(in []starlark.Value) (err error) {
	if in[3] == nil {
		return faultf("workflow %q has no steps", d.plan.Name).do("write steps = [step(\"home\", http.get(url))]")
	}
	values, err := list("workflow", "steps", "steps", in[3])
	if err != nil {
		return err
	}
	if len(values) == 0 || len(values) > stepsMax {
		return faultf("workflow %q has %d steps", d.plan.Name, len(values)).in("steps").do("it needs at least one, and at most %d", stepsMax)
	}
	for i, v := range values {
		s, ok := v.(*stepValue)
		if !ok {
			f := faultf("workflow %q: steps has %s in it", d.plan.Name, describe(v)).in("steps").at(i)
			return f.do("wrap it: step(...), check(...), metric(...) or action(...)")
		}
		d.steps = append(d.steps, s)
	}
	if d.thresholds, err = names("workflow", "thresholds", "conditions", in[4]); err != nil {
		return err
	}
	if len(d.thresholds) > thresholdsMax {
		return faultf("workflow %q has %d thresholds, the limit is %d", d.plan.Name, len(d.thresholds), thresholdsMax).in("thresholds")
	}
	if d.depends, err = names("workflow", "depends", "names", in[7]); err != nil {
		return err
	}
	if i := slices.Index(d.depends, d.plan.Name); i >= 0 {
		return faultf("workflow %q depends on itself", d.plan.Name).in("depends").at(i).do("take it out")
	}
	return nil
}
