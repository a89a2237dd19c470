package outputs

import (
	"testing"
	"time"
)

// The waits of tries, by their bounds: full jitter, a budget, the circuit, and what the place asks for.
func TestRetries(t *testing.T) {
	p := DefaultPace()
	now := time.Unix(1000, 0)
	for range 100 {
		r := newRetry(p)
		for i, most := range []time.Duration{p.Min, 2 * p.Min, 4 * p.Min} {
			if wait, over := r.failed(Again(0, ""), now, time.Time{}); over || wait > most {
				t.Fatalf("try %d waits %v, at most %v", i, wait, most)
			}
		}
		for range 5 { // the budget is spent: one trial now and then
			if wait, over := r.failed(Again(0, ""), now, time.Time{}); over || wait < p.Max/2 || wait > p.Max {
				t.Fatalf("an open circuit waits %v", wait)
			}
		}
		for range 4 {
			r.delivered()
		}
		if wait, _ := r.failed(Again(0, ""), now, time.Time{}); wait < p.Max/2 {
			t.Fatalf("four deliveries allow a try after %v", wait)
		}
		for range 5 {
			r.delivered()
		}
		if wait, _ := r.failed(Again(0, ""), now, time.Time{}); wait > p.Min {
			t.Fatalf("five more allow none: %v", wait)
		}
		if wait, _ := r.failed(Again(3*time.Minute, ""), now, time.Time{}); wait != 3*time.Minute {
			t.Fatalf("Retry-After of 3m waits %v", wait)
		}
	}
}

// Rejected credentials are given up after Pace.Denied without any other answer.
func TestDenials(t *testing.T) {
	p := DefaultPace()
	r, now := newRetry(p), time.Unix(1000, 0)
	for _, step := range []struct {
		after time.Duration
		out   Outcome
		over  bool
	}{
		{0, Denied("401"), false}, {p.Denied - 1, Denied("401"), false}, {0, Again(0, "busy"), false},
		{1, Denied("401"), false}, {p.Denied - 1, Denied("401"), false}, {1, Denied("401"), true},
	} {
		now = now.Add(step.after)
		if _, over := r.failed(step.out, now, time.Time{}); over != step.over {
			t.Fatalf("at %v: given up %v", now, over)
		}
	}
}

// A parcel that came late has its own time: another's denials do not end it.
func TestDenialsOfAParcel(t *testing.T) {
	p := DefaultPace()
	r, began := newRetry(p), time.Unix(1000, 0)
	r.failed(Denied("401"), began, began)
	for _, step := range []struct {
		at, since time.Duration
		over      bool
	}{
		{p.Denied - 1, 0, false}, {p.Denied, 1, false}, {p.Denied, 0, true}, {p.Denied, p.Denied, false}, {2*p.Denied - 1, p.Denied, false}, {2 * p.Denied, p.Denied, true},
	} {
		if _, over := r.failed(Denied("401"), began.Add(step.at), began.Add(step.since)); over != step.over {
			t.Errorf("at %v of one since %v: given up %v", step.at, step.since, over)
		}
	}
}
