package workflow

import (
	"slices"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/message"
	"hyperscale/core/plan"
)

// TimeoutDefault is a request's when neither it nor its workflow says one: long
// enough for slow pages, and the run's end waits for it.
const timeoutDefault = 30 * time.Second

func workflowArguments() []string {
	return []string{
		"name", "vus", "duration", "steps", "thresholds", "timeout", "think", "depends", "http",
		"iterations", "rate", "arrivals", "when_full", "stages", "pace", "graceful_stop", "start_after", "abort_when",
		"priority", "cores", "interval", "tags", "report", "session", "connections",
		"setup", "teardown", "vu_setup", "vu_teardown", "provide", "use", "feed",
	}
}

// arguments are those of a call of workflow(), in that order.
type arguments []starlark.Value

func (in arguments) of(name string) starlark.Value {
	return in[slices.Index(workflowArguments(), name)]
}

// choice reads one of some words; empty if it is not given.
func (in arguments) choice(name string, known ...string) (string, error) {
	v := in.of(name)
	if v == nil {
		return "", nil
	}
	s, ok := v.(starlark.String)
	if !ok || !slices.Contains(known, string(s)) {
		return "", faultf("workflow: %s must not be %s", name, describe(v)).in(name).meant(string(s), known)
	}
	return string(s), nil
}

// workflow declares a workflow. What needs the other workflows is checked when
// all files are loaded.
func (l *loader) workflow(site syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	in := make(arguments, len(workflowArguments()))
	if err := bind("workflow", workflowArguments(), 0, args, kwargs, in); err != nil {
		return nil, err
	}
	name, ok := in.of("name").(starlark.String)
	if !ok {
		if in.of("name") == nil {
			return nil, faultf("workflow: name is missing").do("write name = \"...\"")
		}
		return nil, wrongType("workflow", "name", "a text", in.of("name"))
	}
	if err := checkName("workflow", "name", string(name)); err != nil {
		return nil, err
	}
	for _, other := range l.declared {
		if other.plan.Name == string(name) {
			return nil, faultf("workflow %q is declared twice, first in line %d of %s", string(name), other.site.Line, other.site.Filename()).in("name").do("give one of them another name")
		}
	}
	if len(l.declared) == plan.WorkflowsMax {
		return nil, faultf("more than %d workflows", plan.WorkflowsMax)
	}
	d := &declaration{site: site, plan: message.WorkflowPlan{Name: string(name), VUs: 1, Timeout: timeoutDefault, GracefulStop: message.GracefulStopDefault}}
	if err := d.load(l.program, in); err != nil {
		return nil, err
	}
	if err := d.lists(in); err != nil {
		return nil, err
	}
	if err := d.manners(in); err != nil {
		return nil, err
	}
	if err := d.takes(in); err != nil {
		return nil, err
	}
	if err := d.readHooks(in); err != nil {
		return nil, err
	}
	if err := d.readContext(in); err != nil {
		return nil, err
	}
	l.declared = append(l.declared, d)
	return starlark.None, nil
}

func (d *declaration) lists(in arguments) (err error) {
	if in.of("steps") == nil {
		return faultf("workflow %q has no steps", d.plan.Name).do("write steps = [step(\"home\", http.get(url))]")
	}
	values, err := list("workflow", "steps", "steps", in.of("steps"))
	if err != nil {
		return err
	}
	if len(values) == 0 || len(values) > plan.StepsMax {
		return faultf("workflow %q has %d steps", d.plan.Name, len(values)).in("steps").do("it needs at least one, and at most %d", plan.StepsMax)
	}
	for i, v := range values {
		s, ok := v.(*stepValue)
		if !ok {
			f := faultf("workflow %q: steps has %s in it", d.plan.Name, describe(v)).in("steps").at(i)
			return f.do("wrap it: step(...), check(...), metric(...) or action(...)")
		}
		d.steps = append(d.steps, s)
	}
	if d.thresholds, err = names("workflow", "thresholds", "conditions", in.of("thresholds")); err != nil {
		return err
	}
	if len(d.thresholds) > plan.ThresholdsMax {
		return faultf("workflow %q has %d thresholds, the limit is %d", d.plan.Name, len(d.thresholds), plan.ThresholdsMax).in("thresholds")
	}
	if d.aborts, err = names("workflow", "abort_when", "conditions", in.of("abort_when")); err != nil {
		return err
	}
	if len(d.aborts) > plan.AbortsMax {
		return faultf("workflow %q has %d conditions to abort, the limit is %d", d.plan.Name, len(d.aborts), plan.AbortsMax).in("abort_when")
	}
	for _, list := range []struct {
		name string
		to   *[]string
	}{{"depends", &d.depends}, {"start_after", &d.startAfter}} {
		if *list.to, err = names("workflow", list.name, "names", in.of(list.name)); err != nil {
			return err
		}
		if i := slices.Index(*list.to, d.plan.Name); i >= 0 {
			return faultf("workflow %q waits for itself", d.plan.Name).in(list.name).at(i).do("take it out")
		}
	}
	for i, name := range d.startAfter {
		if slices.Contains(d.depends, name) {
			return faultf("workflow %q depends on %q and starts after it", d.plan.Name, clip(name, 40)).in("start_after").at(i).do("it waits for it anyway: take it out here, or there if it shall start even when that one fails")
		}
	}
	return nil
}
