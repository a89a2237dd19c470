package stats_test

import (
	"testing"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

func TestWhatWasInFlightIsCancelled(t *testing.T) {
	s := stats.Settle(message.Stats{Active: 4, Steps: []message.StepStats{{Started: 10, OK: 3, Failed: 2, TimedOut: 1, Cancelled: 1}}})
	if got := s.Steps[0].Cancelled; got != 4 || s.Active != 0 {
		t.Errorf("of 10 starts 6 ended by themselves: %d were cancelled, %d are active", got, s.Active)
	}
}
