package job

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/gate/places"
	"hyperscale/core/lifecycle"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// TestTransitionsAreConfirmedInOrder plays decisions and confirmations of a majority. Confirm
// returns each transition once, in order, and Shown is the state after the last confirmed one.
func TestTransitionsAreConfirmedInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var j Job
		var all []Transition // decided so far
		confirmed := 0
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "decide") {
				var next []message.JobState
				for to := range message.JobTimedOut + 1 {
					if lifecycle.LegalJob(j.State, to) {
						next = append(next, to)
					}
				}
				if len(next) == 0 {
					continue
				}
				to := rapid.SampledFrom(next).Draw(t, "to")
				all = append(all, Transition{From: j.State, To: to, Reason: to.String()})
				j.Become(to, to.String())
			} else {
				upTo := rapid.IntRange(0, len(all)).Draw(t, "up to") // confirmations may arrive late
				want := all[confirmed:max(confirmed, upTo)]
				if got := j.Confirm(upTo); !slices.Equal(got, want) {
					t.Fatalf("confirmed up to %d are %v, want %v", upTo, got, want)
				}
				confirmed = max(confirmed, upTo)
			}
			state, shown := message.JobNone, message.JobNone
			if len(all) > 0 {
				state = all[len(all)-1].To
			}
			if confirmed > 0 {
				shown = all[confirmed-1].To
			}
			if j.State != state || j.Shown != shown || j.Decided() != len(all) || j.Pending() != len(all)-confirmed || confirmed > 0 && j.Last != all[confirmed-1] {
				t.Fatalf("it is %v, shown as %v after %+v, %d of %d are pending; want %v and %v", j.State, j.Shown, j.Last, j.Pending(), j.Decided(), state, shown)
			}
		}
	})
}

// TestSubjobsStopWhenTheirGuardHasPassed: a subjob expires one guard after its renewal. It
// keeps its job out of the queue for one guard after a gate named it.
func TestSubjobsStopWhenTheirGuardHasPassed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const guard = time.Minute
		now := node.Instant(time.Hour)
		ago := func(what string) node.Instant {
			return now.Add(-rapid.SampledFrom([]time.Duration{0, guard - 1, guard, 2 * guard}).Draw(t, what))
		}
		p := &Subjob{Phase: Phase(rapid.IntRange(0, int(Done)).Draw(t, "phase")), Ever: rapid.Bool().Draw(t, "ever"), Accepted: rapid.Bool().Draw(t, "accepted")}
		p.Renewed, p.Since = ago("renewed"), ago("since")
		if rapid.Bool().Draw(t, "named") {
			p.Named = ago("named")
		}
		if got, want := p.Expired(now, guard), p.Ever && p.Phase != Done && now >= p.Renewed.Add(guard); got != want {
			t.Fatalf("%+v is expired: %v, want %v", p, got, want)
		}
		may := p.Named != 0 && now < p.Named.Add(guard)
		if got := p.MayRun(now, guard); got != may {
			t.Fatalf("%+v may run: %v, want %v", p, got, may)
		}
		j := Job{Subjobs: []*Subjob{p}}
		if got, want := j.InUse(now, guard), may || p.Accepted || p.Phase != Waiting; got != want {
			t.Fatalf("%+v is in use: %v, want %v", p, got, want)
		}
		if j.Done() != (p.Phase == Done) {
			t.Fatalf("%+v is done: %v", p, j.Done())
		}
	})
}

