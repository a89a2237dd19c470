package inspect

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

func (w *walker) operation(e *syntax.BinaryExpr) value {
	x := w.expr(e.X)
	if e.Op != syntax.AND && e.Op != syntax.OR {
		return w.p.binary(e, e.Op, e.X, e.Y, x, w.expr(e.Y))
	}
	if truth, ok := decided(x); ok {
		if truth == (e.Op == syntax.OR) {
			return x
		}
		return w.expr(e.Y)
	}
	y := w.expr(e.Y)
	if x.knowledge == known && x.like != nil && callable(x.like) && x.path != "" {
		w.p.find(e.X, true, x.path+" is a function, and so always true", calling(e.X, x))
	}
	return join(x, y)
}

// binary checks x op y, and returns its type.
func (p *program) binary(at syntax.Node, op syntax.Token, left, right syntax.Expr, x, y value) value {
	switch op {
	case syntax.EQL, syntax.NEQ:
		return p.equality(at, op, left, right, x, y)
	case syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		return p.order(at, op, left, right, x, y)
	case syntax.IN, syntax.NOT_IN:
		return p.membership(at, op, right, x, y)
	case syntax.SLASH, syntax.SLASHSLASH, syntax.PERCENT:
		if p.zero(op, right, x, y) {
			return value{}
		}
	}
	if x.knowledge == never || y.knowledge == never {
		return value{knowledge: never}
	}
	if op == syntax.PERCENT && x.is("string") {
		return p.format(at, x, y)
	}
	if x.knowledge != known || y.knowledge != known || x.fn != nil || y.fn != nil {
		return value{}
	}
	a, b := operand(op, x), operand(op, y)
	v, err := starlark.Binary(op, a, b)
	if err != nil {
		if strings.HasPrefix(err.Error(), "unknown binary op") || x.exact && y.exact {
			p.find(at, false, fmt.Sprintf("%s %s %s cannot be computed", x.noun(), op, y.noun()), mixed(op, left, right, x, y))
		}
		return value{}
	}
	if x.exact && y.exact && scalar(v) && op != syntax.STAR && op != syntax.LTLT {
		return exactly(v)
	}
	if _, ok := v.(starlark.HasAttrs); ok && !scalar(v) && v.Type() != "list" && v.Type() != "dict" && v.Type() != "set" {
		return value{knowledge: known, like: v, path: v.Type()}
	}
	return typed(v)
}

// operand returns what an operator is tried with: the value where it is small, else a small one of
// its type.
func operand(op syntax.Token, v value) starlark.Value {
	if !v.exact || op == syntax.LTLT || op == syntax.STAR {
		return typical(v.like)
	}
	return v.like
}

// mixed proposes how to convert one of two operands.
func mixed(op syntax.Token, left, right syntax.Expr, x, y value) string {
	for _, side := range []struct {
		v     value
		e     syntax.Expr
		other value
	}{{x, left, y}, {y, right, x}} {
		switch {
		case callable(side.v.like) && side.v.path != "":
			return calling(side.e, side.v)
		case side.v.is("duration"):
			return "write .milliseconds or .seconds behind the duration"
		case side.v.is("string") && op == syntax.PLUS && (side.other.is("int") || side.other.is("float") || side.other.is("bool")):
			return "write str(...) around the number, or \"%d\" % number"
		case side.v.is("bytes") && side.other.is("string"):
			return "write .text() in place of .body"
		case side.v.is("NoneType"):
			return "it is None: give it a value first"
		}
	}
	return "convert one of them: str(x), int(x), float(x)"
}

// zero reports a division by a constant zero.
func (p *program) zero(op syntax.Token, right syntax.Expr, x, y value) bool {
	if y.knowledge != known || !y.exact || !y.is("int") && !y.is("float") || bool(y.like.Truth()) {
		return false
	}
	if op == syntax.PERCENT && !x.is("int") && !x.is("float") {
		return false
	}
	p.find(right, false, "this divides by zero", "divide by another number, or test it before")
	return true
}

// equality reports comparisons of different types, which always have the same result.
func (p *program) equality(at syntax.Node, op syntax.Token, left, right syntax.Expr, x, y value) value {
	if x.knowledge != known || y.knowledge != known || x.fn != nil || y.fn != nil {
		return typed(starlark.False)
	}
	if x.exact && y.exact && scalar(x.like) && scalar(y.like) {
		if is, err := starlark.Compare(op, x.like, y.like); err == nil {
			return exactly(starlark.Bool(is))
		}
	}
	a, b := x.like.Type(), y.like.Type()
	number := func(t string) bool { return t == "int" || t == "float" }
	if a == b || number(a) && number(b) || a == "NoneType" || b == "NoneType" || a == "struct" || b == "struct" {
		return typed(starlark.False)
	}
	always := "True"
	if op == syntax.EQL {
		always = "False"
	}
	p.find(at, true, fmt.Sprintf("this is always %s: %s and %s are never equal", always, x.noun(), y.noun()), equalRemedy(left, right, x, y))
	return typed(starlark.False)
}

func equalRemedy(left, right syntax.Expr, x, y value) string {
	for _, s := range []struct {
		v, other value
		e        syntax.Expr
	}{{x, y, left}, {y, x, right}} {
		switch {
		case callable(s.v.like) && s.v.path != "":
			return calling(s.e, s.v)
		case s.v.is("duration"):
			return "write .milliseconds or .seconds behind the duration"
		case s.v.is("bytes") && s.other.is("string"):
			return "write .text() in place of .body, or b\"...\""
		case s.v.is("int") && s.other.is("string") && s.other.exact:
			return "write the number without quotes"
		}
	}
	return "convert one of them: str(x), int(x)"
}

