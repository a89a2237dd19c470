package workflow

import (
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
)

// inlined is a function that only returns an expression of its arguments, as most checks
// (`return get.status == 200`) and many steps (`return vu.http.get(URL)`) do. It needs no
// interpreter, whose call would cost more than the rest. It evaluates with Starlark's own
// operations. On any error it leaves the call to the interpreter, which reports what is wrong
// and where: until then nothing has happened.
type inlined struct {
	value term
	send  *guard.Func // of vu.http, called with args and kwargs; nil: value is the result
	args  []term
	names []starlark.Value // of the last elements of args
	fixed starlark.Tuple   // args, if all of them are constants without a name; else nil
}

// term is an expression: a value, or a function of the arguments. False says that only the
// interpreter can evaluate it.
type term struct {
	value starlark.Value // nil: it depends on the arguments
	of    func(args starlark.Tuple) (starlark.Value, bool)
}

func (e term) eval(args starlark.Tuple) (starlark.Value, bool) {
	if e.value != nil {
		return e.value, true
	}
	return e.of(args)
}

// run calls the function. False says that nothing has happened.
func (d *inlined) run(thread *starlark.Thread, args starlark.Tuple) (starlark.Value, bool) {
	if d.send == nil {
		return d.value.eval(args)
	}
	given, named := d.fixed, []starlark.Tuple(nil)
	if given == nil {
		given = make(starlark.Tuple, len(d.args))
		for i, e := range d.args {
			v, ok := e.eval(args)
			if !ok {
				return nil, false
			}
			given[i] = v
		}
		n := len(d.args) - len(d.names)
		for i, name := range d.names {
			named = append(named, starlark.Tuple{name, given[n+i]})
		}
		given = given[:n]
	}
	value, err := d.send.Call(thread, given, named) // an error occurs before it sends, or never
	return value, err == nil
}

// directly returns the inlined form of a function, nil if it has none.
func (l *loader) directly(fn *starlark.Function, shared *language.Namespace) *inlined {
	f := l.plain[fn.Position()]
	if f == nil || f.HasVarargs || f.HasKwargs || f.NumKwonlyParams > 0 {
		return nil
	}
	for _, p := range f.Params {
		if _, ok := p.(*syntax.Ident); !ok {
			return nil
		}
	}
	t := translator{globals: fn.Globals(), predeclared: l.predeclared, shared: shared}
	return t.function(f.Body[len(f.Body)-1].(*syntax.ReturnStmt).Result)
}

// remember keeps the functions of a resolved file that consist of one return, after a docstring
// if they have one.
func (l *loader) remember(file *syntax.File) {
	syntax.Walk(file, func(n syntax.Node) bool {
		var f *resolve.Function
		switch n := n.(type) {
		case *syntax.DefStmt:
			f, _ = n.Function.(*resolve.Function)
		case *syntax.LambdaExpr:
			f, _ = n.Function.(*resolve.Function)
		}
		if f == nil || len(f.Body) == 0 || len(f.Body) > 2 {
			return true
		}
		if len(f.Body) == 2 {
			if doc, ok := f.Body[0].(*syntax.ExprStmt); !ok || !isLiteral(doc.X) {
				return true
			}
		}
		if r, ok := f.Body[len(f.Body)-1].(*syntax.ReturnStmt); ok && r.Result != nil {
			l.plain[f.Pos] = f
		}
		return true
	})
}

func isLiteral(e syntax.Expr) bool {
	_, ok := e.(*syntax.Literal)
	return ok
}

// translator makes terms of one function's expressions.
type translator struct {
	globals, predeclared starlark.StringDict
	shared               *language.Namespace // vu.http
}

// function translates the returned expression. Only there may a request occur: an expression
// after the request could fail once it is sent.
func (t translator) function(e syntax.Expr) *inlined {
	call, ok := e.(*syntax.CallExpr)
	if !ok {
		value, ok := t.term(e)
		if !ok {
			return nil
		}
		return &inlined{value: value}
	}
	d := &inlined{send: t.sender(call.Fn)}
	if d.send == nil {
		return nil
	}
	constant := true
	for _, arg := range call.Args {
		if b, ok := arg.(*syntax.BinaryExpr); ok && b.Op == syntax.EQ {
			d.names = append(d.names, starlark.String(b.X.(*syntax.Ident).Name))
			arg = b.Y
		}
		if u, ok := arg.(*syntax.UnaryExpr); ok && (u.Op == syntax.STAR || u.Op == syntax.STARSTAR) {
			return nil
		}
		value, ok := t.term(arg)
		if !ok {
			return nil
		}
		d.args = append(d.args, value)
		constant = constant && value.value != nil
	}
	if constant && len(d.names) == 0 {
		for _, e := range d.args {
			d.fixed = append(d.fixed, e.value)
		}
	}
	return d
}

