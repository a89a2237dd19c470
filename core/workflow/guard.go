package workflow

import (
	"math/bits"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// guard is a callable of ours. It is no starlark.Builtin because a Builtin's
// function cannot carry values of its own without a closure.
type guard struct {
	name string
	call func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)
}

var _ starlark.Callable = (*guard)(nil)

func (g *guard) Name() string          { return g.name }
func (g *guard) String() string        { return "<built-in function " + g.name + ">" }
func (g *guard) Type() string          { return "builtin_function_or_method" }
func (g *guard) Freeze()               {}
func (g *guard) Truth() starlark.Bool  { return true }
func (g *guard) Hash() (uint32, error) { return starlark.String(g.name).Hash() }
func (g *guard) CallInternal(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return g.call(thread, args, kwargs)
}

// guards are the names that rewriting calls, and those of Starlark's own
// functions that need bounds.
func guards() starlark.StringDict {
	all := starlark.StringDict{}
	add := func(name string, call func(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (starlark.Value, error)) {
		all[name] = &guard{name: strings.TrimPrefix(name, mark), call: call}
	}
	for _, op := range []syntax.Token{syntax.PLUS, syntax.STAR, syntax.PERCENT, syntax.PIPE, syntax.LTLT} {
		add(mark+op.String(), func(thread *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			if err := meterOf(thread).admit(thread, op, args[0], args[1]); err != nil {
				return nil, err
			}
			return starlark.Binary(op, args[0], args[1])
		})
		add(mark+op.String()+"=", func(thread *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return args[1], meterOf(thread).admit(thread, op, args[0], args[1])
		})
	}
	add(mark+"copy", func(thread *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return args[0], meterOf(thread).copied(thread, args[0])
	})
	add(mark+"dot", dot)
	add(mark+"tuple", func(thread *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return args[0], meterOf(thread).woven(thread, args[0])
	})
	add("getattr", func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(args) > 1 {
			if name, ok := args[1].(starlark.String); ok && meteredMethod(string(name)) && isBuiltinType(args[0]) {
				return dot(thread, args[:2], nil)
			}
		}
		return universal(thread, "getattr", args, kwargs)
	})
	add("print", func(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
		return nil, faultf("there is no print here").do("in a step's function use vu.log(text)")
	})
	add("range", boundedRange)
	add("int", boundedInt)
	for _, name := range []string{"str", "repr"} {
		add(name, func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			for _, arg := range args {
				n, err := meterOf(thread).rendered(arg)
				if err == nil {
					err = meterOf(thread).text(thread, name, n)
				}
				if err != nil {
					return nil, err
				}
			}
			return universal(thread, name, args, kwargs)
		})
	}
	for _, name := range []string{"all", "any", "bytes", "dict", "enumerate", "list", "max", "min", "reversed", "set", "sorted", "tuple", "zip"} {
		add(name, func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			for _, arg := range args {
				if err := meterOf(thread).copied(thread, arg); err != nil {
					return nil, err
				}
			}
			v, err := universal(thread, name, args, kwargs)
			if err == nil && (name == "tuple" || name == "zip") {
				err = meterOf(thread).woven(thread, v)
			}
			return v, err
		})
	}
	return all
}

func universal(thread *starlark.Thread, name string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return starlark.Universe[name].(*starlark.Builtin).CallInternal(thread, args, kwargs)
}

// copied charges for a copy of all elements of v.
func (m *meter) copied(thread *starlark.Thread, v starlark.Value) error {
	switch v.(type) {
	case starlark.String, starlark.Bytes:
		return nil // a part of a text shares its bytes
	}
	if n := length(v, m.limits.Elements); n > 0 {
		return m.elements(thread, "this", n)
	}
	return nil
}

