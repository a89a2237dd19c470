package workflow

import (
	"slices"
	"strconv"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/message"
	"hyperscale/core/plan"
)

// nameAndFunction reads the two shapes (fn, ...) and (name, fn, ...).
func nameAndFunction(fn string, v [2]starlark.Value, want string) (name string, what starlark.Value, err error) {
	what = v[0]
	if s, ok := v[0].(starlark.String); ok {
		if err := checkName(fn, "#1", string(s)); err != nil {
			return "", nil, err
		}
		if v[1] == nil {
			return "", nil, faultf("%s(%q): %s is missing", fn, string(s), want).do("write %s(%q, ...)", fn, string(s))
		}
		return string(s), v[1], nil
	}
	if v[1] != nil {
		return "", nil, faultf("%s: the name must be a text, not %s", fn, describe(v[0])).in("#1")
	}
	if f, ok := what.(*starlark.Function); ok && f.Name() != "lambda" {
		name = f.Name()
	}
	return name, what, nil
}

func (l *loader) step(site syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [8]starlark.Value
	if err := bind("step", []string{"name", "run", "after", "weight", "when", "tags", "extract", "expect"}, 2, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	name, what, err := nameAndFunction("step", [2]starlark.Value{in[0], in[1]}, "a request or a function")
	if err != nil {
		return nil, err
	}
	s := &stepValue{opaque: opaque{"step"}, name: name, site: site}
	switch what := what.(type) {
	case *requestValue:
		s.kind, s.request, s.asked = message.StepRequest, what.request, what.asked
	case *starlark.Function:
		s.kind, s.fn = message.StepFunction, what
	case nil:
		return nil, faultf("step: a request or a function is missing").do("write step(\"name\", http.get(url)) or step(function)")
	default:
		return nil, faultf("step: give a request or a function, not %s", describe(what)).in("#" + strconv.Itoa(len(args)))
	}
	if name == "" {
		return nil, faultf("step: %s needs a name", describe(what)).in("#1").do("write step(\"name\", ...)")
	}
	if s.after, err = names("step", "after", "names", in[2]); err != nil {
		return nil, err
	}
	if err := s.options(in[3], in[4], in[5]); err != nil {
		return nil, err
	}
	if err := s.readExtract(in[6]); err != nil {
		return nil, err
	}
	if err := s.readExpect(in[7]); err != nil {
		return nil, err
	}
	if s.request != nil && s.request.GraphQL {
		s.expect = append(s.expect, graphqlExpect())
	}
	return s, s.requestOnly()
}

// options reads what only measured steps have.
func (s *stepValue) options(weight, when, tags starlark.Value) (err error) {
	if weight != nil {
		if i, ok := weight.(starlark.Int); ok && i.Sign() == 0 {
			return faultf("step %q has a weight of 0, it would never run", s.name).in("weight").do("take the step out, or give it a weight of 1 or more")
		}
		n, err := integer("step", "weight", weight, 1, plan.WeightMax)
		if err != nil {
			return err
		}
		s.weight = uint32(n)
	}
	if when != nil {
		var ok bool
		if s.when, ok = when.(*starlark.Function); !ok {
			return wrongType("step", "when", "a function that returns True or False", when).do("write when = lambda vu: vu.iteration == 1, say")
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
	if err := bind(word, []string{"name", "run", "after"}, 2, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	name, what, err := nameAndFunction(word, [2]starlark.Value{in[0], in[1]}, "a function")
	if err != nil {
		return nil, err
	}
	fn, ok := what.(*starlark.Function)
	if !ok {
		if what == nil {
			return nil, faultf("%s: a function is missing", word).do("write %s(function, after = [...])", word)
		}
		return nil, faultf("%s: give a function, not %s", word, describe(what)).in("#" + strconv.Itoa(len(args)))
	}
	after, err := names(word, "after", "names", in[2])
	return &stepValue{opaque: opaque{word}, kind: kind, name: name, fn: fn, after: after, site: site}, err
}

func (l *loader) metric(site syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [4]starlark.Value
	if err := bind("metric", []string{"name", "kind", "value", "after"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	name, ok := in[0].(starlark.String)
	if !ok {
		return nil, faultf("metric: the first argument must be its name").in("#1")
	}
	if err := checkName("metric", "#1", string(name)); err != nil {
		return nil, err
	}
	kinds := []string{"counter", "rate", "distribution"}
	kind, ok := in[1].(starlark.String)
	if !ok || !slices.Contains(kinds, string(kind)) {
		if in[1] == nil {
			return nil, faultf("metric %q: kind is missing", string(name)).do("kind = \"counter\", \"rate\" or \"distribution\"")
		}
		return nil, faultf("metric %q: kind must not be %s", string(name), describe(in[1])).in("kind").meant(string(kind), kinds)
	}
	fn, ok := in[2].(*starlark.Function)
	if !ok {
		if in[2] == nil {
			return nil, faultf("metric %q: value is missing", string(name)).do("value = a function that returns a number")
		}
		return nil, wrongType("metric", "value", "a function that returns a number", in[2])
	}
	after, err := names("metric", "after", "names", in[3])
	return &stepValue{opaque: opaque{"metric"}, kind: message.StepMetric, name: string(name), fn: fn, after: after, unit: string(kind), site: site}, err
}
