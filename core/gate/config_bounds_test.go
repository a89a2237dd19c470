package gate_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/gate"
	"hyperscale/core/node"
)

// snake is the name of a field as messages to operators spell it.
func snake(field string) string {
	var out []byte
	for i, c := range []byte(field) {
		if c >= 'A' && c <= 'Z' {
			if i > 0 {
				if p := field[i-1]; p < 'A' || p > 'Z' {
					out = append(out, '_')
				}
			}
			c += 'a' - 'A'
		}
		out = append(out, c)
	}
	return string(out)
}

func faultsOf(c gate.Config) []string {
	err := c.Validate()
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

// legalConfig draws a configuration within all bounds.
func legalConfig(t *rapid.T) gate.Config {
	c := gate.Default()
	v := reflect.ValueOf(&c).Elem()
	for _, field := range reflect.VisibleFields(v.Type()) {
		f := v.FieldByIndex(field.Index)
		switch {
		case f.Type() == reflect.TypeFor[time.Duration]():
			f.SetInt(rapid.Int64Range(int64(time.Millisecond), int64(10*time.Second)).Draw(t, field.Name))
		case f.Kind() == reflect.Int:
			f.SetInt(rapid.Int64Range(1, 1000).Draw(t, field.Name))
		}
	}
	c.DriftPPM = rapid.Int64Range(1, 100_000).Draw(t, "drift")
	// Values that must exceed others do so by the least amount.
	c.JobsMax = c.QueueMax + rapid.IntRange(0, 1).Draw(t, "jobs")
	c.FilesMax = c.ResultsMax + rapid.IntRange(1, 2).Draw(t, "files")
	c.ProgramBytesMax = rapid.SampledFrom([]int{1, 512 << 10}).Draw(t, "program")
	c.FileBytesMax = c.ResultBytesMax + c.ProgramBytesMax + rapid.IntRange(1, 2).Draw(t, "file bytes")
	c.PushInterval = c.PushMin + time.Duration(rapid.IntRange(0, 1).Draw(t, "push"))
	c.DatacenterAge = c.QueueAgeMax + time.Duration(rapid.IntRange(0, 1).Draw(t, "datacenter age"))
	// (1 - drift) lease > lease/3 + waits holds for drift up to a tenth and a lease of more
	// than twice the waits.
	c.Lease = 3*(c.QuorumTimeout+c.StoreRetry) + time.Second
	c.FileAge = 40 * max(c.Lease+c.QuorumTimeout, 2*c.SweepInterval)
	for i := range rapid.SampledFrom([]int{0, 1, 2, 3, 4, 5, 7, 64}).Draw(t, "gates") {
		c.Gates = append(c.Gates, node.Addr(fmt.Sprintf("h%d:%d", rapid.IntRange(0, 3).Draw(t, "host"), i)))
	}
	return c
}

// TestConfigsWithinTheirBoundsAreValid: a configuration within all bounds is valid. If the test
// pushes one value out, every fault names that field, and one fault quotes the value.
func TestConfigsWithinTheirBoundsAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		legal := legalConfig(t)
		if all := faultsOf(legal); all != nil {
			t.Fatalf("within all bounds, and %q", all)
		}
		for _, field := range reflect.VisibleFields(reflect.TypeFor[gate.Config]()) {
			c := legal
			f := reflect.ValueOf(&c).Elem().FieldByIndex(field.Index)
			if f.Kind() != reflect.Int && f.Kind() != reflect.Int64 {
				continue
			}
			f.SetInt(rapid.SampledFrom([]int64{0, -1, -1 << 40}).Draw(t, "value"))
			key := "gate." + snake(field.Name)
			onlyNames(t, faultsOf(c), strings.TrimPrefix(key, "gate."), fmt.Sprintf("%s = %v must be", key, f.Interface()))
		}
		for _, b := range []struct {
			key, want string
			set       func(*gate.Config)
		}{
			{"queue_max", "gate.jobs_max = %[1]d", func(c *gate.Config) { c.QueueMax = c.JobsMax + 1 }},
			{"results_max", "gate.files_max = %[2]d", func(c *gate.Config) { c.ResultsMax = c.FilesMax }},
			{"file_bytes_max", "gate.file_bytes_max = %[3]d", func(c *gate.Config) { c.FileBytesMax = c.ResultBytesMax + c.ProgramBytesMax }},
			{"push_min", "gate.push_interval = %[4]v", func(c *gate.Config) { c.PushMin = c.PushInterval + 1 }},
			{"queue_age_max", "gate.datacenter_age = %[9]v must not be below", func(c *gate.Config) { c.QueueAgeMax = c.DatacenterAge + 1 }},
			{"program_bytes_max", "gate.program_bytes_max = %[5]d must be 1 to 512KiB", func(c *gate.Config) {
				c.FileBytesMax += 1 << 20
				c.ProgramBytesMax = 512<<10 + 1
			}},
			{"drift_ppm", "gate.drift_ppm = %[6]d must be below 500000", func(c *gate.Config) { c.DriftPPM = 500_000 }},
			{"file_age", "gate.file_age = %[7]v leaves a record", func(c *gate.Config) { c.FileAge = 4 * (c.Lease + c.QuorumTimeout) }},
			{"lease", "gate.lease = %[8]v is too short", func(c *gate.Config) { c.Lease = 3 * (c.QuorumTimeout + c.StoreRetry) / 2 }},
		} {
			c := legal
			b.set(&c)
			want := fmt.Sprintf(b.want+"%.0[10]s", c.JobsMax, c.FilesMax, c.FileBytesMax, c.PushInterval, c.ProgramBytesMax, c.DriftPPM, c.FileAge, c.Lease, c.DatacenterAge, "")
			all := faultsOf(c)
			if !slices.ContainsFunc(all, func(f string) bool { return strings.Contains(f, want) }) {
				t.Fatalf("%s: got %q, want %q", b.key, all, want)
			}
			if b.key != "drift_ppm" { // a clock that is wrong by half makes every wait too short
				onlyNames(t, all, b.key, want)
			}
		}
		c := legal
		switch rapid.IntRange(0, 2).Draw(t, "gates") {
		case 0:
			c.Gates = append(slices.Clone(c.Gates), "")
		case 1:
			c.Gates = append(slices.Clone(c.Gates), "x:1", "x:1")
		default:
			c.Gates = nil
			for i := range 65 {
				c.Gates = append(c.Gates, node.Addr(fmt.Sprint(i)))
			}
		}
		for _, f := range faultsOf(c) {
			if !strings.HasPrefix(f, "gate.gates") {
				t.Fatalf("the set of gates is wrong, and the fault is %q", f)
			}
		}
		if len(faultsOf(c)) == 0 {
			t.Fatalf("the set %v is valid", c.Gates)
		}
	})
}

