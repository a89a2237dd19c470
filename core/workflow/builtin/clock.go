package builtin

import (
	"fmt"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"math"
	"strings"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Time is a point in time, in nanoseconds since 1970.
type Time int64

var _ starlark.HasAttrs = Time(0)
var _ starlark.HasBinary = Time(0)
var _ starlark.Comparable = Time(0)

func (i Time) utc() time.Time { return time.Unix(0, int64(i)).UTC() }

// String implements starlark.Value, as the methods below implement its interfaces.
func (i Time) String() string        { return i.utc().Format(time.RFC3339Nano) }
func (i Time) Type() string          { return "time" }
func (i Time) Freeze()               {}
func (i Time) Truth() starlark.Bool  { return true }
func (i Time) Hash() (uint32, error) { return starlark.MakeInt64(int64(i)).Hash() }
func (i Time) AttrNames() []string {
	return []string{"day", "format", "hour", "minute", "month", "second", "unix", "unix_ms", "unix_ns", "year"}
}

func (i Time) Attr(name string) (starlark.Value, error) {
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
	return nil, language.Missing("time", name, i.AttrNames())
}

func (i Time) CompareSameType(op syntax.Token, y starlark.Value, depth int) (bool, error) {
	return Duration(i).CompareSameType(op, Duration(y.(Time)), depth)
}

// Binary adds and subtracts durations; the difference of two times is a duration.
func (i Time) Binary(op syntax.Token, y starlark.Value, side starlark.Side) (starlark.Value, error) {
	switch y := y.(type) {
	case Duration:
		if op == syntax.PLUS || op == syntax.MINUS && side == starlark.Left {
			sum, err := added(op, int64(i), int64(y))
			return Time(sum), err
		}
	case Time:
		if op == syntax.MINUS && side == starlark.Left {
			sum, err := added(op, int64(i), int64(y))
			return Duration(sum), err
		}
	}
	return nil, nil // Starlark reports that there is no such operation
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
	return 0, language.Faultf("the time is out of range: times lie between 1678 and 2262, durations below 292 years")
}

// TimeModule is the module time.
func TimeModule() *language.Namespace {
	return language.NewNamespace("time", starlark.StringDict{
		"now": function("time.now", "now", nil, 0, 0, func(thread *starlark.Thread, _ []starlark.Value) (starlark.Value, error) {
			v := guard.CallerOf(thread)
			if v == nil {
				return nil, language.Faultf("there is no clock while a file is loaded").Do("call time.now() in a step's function")
			}
			return Time(v.Now().UnixNano()), nil
		}),
		"duration": function("time.duration", "duration", []string{"text"}, 1, 1, func(_ *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
			s, ok := in[0].(starlark.String)
			if !ok {
				return nil, language.WrongType("time.duration", "text", "a duration such as \"250ms\"", in[0])
			}
			d, err := time.ParseDuration(string(s))
			if err != nil {
				return nil, language.Faultf("time.duration: %q is not a duration", language.Clip(string(s), 40)).In("text").Do("write a number and a unit: \"250ms\", \"10s\", \"1m30s\", \"2h\"")
			}
			return Duration(d), nil
		}),
		"unix": function("time.unix", "unix", []string{"seconds"}, 1, 1, func(_ *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
			switch s := in[0].(type) {
			case starlark.Int:
				n, ok := s.Int64()
				if ok && n > -9_200_000_000 && n < 9_200_000_000 {
					return Time(n * int64(time.Second)), nil
				}
			case starlark.Float:
				if s > -9_200_000_000 && s < 9_200_000_000 {
					return Time(math.Round(float64(s) * 1e9)), nil
				}
			default:
				return nil, language.WrongType("time.unix", "seconds", "a number", in[0])
			}
			return nil, language.Faultf("time.unix: seconds = %s is out of range", language.Clip(in[0].String(), 40)).In("seconds").Do("times lie between 1678 and 2262; divide milliseconds by 1000")
		}),
		"parse": function("time.parse", "parse", []string{"text"}, 1, 1, parseTime),
	})
}

// parseTime parses the formats of servers: RFC 3339, and the dates of HTTP headers.
func parseTime(_ *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
	s, ok := in[0].(starlark.String)
	if !ok {
		return nil, language.WrongType("time.parse", "text", "a text", in[0])
	}
	if len(s) <= 64 {
		for _, layout := range []string{time.RFC3339Nano, time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly} {
			if t, err := time.Parse(layout, string(s)); err == nil && t.Year() > 1678 && t.Year() < 2262 {
				return Time(t.UnixNano()), nil
			}
		}
	}
	return nil, language.Faultf("time.parse: %q is not a time", language.Clip(string(s), 40)).In("text").Do("it reads 2026-11-21T10:00:00Z and Sat, 21 Nov 2026 10:00:00 GMT")
}

// format formats a time by the letters of strftime, in UTC.
func (i Time) format(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
	if in[0] == nil {
		return starlark.String(i.utc().Format(time.RFC3339)), nil
	}
	layout, err := Content("time.format", "layout", in[0], 1000)
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
			return nil, language.Faultf("time.format: the layout has %%%c in it", layout[k]).In("layout").Do("known: %%Y %%m %%d %%H %%M %%S %%f %%j %%a %%A %%b %%B %%y %%I %%p %%Z %%z %%%%")
		}
		b.WriteString(part)
	}
	return starlark.String(b.String()), guard.MeterOf(thread).Text(thread, "time.format", b.Len())
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
