package inspect

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
)

// arguments are those of one call.
type arguments struct {
	positional []value
	names      []string
	named      []value
	open       bool // *args or **kwargs: more may come
}

func (a *arguments) all() []value { return append(append([]value{}, a.positional...), a.named...) }

// asked is what a function of the language says about its arguments.
type asked struct {
	names      []string
	positional int
	rest       string
}

// argumentWork is what a parameter of a call costs, as work.
const argumentWork = 4

func (w *walker) call(e *syntax.CallExpr) value {
	f := w.expr(e.Fn)
	var in arguments
	for _, arg := range e.Args {
		switch a := arg.(type) {
		case *syntax.BinaryExpr:
			if a.Op == syntax.EQ {
				in.names = append(in.names, a.X.(*syntax.Ident).Name)
				in.named = append(in.named, w.expr(a.Y))
				continue
			}
		case *syntax.UnaryExpr:
			if a.Op == syntax.STAR || a.Op == syntax.STARSTAR {
				in.open = true
				w.expr(a.X)
				continue
			}
		}
		in.positional = append(in.positional, w.expr(arg))
	}
	if f.knowledge != known {
		return value{knowledge: f.knowledge}
	}
	if f.fn != nil {
		return w.own(e, f.fn, &in)
	}
	c, ok := f.like.(starlark.Callable)
	if !ok {
		w.uncalled(e, f)
		return value{}
	}
	return w.predeclared(e, f, c, &in)
}

// uncalled reports the call of what is no function.
func (w *walker) uncalled(e *syntax.CallExpr, f value) {
	remedy := "take the brackets out"
	if f.is("string") || f.is("list") || f.is("tuple") {
		remedy = "is a comma missing before the bracket?"
	}
	if r := Attribute(f.holder(), "()"); r != "" {
		remedy = r
	}
	w.p.find(e.Fn, false, f.noun()+" is not a function", remedy)
}

// own checks the call of a function of the program.
func (w *walker) own(e *syntax.CallExpr, fn *function, in *arguments) value {
	if w.fn == fn {
		w.p.find(e.Fn, false, fn.title()+" calls itself", language.RecursionRemedy("called recursively"))
	}
	if w.p.silent {
		fn.calledBy(w)
	}
	w.p.work += len(fn.node.Params) * (argumentWork + len(in.names))
	if w.p.work > workMax {
		return value{}
	}
	given := make([]value, len(fn.node.Params))
	for i := range given {
		given[i].knowledge = never
	}
	if in.open {
		for i := range given {
			given[i] = value{}
		}
	} else if !w.matched(e, fn, in, given) {
		return value{}
	}
	for i, v := range given {
		if merged := join(fn.params[i], v); !same(merged, fn.params[i]) {
			fn.params[i], w.p.changed = merged, true
		}
	}
	return fn.result
}

func (fn *function) calledBy(w *walker) {
	if w.fn == nil {
		fn.outside = true
		return
	}
	if !fn.callers[w.fn] {
		fn.callers[w.fn], w.p.changed = true, true
	}
}

// signature is what a function takes.
type signature struct {
	names []string // of its parameters
	most  int      // so many of them need no name
	takes string   // for messages
}

// takes returns the signature, which is made at the first call: a call costs what it gives.
func (fn *function) takes() *signature {
	if fn.signed != nil {
		return fn.signed
	}
	s := &signature{}
	star := false
	for _, param := range fn.node.Params {
		if _, ok := param.(*syntax.UnaryExpr); ok {
			star = true
			s.names = append(s.names, "*")
			continue
		}
		if !star {
			s.most++
		}
		s.names = append(s.names, paramName(param).Name)
	}
	s.takes = fmt.Sprintf("%s(%s)", fn.title(), strings.Join(s.names, ", "))
	fn.signed = s
	return s
}

// matched gives each parameter its argument; false: the call fails.
func (w *walker) matched(e *syntax.CallExpr, fn *function, in *arguments, given []value) bool {
	s := fn.takes()
	names, most, takes := s.names, s.most, s.takes
	if len(in.positional) > most && !fn.node.HasVarargs {
		w.p.find(e, false, fmt.Sprintf("%s takes %s, got %d", fn.title(), counted(most, "argument"), len(in.positional)), "its parameters: "+takes)
		return false
	}
	copy(given, in.positional[:min(most, len(in.positional))])
	for i, name := range in.names {
		at := -1
		for k, n := range names {
			if n == name {
				at = k
			}
		}
		switch {
		case at < 0 && fn.node.HasKwargs:
		case at < 0:
			f := language.Faultf("").Meant(name, names)
			w.p.find(e, false, fmt.Sprintf("%s has no parameter %q", fn.title(), name), f.Remedy)
			return false
		case at < min(most, len(in.positional)):
			w.p.find(e, false, fmt.Sprintf("%s gets its parameter %q twice", fn.title(), name), "its parameters: "+takes)
			return false
		default:
			given[at] = in.named[i]
		}
	}
	return w.complete(e, fn, given, takes)
}

// complete reports a parameter without default that gets nothing.
func (w *walker) complete(e *syntax.CallExpr, fn *function, given []value, takes string) bool {
	for i, param := range fn.node.Params {
		if w.p.work > workMax {
			return false
		}
		id, plain := param.(*syntax.Ident)
		if plain && given[i].knowledge == never && !w.gave(e, i, id.Name) {
			w.p.find(e, false, fmt.Sprintf("%s needs its parameter %q", fn.title(), id.Name), "its parameters: "+takes)
			return false
		}
		if !plain {
			given[i] = value{}
		}
	}
	return true
}

// gave reports that a call has an argument for a parameter: its value may be unknown as yet.
func (w *walker) gave(e *syntax.CallExpr, index int, name string) bool {
	w.p.work += len(e.Args)
	for i, arg := range e.Args {
		if b, ok := arg.(*syntax.BinaryExpr); ok && b.Op == syntax.EQ {
			if b.X.(*syntax.Ident).Name == name {
				return true
			}
			continue
		}
		if i == index {
			return true
		}
	}
	return false
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// predeclared checks the call of a function of the language or of Starlark.
func (w *walker) predeclared(e *syntax.CallExpr, f value, c starlark.Callable, in *arguments) value {
	switch c.(type) {
	case *guard.Func, guard.Callable, *starlark.Builtin:
	default:
		return value{}
	}
	t := trial{p: w.p, live: w.live, call: e, f: f, c: c, in: in}
	if !w.p.silent && !in.open {
		t.check()
	}
	return t.returned()
}