// onlyNames asserts that each fault names the field, that no fault repeats, and that one quotes
// the value.
func onlyNames(t *rapid.T, all []string, key, want string) {
	found := false
	for i, f := range all {
		if !strings.Contains(f, key) || slices.Contains(all[:i], f) {
			t.Fatalf("%s is out of its bounds, and a fault is %q of %q", key, f, all)
		}
		found = found || strings.Contains(f, want)
	}
	if !found {
		t.Fatalf("%s is out of its bounds: got %q, want %q", key, all, want)
	}
}

// TestSetsThatLoseAMajorityAreWarnedOf: a gate warns of exactly the sets that one lost gate or
// host stops, and of those that need no such size. The test searches all sets.
func TestSetsThatLoseAMajorityAreWarnedOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := legalConfig(t)
		n := len(c.Gates)
		survives := func(n int) (lost int) {
			for n-lost-1 > n/2 {
				lost++
			}
			return lost
		}
		hosts := map[string]int{}
		for _, g := range c.Gates {
			hosts[strings.SplitN(string(g), ":", 2)[0]]++
		}
		var want []string
		switch {
		case survives(n) == 0:
			want = append(want, "losing it stops everything", "losing one stops everything")
			want = []string{want[min(max(n, 1), 2)-1]}
		case survives(n) == survives(n-1):
			want = append(want, fmt.Sprintf("%d gates survive the loss of %d, as %d would", n, survives(n), n-1))
		}
		for i := range 4 {
			h := fmt.Sprintf("h%d", i)
			if n >= 3 && n-hosts[h] <= n/2 {
				want = append(want, fmt.Sprintf("%d of %d gates are on host %s:", hosts[h], n, h))
			}
		}
		got := c.Warnings()
		if len(got) != len(want) {
			t.Fatalf("%v: got %q, want %q", c.Gates, got, want)
		}
		for i := range want {
			if !strings.Contains(got[i], want[i]) {
				t.Fatalf("%v: got %q, want %q", c.Gates, got[i], want[i])
			}
		}
	})
}