// The gate answers the node that sent a result last, and releases a subjob's cores once. A
// subjob that it gave up shows its end.
func TestSubjobsAnswerAndRelease(t *testing.T) {
	p := &Subjob{Datacenter: "a", Manager: "m2"}
	if p.AnswerTo(node.Peer{ID: "g2", Role: node.RoleGate, Addr: "g2:1"}, 5); p.AckBy != "g2:1" || p.From != "m2" {
		t.Errorf("a gate passed the result on, and %q is answered for %q", p.AckBy, p.From)
	}
	if p.AnswerTo(node.Peer{ID: "m1", Role: node.RoleManager}, 7); p.AckBy != "" || p.AckTo != 7 || p.From != "m1" {
		t.Errorf("the manager sent it itself, and %q is answered", p.AckBy)
	}
	in := places.New(places.Bounds{Datacenters: 1})
	in.Add("a", 1, 0).Reserve(places.Room{Cores: 5})
	p.Reserved = places.Room{Cores: 3}
	p.Release(in)
	p.Release(in)
	in.Rests(func(what string, n, _ int) {
		if what == "gate/cores that datacenters reserve" && n != 2 {
			t.Errorf("%d cores stay reserved, want 2", n)
		}
	})
	(&Job{Program: Program{Spec: &message.JobSubmit{}}, Times: Times{Started: 1}}).GiveUp(p, message.JobFailed, "lost", 3)
	if d := p.Shown(); p.Phase != Done || p.End != Unheard || d.State != message.JobFailed || d.Error != "lost" || d.Duration != 2 {
		t.Errorf("given up it is %+v, shown as %+v", p, d)
	}
}

// A cancellation goes to the manager that has the subjob, or to all managers that the gate
// asked.
func TestHoldersAreWhoMayHaveIt(t *testing.T) {
	p := &Subjob{Manager: "m1", Round: Round{Asked: []Asked{{Manager: "m1"}, {Manager: "m2"}}}, Phase: Sent}
	if got := p.Holders(); !slices.Equal(got, []node.ID{"m1", "m2"}) {
		t.Errorf("before an answer they are %v", got)
	}
	p.Phase = Running
	if got := p.Holders(); !slices.Equal(got, []node.ID{"m1"}) {
		t.Errorf("of a subjob that runs they are %v", got)
	}
	p.Phase, p.Asked = Adopting, nil
	if got := p.Holders(); !slices.Equal(got, []node.ID{"m1"}) {
		t.Errorf("after a take-over they are %v", got)
	}
}

// A subjob is aborting while it runs a workflow whose abort is on a majority, and its job while
// any subjob is.
func TestAbortsLastUntilSubjobsEndThem(t *testing.T) {
	a := &Abort{Known: true}
	p := &Subjob{Phase: Running}
	j := Job{Aborts: []*Abort{a}, Subjobs: []*Subjob{{Phase: Done}, p}}
	if !p.Aborting(a) || !j.Aborting() {
		t.Error("a subjob that runs does not abort")
	}
	p.Progress = &message.DatacenterResult{Workflows: []message.WorkflowResult{{State: message.WorkflowFailed}}}
	if p.Aborting(a) || j.Aborting() {
		t.Error("a workflow that ended still aborts")
	}
	p.Progress, p.Phase = nil, Done
	if p.Aborting(a) || j.Aborting() {
		t.Error("a subjob that is done still aborts")
	}
	p.Phase, a.Known = Running, false
	if p.Aborting(a) || j.Aborting() {
		t.Error("a subjob aborts what no majority knows")
	}
}

