package inspect

import (
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"

	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
)

// knowledge orders what is known of a value: never is the bottom, anything the top.
type knowledge uint8

const (
	anything knowledge = iota
	never              // no path computes it
	unset              // a variable before its first assignment
	known
)

// value is what the walk knows of an expression.
type value struct {
	knowledge
	like   starlark.Value // of a known one: the value itself, or one of its type
	exact  bool           // like is the value itself
	frozen bool           // what the file declares, read while virtual users run
	path   string         // the words that lead to it: vu.http.get
	fn     *function      // a function of the program; like is nil
	elems  []value        // of a tuple that is written out
}

// textMax, wholeMax and partsMax bound values: a walk computes with nothing large.
const (
	textMax  = 512
	wholeMax = 1 << 31
	partsMax = 512 // elements and bytes of texts in all parts of a value
)

// weigh takes the size of a value from what is left, and stops below zero.
func weigh(v starlark.Value, left *int) {
	*left--
	switch v := v.(type) {
	case starlark.String:
		*left -= len(v)
	case starlark.Bytes:
		*left -= len(v)
	case starlark.Int:
		if n, ok := v.Int64(); !ok || n > wholeMax || n < -wholeMax {
			*left -= textMax
		}
	case *starlark.Dict:
		if *left -= v.Len(); *left >= 0 {
			for _, kv := range v.Items() {
				weighAll(kv, left)
			}
		}
	case *starlarkstruct.Struct:
		names := v.AttrNames()
		if *left -= len(names); *left >= 0 {
			for _, name := range names {
				part, _ := v.Attr(name) // it has it
				weigh(part, left)
			}
		}
	case starlark.Iterable:
		n := starlark.Len(v)
		if *left -= max(n, 0); *left >= 0 && n > 0 {
			weighAll(slices.Collect(starlark.Elements(v)), left)
		}
	}
}

func weighAll(parts []starlark.Value, left *int) {
	for _, part := range parts {
		if *left < 0 {
			return
		}
		weigh(part, left)
	}
}

func exactly(v starlark.Value) value {
	switch v := v.(type) {
	case starlark.String:
		if len(v) > textMax {
			return typed(v)
		}
	case starlark.Bytes:
		if len(v) > textMax {
			return typed(v)
		}
	case starlark.Int:
		if n, ok := v.Int64(); !ok || n > wholeMax || n < -wholeMax {
			return typed(v)
		}
	}
	return value{knowledge: known, like: v, exact: true}
}

// typed returns a value of which only the type is known.
func typed(v starlark.Value) value {
	return value{knowledge: known, like: typical(v)}
}

// typical returns a small value of the same type.
func typical(v starlark.Value) starlark.Value {
	switch v.(type) {
	case starlark.String:
		return starlark.String("x")
	case starlark.Bytes:
		return starlark.Bytes("x")
	case starlark.Int:
		return starlark.MakeInt(1)
	case starlark.Float:
		return starlark.Float(1)
	case starlark.Bool:
		return starlark.True
	case starlark.Tuple:
		return starlark.Tuple{}
	case *starlark.List:
		return starlark.NewList(nil)
	case *starlark.Dict:
		return starlark.NewDict(0)
	case *starlark.Set:
		return starlark.NewSet(0)
	}
	return v
}

// scalar reports a value without parts.
func scalar(v starlark.Value) bool {
	switch v.(type) {
	case starlark.NoneType, starlark.Bool, starlark.Int, starlark.Float, starlark.String, starlark.Bytes:
		return true
	}
	return false
}

func (v value) is(t string) bool { return v.knowledge == known && v.like != nil && v.like.Type() == t }

// join returns what is known of a value that is one of two.
func join(a, b value) value {
	switch {
	case a.knowledge == never:
		return b
	case b.knowledge == never:
		return a
	case a.knowledge == unset && b.knowledge == unset:
		return a
	case a.knowledge != known || b.knowledge != known:
		return value{}
	case a.fn != nil || b.fn != nil:
		if a.fn == b.fn {
			return a
		}
		return value{}
	case a.like.Type() != b.like.Type():
		return value{}
	case scalar(a.like):
		if same, err := starlark.Equal(a.like, b.like); err == nil && same && a.exact && b.exact {
			return a
		}
		return typed(a.like)
	case a.path != b.path:
		return value{}
	case a.path == "":
		switch a.like.(type) {
		case *starlark.List, *starlark.Dict, *starlark.Set, starlark.Tuple:
			return value{knowledge: known, like: typical(a.like), frozen: a.frozen && b.frozen}
		}
		return value{}
	}
	a.exact = a.exact && b.exact
	a.frozen = a.frozen && b.frozen
	a.elems = nil
	return a
}

// callable reports functions of the language, which are what they are on every path.
func callable(v starlark.Value) bool {
	switch v.(type) {
	case *guard.Func, guard.Callable, *starlark.Builtin:
		return true
	}
	return false
}

// holder names what has attributes, in messages and in the table of foreign names.
func (v value) holder() string {
	switch like := v.like.(type) {
	case *language.Namespace:
		return like.Kind
	case guard.Callable:
		return like.Kind
	}
	return v.like.Type()
}

// noun names a known value in messages.
func (v value) noun() string {
	switch {
	case v.fn != nil:
		return "a function"
	case v.like == nil:
		return "a value"
	}
	switch v.like.(type) {
	case *language.Namespace, guard.Callable:
		return v.holder()
	}
	return noun(v.holder())
}

// noun names a type with its article.
func noun(holder string) string {
	switch holder {
	case "string":
		return "a text"
	case "int":
		return "a whole number"
	case "float":
		return "a number"
	case "bytes", "None", "headers":
		return holder
	case "NoneType":
		return "None"
	case "builtin_function_or_method", "function":
		return "a function"
	case "response", "list", "dict", "set", "tuple", "bool", "duration", "time", "range", "struct":
		return "a " + holder
	}
	return holder
}

// paramName returns the variable of a parameter; nil: a bare star.
func paramName(param syntax.Expr) *syntax.Ident {
	switch p := param.(type) {
	case *syntax.Ident:
		return p
	case *syntax.BinaryExpr:
		id, _ := p.X.(*syntax.Ident)
		return id
	case *syntax.UnaryExpr:
		id, _ := p.X.(*syntax.Ident)
		return id
	}
	return nil
}

// targets visits the names that an assignment sets.
func targets(e syntax.Expr, visit func(*syntax.Ident)) {
	switch e := e.(type) {
	case *syntax.Ident:
		visit(e)
	case *syntax.ParenExpr:
		targets(e.X, visit)
	case *syntax.TupleExpr:
		for _, x := range e.List {
			targets(x, visit)
		}
	case *syntax.ListExpr:
		for _, x := range e.List {
			targets(x, visit)
		}
	}
}
