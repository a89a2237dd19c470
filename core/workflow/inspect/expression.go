package inspect

import (
	"fmt"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"

	"hyperscale/core/workflow/language"
)

// expr walks an expression.
func (w *walker) expr(e syntax.Expr) value {
	w.p.work++
	if e == nil || w.env == nil || w.p.work > workMax || w.depth > depthMax {
		return value{}
	}
	w.depth++
	v := w.node(e)
	w.depth--
	if v.knowledge == never && !w.p.silent {
		return value{}
	}
	return v
}

func (w *walker) node(e syntax.Expr) value {
	switch e := e.(type) {
	case *syntax.ParenExpr:
		return w.expr(e.X)
	case *syntax.Literal:
		if v, ok := constant(e); ok {
			return exactly(v)
		}
		return value{knowledge: known, like: starlark.MakeInt(1)} // a large whole number
	case *syntax.Ident:
		return w.ident(e)
	case *syntax.DotExpr:
		return w.attribute(e, w.expr(e.X))
	case *syntax.CallExpr:
		return w.call(e)
	case *syntax.BinaryExpr:
		return w.operation(e)
	case *syntax.UnaryExpr:
		return w.p.unary(e, w.expr(e.X))
	case *syntax.CondExpr:
		return w.conditional(e)
	case *syntax.IndexExpr:
		return w.index(e, w.expr(e.X), w.expr(e.Y))
	case *syntax.SliceExpr:
		return w.slice(e)
	case *syntax.LambdaExpr:
		w.parameters(e.Params)
		if fn, ok := e.Function.(*resolve.Function); ok && fn != nil {
			return value{knowledge: known, fn: w.p.at[place(fn.Pos)]}
		}
		return value{}
	}
	return w.container(e)
}

// container walks what is written with brackets.
func (w *walker) container(e syntax.Expr) value {
	switch e := e.(type) {
	case *syntax.TupleExpr:
		v := value{knowledge: known, like: starlark.Tuple{}, elems: []value{}}
		for _, x := range e.List {
			v.elems = append(v.elems, w.expr(x))
		}
		return v
	case *syntax.ListExpr:
		for _, x := range e.List {
			w.expr(x)
		}
		return value{knowledge: known, like: starlark.NewList(nil)}
	case *syntax.DictExpr:
		w.dict(e)
		return value{knowledge: known, like: starlark.NewDict(0)}
	case *syntax.Comprehension:
		return w.comprehension(e)
	}
	return value{}
}

// dict rejects a key that is written twice.
func (w *walker) dict(e *syntax.DictExpr) {
	seen := map[string]bool{}
	for _, x := range e.List {
		entry, ok := x.(*syntax.DictEntry)
		if !ok {
			continue
		}
		k := w.expr(entry.Key)
		w.expr(entry.Value)
		if k.knowledge == known && k.exact && k.like != nil && scalar(k.like) {
			text := k.like.Type() + k.like.String()
			if seen[text] {
				w.p.find(entry.Key, false, "the dict has the key "+language.Clip(k.like.String(), 40)+" twice", "take one of them out")
			}
			seen[text] = true
		}
	}
}

func (w *walker) comprehension(e *syntax.Comprehension) value {
	for _, clause := range e.Clauses {
		switch c := clause.(type) {
		case *syntax.ForClause:
			w.iterable(c.X, w.expr(c.X))
			w.assign(c.Vars, value{})
		case *syntax.IfClause:
			w.expr(c.Cond)
		}
	}
	if entry, ok := e.Body.(*syntax.DictEntry); ok {
		w.expr(entry.Key)
		w.expr(entry.Value)
	} else {
		w.expr(e.Body)
	}
	if e.Curly {
		return value{knowledge: known, like: starlark.NewDict(0)}
	}
	return value{knowledge: known, like: starlark.NewList(nil)}
}

// parameters walks the defaults of a function, which its surroundings compute.
func (w *walker) parameters(params []syntax.Expr) {
	for _, p := range params {
		if d, ok := p.(*syntax.BinaryExpr); ok {
			w.expr(d.Y)
		}
	}
}

func (w *walker) ident(e *syntax.Ident) value {
	b, ok := e.Binding.(*resolve.Binding)
	if !ok {
		return value{}
	}
	switch b.Scope {
	case resolve.Local:
		if w.fn == nil { // a name that load binds, or a variable of a comprehension
			if fn := w.p.functionOf(w.file, e); fn != nil {
				return value{knowledge: known, fn: fn, path: e.Name}
			}
			return value{}
		}
		if b.Index >= len(w.env) {
			return value{}
		}
		v := w.env[b.Index]
		if v.knowledge == unset {
			w.unset(e)
			return value{}
		}
		return v
	case resolve.Free:
		if _, ok := w.file.loaded[b.First]; ok {
			return w.p.global(w.file, e, w.live)
		}
	case resolve.Global:
		if w.fn == nil && w.p.functionOf(w.file, e) == nil {
			return value{} // it may not have its value yet
		}
		return w.p.global(w.file, e, w.live)
	case resolve.Predeclared:
		if v := w.p.lang.Predeclared()[e.Name]; v != nil {
			return value{knowledge: known, like: v, exact: true, path: e.Name}
		}
	case resolve.Universal:
		if v := starlark.Universe[e.Name]; v != nil {
			return value{knowledge: known, like: v, exact: true, path: e.Name}
		}
	}
	return value{}
}

