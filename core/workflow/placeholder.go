package workflow

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/workflow/extract"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
)

// fill resolves the placeholders of a step's request, among the values of its feed and those
// that earlier steps extract.
func (d *declaration) fill(w *Workflow, at int, s *stepValue) error {
	if s.request == nil || len(s.Blanks) == 0 {
		return nil
	}
	step := &w.Steps[at]
	own := *step.Request // with the client's headers
	step.Request = &own
	before := ancestors(d.plan.Steps, at)
	var known []string
	for i, name := range w.Vars {
		if i < w.Columns || slices.ContainsFunc(before, func(k int) bool { return d.plan.Steps[k].Weight == 0 && w.Steps[k].extracts(i) }) {
			known = append(known, name)
		}
	}
	for _, placeholder := range s.Blanks {
		if !slices.Contains(known, placeholder.Name) {
			return d.unfilled(placeholder, at, known).Find("${" + placeholder.Name + "}").In(placeholder.Argument).Of(s.RequestSite)
		}
		i := slices.Index(w.Vars, placeholder.Name)
		own.Placeholders = append(own.Placeholders, request.Placeholder{Word: placeholder.Word, Name: placeholder.Name, Var: i})
		if !slices.Contains(step.Needs, i) {
			step.Needs = append(step.Needs, i)
		}
	}
	slices.Sort(step.Needs)
	return nil
}

// unfilled returns why a placeholder has no value.
func (d *declaration) unfilled(placeholder request.Blank, at int, known []string) *language.Fault {
	name := d.plan.Steps[at].Name
	for _, s := range d.steps {
		if !slices.ContainsFunc(s.extract, func(e extract.Named) bool { return e.Name == placeholder.Name }) {
			continue
		}
		if s.name == name {
			f := language.Faultf("workflow %q: step %q fills in ${%s}, which it extracts itself, from the answer", d.plan.Name, name, placeholder.Name)
			return f.Do("extract it in a step before")
		}
		if before := slices.IndexFunc(d.plan.Steps[:at], func(p message.StepPlan) bool { return p.Name == s.name }); s.weight > 0 && slices.Contains(ancestors(d.plan.Steps, at), before) {
			f := language.Faultf("workflow %q: step %q fills in ${%s}, which step %q extracts, and not every iteration takes that: it has a weight", d.plan.Name, name, placeholder.Name, s.name)
			return f.Do("extract it in a step without a weight")
		}
		f := language.Faultf("workflow %q: step %q fills in ${%s}, and does not come after step %q, which extracts it", d.plan.Name, name, placeholder.Name, s.name)
		return f.Do("%s", d.placing(s.name))
	}
	f := language.Faultf("workflow %q: step %q fills in ${%s}, which is extracted by no step before it", d.plan.Name, name, placeholder.Name)
	if len(d.columns) > 0 {
		f.Message += " and no column of its feed"
	}
	if len(known) == 0 {
		return f.Do("a step before it needs extract = {%q: json_path(\"$.%s\")}; for ${ itself write $${", placeholder.Name, placeholder.Name)
	}
	return f.Meant(placeholder.Name, known)
}

// declareVars lists the values of a workflow: the columns of its feed, then what its steps
// extract, in the plan's order.
func (d *declaration) declareVars(w *Workflow, order []int) error {
	w.Vars, w.Columns = slices.Clone(d.columns), len(d.columns)
	for at, from := range order {
		s := d.steps[from]
		for _, e := range s.extract {
			i := slices.Index(w.Vars, e.Name)
			if i >= 0 && i < w.Columns {
				f := language.Faultf("workflow %q: step %q extracts %q, which is a column of its feed", d.plan.Name, s.name, e.Name)
				return f.In("extract").Of(s.site).Do("give it another name")
			}
			if i < 0 {
				i, w.Vars = len(w.Vars), append(w.Vars, e.Name)
			}
			e.Extract.Var = i
			w.Steps[at].Extract = append(w.Steps[at].Extract, e.Extract)
		}
		w.Steps[at].Expect = s.expect
	}
	if len(w.Vars) > request.VarsMax {
		return language.Faultf("workflow %q has %d values, the limit is %d", d.plan.Name, len(w.Vars), request.VarsMax).Of(d.site)
	}
	return nil
}

// requestOnly rejects what only request steps can have.
func (s *stepValue) requestOnly() error {
	for _, one := range []struct {
		argument string
		given    bool
	}{{"extract", len(s.extract) > 0}, {"expect", len(s.expect) > 0}} {
		if one.given && s.kind != message.StepRequest {
			f := language.Faultf("step %q is a function, and %s is for requests", s.name, one.argument).In(one.argument)
			if one.argument == "extract" {
				return f.Do("keep it in the function: vu.vars[\"name\"] = response.json()[\"name\"]")
			}
			return f.Do("look at the response in the function: fail(\"why\") fails the step")
		}
	}
	return nil
}
