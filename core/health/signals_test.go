package health

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The table of decisions, row by row: the first bad signal decides.
func TestDecisions(t *testing.T) {
	for _, row := range []struct {
		alive, ready bool
		progress     WatchState
		want         Decision
		takes        bool
	}{
		{false, false, Moving, Evict, false},
		{false, true, Moving, Evict, false},
		{false, true, Stuck, Evict, false},
		{true, false, Moving, Hold, false},
		{true, false, Stalled, Hold, false},
		{true, false, Stuck, Hold, false},
		{true, true, Stuck, Drain, true},
		{true, true, Grace, Investigate, true},
		{true, true, Extended, Investigate, true},
		{true, true, Stalled, Investigate, true},
		{true, true, Moving, Route, true},
	} {
		got := Decide(Signals{row.alive, row.ready, row.progress})
		if got != row.want || got.Takes() != row.takes {
			t.Errorf("alive %v, ready %v, %v: %v, takes work %v; want %v, %v", row.alive, row.ready, row.progress, got, got.Takes(), row.want, row.takes)
		}
	}
}

// The table is total, and each signal counts: a worse one never leads to a better decision. Only a
// peer that is not alive counts as lost, and only one that is alive and ready gets work.
func TestDecisionsAreTotalAndOnlyWorsen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) Signals {
			return Signals{
				Alive: rapid.Bool().Draw(t, name+" is alive"), Ready: rapid.Bool().Draw(t, name+" is ready"),
				Progress: WatchState(rapid.Uint8().Draw(t, name+" moves")),
			}
		}
		a, b := draw("a"), draw("b")
		worst := Signals{a.Alive && b.Alive, a.Ready && b.Ready, max(a.Progress, b.Progress)}
		d, w := Decide(a), Decide(worst)
		if d > Evict || d.String() == "" {
			t.Fatalf("%+v is %d", a, d)
		}
		if w < d {
			t.Fatalf("%+v is %v, and %+v, which is no better, is %v", a, d, worst, w)
		}
		if (d == Evict) == a.Alive || d.Takes() != (a.Alive && a.Ready) || (d == Route) != (a.Alive && a.Ready && a.Progress == Moving) {
			t.Fatalf("%+v is %v", a, d)
		}
	})
}

// Bounds are half-open (HEALTH-1), and a longer wait is never better.
func TestWaits(t *testing.T) {
	for _, row := range []struct {
		wait time.Duration
		want WatchState
	}{{0, Moving}, {10*time.Second - 1, Moving}, {10 * time.Second, Stalled}, {30*time.Second - 1, Stalled}, {30 * time.Second, Stuck}, {time.Hour, Stuck}} {
		if got := OfWait(row.wait); got != row.want {
			t.Errorf("a wait of %v is %v, want %v", row.wait, got, row.want)
		}
	}
}