// unset reports a variable that has no value on any path.
func (w *walker) unset(e *syntax.Ident) {
	remedy := "give it a value above this line"
	_, declared := w.file.Globals[e.Name]
	if declared || w.file.defs[e.Name] != nil || w.file.literal[e.Name] != nil {
		remedy = fmt.Sprintf("a function cannot change the file's %s: keep it in vu.vars[%q], or give this one another name", e.Name, e.Name)
	}
	w.p.find(e, false, e.Name+" is read before this function gives it a value", remedy)
	if b := e.Binding.(*resolve.Binding); b.Index < len(w.env) {
		w.env[b.Index] = value{} // one report is enough
	}
}

// attribute finds x.name where Starlark will: in the object itself.
func (w *walker) attribute(e *syntax.DotExpr, x value) value {
	name := e.Name.Name
	if x.knowledge != known {
		return value{knowledge: x.knowledge}
	}
	if x.fn != nil {
		w.p.find(e.Name, false, fmt.Sprintf("a function has no %q", name), "call it: "+x.fn.title()+"(...)")
		return value{}
	}
	var names []string
	if has, ok := x.like.(starlark.HasAttrs); ok {
		v, err := has.Attr(name)
		if err == nil && v != nil {
			return w.member(x, name, v)
		}
		for _, n := range has.AttrNames() {
			if n == name {
				return value{} // it exists during a run
			}
			names = append(names, n)
		}
	}
	holder := x.holder()
	remedy := Attribute(holder, name)
	if remedy == "" && callable(x.like) && x.path != "" {
		if _, ok := x.like.(starlark.HasAttrs); !ok {
			remedy = calling(e.X, x)
		}
	}
	if _, keys := x.like.(starlark.Mapping); keys && remedy == "" {
		if language.Nearest(name, names) == "" {
			remedy = fmt.Sprintf("write [%q] for the value of a key", name)
		}
	}
	if remedy == "" && holder != "NoneType" {
		remedy = language.Faultf("").Meant(name, names).Remedy
	}
	w.p.find(e.Name, false, fmt.Sprintf("%s has no %q", x.noun(), name), remedy)
	return value{}
}

// member returns an attribute that exists.
func (w *walker) member(x value, name string, v starlark.Value) value {
	out := value{knowledge: known, like: v, path: name}
	if x.path != "" {
		out.path = x.path + "." + name
	}
	_, namespace := v.(*language.Namespace)
	switch x.like.(type) {
	case *starlarkstruct.Struct:
		if callable(v) || namespace {
			return value{}
		}
	case *language.Namespace:
		out.exact = x.exact
	default:
		out.exact = x.exact || x.path == "vu" && (callable(v) || namespace)
		out.frozen = x.frozen
	}
	switch {
	case v == starlark.None:
		return value{} // a real one may have another value
	case callable(v), namespace:
		return out
	case scalar(v):
		if !out.exact {
			return typed(v)
		}
		return out
	}
	if _, ok := v.(*starlark.Function); ok {
		return value{}
	}
	switch v.(type) {
	case *starlark.Dict, *starlark.List, *starlark.Set, starlark.Tuple:
		return typed(v)
	}
	out.exact = false
	return out
}

func (w *walker) conditional(e *syntax.CondExpr) value {
	cond := w.expr(e.Cond)
	if take, ok := decided(cond); ok {
		if take {
			return w.expr(e.True)
		}
		return w.expr(e.False)
	}
	return join(w.expr(e.True), w.expr(e.False))
}

// index checks x[y].
func (w *walker) index(e *syntax.IndexExpr, x, y value) value {
	if x.knowledge != known {
		return value{knowledge: x.knowledge}
	}
	if x.fn != nil || callable(x.like) {
		remedy := ""
		if x.path != "" {
			remedy = calling(e.X, x) + "[...]"
		}
		w.p.find(e, false, "a function has no elements", remedy)
		return value{}
	}
	if _, ok := x.like.(starlark.Mapping); ok {
		return value{}
	}
	_, indexed := x.like.(starlark.Indexable)
	_, isBytes := x.like.(starlark.Bytes)
	switch {
	case !indexed && !isBytes:
		w.p.find(e, false, x.noun()+" has no elements", Attribute(x.holder(), "[]"))
	case y.knowledge == known && y.like != nil && !y.is("int"):
		w.p.find(e.Y, false, fmt.Sprintf("an element of %s has a number, not %s", x.noun(), y.noun()), "write [0] for the first one")
	case x.elems != nil:
		return w.elementOf(e, x, y)
	case x.is("string"):
		return typed(starlark.String(""))
	case isBytes:
		return typed(starlark.MakeInt(0))
	}
	return value{}
}

// elementOf returns one of the written elements.
func (w *walker) elementOf(e *syntax.IndexExpr, x, y value) value {
	if !y.exact {
		return value{}
	}
	i, err := starlark.AsInt32(y.like)
	if err != nil {
		return value{}
	}
	if i < 0 {
		i += len(x.elems)
	}
	if i < 0 || i >= len(x.elems) {
		w.p.find(e.Y, false, fmt.Sprintf("the tuple has %d elements", len(x.elems)), "the first one has the number 0")
		return value{}
	}
	return x.elems[i]
}

func (w *walker) slice(e *syntax.SliceExpr) value {
	x := w.expr(e.X)
	for _, part := range []syntax.Expr{e.Lo, e.Hi, e.Step} {
		if part != nil {
			w.expr(part)
		}
	}
	if x.knowledge != known || x.like == nil {
		return value{}
	}
	switch x.like.(type) {
	case starlark.String, starlark.Bytes, *starlark.List:
		return typed(x.like)
	case starlark.Sliceable:
		return value{}
	}
	w.p.find(e, false, x.noun()+" has no parts to take", "")
	return value{}
}
