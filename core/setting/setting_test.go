package setting

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

type values struct {
	jobs   int
	bytes  int64
	memory uint64
	age    time.Duration
}

func (v *values) settings() []Setting {
	return []Setting{
		Count("x.jobs_max", &v.jobs, 4000, "", "", ""),
		Count("x.file_bytes_max", &v.bytes, 0, "", "", ""),
		{Key: "x.memory_max", Value: &v.memory, Least: 32 << 20},
		Span("x.age", &v.age, "", "", ""),
	}
}

func TestSet(t *testing.T) {
	for _, c := range []struct{ key, text, want, err string }{
		{"x.jobs_max", "17", "17", ""},
		{"x.jobs_max", "4000", "4000", ""},
		{"x.jobs_max", "4001", "", "must be 1 to 4000"},
		{"x.jobs_max", "0", "", "must be 1 to 4000"},
		{"x.jobs_max", "1KiB", "", "no whole number"},
		{"x.jobs_max", "", "", "no whole number"},
		{"x.file_bytes_max", "64MiB", "64MiB", ""},
		{"x.file_bytes_max", "1000", "1000", ""},
		{"x.file_bytes_max", "-1", "", "at least 1"},
		{"x.file_bytes_max", "9999999999GiB", "", "at least 1"},
		{"x.file_bytes_max", "5MB", "", "no size"},
		{"x.memory_max", "2GiB", "2GiB", ""},
		{"x.memory_max", "1MiB", "", "at least 32MiB"},
		{"x.age", "24h", "24h", ""},
		{"x.age", "90s", "1m30s", ""},
		{"x.age", "0s", "", "at least 1ms"},
		{"x.age", "5", "", "no duration"},
		{"x.ages", "5s", "", "(did you mean x.age?): settings are x.age, x.file_bytes_max, x.jobs_max, x.memory_max"},
		{"x.nothing_like_it", "5s", "", "is no setting here: settings are x.age"},
	} {
		var v values
		all := v.settings()
		err := Set(all, c.key, c.text)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || !strings.HasPrefix(err.Error(), c.key+" = ") || v != (values{}) {
				t.Errorf("%s=%s: got %v and %+v, want an error that says %q, and nothing set", c.key, c.text, err, v, c.err)
			}
			continue
		}
		for _, s := range all {
			if s.Key == c.key && (err != nil || s.String() != c.want) {
				t.Errorf("%s=%s: got %s and %v, want %s", c.key, c.text, s, err, c.want)
			}
		}
	}
}

// What Set accepts Check accepts, and what a setting prints Set reads as the same value.
func TestSetKeepsTheRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var v values
		all := v.settings()
		s := rapid.SampledFrom(all).Draw(t, "setting")
		n := rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, 5000), rapid.Just[int64](math.MaxInt64), rapid.Just(s.Least), rapid.Just(s.Least-1), rapid.Just(s.most())).Draw(t, "value")
		err := Set(all, s.Key, s.Text(n))
		if within := n >= s.Least && n <= s.most(); (err == nil) != within {
			t.Fatalf("%s=%s: got %v, want it accepted: %v", s.Key, s.Text(n), err, within)
		}
		if err != nil {
			return
		}
		if s.now() != n {
			t.Fatalf("%s=%s: got %d want %d", s.Key, s.Text(n), s.now(), n)
		}
		if faults := Check([]Setting{s}); len(faults) > 0 {
			t.Fatalf("Set accepted what Check rejects: %v", faults)
		}
	})
}

func TestCheckNamesEachFault(t *testing.T) {
	v := values{jobs: 5000, memory: 1, age: time.Second}
	faults := Check(v.settings())
	if len(faults) != 3 {
		t.Fatalf("got %v, want three faults", faults)
	}
	for i, want := range []string{"x.jobs_max = 5000 must be 1 to 4000", "x.file_bytes_max = 0 must be at least 1", "x.memory_max = 1 must be at least 32MiB"} {
		if !strings.Contains(faults[i].Error(), want) {
			t.Errorf("got %v want %s", faults[i], want)
		}
	}
}

func FuzzSet(f *testing.F) {
	for _, text := range []string{"1", "64MiB", "24h", "-9223372036854775808", "9223372036854775807GiB", "1e9"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var v values
		for _, s := range v.settings() {
			if Set(v.settings(), s.Key, text) == nil && len(Check([]Setting{s})) > 0 {
				t.Errorf("%s=%q was set to %v, which is outside its range", s.Key, text, s)
			}
		}
	})
}
