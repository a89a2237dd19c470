package workflow

import (
	"slices"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/message"
	"hyperscale/core/plan"
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
		l.role(inspect.Action, Hook(h).String(), fn)
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
	if len(values) == 0 || len(values) > plan.StepsMax {
		return language.Faultf("workflow %q has %d steps", d.plan.Name, len(values)).In("steps").Do("it needs at least one, and at most %d", plan.StepsMax)
	}
	for i, v := range values {
		s, ok := v.(*stepValue)
		if !ok {
			f := language.Faultf("workflow %q: steps has %s in it", d.plan.Name, language.Describe(v)).In("steps").At(i)
			return f.Do("wrap it: step(...), check(...), metric(...) or action(...)")
		}
		d.steps = append(d.steps, s)
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
