package workflow

import (
	"slices"
	"strconv"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow/extract"
	"hyperscale/core/workflow/inspect"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
)

// nameAndFunction reads the two shapes (fn, ...) and (name, fn, ...).
func nameAndFunction(fn string, v [2]starlark.Value, want string) (name string, what starlark.Value, err error) {
	what = v[0]
	if s, ok := v[0].(starlark.String); ok {
		if err := language.CheckName(fn, "#1", string(s)); err != nil {
			return "", nil, err
		}
		if v[1] == nil {
			return "", nil, language.Faultf("%s(%q): %s is missing", fn, string(s), want).Do("write %s(%q, ...)", fn, string(s))
		}
		return string(s), v[1], nil
	}
	if v[1] != nil {
		return "", nil, language.Faultf("%s: the name must be a text, not %s", fn, language.Describe(v[0])).In("#1")
	}
	if f, ok := what.(*starlark.Function); ok && f.Name() != "lambda" {
		name = f.Name()
	}
	return name, what, nil
}

func (l *loader) step(site syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [8]starlark.Value
	if err := language.Bind("step", []string{"name", "run", "after", "weight", "when", "tags", "extract", "expect"}, 2, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	name, what, err := nameAndFunction("step", [2]starlark.Value{in[0], in[1]}, "a request or a function")
	if err != nil {
		return nil, err
	}
	s := &stepValue{Opaque: language.Opaque{Kind: "step"}, name: name, placed: in[2] != nil, site: site}
	switch what := what.(type) {
	case *request.Value:
		s.kind, s.request, s.Asked = message.StepRequest, what.Request, what.Asked
	case *starlark.Function:
		s.kind, s.fn = message.StepFunction, what
		l.role(inspect.Step, "step", what, s.placed)
	case nil:
		return nil, language.Faultf("step: a request or a function is missing").Do("write step(\"name\", http.get(url)) or step(function)")
	default:
		return nil, language.Faultf("step: give a request or a function, not %s", language.Describe(what)).In("#" + strconv.Itoa(len(args)))
	}
	if name == "" {
		return nil, language.Faultf("step: %s needs a name", language.Describe(what)).In("#1").Do("write step(\"name\", ...)")
	}
	if s.after, err = language.Names("step", "after", "names", in[2]); err != nil {
		return nil, err
	}
	if err := s.options(in[3], in[4], in[5]); err != nil {
		return nil, err
	}
	l.role(inspect.When, "when", s.when, s.placed)
	if err := s.readExtract(in[6]); err != nil {
		return nil, err
	}
	if s.expect, err = readExpect("step", "step "+strconv.Quote(s.name), in[7]); err != nil {
		return nil, err
	}
	if err := misplacedCode("step "+strconv.Quote(s.name), s.expect, s.request); err != nil {
		return nil, err
	}
	if s.request != nil && s.request.GraphQL {
		s.expect = append(s.expect, extract.GraphQLExpect())
	}
	return s, s.requestOnly()
}

// options reads the options that only measured steps have.
func (s *stepValue) options(weight, when, tags starlark.Value) (err error) {
	if weight != nil {
		if i, ok := weight.(starlark.Int); ok && i.Sign() == 0 {
			return language.Faultf("step %q has a weight of 0, it would never run", s.name).In("weight").Do("take the step out, or give it a weight of 1 or more")
		}
		n, err := language.Integer("step", "weight", weight, 1, plan.WeightMax)
		if err != nil {
			return err
		}
		s.weight = uint32(n)
	}
	if when != nil {
		var ok bool
		if s.when, ok = when.(*starlark.Function); !ok {
			return language.WrongType("step", "when", "a function that returns True or False", when).Do("write when = lambda vu: vu.iteration == 1, say")
		}
	}
	s.tags, err = readTags("step", tags)
	return err
}

func (l *loader) check(site syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return l.called("check", message.StepCheck, site, args, kwargs)
}

func (l *loader) action(site syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return l.called("action", message.StepAction, site, args, kwargs)
}

// called declares a check or an action. A lambda gets its name from the
// workflow: check_1, action_2.
func (l *loader) called(word string, kind message.StepKind, site syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [3]starlark.Value
	if err := language.Bind(word, []string{"name", "run", "after"}, 2, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	name, what, err := nameAndFunction(word, [2]starlark.Value{in[0], in[1]}, "a function")
	if err != nil {
		return nil, err
	}
	fn, ok := what.(*starlark.Function)
	if !ok {
		if what == nil {
			return nil, language.Faultf("%s: a function is missing", word).Do("write %s(function)", word)
		}
		return nil, language.Faultf("%s: give a function, not %s", word, language.Describe(what)).In("#" + strconv.Itoa(len(args)))
	}
	l.role(roleOf(kind), word, fn, in[2] != nil)
	after, err := language.Names(word, "after", "names", in[2])
	return &stepValue{Opaque: language.Opaque{Kind: word}, kind: kind, name: name, fn: fn, after: after, placed: in[2] != nil, site: site}, err
}

func (l *loader) metric(site syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [4]starlark.Value
	if err := language.Bind("metric", []string{"name", "kind", "value", "after"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	name, ok := in[0].(starlark.String)
	if !ok {
		return nil, language.Faultf("metric: the first argument must be its name").In("#1")
	}
	if err := language.CheckName("metric", "#1", string(name)); err != nil {
		return nil, err
	}
	kinds := []string{"counter", "rate", "distribution"}
	kind, ok := in[1].(starlark.String)
	if !ok || !slices.Contains(kinds, string(kind)) {
		if in[1] == nil {
			return nil, language.Faultf("metric %q: kind is missing", string(name)).Do("kind = \"counter\", \"rate\" or \"distribution\"")
		}
		return nil, language.Faultf("metric %q: kind must not be %s", string(name), language.Describe(in[1])).In("kind").Meant(string(kind), kinds)
	}
	fn, ok := in[2].(*starlark.Function)
	if !ok {
		if in[2] == nil {
			return nil, language.Faultf("metric %q: value is missing", string(name)).Do("value = a function that returns a number")
		}
		return nil, language.WrongType("metric", "value", "a function that returns a number", in[2])
	}
	l.role(inspect.Metric, "metric", fn, in[3] != nil)
	after, err := language.Names("metric", "after", "names", in[3])
	return &stepValue{Opaque: language.Opaque{Kind: "metric"}, kind: message.StepMetric, name: string(name), fn: fn, after: after, placed: in[3] != nil, unit: string(kind), site: site}, err
}

// readExpect reads what a good response is like, for a step or a function's request.
func readExpect(fn, of string, v starlark.Value) (all []extract.Expect, err error) {
	if v == nil {
		return nil, nil
	}
	values, err := language.List(fn, "expect", "conditions", v)
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		e, ok := v.(*extract.ExpectValue)
		if !ok {
			f := language.Faultf("%s: expect has %s in it", of, language.Describe(v)).In("expect").At(i)
			return nil, f.Do("use status, header_is, body_contains, json_is, latency_below or size_below")
		}
		all = append(all, e.Expect)
	}
	return all, nil
}

// readExtract reads a step's extract.
func (s *stepValue) readExtract(v starlark.Value) error {
	if v == nil {
		return nil
	}
	const like = "a dict such as {\"token\": json_path(\"$.token\")}"
	d, ok := v.(*starlark.Dict)
	if !ok {
		return language.WrongType("step", "extract", like, v)
	}
	for _, kv := range d.Items() {
		name, ok := kv[0].(starlark.String)
		if !ok {
			return language.WrongType("step", "extract", like, kv[0])
		}
		if err := language.CheckName("step", "extract", string(name)); err != nil {
			return err
		}
		e, ok := kv[1].(*extract.Value)
		if !ok {
			f := language.Faultf("step %q: extract has %s for %q", s.name, language.Describe(kv[1]), string(name)).In("extract")
			return f.Do("use json_path, regex, css, xpath, header, cookie or form_value")
		}
		s.extract = append(s.extract, extract.Named{Name: string(name), Extract: e.Extract})
	}
	return nil
}