// order reports comparisons of types that have no order.
func (p *program) order(at syntax.Node, op syntax.Token, left, right syntax.Expr, x, y value) value {
	out := typed(starlark.False)
	if x.knowledge != known || y.knowledge != known || x.fn != nil || y.fn != nil {
		return out
	}
	a, b := operand(op, x), operand(op, y)
	is, err := starlark.Compare(op, a, b)
	switch {
	case err == nil && x.exact && y.exact && scalar(a) && scalar(b):
		return exactly(starlark.Bool(is))
	case err != nil && (a.Type() != b.Type() || scalar(a)):
		p.find(at, false, fmt.Sprintf("%s and %s have no order: %s fails", x.noun(), y.noun(), op), mixed(op, left, right, x, y))
	}
	return out
}

// membership checks x in y.
func (p *program) membership(at syntax.Node, op syntax.Token, right syntax.Expr, x, y value) value {
	out := typed(starlark.False)
	if y.knowledge != known || y.like == nil || y.frozen {
		return out
	}
	a := starlark.Value(starlark.MakeInt(1))
	switch y.like.(type) {
	case starlark.String, starlark.Bytes:
		if x.knowledge != known || x.like == nil {
			return out
		}
		a = typical(x.like)
	case starlark.Iterable, starlark.Mapping:
		return out
	}
	if _, err := starlark.Binary(op, a, typical(y.like)); err == nil {
		return out
	}
	remedy := "write a list, a dict or a text on the right"
	switch {
	case callable(y.like) && y.path != "":
		remedy = calling(right, y)
	case y.is("bytes"):
		remedy = "write .text() in place of .body"
	case y.is("string"):
		remedy = "write str(...) around the left side"
	case y.is("response"):
		remedy = "write .text() behind it"
	}
	p.find(at, false, fmt.Sprintf("%s cannot be %s %s", x.noun(), op, y.noun()), remedy)
	return out
}

func (p *program) unary(e *syntax.UnaryExpr, x value) value {
	if e.Op == syntax.NOT {
		if truth, ok := decided(x); ok {
			return exactly(starlark.Bool(!truth))
		}
		return typed(starlark.False)
	}
	if x.knowledge != known {
		return value{knowledge: x.knowledge}
	}
	if x.like == nil {
		p.find(e, false, fmt.Sprintf("%s%s cannot be computed", e.Op, x.noun()), "call it: "+x.fn.title()+"(...)")
		return value{}
	}
	v, err := starlark.Unary(e.Op, x.like)
	if err != nil {
		remedy := ""
		if x.fn != nil || callable(x.like) {
			remedy = calling(e.X, x)
		}
		p.find(e, false, fmt.Sprintf("%s%s cannot be computed", e.Op, x.noun()), remedy)
		return value{}
	}
	if x.exact && scalar(v) {
		return exactly(v)
	}
	if scalar(v) {
		return typed(v)
	}
	return value{knowledge: known, like: v, path: x.path}
}

// format checks a constant format of % against its values.
func (p *program) format(at syntax.Node, x, y value) value {
	out := typed(starlark.String(""))
	if !x.exact || y.knowledge != known || len(y.elems) > partsMax {
		return out
	}
	if _, named := y.like.(starlark.Mapping); named {
		return out // its keys are unknown
	}
	args, whole := starlark.Tuple{}, true
	switch {
	case y.elems != nil:
		for _, v := range y.elems {
			one, ok := sample(v)
			args, whole = append(args, one), whole && ok
		}
	case y.is("tuple"):
		return out
	default:
		one, ok := sample(y)
		args, whole = starlark.Tuple{one}, ok
	}
	text := string(x.like.(starlark.String))
	if _, err := starlark.Binary(syntax.PERCENT, x.like, args); err != nil {
		why := err.Error()
		switch {
		case why == "not enough arguments for format string", why == "too many arguments for format string":
			wants := strings.Count(strings.ReplaceAll(text, "%%", ""), "%")
			p.find(at, false, fmt.Sprintf("the text wants %s, and gets %d", counted(wants, "value"), len(args)), "give one value for each %s and %d; the sign itself is %%")
		case whole || strings.HasPrefix(why, "unknown conversion") || strings.HasPrefix(why, "incomplete format"):
			p.find(at, false, why, "%s takes any value, %d a whole number; the sign itself is %%")
		}
	}
	return out
}

// sample returns a value to try a function with; false: nothing is known of the real one.
func sample(v value) (starlark.Value, bool) {
	switch {
	case v.knowledge != known || v.like == nil:
		return starlark.MakeInt(1), false
	case v.exact:
		return v.like, true
	}
	return typical(v.like), true
}

// calling proposes the call of a function, as the file names it.
func calling(e syntax.Expr, v value) string {
	if name := written(e); name != "" {
		return "call it: " + name + "()"
	}
	return "call it: " + v.path + "()"
}

// written returns the words of an expression, if it has nothing but words and dots.
func written(e syntax.Expr) string {
	switch e := e.(type) {
	case *syntax.Ident:
		return e.Name
	case *syntax.DotExpr:
		if under := written(e.X); under != "" {
			return under + "." + e.Name.Name
		}
	}
	return ""
}
