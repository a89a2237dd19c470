package guard

import (
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/secret"
	"math/bits"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Func is a callable of ours. It is no starlark.Builtin, because the function of a Builtin can
// carry values only in a closure.
type Func struct {
	Word string
	Call func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)
}

var _ starlark.Callable = (*Func)(nil)

// Name implements starlark.Callable, as the methods below do.
func (g *Func) Name() string          { return g.Word }
func (g *Func) String() string        { return "<built-in function " + g.Word + ">" }
func (g *Func) Type() string          { return "builtin_function_or_method" }
func (g *Func) Freeze()               {}
func (g *Func) Truth() starlark.Bool  { return true }
func (g *Func) Hash() (uint32, error) { return starlark.String(g.Word).Hash() }
func (g *Func) CallInternal(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return g.Call(thread, args, kwargs)
}

// Guards returns the names that rewriting calls, and Starlark's own functions that need bounds.
func Guards() starlark.StringDict {
	all := starlark.StringDict{}
	add := func(name string, call func(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (starlark.Value, error)) {
		all[name] = &Func{Word: strings.TrimPrefix(name, language.Mark), Call: call}
	}
	addOperators(add)
	add(language.Mark+"copy", func(thread *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return args[0], MeterOf(thread).Copied(thread, args[0])
	})
	add(language.Mark+"spread", func(thread *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return args[0], MeterOf(thread).Spread(thread, args[0])
	})
	add(language.Mark+"dot", dot)
	add(language.Mark+"tuple", func(thread *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return args[0], MeterOf(thread).Woven(thread, args[0])
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
		return nil, language.Faultf("there is no print here").Do("in a step's function use vu.log(text)").Elsewhere()
	})
	add("range", boundedRange)
	add("int", boundedInt)
	for _, name := range []string{"str", "repr"} {
		add(name, func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			for _, arg := range args {
				if _, ok := arg.(*secret.Text); ok {
					return nil, secret.Refusal(name)
				}
				n, err := MeterOf(thread).Rendered(arg)
				if err == nil {
					err = MeterOf(thread).Text(thread, name, n)
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
				if err := MeterOf(thread).Copied(thread, arg); err != nil {
					return nil, err
				}
			}
			v, err := universal(thread, name, args, kwargs)
			if err == nil && (name == "tuple" || name == "zip") {
				err = MeterOf(thread).Woven(thread, v)
			}
			return v, err
		})
	}
	return all
}

// addOperators adds the operators that can make much out of little.
func addOperators(add func(string, func(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (starlark.Value, error))) {
	for _, op := range []syntax.Token{syntax.PLUS, syntax.STAR, syntax.PERCENT, syntax.PIPE, syntax.LTLT} {
		add(language.Mark+op.String(), func(thread *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			if err := MeterOf(thread).admit(thread, op, args[0], args[1]); err != nil {
				return nil, err
			}
			if op == syntax.PERCENT {
				return formatted(args[0], args[1])
			}
			return starlark.Binary(op, args[0], args[1])
		})
		add(language.Mark+op.String()+"=", func(thread *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			if err := MeterOf(thread).admit(thread, op, args[0], args[1]); err != nil {
				return nil, err
			}
			if _, isText := args[0].(starlark.String); op == syntax.PERCENT && isText {
				if hasSecret(args[1]) {
					return nil, language.Faultf("%%= cannot put a secret into a text").Do("write x = x %% secret")
				}
			}
			return args[1], nil
		})
	}
}

func universal(thread *starlark.Thread, name string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return starlark.Universe[name].(*starlark.Builtin).CallInternal(thread, args, kwargs)
}

// Copied charges for a copy of all elements of v.
func (m *Meter) Copied(thread *starlark.Thread, v starlark.Value) error {
	switch v.(type) {
	case starlark.String, starlark.Bytes:
		return nil // a substring shares its bytes
	}
	if n := length(v, m.Limits.Elements); n > 0 {
		return m.Elements(thread, "this", n)
	}
	return nil
}

// spreads is how many times a call f(*x) copies x: the interpreter gathers the arguments in a list that grows by
// quarters, and the callee copies that.
const spreads = 6

// Spread charges for the elements of v as the arguments of a call.
func (m *Meter) Spread(thread *starlark.Thread, v starlark.Value) error {
	if err := m.Copied(thread, v); err != nil {
		return err
	}
	return m.Charge(thread, (spreads-1)*16*max(starlark.Len(v), 0))
}

// admit checks and charges x op y before it is computed.
func (m *Meter) admit(thread *starlark.Thread, op syntax.Token, x, y starlark.Value) error {
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
			return m.Elements(thread, "|", n+k)
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

func (m *Meter) admitSum(thread *starlark.Thread, x, y starlark.Value) error {
	if n := secretSize(x, y); n > 0 {
		return m.Text(thread, "+", n)
	}
	switch x := x.(type) {
	case starlark.String:
		if y, ok := y.(starlark.String); ok {
			return m.Text(thread, "+", len(x)+len(y))
		}
	case starlark.Bytes:
		if y, ok := y.(starlark.Bytes); ok {
			return m.Text(thread, "+", len(x)+len(y))
		}
	case starlark.Int:
		if y, ok := y.(starlark.Int); ok {
			return m.integer("+", max(bitLen(x), bitLen(y)))
		}
	case *starlark.List, starlark.Tuple:
		if k := length(y, m.Limits.Elements); k > 0 {
			return m.Elements(thread, "+", starlark.Len(x)+k)
		}
	}
	return nil
}

func (m *Meter) admitProduct(thread *starlark.Thread, x, y starlark.Value) error {
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
		return m.Text(thread, "*", int(total))
	case *starlark.List, starlark.Tuple:
		return m.Elements(thread, "*", int(total))
	}
	return nil
}

// admitFormat bounds the result of a format: each conversion writes at most all arguments, and
// with few conversions that is close.
func (m *Meter) admitFormat(thread *starlark.Thread, what, format, sign string, args starlark.Tuple) error {
	n, err := m.Rendered(args)
	if err != nil {
		return err
	}
	if _, named := args[0].(starlark.Mapping); named || sign == "{" {
		if times := strings.Count(format, sign); times > 1 && n <= m.Limits.ValueBytes {
			n *= times
		}
	}
	return m.Text(thread, what, len(format)+n)
}

// boundedRange rejects ranges over which a function such as list or max would iterate for ever,
// without one step of the interpreter.
func boundedRange(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	v, err := universal(thread, "range", args, kwargs)
	if err != nil {
		return nil, err
	}
	if n, bound := starlark.Len(v), MeterOf(thread).Limits.Elements; n > bound {
		return nil, language.Faultf("range would have %d elements, the limit is %d", n, bound).Do("use while, or ranges in ranges")
	}
	return v, nil
}

// boundedInt rejects digits whose conversion takes more than linear time.
func boundedInt(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) > 0 {
		if s, ok := args[0].(starlark.String); ok && len(s) > MeterOf(thread).Limits.IntBits/4 {
			return nil, language.Faultf("int: the text has %d characters, the limit is %d", len(s), MeterOf(thread).Limits.IntBits/4)
		}
	}
	return universal(thread, "int", args, kwargs)
}

var _ starlark.Callable = Callable{}

// Callable is a namespace that is also a function.
type Callable struct {
	*language.Namespace
	Call *Func
}

// Name implements starlark.Callable.
func (c Callable) Name() string { return c.Call.Word }

// CallInternal implements starlark.Callable.
func (c Callable) CallInternal(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return c.Call.Call(thread, args, kwargs)
}
