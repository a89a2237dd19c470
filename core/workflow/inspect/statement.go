package inspect

import (
	"fmt"
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// block walks statements until one ends the path.
func (w *walker) block(list []syntax.Stmt) {
	for i, stmt := range list {
		if w.p.work > workMax {
			return
		}
		if w.env == nil {
			if i > 0 && ends(list[i-1]) {
				w.p.find(stmt, true, "this is never reached: the statement above it leaves the block", "take it out, or move it up")
			}
			return
		}
		w.statement(stmt)
	}
}

// ends reports the statements after which nothing of their block runs.
func ends(stmt syntax.Stmt) bool {
	switch s := stmt.(type) {
	case *syntax.ReturnStmt:
		return true
	case *syntax.BranchStmt:
		return s.Token != syntax.PASS
	}
	return false
}

func (w *walker) statement(stmt syntax.Stmt) {
	switch s := stmt.(type) {
	case *syntax.AssignStmt:
		w.assignment(s)
	case *syntax.BranchStmt:
		if s.Token != syntax.PASS {
			w.env = nil
		}
	case *syntax.DefStmt:
		w.parameters(s.Params)
		fn, _ := s.Function.(*resolve.Function)
		if fn != nil && w.fn != nil {
			w.bind(s.Name, value{knowledge: known, fn: w.p.at[place(fn.Pos)], path: s.Name.Name})
		}
	case *syntax.ExprStmt:
		v := w.expr(s.X)
		if call, ok := s.X.(*syntax.CallExpr); ok && isFail(call) {
			w.env = nil
		} else if v.knowledge == known && v.like != nil && callable(v.like) && v.path != "" && !ok {
			w.p.find(s.X, true, v.path+" is named here, and not called", "write "+v.path+"(...)")
		}
	case *syntax.ForStmt:
		w.iterable(s.X, w.expr(s.X))
		w.loop(s.Body, func() { w.assign(s.Vars, value{}) })
	case *syntax.WhileStmt:
		w.while(s)
	case *syntax.IfStmt:
		w.branches(s)
	case *syntax.ReturnStmt:
		at, v := syntax.Node(s), exactly(starlark.None)
		if s.Result != nil {
			at, v = s.Result, w.expr(s.Result)
		}
		if w.env != nil {
			w.results = append(w.results, result{at, v})
		}
		w.env = nil
	}
}

func isFail(call *syntax.CallExpr) bool {
	id, ok := call.Fn.(*syntax.Ident)
	if !ok || id.Name != "fail" {
		return false
	}
	b, ok := id.Binding.(*resolve.Binding)
	return ok && (b.Scope == resolve.Predeclared || b.Scope == resolve.Universal)
}

func (w *walker) branches(s *syntax.IfStmt) {
	cond := w.expr(s.Cond)
	if w.env == nil {
		return
	}
	if take, ok := decided(cond); ok {
		if take {
			w.block(s.True)
		} else {
			w.block(s.False)
		}
		return
	}
	before := w.copied()
	w.block(s.True)
	after := w.env
	w.env = before
	w.block(s.False)
	w.env = w.joined(after, w.env)
}

// decided reports the truth of a condition that is always the same.
func decided(v value) (truth, ok bool) {
	if v.knowledge != known || !v.exact || v.like == nil || !scalar(v.like) {
		return false, false
	}
	return bool(v.like.Truth()), true
}

func (w *walker) copied() []value {
	w.p.work += len(w.env)
	return slices.Clone(w.env)
}

func (w *walker) joined(a, b []value) []value {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	w.p.work += len(a)
	for i := range a {
		if a[i].knowledge == known || a[i].knowledge == unset || b[i].knowledge != a[i].knowledge {
			a[i] = join(a[i], b[i])
		}
	}
	return a
}

// loop walks a body that runs any number of times: what it assigns is unknown, before, in and
// after it.
func (w *walker) loop(body []syntax.Stmt, begin func()) {
	if w.env == nil {
		return
	}
	w.widen(body)
	begin()
	after := w.copied()
	w.block(body)
	w.env = after
}

// widen forgets the variables that the statements assign.
func (w *walker) widen(body []syntax.Stmt) {
	forget := func(id *syntax.Ident) { w.bind(id, value{}) }
	for _, stmt := range body {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			w.p.work++
			switch n := n.(type) {
			case *syntax.AssignStmt:
				targets(n.LHS, forget)
			case *syntax.ForStmt:
				targets(n.Vars, forget)
			case *syntax.DefStmt:
				forget(n.Name)
				return false
			case *syntax.LambdaExpr:
				return false
			}
			return true
		})
	}
}