// TestTimersFireWhenADutyArises: a waiting subjob has no duty before its job's timer fires, and
// has one at that instant.
func TestTimersFireWhenADutyArises(t *testing.T) {
	timing := Timing{CancelRetry: time.Second, DispatchRetry: 2 * time.Second, Adoption: 5 * time.Second, Guard: time.Minute}
	rapid.Check(t, func(t *rapid.T) {
		now := node.Instant(time.Hour)
		ago := func(what string) node.Instant {
			return now.Add(-time.Duration(rapid.IntRange(0, 1900).Draw(t, what)) * time.Millisecond)
		}
		p := &Subjob{Phase: rapid.SampledFrom([]Phase{Saving, Sent, Waiting, Adopting, Running}).Draw(t, "phase")}
		p.Since, p.Sent, p.Renewed = ago("since"), ago("sent"), ago("renewed")
		p.Look = now.Add(time.Duration(rapid.IntRange(1, 7000).Draw(t, "look")) * time.Millisecond)
		j := Job{Course: Course{State: message.JobRunning}, Program: Program{RunTimeout: 24 * time.Hour}, Times: Times{Started: now}, Subjobs: []*Subjob{p}}
		due, ok := j.Due(now, timing)
		if !ok {
			t.Fatal("a job that runs has no timer")
		}
		if p.Duty(now, timing) != Nothing || p.Duty(due-1, timing) != Nothing {
			t.Fatalf("%+v has a duty before its timer fires after %v", p, due.Sub(now))
		}
		duty := map[Phase]Duty{Sent: Resend, Waiting: Assign, Adopting: Assign}[p.Phase]
		if p.Phase == Sent && due == p.Look {
			duty = Replace
		}
		if got := p.Duty(due, timing); got != duty && due != j.Started.Add(j.RunTimeout) {
			t.Fatalf("%+v has the duty %d when its timer fires, want %d", p, got, duty)
		}
		p.Ever = true
		if due, _ := j.Due(now, timing); due > now.Add(timing.Guard) || due.Sub(now) < timing.DispatchRetry && p.Phase == Running {
			t.Fatalf("a datacenter that may be silent is looked at after %v", due.Sub(now))
		}
		if p.Duty(p.Renewed.Add(timing.Guard), timing) != Move {
			t.Fatal("after a guard it is not moved")
		}
		j.State = rapid.SampledFrom([]message.JobState{message.JobQueued, message.JobCompleted, message.JobCancelling}).Draw(t, "state")
		j.Resend = now
		if due, ok := j.Due(now, timing); ok != (j.State == message.JobCancelling) || ok && due != now.Add(timing.CancelRetry) {
			t.Fatalf("a job that is %v has a timer: %v, after %v", j.State, ok, due.Sub(now))
		}
	})
}

// A job that is cancelled or runs out of time ends as such, whatever its subjobs report. If no
// manager took a subjob, the reason says so. Every other job ends as its subjobs do.
func TestEndsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := Job{Course: Course{State: rapid.SampledFrom([]message.JobState{message.JobDispatching, message.JobRunning, message.JobCancelling}).Draw(t, "state")}}
		j.Expired = rapid.Bool().Draw(t, "expired")
		taken, completed := false, true
		for range rapid.IntRange(1, 3).Draw(t, "subjobs") {
			p := &Subjob{Phase: Done, Accepted: rapid.Bool().Draw(t, "accepted")}
			p.Result = &message.DatacenterResult{State: rapid.SampledFrom([]message.JobState{message.JobCompleted, message.JobCompleted, message.JobFailed, message.JobCancelled, message.JobTimedOut}).Draw(t, "end")}
			taken, completed = taken || p.Accepted, completed && p.Result.State == message.JobCompleted
			j.Subjobs = append(j.Subjobs, p)
		}
		e := j.Ending()
		state := j.State
		for _, to := range append(slices.Clone(e.Via), e.To) {
			if !lifecycle.LegalJob(state, to) {
				t.Fatalf("%v ends by %+v: %v does not follow %v", j.State, e, to, state)
			}
			state = to
		}
		switch {
		case j.State == message.JobCancelling:
			if e.To != message.JobCancelled {
				t.Fatalf("a job that is being cancelled ends %v", e.To)
			}
		case j.Expired && !completed:
			if e.To != message.JobTimedOut {
				t.Fatalf("a job that is too late ends %v", e.To)
			}
		case j.State == message.JobDispatching && !taken:
			if e.To != message.JobFailed {
				t.Fatalf("a job that no manager took ends %v", e.To)
			}
		case completed != (e.To == message.JobCompleted):
			t.Fatalf("all completed: %v, and the job ends %v", completed, e.To)
		case e.To == message.JobCancelled:
			t.Fatal("a job that no client cancelled ends CANCELLED")
		}
	})
}

