package main

import (
	"strings"
	"testing"
	"time"
)

// An end is in sight from the first run on, what is behind counts as it was expected, and
// nothing is left at the end.
func TestStatus(t *testing.T) {
	b := &bench{rounds: 1, duration: 9 * time.Second}
	h := &b.how
	h.chosen = []experiment{{name: "one", takes: (*bench).takesLateness}, {name: "two", takes: (*bench).takesLateness}} // 20 s each
	h.at = -1
	b.next()
	if got, want := h.status(b, 0), "experiment 1 of 2, one: 0 runs, 0s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	h.runs, h.current = 1, 10*time.Second
	if got, want := h.status(b, 10*time.Second), "experiment 1 of 2, one: 1 runs, 10s, about 30s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	b.next()
	h.current = time.Hour
	if got := h.status(b, time.Minute); !strings.HasSuffix(got, "about 0s left") {
		t.Errorf("%q, want nothing left", got)
	}
	for _, e := range experiments {
		if e.takes(b) <= 0 {
			t.Errorf("%s is expected to take no time", e.name)
		}
	}
}