func (w *walker) while(s *syntax.WhileStmt) {
	w.widen(s.Body)
	cond := w.expr(s.Cond)
	take, sure := decided(cond)
	if sure && !take {
		return
	}
	w.loop(s.Body, func() {})
	if sure && !breaks(s.Body) {
		w.env = nil
	}
}

// breaks reports a break of this loop, and not of one in it.
func breaks(body []syntax.Stmt) bool {
	return slices.ContainsFunc(body, func(stmt syntax.Stmt) bool {
		switch s := stmt.(type) {
		case *syntax.BranchStmt:
			return s.Token == syntax.BREAK
		case *syntax.IfStmt:
			return breaks(s.True) || breaks(s.False)
		}
		return false
	})
}

func (w *walker) assignment(s *syntax.AssignStmt) {
	if s.Op == syntax.EQ {
		w.assign(s.LHS, w.expr(s.RHS))
		return
	}
	op := s.Op - syntax.PLUS_EQ + syntax.PLUS
	lhs := s.LHS
	for {
		paren, ok := lhs.(*syntax.ParenExpr)
		if !ok {
			break
		}
		lhs = paren.X
	}
	var before value
	if _, ok := lhs.(*syntax.DotExpr); !ok {
		before = w.expr(lhs)
	}
	after := w.expr(s.RHS)
	if _, iterable := after.like.(starlark.Iterable); iterable && op == syntax.PLUS && before.is("list") {
		w.assign(lhs, before) // a list takes the elements of anything that has some
		return
	}
	w.assign(lhs, w.p.binary(s, op, lhs, s.RHS, before, after))
}

// assign gives a target its value.
func (w *walker) assign(target syntax.Expr, v value) {
	switch x := target.(type) {
	case *syntax.ParenExpr:
		w.assign(x.X, v)
	case *syntax.Ident:
		w.bind(x, v)
	case *syntax.TupleExpr:
		w.unpack(x, x.List, v)
	case *syntax.ListExpr:
		w.unpack(x, x.List, v)
	case *syntax.IndexExpr:
		w.element(x, w.expr(x.X), w.expr(x.Y))
	case *syntax.DotExpr:
		holder := w.expr(x.X)
		what := "a value"
		remedy := "keep it in a dict: vu.vars[" + starlark.String(x.Name.Name).String() + "] = ..."
		if holder.knowledge == known && holder.like != nil {
			what = holder.noun()
		}
		w.p.find(x, false, fmt.Sprintf("%s takes no new .%s: only elements of dicts and lists can be set", what, x.Name.Name), remedy)
	}
}

func (w *walker) unpack(at syntax.Expr, list []syntax.Expr, v value) {
	w.iterable(at, v)
	if v.knowledge == known && v.elems != nil && len(v.elems) != len(list) {
		w.p.find(at, false, fmt.Sprintf("%d names for %d values", len(list), len(v.elems)), "write as many names as values")
	}
	for i, x := range list {
		part := value{}
		if v.elems != nil && len(v.elems) == len(list) {
			part = v.elems[i]
		}
		w.assign(x, part)
	}
}

// element checks x[y] = v.
func (w *walker) element(at *syntax.IndexExpr, x, _ value) {
	if x.knowledge != known {
		return
	}
	if x.frozen {
		w.p.find(at, false, "what a file declares is frozen while virtual users run, and they share it", "keep values of a virtual user in vu.vars")
		return
	}
	if x.like == nil {
		return
	}
	switch x.like.(type) {
	case starlark.HasSetKey, starlark.HasSetIndex:
	default:
		w.p.find(at, false, fmt.Sprintf("elements of %s cannot be set", x.noun()), "make a new one, or use a list or a dict")
	}
}

// bind sets a local variable.
func (w *walker) bind(id *syntax.Ident, v value) {
	b, ok := id.Binding.(*resolve.Binding)
	if !ok || b.Scope != resolve.Local || b.Index >= len(w.env) {
		return
	}
	if v.knowledge == never || w.fn != nil && w.fn.inspected[id.Name] {
		v = value{}
	}
	w.env[b.Index] = v
}

// iterable rejects what cannot be iterated over.
func (w *walker) iterable(at syntax.Expr, v value) {
	if v.knowledge != known || v.like == nil {
		return
	}
	if _, ok := v.like.(starlark.Iterable); ok {
		return
	}
	remedy := ""
	switch {
	case v.is("int"):
		remedy = "write range(n)"
	case v.is("string"):
		remedy = "write text.elems() for its characters, text.splitlines() for its lines"
	case callable(v.like) && v.path != "":
		remedy = calling(at, v)
	}
	w.p.find(at, false, v.noun()+" has no elements to go through", remedy)
}
