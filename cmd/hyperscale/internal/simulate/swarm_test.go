package simulate

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/progress"
	"hyperscale/scenarios"
	"hyperscale/scenarios/stage"
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
	if len(s.plan.worlds) != 2 {
		t.Fatalf("%d worlds", len(s.plan.worlds))
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
	if got := s.small["storm "+stage.Cause(scenarios.Violation, "T8 broken")]; got != "not made small: its process ended" || len(s.failed) != 1 {
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

// The same text in two worlds may have two causes: each has its own small form.
func TestCausesAreOfOneWorld(t *testing.T) {
	one := failedRun(1, "T13 broken at 3s", "out")
	other := one
	other.Scenario = "datacenter-cut-off"
	if causes := groupCauses([]simResult{one, other, failedRun(2, "T13 broken at 4s", "out")}); len(causes) != 2 || len(causes[0].runs) != 2 {
		t.Errorf("got %+v, want two runs of storm and one of datacenter-cut-off", causes)
	}
}

// A swarm of another build counts again. It lists the former build's failures, plays them
// first, says how they end now, and knows the costs of worlds.
func TestAnotherProgramPlaysOldFailuresFirst(t *testing.T) {
	dir := t.TempDir()
	j, err := openJournal(dir, time.Second, false) // a journal of another --virtual is another program's
	if err != nil {
		t.Fatal(err)
	}
	red, green := failedRun(7, "T8 broken", dir), failedRun(8, "", dir)
	green.Verdict, green.RealMS, red.RealMS = scenarios.OK, 40, 20
	for _, r := range []simResult{red, green} {
		if err := j.add(r); err != nil {
			t.Fatal(err)
		}
	}
	j.close()

	start := func(virtual time.Duration) (*swarm, *strings.Builder) {
		var out strings.Builder
		f := &swarmFlags{scenario: "storm,steady", each: 1, out: dir, virtual: virtual}
		if err := f.settle(false); err != nil {
			t.Fatal(err)
		}
		s, err := newSwarm(f, &out, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		s.started = time.Now()
		return s, &out
	}
	s, out := start(0)
	if len(s.journal.done) != 0 || s.journal.over != 2 || s.whole != 3 || s.world("storm").took.mean() != 30*time.Millisecond {
		t.Errorf("%d done, %d over, %d whole, storm costs %v; want 0, 2, 3, 30ms", len(s.journal.done), s.journal.over, s.whole, s.world("storm").took.mean())
	}
	var got []string
	for task, ok := s.next(); ok; task, ok = s.next() {
		got = append(got, fmt.Sprintf("%s %d", task.Scenario, task.Seed))
	}
	if want := "storm 7, steady 1, storm 1"; strings.Join(got, ", ") != want {
		t.Errorf("played %v, want %s", got, want)
	}
	if err := s.tell(); err != nil || !strings.Contains(out.String(), "Of another program, 1 failure:\n  violation in storm 7 (not played again)") {
		t.Errorf("%v, told\n%s", err, out)
	}
	mended := red
	mended.Verdict, mended.Detail = scenarios.OK, ""
	s.done(mended)
	out.Reset()
	if err := s.tell(); err != nil || !strings.Contains(out.String(), "storm 7 (ok now)") {
		t.Errorf("%v, told\n%s", err, out)
	}
	s.journal.close()

	// The same program keeps both, yet another one has nothing to list.
	s, _ = start(0)
	if len(s.journal.before) != 1 || len(s.again) != 0 || !s.mended[runKey{"storm", 7}] {
		t.Errorf("%d before, %d to play again, mended %v", len(s.journal.before), len(s.again), s.mended)
	}
	s.journal.close()
	s, _ = start(time.Minute)
	if len(s.journal.before) != 0 {
		t.Errorf("a mended failure is still listed: %+v", s.journal.before)
	}
	s.journal.close()
}

func TestSwarmFlagsSettle(t *testing.T) {
	for _, tc := range []struct {
		flags  swarmFlags
		ranged bool
		first  uint64
		err    string
	}{
		{flags: swarmFlags{seeds: seedRange{1, 100}}, first: 1},
		{flags: swarmFlags{seeds: seedRange{5, 9}, budget: time.Minute}, ranged: true, first: 5},
		{flags: swarmFlags{fresh: "abc", each: 20}, first: freshSeed("abc")},
		{flags: swarmFlags{fresh: "abc"}, err: "--each or --budget"},
		{flags: swarmFlags{fresh: "abc", each: 2}, ranged: true, err: "names all seeds"},
	} {
		err := tc.flags.settle(tc.ranged)
		if tc.err == "" && (err != nil || tc.flags.seeds.first != tc.first) || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
			t.Errorf("%+v: got %v, %v, want %d, %q", tc.flags, tc.flags.seeds, err, tc.first, tc.err)
		}
	}
	if freshSeed("abc") == freshSeed("abd") || freshSeed("abc") != 500253700075 {
		t.Errorf("the seeds of a text moved: %d", freshSeed("abc"))
	}
}