// A datacenter fell silent 40 s after the job began. Its manager had reported one workflow that
// ended and one that ran; a third one may have begun.
func TestGivenUpSubjobsKeepTheirFigures(t *testing.T) {
	plan := message.Plan{Workflows: []message.WorkflowPlan{
		{Name: "login", VUs: 1}, {Name: "load", VUs: 2, Duration: 30 * time.Second, GracefulStop: 5 * time.Second}, {Name: "after", VUs: 3},
	}}
	step := func(started, ok uint64) message.Stats {
		return message.Stats{Elapsed: 12 * time.Second, Active: 2, Steps: []message.StepStats{{Name: "get", Kind: message.StepRequest, Started: started, OK: ok}}}
	}
	p := &Subjob{Datacenter: "dc", Accepted: true, Phase: Running, Progress: &message.DatacenterResult{
		Workflows: []message.WorkflowResult{
			{Name: "login", State: message.WorkflowCompleted, Stats: step(5, 5)}, {Name: "load", State: message.WorkflowRunning, Stats: step(90, 88)}, {Name: "after", State: message.WorkflowPending},
		},
		Workers: []message.WorkerShare{{Node: "w1", State: message.WorkerRunning, Active: 2, Started: 90, OK: 88}, {Node: "w2", State: message.WorkerDone, Started: 5, OK: 5}},
	}}
	const began, now = node.Instant(time.Hour), node.Instant(time.Hour + 40*time.Second)
	j := &Job{ID: message.JobID{1}, Program: Program{Spec: &message.JobSubmit{Plan: plan}}, Times: Times{Started: began}}
	j.GiveUp(p, message.JobFailed, "silent", now)
	type figures struct {
		State           message.WorkflowState
		Started, Ended  uint64
		Lost            int
		Counted         bool
		Until, Unreport time.Duration
	}
	var got []figures
	for _, w := range p.Result.Workflows {
		f := figures{State: w.State, Lost: len(w.Lost)}
		for _, s := range w.Stats.Steps {
			f.Started, f.Ended = s.Started, s.OK+s.Failed+s.TimedOut+s.Cancelled
		}
		for _, l := range w.Lost {
			f.Counted, f.Until, f.Unreport = l.Counted, l.Until, l.Unreported
		}
		got = append(got, f)
	}
	want := []figures{
		{State: message.WorkflowCompleted, Started: 5, Ended: 5},
		{State: message.WorkflowFailed, Started: 90, Ended: 90, Lost: 1, Counted: true, Until: 12 * time.Second, Unreport: 23 * time.Second},
		{State: message.WorkflowFailed, Lost: 1, Unreport: 40 * time.Second},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("started, ended, and unreported (-want +got):\n%s", diff)
	}
	if w := p.Result.Workers; w[0].State != message.WorkerLost || w[0].Cancelled != 2 || w[0].Active != 0 || w[1].State != message.WorkerDone {
		t.Errorf("its workers: %+v", w)
	}
	never := &Subjob{Datacenter: "dc"}
	if j.GiveUp(never, message.JobFailed, "refused", now); len(never.Result.Workflows) != 0 {
		t.Errorf("no manager took it, and it has figures: %+v", never.Result)
	}
}

// A gate that knows a job from a backup does not know how long it ran since, nor in how many attempts:
// its timeout bounds that, not its plan, nor the gate's clock.
func TestGivenUpSubjobsOfABackup(t *testing.T) {
	plan := message.Plan{Workflows: []message.WorkflowPlan{{Name: "load", Duration: 30 * time.Second, GracefulStop: 5 * time.Second}, {Name: "after"}}}
	p := &Subjob{Datacenter: "dc", Accepted: true, Phase: Running}
	j := &Job{ID: message.JobID{1}, Program: Program{Spec: &message.JobSubmit{Plan: plan}, RunTimeout: 10 * time.Minute}, Times: Times{Started: 1}, Course: Course{Restored: "a backup"}}
	j.GiveUp(p, message.JobFailed, "unknown", node.Instant(2*time.Second))
	for i, want := range []time.Duration{10 * time.Minute, 10 * time.Minute} {
		if l := p.Result.Workflows[i].Lost; len(l) != 1 || l[0].Unreported != want {
			t.Errorf("of workflow %d at most %v is in no figure, and the result says %+v", i, want, l)
		}
	}
	if r := j.Merged(); r.Result.Restored != "a backup" {
		t.Errorf("the result does not say that it is of a backup: %+v", r.Result)
	}
}
