package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/progress"
	"hyperscale/scenarios"
)

// failedRun is a violation that was kept.
func failedRun(seed uint64, detail, dir string) simResult {
	return simResult{simLine: simLine{Scenario: "storm", Seed: seed, Verdict: scenarios.Violation, Detail: detail}, Files: []string{filepath.Join(dir, "storm-1.sched")}}
}

// The first failure of each cause is made small, before anything else is played,
// once, also when the swarm is started again.
func TestEachCauseIsMadeSmallOnce(t *testing.T) {
	dir := t.TempDir()
	start := func() *swarm {
		s, err := newSwarm(&swarmFlags{scenario: "storm,canary", seeds: seedRange{1, 9}, out: dir, shrink: time.Minute}, &strings.Builder{}, &strings.Builder{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := start()
	if len(s.scenarios) != 2 {
		t.Fatalf("%d scenarios", len(s.scenarios))
	}
	s.done(failedRun(1, "T8 broken at 3s on gate-1: 7 times", dir))
	s.done(failedRun(2, "T8 broken at 4s on gate-2: 9 times", dir))
	task, ok := s.next()
	if !ok || task.Shrink != filepath.Join(dir, "storm-1.sched") || task.Budget != time.Minute {
		t.Fatalf("%+v, %v", task, ok)
	}
	if task, _ := s.next(); task.Shrink != "" {
		t.Fatalf("made small twice: %+v", task)
	}
	small := failedRun(1, "T8 broken at 2s on gate-1: 7 times", dir)
	file := filepath.Join(dir, "storm-1.sched")
	small.Shrunk, small.Files, small.Left, small.Faults = file, []string{smallName(file)}, 2, 31
	s.done(small)
	if s.total.Seeds != 2 || s.total.Violations != 2 {
		t.Errorf("what was made small counts as a run: %+v", s.total)
	}
	s.journal.close()

	again := start()
	defer again.journal.close()
	for task, ok := again.next(); ok; task, ok = again.next() {
		if task.Shrink != "" {
			t.Fatalf("made small again: %+v", task)
		}
	}
	var out strings.Builder
	again.out, again.started = &out, time.Now()
	if err := again.tell(); err != nil {
		t.Fatal(err)
	}
	if want := "small: 2 faults of 31 left: hyperscale sim replay " + filepath.Join(dir, "storm-1.min.sched"); !strings.Contains(out.String(), want) {
		t.Errorf("want %q in\n%s", want, &out)
	}
}

// A process that died while it made a failure small says so, and is no failed run.
func TestShrinkingMayFail(t *testing.T) {
	s := swarm{flags: &swarmFlags{shrink: time.Minute}, small: map[string]string{}, line: progress.New(io.Discard, false, time.Now())}
	s.done(failedRun(1, "T8 broken", "out"))
	task, _ := s.next()
	s.done(simResult{simLine: simLine{Verdict: scenarios.Panicked, Detail: "its process ended"}, Shrunk: task.Shrink})
	if got := s.small[scenarios.Cause(scenarios.Violation, "T8 broken")]; got != "not made small: its process ended" || len(s.failed) != 1 {
		t.Errorf("%q, %d failed", got, len(s.failed))
	}
}

func TestReachedNamesWhatNeverWas(t *testing.T) {
	states := scenarios.RareStates()
	if len(states) < 2 {
		t.Fatalf("machines tell of %d rare states, want at least two", len(states))
	}
	got := tellReached(map[string]int{states[0]: 12345})
	if !strings.Contains(got, states[0]+" 12,345") || !strings.Contains(got, "Never reached: ") || !strings.Contains(got[strings.Index(got, "Never"):], states[1]) {
		t.Errorf("%s", got)
	}
	if got := tellReached(nil); got != "" {
		t.Errorf("of a world without rare states: %q", got)
	}
}
