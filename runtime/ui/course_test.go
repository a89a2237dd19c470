package ui

import (
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// TestLiveRateIsTheWindows: two executors that send 50/s each, and tell it at different times,
// are 100/s in each sample.
func TestLiveRateIsTheWindows(t *testing.T) {
	told := func(at time.Duration) *message.Stats {
		var w stats.Windows
		var n uint64
		for since := time.Duration(0); since < at; since += 20 * time.Millisecond {
			w.At(since).OK++
			n++
		}
		return &message.Stats{Elapsed: at, Steps: []message.StepStats{{Name: "home", Kind: message.StepRequest, Started: n, Sent: n, OK: n, Windows: w.Wire()}}}
	}
	m := NewModel("test", &message.Plan{Workflows: []message.WorkflowPlan{{Name: "flow", VUs: 2, Duration: time.Minute}}})
	parts := [2]*message.Stats{told(0), told(0)}
	for at := 100 * time.Millisecond; at < 20*time.Second; at += 100 * time.Millisecond {
		for i, every := range []time.Duration{time.Second, 1400 * time.Millisecond} {
			if at%every == 0 {
				parts[i] = told(at) // the other one is silent now
			}
		}
		sum, err := stats.Sum(parts[:])
		if err != nil {
			t.Fatal(err)
		}
		m.Apply(&message.JobStatus{
			State: message.JobRunning, Elapsed: at, Sequence: uint64(at),
			Datacenters: []message.DatacenterResult{{Name: "here", Workflows: []message.WorkflowResult{{Name: "flow", State: message.WorkflowRunning, Cores: 2, Stats: sum}}}},
		})
		if got := m.flows[0].steps[0].rateMilli; at > 4*time.Second && (got < 99_000 || got > 101_000) {
			t.Errorf("at %v the rate is %d thousandths, want 100/s", at, got)
		}
	}
}

// TestStatusesOfTheNextOwner: the gate that takes a job over counts its statuses from 1. The screen goes on, and
// takes no status that is older.
func TestStatusesOfTheNextOwner(t *testing.T) {
	m := NewModel("", &message.Plan{})
	for _, x := range []struct {
		sequence uint64
		elapsed  time.Duration
		shown    time.Duration
	}{{40, 10 * time.Second, 10 * time.Second}, {39, 9 * time.Second, 10 * time.Second}, {1, 14 * time.Second, 14 * time.Second}, {2, 15 * time.Second, 15 * time.Second}, {1, 14 * time.Second, 15 * time.Second}} {
		m.Apply(&message.JobStatus{State: message.JobRunning, Sequence: x.sequence, Elapsed: x.elapsed})
		if m.Elapsed != x.shown {
			t.Errorf("status %d of %v: the screen shows %v, want %v", x.sequence, x.elapsed, m.Elapsed, x.shown)
		}
	}
}