// admit checks and charges x op y before it is computed.
func (m *meter) admit(thread *starlark.Thread, op syntax.Token, x, y starlark.Value) error {
	switch op {
	case syntax.PLUS:
		return m.admitSum(thread, x, y)
	case syntax.STAR:
		return m.admitProduct(thread, x, y)
	case syntax.PERCENT:
		if format, ok := x.(starlark.String); ok {
			return m.admitFormat(thread, "%", string(format), "%", starlark.Tuple{y})
		}
	case syntax.PIPE:
		if n, k := starlark.Len(x), starlark.Len(y); n >= 0 && k >= 0 {
			return m.elements(thread, "|", n+k)
		}
	case syntax.LTLT:
		if i, ok := x.(starlark.Int); ok {
			if shift, ok := y.(starlark.Int); ok && bitLen(shift) < 32 {
				by, _ := shift.Int64()
				return m.integer("<<", bitLen(i)+int(by))
			}
		}
	}
	return nil
}

func (m *meter) admitSum(thread *starlark.Thread, x, y starlark.Value) error {
	switch x := x.(type) {
	case starlark.String:
		if y, ok := y.(starlark.String); ok {
			return m.text(thread, "+", len(x)+len(y))
		}
	case starlark.Bytes:
		if y, ok := y.(starlark.Bytes); ok {
			return m.text(thread, "+", len(x)+len(y))
		}
	case starlark.Int:
		if y, ok := y.(starlark.Int); ok {
			return m.integer("+", max(bitLen(x), bitLen(y)))
		}
	case *starlark.List, starlark.Tuple:
		if k := length(y, m.limits.Elements); k > 0 {
			return m.elements(thread, "+", starlark.Len(x)+k)
		}
	}
	return nil
}

func (m *meter) admitProduct(thread *starlark.Thread, x, y starlark.Value) error {
	if i, ok := x.(starlark.Int); ok {
		if j, ok := y.(starlark.Int); ok {
			return m.integer("*", bitLen(i)+bitLen(j)-1)
		}
		x, y = y, x
	}
	times, ok := y.(starlark.Int)
	if !ok || times.Sign() <= 0 {
		return nil
	}
	n := max(starlark.Len(x), 0)
	if b, ok := x.(starlark.Bytes); ok {
		n = len(b)
	}
	count, fits := times.Uint64()
	over, total := bits.Mul64(count, uint64(n))
	if !fits && n > 0 || over != 0 || total > 1<<40 {
		total = 1 << 40
	}
	switch x.(type) {
	case starlark.String, starlark.Bytes:
		return m.text(thread, "*", int(total))
	case *starlark.List, starlark.Tuple:
		return m.elements(thread, "*", int(total))
	}
	return nil
}

// admitFormat bounds what a format makes of its arguments: each conversion
// writes at most all of them, and with few conversions that is close.
func (m *meter) admitFormat(thread *starlark.Thread, what, format, sign string, args starlark.Tuple) error {
	n, err := m.rendered(args)
	if err != nil {
		return err
	}
	if _, named := args[0].(starlark.Mapping); named || sign == "{" {
		if times := strings.Count(format, sign); times > 1 && n <= m.limits.ValueBytes {
			n *= times
		}
	}
	return m.text(thread, what, len(format)+n)
}

// boundedRange refuses ranges that a function such as list or max would walk
// for ever, without one step of the interpreter.
func boundedRange(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	v, err := universal(thread, "range", args, kwargs)
	if err != nil {
		return nil, err
	}
	if n, bound := starlark.Len(v), meterOf(thread).limits.Elements; n > bound {
		return nil, faultf("range would have %d elements, the limit is %d", n, bound).do("use while, or ranges in ranges")
	}
	return v, nil
}

// boundedInt refuses digits whose conversion takes more than linear time.
func boundedInt(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) > 0 {
		if s, ok := args[0].(starlark.String); ok && len(s) > meterOf(thread).limits.IntBits/4 {
			return nil, faultf("int: the text has %d characters, the limit is %d", len(s), meterOf(thread).limits.IntBits/4)
		}
	}
	return universal(thread, "int", args, kwargs)
}
