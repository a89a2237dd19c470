package gate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/gate"
	"hyperscale/core/node"
)

func TestLeaseMustOutlastItsMajorities(t *testing.T) {
	for _, c := range []struct {
		lease, quorum time.Duration
		ppm           int64
		ok            bool
	}{
		{30 * time.Second, 5 * time.Second, 10_000, true},
		{6 * time.Second, time.Second, 10_000, true},
		{6 * time.Second, 5 * time.Second, 10_000, false},
		{9 * time.Second, 5 * time.Second, 0, false},
		{9*time.Second + 31*time.Millisecond, 5 * time.Second, 1, true},
		{30 * time.Second, 5 * time.Second, 450_000, true},
		{30 * time.Second, 5 * time.Second, 499_000, false},
		{30 * time.Second, 5 * time.Second, 500_000, false},
	} {
		g := gate.Default()
		g.Lease, g.QuorumTimeout, g.DriftPPM = c.lease, c.quorum, max(c.ppm, 1)
		err := g.Validate()
		short := err != nil && strings.Contains(err.Error(), "must be above lease/3 + quorum_timeout + store_retry")
		if short == c.ok || err == nil && c.ppm >= 500_000 {
			t.Errorf("lease %v, quorum timeout %v, drift %d ppm: %v", c.lease, c.quorum, c.ppm, err)
		}
	}
}

// A quarter of file_age, less 2 % for the drift of two clocks, must exceed a lease plus a
// quorum timeout, and two sweeps.
func TestFilesOutlastTheirRecordsWayToAMajority(t *testing.T) {
	for _, c := range []struct {
		age, sweep time.Duration
		ok         bool
	}{
		{10 * time.Minute, time.Minute, true},
		{153 * time.Second, time.Second, true}, // 38.25 s - 3.06 s = 35.19 s
		{152 * time.Second, time.Second, false},
		{8*time.Minute + 42*time.Second, time.Minute, true}, // 130.5 s - 10.44 s = 120.06 s
		{8*time.Minute + 41*time.Second, time.Minute, false},
	} {
		g := gate.Default()
		g.FileAge, g.SweepInterval = c.age, c.sweep
		if err := g.Validate(); (err == nil) != c.ok {
			t.Errorf("file_age %v, sweep_interval %v: %v, want ok: %v", c.age, c.sweep, err, c.ok)
		}
	}
}

func TestSetsAreCheckedAndWarnedOf(t *testing.T) {
	for _, c := range []struct {
		gates []node.Addr
		fault string
		warns []string
	}{
		{nil, "", []string{"1 gate: losing it stops everything, and losing its disk loses what was acknowledged; 3 lose none"}},
		{[]node.Addr{"a", "b"}, "", []string{"2 gates: losing one stops everything, 3 lose none"}},
		{[]node.Addr{"a", "b", "c"}, "", nil},
		{[]node.Addr{"a", "b", "c", "d"}, "", []string{"4 gates survive the loss of 1, as 3 would: an even one adds nothing but work"}},
		{[]node.Addr{"x:1", "x:2", "y:1"}, "", []string{"2 of 3 gates are on host x: losing that host loses the majority"}},
		{[]node.Addr{"[::1]:1", "[::2]:1", "y:1"}, "", nil},
		{[]node.Addr{"a", "b", "a"}, `"a" is empty or named twice`, nil},
		{make([]node.Addr, 65), "65 addresses, must be at most 64", nil},
	} {
		g := gate.Default()
		g.Gates = c.gates
		err := g.Validate()
		if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%d gates: %v, want %q", len(c.gates), err, c.fault)
		}
		if err != nil {
			continue
		}
		if diff := cmp.Diff(c.warns, g.Warnings()); diff != "" {
			t.Errorf("%d gates: %s", len(c.gates), diff)
		}
	}
}
