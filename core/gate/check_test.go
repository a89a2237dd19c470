package gate

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"hyperscale/core/gate/places"
	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/plan/plantest"
)

// legalSubmit draws a submission within all bounds.
func legalSubmit(t *rapid.T) *message.JobSubmit {
	s := &message.JobSubmit{
		Request: message.RequestID{Counter: 1}, Key: plantest.Text(t, 0, keyMax), Name: strings.Repeat("n", plantest.Edge(t, "name", 0, nameMax)),
		RunTimeout: plantest.Edge(t, "run timeout", 0, Default().RunTimeoutMax), Plan: *plantest.Legal(t),
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "files") {
		s.Program.Files = append(s.Program.Files, message.File{Name: plantest.Text(t, i, plan.PathMax), Data: make([]byte, rapid.IntRange(0, 99).Draw(t, "bytes"))})
	}
	s.Program.Main = rapid.SampledFrom(s.Program.Files).Draw(t, "main").Name
	for i := range plantest.Edge(t, "datacenters", 0, Default().DatacentersMax) {
		s.Datacenters = append(s.Datacenters, fmt.Sprintf("Eu-W.%d_%s", i, strings.Repeat("z", plantest.Edge(t, "place", 0, places.NameMax-10))))
	}
	return s
}

// copied returns the submission as another process would read it.
func copied(t *rapid.T, s *message.JobSubmit) *message.JobSubmit {
	b, err := message.Append(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	body, err := message.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return body.(*message.JobSubmit)
}

// TestPlansWithinTheirBoundsAreAccepted: a gate accepts a submission whose values are all
// within their bounds. It rejects the same submission with one bound broken, and its fault
// names the key. Of plans it rejects exactly those that plan.Check rejects.
func TestPlansWithinTheirBoundsAreAccepted(t *testing.T) {
	m := New(Default())
	all := breaks()
	for _, b := range plantest.Breaches() {
		all = append(all, breach{name: b.Name, code: message.CodeBadPlan, set: func(t *rapid.T, s *message.JobSubmit, w *message.WorkflowPlan) string { return b.Set(t, &s.Plan, w) }})
	}
	rapid.Check(t, func(t *rapid.T) {
		legal := legalSubmit(t)
		if code, why := m.config.check(legal); code != message.CodeNone {
			t.Fatalf("a submission within all bounds is rejected: %v, %s", code, why)
		}
		for _, b := range all {
			s := copied(t, legal)
			at := rapid.IntRange(0, len(s.Plan.Workflows)-1).Draw(t, "workflow")
			want := b.set(t, s, &s.Plan.Workflows[at])
			if want == "" {
				continue // this plan has no place for the breach
			}
			code, why := m.config.check(s)
			if code == message.CodeTooLarge && len(plan.Check(&s.Plan)) > 0 && s.Size() > message.FrameMax-frameSlack {
				continue // the gate checks the size first
			}
			if code != b.code || !strings.Contains(why, want+" = ") && !strings.Contains(why, " more") {
				t.Fatalf("%s: got %v, %q; want %v and %q", b.name, code, why, b.code, want)
			}
			if !utf8.ValidString(why) || len(why) > 8*plan.PathMax {
				t.Fatalf("%s: the fault is no text for people: %d bytes, %q", b.name, len(why), why)
			}
		}
	})
}

// TestShorterRunsAreRejected: a gate with a lower gate.run_timeout_max rejects a plan whose
// workflows last longer. The fault names the setting, and the gate cuts no run short.
func TestShorterRunsAreRejected(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := legalSubmit(t)
		s.RunTimeout = 0
		long := plan.Longest(&s.Plan, plan.Lasts)
		c := Default()
		c.RunTimeoutMax = plantest.Edge(t, "gate.run_timeout_max", c.RunTimeoutExtra, c.RunTimeoutMax)
		m := New(c)
		code, why := m.config.check(s)
		if fits := long+c.RunTimeoutExtra <= c.RunTimeoutMax; fits != (code == message.CodeNone) {
			t.Fatalf("the workflows last %v, the bound is %v: got %v, %s", long, c.RunTimeoutMax, code, why)
		}
		switch {
		case code != message.CodeNone && (code != message.CodeBadPlan || !strings.Contains(why, "raise gate.run_timeout_max")):
			t.Fatalf("got %v, %s", code, why)
		case code == message.CodeNone && m.config.runTimeout(s) < long:
			t.Fatalf("the workflows last %v, the run is given %v", long, m.config.runTimeout(s))
		}
	})
}

// TestRunsAreGivenTimeForTheirIterations: the run timeout covers each chain of workflows, which
// the test searches exhaustively, and stays within its bound.
func TestRunsAreGivenTimeForTheirIterations(t *testing.T) {
	c := Default()
	rapid.Check(t, func(t *rapid.T) {
		m := New(c)
		s := legalSubmit(t)
		small := func(what string) time.Duration {
			return time.Duration(rapid.IntRange(1, 99).Draw(t, what)) * time.Second
		}
		for i := range s.Plan.Workflows {
			w := &s.Plan.Workflows[i]
			w.Timeout, w.Think, w.ThinkMax, w.Pace, w.GracefulStop = small("timeout"), small("think"), 0, small("pace"), small("stop")
			w.Duration, w.Stages = rapid.SampledFrom([]time.Duration{0, small("duration")}).Draw(t, "or none"), nil
			w.VUs, w.Iterations = 1, rapid.Uint64Range(0, 9).Draw(t, "iterations")
		}
		if s.RunTimeout > 0 {
			if got := m.config.runTimeout(s); got != s.RunTimeout {
				t.Fatalf("the run is given %v, %v was asked for", got, s.RunTimeout)
			}
		}
		s.RunTimeout = 0
		var need func(i uint32) time.Duration // time until workflow i has ended
		need = func(i uint32) (before time.Duration) {
			w := &s.Plan.Workflows[i]
			for _, k := range slices.Concat(w.Depends, w.StartAfter) {
				before = max(before, need(k))
			}
			if w.Duration > 0 {
				return before + w.Duration + max(w.Timeout, w.GracefulStop)
			}
			layers := uint32(0)
			for k := range w.Steps {
				layers = max(layers, w.Steps[k].Layer+1)
			}
			return before + time.Duration(max(w.Iterations, 1))*max(time.Duration(layers)*w.Timeout+w.Think, w.Pace)
		}
		got := m.config.runTimeout(s)
		for i := range s.Plan.Workflows {
			if n := need(uint32(i)) + c.RunTimeoutExtra; got < min(n, c.RunTimeoutMax) {
				t.Fatalf("the run is given %v, workflow %d may need %v", got, i, n)
			}
		}
		if got > c.RunTimeoutMax {
			t.Fatalf("the run is given %v, the bound is %v", got, c.RunTimeoutMax)
		}
	})
}

// TestExposedGatesRejectSecrets: what travels in clear text has no secrets in it.
func TestExposedGatesRejectSecrets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := legalSubmit(t)
		s.Program.Secrets = []message.Secret{{Name: "token", Value: "hunter2"}}
		c := Default()
		c.Exposed = rapid.Bool().Draw(t, "exposed")
		code, why := New(c).config.check(s)
		if rejected := code == message.CodeBadPlan && strings.Contains(why, "program.secrets = 1 must be 0 while the gates listen beyond this machine"); rejected != c.Exposed {
			t.Fatalf("exposed: %v, got %v, %s", c.Exposed, code, why)
		}
		if strings.Contains(why, "hunter2") {
			t.Fatalf("the fault shows the secret: %s", why)
		}
	})
}
