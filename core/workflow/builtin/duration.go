package builtin

import (
	"hyperscale/core/workflow/language"
	"math"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

var _ starlark.HasAttrs = Duration(0)
var _ starlark.Comparable = Duration(0)
var _ starlark.HasBinary = Duration(0)
var _ starlark.HasUnary = Duration(0)

// Binary adds, subtracts, and multiplies and divides by whole numbers.
func (l Duration) Binary(op syntax.Token, y starlark.Value, side starlark.Side) (starlark.Value, error) {
	switch y := y.(type) {
	case Duration:
		switch {
		case op == syntax.PLUS || op == syntax.MINUS && side == starlark.Left:
			sum, err := added(op, int64(l), int64(y))
			return Duration(sum), err
		case (op == syntax.SLASH || op == syntax.SLASHSLASH) && side == starlark.Left:
			if y == 0 {
				return nil, language.Faultf("a duration is divided by one of 0s")
			}
			if op == syntax.SLASH {
				return starlark.Float(float64(l) / float64(y)), nil
			}
			return starlark.MakeInt64(int64(l) / int64(y)), nil
		}
	case starlark.Int:
		n, ok := y.Int64()
		switch {
		case op == syntax.STAR:
			if !ok || n != 0 && (int64(l)*n/n != int64(l) || n == -1 && l == math.MinInt64) {
				return nil, language.Faultf("the duration is out of range: at most 292 years")
			}
			return Duration(int64(l) * n), nil
		case (op == syntax.SLASH || op == syntax.SLASHSLASH) && side == starlark.Left:
			if !ok || n == 0 {
				return nil, language.Faultf("a duration cannot be divided by %s", language.Clip(y.String(), 24))
			}
			return Duration(int64(l) / n), nil
		}
	}
	return nil, nil // Starlark reports that there is no such operation
}

// Unary implements starlark.HasUnary.
func (l Duration) Unary(op syntax.Token) (starlark.Value, error) {
	if op == syntax.MINUS {
		return -l, nil
	}
	return nil, nil
}

// Duration is a span of time, such as response.latency.
type Duration time.Duration

// String implements starlark.Value, as the methods below implement its interfaces.
func (l Duration) String() string { return time.Duration(l).String() }

func (l Duration) Type() string { return "duration" }

func (l Duration) Freeze() {}

func (l Duration) Truth() starlark.Bool { return l != 0 }

func (l Duration) Hash() (uint32, error) { return starlark.MakeInt64(int64(l)).Hash() }

func (l Duration) AttrNames() []string {
	return []string{"microseconds", "milliseconds", "nanoseconds", "seconds"}
}

func (l Duration) Attr(name string) (starlark.Value, error) {
	switch name {
	case "seconds":
		return starlark.Float(time.Duration(l).Seconds()), nil
	case "milliseconds":
		return starlark.MakeInt64(time.Duration(l).Milliseconds()), nil
	case "microseconds":
		return starlark.MakeInt64(time.Duration(l).Microseconds()), nil
	case "nanoseconds":
		return starlark.MakeInt64(int64(l)), nil
	}
	return nil, language.Missing("duration", name, l.AttrNames())
}

func (l Duration) CompareSameType(op syntax.Token, y starlark.Value, _ int) (bool, error) {
	a, b := l, y.(Duration)
	switch op {
	case syntax.EQL:
		return a == b, nil
	case syntax.NEQ:
		return a != b, nil
	case syntax.LT:
		return a < b, nil
	case syntax.LE:
		return a <= b, nil
	case syntax.GT:
		return a > b, nil
	}
	return a >= b, nil
}
