package stats_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// However late, and however long the series: each window moves by the delay, and none is lost.
func TestDelayedWindowsMove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w stats.Windows
		total := uint64(0)
		for range rapid.IntRange(1, 50).Draw(t, "happenings") {
			at := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "at"))
			w.At(at).OK++
			total++
		}
		by := time.Duration(rapid.Int64Range(1, int64(2*time.Hour)).Draw(t, "by"))
		s := message.Stats{Elapsed: time.Hour, Steps: []message.StepStats{{Windows: w.Wire()}}}
		before, err := stats.Intervals(s.Steps[0].Windows)
		if err != nil {
			t.Fatal(err)
		}
		stats.Delay(&s, by)
		after, err := stats.Intervals(s.Steps[0].Windows)
		if err != nil {
			t.Fatal(err)
		}
		sum := uint64(0)
		for i := range after {
			sum += after[i].OK
		}
		width := s.Steps[0].Windows.Width
		if first, want := after[0].Since, before[0].Since+by; sum != total || first > want || want-first >= 2*width || s.Elapsed != time.Hour+by || s.Gap != by {
			t.Fatalf("%d of %d are left; the first window moved from %v to %v by %v, of width %v; elapsed %v, gap %v", sum, total, before[0].Since, first, by, width, s.Elapsed, s.Gap)
		}
	})
}

func TestWhatWasInFlightIsCancelled(t *testing.T) {
	s := stats.Settle(message.Stats{Active: 4, Steps: []message.StepStats{{Started: 10, OK: 3, Failed: 2, TimedOut: 1, Cancelled: 1}}})
	if got := s.Steps[0].Cancelled; got != 4 || s.Active != 0 {
		t.Errorf("of 10 starts 6 ended by themselves: %d were cancelled, %d are active", got, s.Active)
	}
}

// A workflow that begins later in one datacenter has its windows and its length there where they
// happened, whatever the order of the reports. What it was asked for is as long as it ran anywhere, and no report changes.
func TestLaterDatacentersLieWhereTheyRan(t *testing.T) {
	report := func(at, lasted time.Duration, windows ...time.Duration) stats.Begun {
		var w stats.Windows
		for _, since := range windows {
			w.At(since).OK++
		}
		return stats.Begun{At: at, Stats: &message.Stats{Elapsed: lasted, Activity: w.Wire(), Steps: []message.StepStats{{Name: "home", Kind: message.StepRequest, Windows: w.Wire()}}}}
	}
	s := time.Second
	for _, c := range []struct {
		why                        string
		all                        []stats.Begun
		origin, late, elapsed, gap time.Duration
		windows                    []time.Duration
	}{
		{"one datacenter", []stats.Begun{report(7*s, 60*s, 0, 59*s)}, 7 * s, 0, 60 * s, 0, []time.Duration{0, 59 * s}},
		{"at the same time", []stats.Begun{report(2*s, 60*s, 0), report(2*s, 50*s, s)}, 2 * s, 0, 60 * s, 0, []time.Duration{0, s}},
		{"ten seconds later", []stats.Begun{report(2*s, 60*s, 0, 59*s), report(12*s, 60*s, 0, 59*s)}, 2 * s, 10 * s, 70 * s, 0, []time.Duration{0, 10 * s, 59 * s, 69 * s}},
		{"after the other has ended", []stats.Begun{report(92*s, 60*s, 0), report(2*s, 60*s, 0)}, 2 * s, 90 * s, 150 * s, 30 * s, []time.Duration{0, 90 * s}},
		{"never begun in one", []stats.Begun{report(0, 0), report(12*s, 60*s, 0)}, 12 * s, 0, 60 * s, 0, []time.Duration{0}},
	} {
		before := c.all[0].Stats.Steps[0].Windows.Width
		sum, origin, late, err := stats.SumBegun(c.all)
		if err != nil || origin != c.origin || late != c.late || sum.Elapsed != c.elapsed || sum.Gap != c.gap {
			t.Errorf("%s: origin %v, late %v, elapsed %v, gap %v, %v", c.why, origin, late, sum.Elapsed, sum.Gap, err)
		}
		for _, w := range []message.Windows{sum.Steps[0].Windows, sum.Activity} {
			var since []time.Duration
			all, err := stats.Intervals(w)
			for i := range all {
				since = append(since, all[i].Since)
			}
			if err != nil || !slices.Equal(since, c.windows) {
				t.Errorf("%s: windows at %v, want %v, %v", c.why, since, c.windows, err)
			}
		}
		if c.all[0].Stats.Steps[0].Windows.Width != before || c.all[0].Stats.Gap != 0 {
			t.Errorf("%s: a report changed", c.why)
		}
	}
}
