package workflow

import (
	"fmt"
	"math"
	"strings"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// instant is a point in time, in nanoseconds since 1970.
type instant int64

var _ starlark.HasAttrs = instant(0)
var _ starlark.HasBinary = instant(0)
var _ starlark.Comparable = instant(0)
var _ starlark.HasBinary = lapse(0)
var _ starlark.HasUnary = lapse(0)

func (i instant) utc() time.Time        { return time.Unix(0, int64(i)).UTC() }
func (i instant) String() string        { return i.utc().Format(time.RFC3339Nano) }
func (i instant) Type() string          { return "time" }
func (i instant) Freeze()               {}
func (i instant) Truth() starlark.Bool  { return true }
func (i instant) Hash() (uint32, error) { return starlark.MakeInt64(int64(i)).Hash() }
func (i instant) AttrNames() []string {
	return []string{"day", "format", "hour", "minute", "month", "second", "unix", "unix_ms", "unix_ns", "year"}
}

func (i instant) Attr(name string) (starlark.Value, error) {
	switch name {
	case "unix":
		return starlark.MakeInt64(i.utc().Unix()), nil
	case "unix_ms":
		return starlark.MakeInt64(i.utc().UnixMilli()), nil
	case "unix_ns":
		return starlark.MakeInt64(int64(i)), nil
	case "year":
		return starlark.MakeInt(i.utc().Year()), nil
	case "month":
		return starlark.MakeInt(int(i.utc().Month())), nil
	case "day":
		return starlark.MakeInt(i.utc().Day()), nil
	case "hour":
		return starlark.MakeInt(i.utc().Hour()), nil
	case "minute":
		return starlark.MakeInt(i.utc().Minute()), nil
	case "second":
		return starlark.MakeInt(i.utc().Second()), nil
	case "format":
		return function("time.format", "format", []string{"layout"}, 1, 0, i.format), nil
	}
	return nil, missing("time", name, i.AttrNames())
}

func (i instant) CompareSameType(op syntax.Token, y starlark.Value, depth int) (bool, error) {
	return lapse(i).CompareSameType(op, lapse(y.(instant)), depth)
}

// Binary adds and takes away durations; the difference of two times is one.
func (i instant) Binary(op syntax.Token, y starlark.Value, side starlark.Side) (starlark.Value, error) {
	switch y := y.(type) {
	case lapse:
		if op == syntax.PLUS || op == syntax.MINUS && side == starlark.Left {
			sum, err := added(op, int64(i), int64(y))
			return instant(sum), err
		}
	case instant:
		if op == syntax.MINUS && side == starlark.Left {
			sum, err := added(op, int64(i), int64(y))
			return lapse(sum), err
		}
	}
	return nil, nil // Starlark says that there is no such operation
}

func added(op syntax.Token, a, b int64) (int64, error) {
	if op == syntax.MINUS {
		if sum := a - b; (sum < a) == (b > 0) {
			return sum, nil
		}
	} else if sum := a + b; (sum > a) == (b > 0) {
		return sum, nil
	}
	if b == 0 {
		return a, nil
	}
	return 0, faultf("the time is out of range: times lie between 1678 and 2262, durations below 292 years")
}

// Binary adds, takes away, and multiplies and divides by whole numbers.
func (l lapse) Binary(op syntax.Token, y starlark.Value, side starlark.Side) (starlark.Value, error) {
	switch y := y.(type) {
	case lapse:
		switch {
		case op == syntax.PLUS || op == syntax.MINUS && side == starlark.Left:
			sum, err := added(op, int64(l), int64(y))
			return lapse(sum), err
		case (op == syntax.SLASH || op == syntax.SLASHSLASH) && side == starlark.Left:
			if y == 0 {
				return nil, faultf("a duration is divided by one of 0s")
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
				return nil, faultf("the duration is out of range: at most 292 years")
			}
			return lapse(int64(l) * n), nil
		case (op == syntax.SLASH || op == syntax.SLASHSLASH) && side == starlark.Left:
			if !ok || n == 0 {
				return nil, faultf("a duration cannot be divided by %s", clip(y.String(), 24))
			}
			return lapse(int64(l) / n), nil
		}
	}
	return nil, nil // Starlark says that there is no such operation
}

func (l lapse) Unary(op syntax.Token) (starlark.Value, error) {
	if op == syntax.MINUS {
		return -l, nil
	}
	return nil, nil
}

// timeNamespace is the module time.
func timeNamespace() *namespace {
	return newNamespace("time", starlark.StringDict{
		"now": function("time.now", "now", nil, 0, 0, func(thread *starlark.Thread, _ []starlark.Value) (starlark.Value, error) {
			v := vuOf(thread)
			if v == nil {
				return nil, faultf("there is no clock while a file is loaded").do("call time.now() in a step's function")
			}
			return instant(v.client.Now().UnixNano()), nil
		}),
		"duration": function("time.duration", "duration", []string{"text"}, 1, 1, func(_ *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
			s, ok := in[0].(starlark.String)
			if !ok {
				return nil, wrongType("time.duration", "text", "a duration such as \"250ms\"", in[0])
			}
			d, err := time.ParseDuration(string(s))
			if err != nil {
				return nil, faultf("time.duration: %q is not a duration", clip(string(s), 40)).in("text").do("write a number and a unit: \"250ms\", \"10s\", \"1m30s\", \"2h\"")
			}
			return lapse(d), nil
		}),
		"unix": function("time.unix", "unix", []string{"seconds"}, 1, 1, func(_ *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
			switch s := in[0].(type) {
			case starlark.Int:
				n, ok := s.Int64()
				if ok && n > -9_200_000_000 && n < 9_200_000_000 {
					return instant(n * int64(time.Second)), nil
				}
			case starlark.Float:
				if s > -9_200_000_000 && s < 9_200_000_000 {
					return instant(math.Round(float64(s) * 1e9)), nil
				}
			default:
				return nil, wrongType("time.unix", "seconds", "a number", in[0])
			}
			return nil, faultf("time.unix: seconds = %s is out of range", clip(in[0].String(), 40)).in("seconds").do("times lie between 1678 and 2262; divide milliseconds by 1000")
		}),
		"parse": function("time.parse", "parse", []string{"text"}, 1, 1, parseTime),
	})
}

// parseTime reads what servers write: RFC 3339, and the dates of HTTP headers.
func parseTime(_ *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
	s, ok := in[0].(starlark.String)
	if !ok {
		return nil, wrongType("time.parse", "text", "a text", in[0])
	}
	if len(s) <= 64 {
		for _, layout := range []string{time.RFC3339Nano, time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly} {
			if t, err := time.Parse(layout, string(s)); err == nil && t.Year() > 1678 && t.Year() < 2262 {
				return instant(t.UnixNano()), nil
			}
		}
	}
	return nil, faultf("time.parse: %q is not a time", clip(string(s), 40)).in("text").do("it reads 2026-11-21T10:00:00Z and Sat, 21 Nov 2026 10:00:00 GMT")
}

// format writes a time by the letters of strftime, in UTC.
func (i instant) format(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
	if in[0] == nil {
		return starlark.String(i.utc().Format(time.RFC3339)), nil
	}
	layout, err := content("time.format", "layout", in[0], 1000)
	if err != nil {
		return nil, err
	}
	t := i.utc()
	var b strings.Builder
	for k := 0; k < len(layout); k++ {
		if layout[k] != '%' || k+1 == len(layout) {
			b.WriteByte(layout[k])
			continue
		}
		k++
		part, ok := timePart(t, layout[k])
		if !ok {
			return nil, faultf("time.format: the layout has %%%c in it", layout[k]).in("layout").do("known: %%Y %%m %%d %%H %%M %%S %%f %%j %%a %%A %%b %%B %%y %%I %%p %%Z %%z %%%%")
		}
		b.WriteString(part)
	}
	return starlark.String(b.String()), meterOf(thread).text(thread, "time.format", b.Len())
}

func timePart(t time.Time, letter byte) (string, bool) {
	layouts := map[byte]string{'Y': "2006", 'm': "01", 'd': "02", 'H': "15", 'M': "04", 'S': "05", 'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'y': "06", 'I': "03", 'p': "PM", 'Z': "MST", 'z': "-0700", 'j': "002"}
	switch letter {
	case '%':
		return "%", true
	case 'f':
		return fmt.Sprintf("%06d", t.Nanosecond()/1000), true
	}
	layout, ok := layouts[letter]
	return t.Format(layout), ok
}
