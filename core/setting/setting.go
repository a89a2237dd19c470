package setting

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Setting is one value of a configuration.
type Setting struct {
	Key   string // role.name, as errors name it and --set takes it
	Value any    // *int, *int64, *uint64 or *time.Duration of the configuration
	Least int64  // inclusive; of a duration in nanoseconds
	Most  int64  // inclusive; 0: no upper bound
	Is    string // what the value bounds
	Raise string // what a higher value costs or gives
	Lower string // what a lower one does
}

// Count describes a number of at least 1, or of bytes if its key says so.
func Count[N int | int64 | uint64](key string, value *N, most int64, is, raise, lower string) Setting {
	return Setting{Key: key, Value: value, Least: 1, Most: most, Is: is, Raise: raise, Lower: lower}
}

// Span describes a duration of at least a millisecond.
func Span(key string, value *time.Duration, is, raise, lower string) Setting {
	return Setting{Key: key, Value: value, Least: int64(time.Millisecond), Is: is, Raise: raise, Lower: lower}
}

// Bytes says that the value counts bytes: such texts may have a unit.
func (s Setting) Bytes() bool {
	_, span := s.Value.(*time.Duration)
	return !span && (strings.Contains(s.Key, "bytes") || strings.HasSuffix(s.Key, "memory_max"))
}

// Unit names what the value counts.
func (s Setting) Unit() string {
	if _, span := s.Value.(*time.Duration); span {
		return "duration"
	}
	if s.Bytes() {
		return "bytes"
	}
	return "number"
}

func (s Setting) most() int64 {
	if s.Most == 0 {
		return math.MaxInt64
	}
	return s.Most
}

func (s Setting) now() int64 {
	switch v := s.Value.(type) {
	case *int:
		return int64(*v)
	case *int64:
		return *v
	case *uint64:
		return int64(min(*v, math.MaxInt64))
	case *time.Duration:
		return int64(*v)
	}
	return 0
}

// Text writes a value of this setting as Set reads it.
func (s Setting) Text(n int64) string {
	if _, span := s.Value.(*time.Duration); span {
		return trimmed(time.Duration(n))
	}
	if s.Bytes() {
		for _, u := range slices.Backward(units()) {
			if n >= u.bytes && n%u.bytes == 0 {
				return strconv.FormatInt(n/u.bytes, 10) + u.name
			}
		}
	}
	return strconv.FormatInt(n, 10)
}

// String is the present value.
func (s Setting) String() string { return s.Text(s.now()) }

// Range writes the values that are allowed.
func (s Setting) Range() string {
	if s.Most == 0 {
		return "at least " + s.Text(s.Least)
	}
	return s.Text(s.Least) + " to " + s.Text(s.Most)
}

// Check reports each value that is outside its range.
func Check(all []Setting) []error {
	var faults []error
	for _, s := range all {
		if n := s.now(); n < s.Least || n > s.most() {
			faults = append(faults, fmt.Errorf("%s = %v must be %s: leave it out for the default", s.Key, s, s.Range()))
		}
	}
	return faults
}

// Set reads a text into the value of a key.
func Set(all []Setting, key, text string) error {
	at := slices.IndexFunc(all, func(s Setting) bool { return s.Key == key })
	if at < 0 {
		return fmt.Errorf("%s = %q is no setting here%s: settings are %s", key, text, DidYouMean(key, keys(all)), strings.Join(keys(all), ", "))
	}
	s := all[at]
	n, err := s.read(text)
	if err != nil {
		return err
	}
	if n < s.Least || n > s.most() {
		return fmt.Errorf("%s = %s must be %s", key, s.Text(n), s.Range())
	}
	switch v := s.Value.(type) {
	case *int:
		*v = int(n)
	case *int64:
		*v = n
	case *uint64:
		*v = uint64(n)
	case *time.Duration:
		*v = time.Duration(n)
	}
	return nil
}

func (s Setting) read(text string) (int64, error) {
	if _, span := s.Value.(*time.Duration); span {
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, fmt.Errorf(`%s = %q is no duration: write a number and its unit, like "10s" or "1m30s"`, s.Key, text)
		}
		return int64(d), nil
	}
	number, times := text, int64(1)
	if s.Bytes() {
		for _, u := range units() {
			if before, found := strings.CutSuffix(text, u.name); found {
				number, times = before, u.bytes
			}
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	switch {
	case err != nil && s.Bytes():
		return 0, fmt.Errorf(`%s = %q is no size: write bytes, or a unit, like "512KiB" or "64MiB"`, s.Key, text)
	case err != nil:
		return 0, fmt.Errorf(`%s = %q is no whole number: write digits, like "1000"`, s.Key, text)
	case n > math.MaxInt64/times || n < math.MinInt64/times:
		return 0, fmt.Errorf("%s = %q must be %s", s.Key, text, s.Range())
	}
	return n * times, nil
}

type unit struct {
	name  string
	bytes int64
}

func units() []unit { return []unit{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}} }

// trimmed writes 24h0m0s as 24h.
func trimmed(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func keys(all []Setting) []string {
	var names []string
	for _, s := range all {
		names = append(names, s.Key)
	}
	slices.Sort(names)
	return names
}
