package stats_test

import (
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
