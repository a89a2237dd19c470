package builtin

import (
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"regexp"
	"regexp/syntax"
	"strings"

	"go.starlark.net/starlark"
)

// Pattern is the result of regex.compile.
type Pattern struct {
	language.Opaque
	Re   *regexp.Regexp
	Cost int // instructions, about
}

// Bounds of regular expressions. A match takes at most the product of the pattern's cost and
// the text's length; both are checked before it begins.
const (
	patternMax     = 1_000    // bytes of a pattern
	patternCostMax = 10_000   // instructions of one
	PatternWorkMax = 64 << 20 // cost times bytes of text: about a second
)

// Regex is the module regex (RE2).
func Regex() *language.Namespace {
	two := []string{"pattern", "text"}
	return language.NewNamespace("regex", starlark.StringDict{
		"compile": function("regex.compile", "compile", []string{"pattern"}, 1, 1, func(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
			return CompilePattern(thread, "regex.compile", in[0])
		}),
		"find": function("regex.find", "find", two, 2, 2, func(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
			p, text, err := matching(thread, "regex.find", in)
			if err != nil {
				return nil, err
			}
			return found(text, p.Re.FindStringSubmatchIndex(text)), nil
		}),
		"match": function("regex.match", "match", two, 2, 2, func(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
			p, text, err := matching(thread, "regex.match", in)
			if err != nil {
				return nil, err
			}
			at := p.Re.FindStringSubmatchIndex(text)
			if at == nil {
				return starlark.None, nil
			}
			if err := guard.MeterOf(thread).Elements(thread, "regex.match", len(at)/2); err != nil {
				return nil, err
			}
			groups := make([]starlark.Value, len(at)/2)
			for i := range groups {
				groups[i] = group(text, at, i)
			}
			return starlark.NewList(groups), nil
		}),
		"find_all": function("regex.find_all", "find_all", two, 2, 2, func(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
			_, text, all, err := matches(thread, "regex.find_all", in)
			if err != nil {
				return nil, err
			}
			out := make([]starlark.Value, len(all))
			for i, at := range all {
				out[i] = found(text, at)
			}
			return starlark.NewList(out), nil
		}),
		"split": function("regex.split", "split", two, 2, 2, func(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
			_, text, all, err := matches(thread, "regex.split", in)
			if err != nil {
				return nil, err
			}
			var out []starlark.Value
			from := 0
			for _, at := range all {
				out = append(out, starlark.String(text[from:at[0]]))
				from = at[1]
			}
			return starlark.NewList(append(out, starlark.String(text[from:]))), nil
		}),
		"replace": function("regex.replace", "replace", []string{"pattern", "text", "replacement"}, 3, 3, regexReplace),
	})
}

// CompilePattern compiles a pattern, unless it is already compiled.
func CompilePattern(thread *starlark.Thread, fn string, v starlark.Value) (*Pattern, error) {
	if p, ok := v.(*Pattern); ok {
		return p, nil
	}
	text, err := Content(fn, "pattern", v, patternMax)
	if err != nil {
		return nil, err
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, language.Faultf("%s: the pattern %q cannot be read: %s", fn, language.Clip(text, 60), strings.TrimPrefix(err.Error(), "error parsing regexp: ")).In("pattern").Do("patterns are RE2's: without back references and look-around")
	}
	cost := patternCost(parsed, 0)
	if cost > patternCostMax {
		return nil, language.Faultf("%s: the pattern %q is too large when its repetitions are written out", fn, language.Clip(text, 60)).In("pattern").Do("repeat less: {1,1000} writes a thousand of them")
	}
	thread.Steps += uint64(cost)*10 + 200
	if err := guard.MeterOf(thread).Charge(thread, 200*cost); err != nil {
		return nil, err
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, language.Faultf("%s: the pattern %q cannot be read: %v", fn, language.Clip(text, 60), err).In("pattern")
	}
	return &Pattern{language.Opaque{Kind: "pattern"}, re, cost}, nil
}

// patternCost returns about the number of a pattern's instructions.
func patternCost(re *syntax.Regexp, depth int) int {
	if depth > patternMax {
		return patternCostMax + 1
	}
	cost := 1 + len(re.Rune)/8
	for _, sub := range re.Sub {
		cost = min(cost+patternCost(sub, depth+1), patternCostMax+1)
	}
	if re.Op == syntax.OpRepeat {
		cost *= max(re.Min, re.Max, 1)
	}
	return min(cost, patternCostMax+1)
}

// matching reads a pattern and a text, and admits the work.
func matching(thread *starlark.Thread, fn string, in []starlark.Value) (*Pattern, string, error) {
	p, err := CompilePattern(thread, fn, in[0])
	if err != nil {
		return nil, "", err
	}
	m := guard.MeterOf(thread)
	text, err := Content(fn, "text", in[1], m.Limits.ValueBytes)
	if err != nil {
		return nil, "", err
	}
	work := p.Cost * (len(text) + 1)
	if work > PatternWorkMax {
		return nil, "", language.Faultf("%s: the pattern takes too long on %s of text", fn, guard.Size(uint64(len(text)))).In("text").Do("match a part of the text, or repeat less in the pattern")
	}
	thread.Steps += uint64(work) / 16
	return p, text, m.Charge(thread, 64)
}

// matches finds all matches, at most as many as a list may have.
func matches(thread *starlark.Thread, fn string, in []starlark.Value) (*Pattern, string, [][]int, error) {
	p, text, err := matching(thread, fn, in)
	if err != nil {
		return nil, "", nil, err
	}
	m := guard.MeterOf(thread)
	all := p.Re.FindAllStringSubmatchIndex(text, m.Limits.Elements+1)
	return p, text, all, m.Elements(thread, fn, len(all)*(2+p.Re.NumSubexp()))
}

// found returns the result of find: the first group if there is one, else the whole match.
func found(text string, at []int) starlark.Value {
	if at == nil {
		return starlark.None
	}
	return group(text, at, min(1, len(at)/2-1))
}

func group(text string, at []int, i int) starlark.Value {
	if at[2*i] < 0 {
		return starlark.None
	}
	return starlark.String(text[at[2*i]:at[2*i+1]])
}

// regexReplace checks its result while it grows.
func regexReplace(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
	p, text, all, err := matches(thread, "regex.replace", in)
	if err != nil {
		return nil, err
	}
	m := guard.MeterOf(thread)
	with, err := Content("regex.replace", "replacement", in[2], m.Limits.ValueBytes)
	if err != nil {
		return nil, err
	}
	var b []byte
	from := 0
	for _, at := range all {
		b = append(b, text[from:at[0]]...)
		from = at[1]
		if len(b)+len(with) > m.Limits.ValueBytes {
			return nil, m.Text(thread, "regex.replace", len(b)+len(with))
		}
		// The replacement may contain a group many times, each as long as the text.
		if len(text)*strings.Count(with, "$") > m.Limits.ValueBytes {
			return nil, m.Text(thread, "regex.replace", len(text)*strings.Count(with, "$"))
		}
		b = p.Re.ExpandString(b, with, text, at)
	}
	b = append(b, text[from:]...)
	return starlark.String(b), m.Text(thread, "regex.replace", len(b))
}