// sender returns the function of vu.http that is called, if it is one.
func (t translator) sender(e syntax.Expr) *guard.Func {
	method, ok := e.(*syntax.DotExpr)
	if !ok {
		return nil
	}
	under, ok := method.X.(*syntax.DotExpr)
	if !ok || under.Name.Name != "http" {
		return nil
	}
	if vu, ok := under.X.(*syntax.Ident); !ok || !isParameter(vu, 0) {
		return nil
	}
	send, _ := t.shared.Members[method.Name.Name].(*guard.Func)
	return send
}

func isParameter(e *syntax.Ident, index int) bool {
	b, ok := e.Binding.(*resolve.Binding)
	return ok && b.Scope == resolve.Local && b.Index == index
}

// term translates an expression, if it is of a kind that always ends soon.
func (t translator) term(e syntax.Expr) (term, bool) {
	switch e := e.(type) {
	case *syntax.ParenExpr:
		return t.term(e.X)
	case *syntax.Literal:
		return literal(e)
	case *syntax.Ident:
		return t.ident(e)
	case *syntax.DotExpr:
		x, ok := t.term(e.X)
		return attribute(x, e.Name.Name), ok
	case *syntax.UnaryExpr:
		if e.Op != syntax.NOT {
			return term{}, false
		}
		x, ok := t.term(e.X)
		return not(x), ok
	case *syntax.BinaryExpr:
		x, ok := t.term(e.X)
		y, also := t.term(e.Y)
		if !ok || !also {
			return term{}, false
		}
		return binary(e.Op, x, y)
	}
	return term{}, false
}

func literal(e *syntax.Literal) (term, bool) {
	switch v := e.Value.(type) {
	case int64:
		return term{value: starlark.MakeInt64(v)}, true
	case float64:
		return term{value: starlark.Float(v)}, true
	case string:
		if e.Token == syntax.BYTES {
			return term{value: starlark.Bytes(v)}, true
		}
		return term{value: starlark.String(v)}, true
	}
	return term{}, false
}

func (t translator) ident(e *syntax.Ident) (term, bool) {
	b, ok := e.Binding.(*resolve.Binding)
	if !ok {
		return term{}, false
	}
	var from starlark.StringDict
	switch b.Scope {
	case resolve.Local: // the function assigns nothing, so it is a parameter
		return term{of: func(args starlark.Tuple) (starlark.Value, bool) { return args[b.Index], true }}, true
	case resolve.Global: // frozen when functions run
		from = t.globals
	case resolve.Predeclared:
		from = t.predeclared
	case resolve.Universal:
		from = starlark.Universe
	}
	v := from[e.Name]
	return term{value: v}, v != nil
}

func attribute(x term, name string) term {
	return term{of: func(args starlark.Tuple) (starlark.Value, bool) {
		v, ok := x.eval(args)
		if !ok {
			return nil, false
		}
		has, ok := v.(starlark.HasAttrs)
		if !ok {
			return nil, false
		}
		v, err := has.Attr(name)
		return v, v != nil && err == nil
	}}
}

func not(x term) term {
	return term{of: func(args starlark.Tuple) (starlark.Value, bool) {
		v, ok := x.eval(args)
		if !ok {
			return nil, false
		}
		return !v.Truth(), true
	}}
}

// binary translates a comparison, or one of and, or, in, not in.
func binary(op syntax.Token, x, y term) (term, bool) {
	var join func(a, b starlark.Value) (starlark.Value, bool)
	switch op {
	case syntax.AND, syntax.OR:
		return shortened(op, x, y), true
	case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		join = func(a, b starlark.Value) (starlark.Value, bool) {
			is, err := starlark.Compare(op, a, b)
			return starlark.Bool(is), err == nil
		}
	case syntax.IN, syntax.NOT_IN:
		join = func(a, b starlark.Value) (starlark.Value, bool) {
			v, err := starlark.Binary(op, a, b)
			return v, err == nil
		}
	default:
		return term{}, false
	}
	return term{of: func(args starlark.Tuple) (starlark.Value, bool) {
		a, ok := x.eval(args)
		if !ok {
			return nil, false
		}
		b, ok := y.eval(args)
		if !ok {
			return nil, false
		}
		return join(a, b)
	}}, true
}

// shortened evaluates the right operand only if necessary.
func shortened(op syntax.Token, x, y term) term {
	return term{of: func(args starlark.Tuple) (starlark.Value, bool) {
		v, ok := x.eval(args)
		if !ok {
			return nil, false
		}
		if bool(v.Truth()) == (op == syntax.OR) {
			return v, true
		}
		return y.eval(args)
	}}
}
