package linear

import (
	"testing"

	"hyperscale/core/lifecycle"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// api is the job API in memory, correct or with one planted bug: one job, whose state advances
// by itself, and three clients.
type api struct {
	draw func(n int) int
	bug  string
	p    *Partition[Job, JobOp]
	seq  uint64
	s    Job
	past []Job
	busy [3]*asked
}

type asked struct {
	index int
	op    JobOp
	done  bool
}

func (a *api) step() {
	a.seq++
	n := a.draw(3)
	switch x := a.busy[n]; {
	case a.draw(4) == 0:
		a.advance()
	case x == nil:
		op := JobOp{What: [...]string{"submit", "status", "status", "status", "cancel", "result"}[a.draw(6)]}
		if op.What == "submit" {
			op.Payload = uint64(a.draw(2)) + 1
		}
		a.busy[n] = &asked{index: a.p.Call(a.seq, Where{Node: node.ID(rune('a' + n))}, op), op: op}
	case a.draw(20) == 0: // the client crashes
		a.p.Abandon(x.index)
		a.busy[n] = nil
	case !x.done:
		a.effect(&x.op)
		x.done = true
	default:
		a.busy[n] = nil
		if x.op.What == "result" && !x.op.State.Terminal() && x.op.Refused == message.CodeNone {
			a.p.Drop(x.index) // not yet
			return
		}
		a.p.Return(x.index, a.seq, Where{}, x.op)
	}
}

func (a *api) advance() {
	to := message.JobState(a.draw(int(message.JobTimedOut) + 1))
	if !a.s.Known || to == message.JobCancelling || !lifecycle.LegalJob(a.s.State, to) {
		return
	}
	a.past = append(a.past, a.s)
	if a.s.State = to; to.Terminal() {
		a.s.Result = 7
	}
}

func (a *api) effect(o *JobOp) {
	s := a.s
	if a.bug == "stale status" && o.What == "status" && len(a.past) > 0 && a.draw(3) == 0 {
		s = a.past[a.draw(len(a.past))]
	}
	switch {
	case o.What == "submit" && !s.Known:
		a.s = Job{Known: true, Payload: o.Payload, State: message.JobSubmitted}
	case o.What == "submit" && s.Payload != o.Payload && a.bug != "key means nothing":
		o.Refused = message.CodeKeyMismatch
	case o.What == "submit":
	case !s.Known || a.bug == "forgets" && a.draw(20) == 0:
		o.Refused = message.CodeUnknownJob
	case o.What == "cancel" && lifecycle.LegalJob(s.State, message.JobCancelling) && a.bug != "cancel is lost":
		a.s.State = message.JobCancelling
		o.State = a.s.State
	case o.What == "cancel" && a.bug == "cancel is lost" && !s.State.Terminal():
		o.State = message.JobCancelling
	case o.What == "cancel" && !s.State.Terminal() && s.State != message.JobCancelling:
		o.State = message.JobNone // between two states: the answer does not say which
	default:
		o.State, o.Result = s.State, s.Result
		if a.bug == "two results" && o.Result != 0 {
			o.Result += uint64(a.draw(2))
		}
	}
}

func ask(bug string, steps int, seed uint64) *Failure {
	a := &api{draw: dice(seed), bug: bug, p: NewPartition(JobAPI(), "J")}
	for range steps {
		a.step()
	}
	a.p.Finish()
	return a.p.Failure()
}

func TestRightJobAPIIsAccepted(t *testing.T) {
	for seed := range uint64(300) {
		if f := ask("", 1000, seed); f != nil {
			t.Fatalf("seed %d: %+v", seed, *f)
		}
	}
}

func TestWrongJobAPIIsRejected(t *testing.T) {
	for _, bug := range []string{"stale status", "key means nothing", "forgets", "cancel is lost", "two results"} {
		t.Run(bug, func(t *testing.T) {
			found := 0
			for seed := range uint64(50) {
				if f := ask(bug, 300, seed); f != nil && f.Undecided {
					t.Fatalf("seed %d: %s", seed, f.Detail)
				} else if f != nil {
					found++
				}
			}
			if found == 0 {
				t.Fatal("no run shows it")
			}
		})
	}
}

// The states that may be reported after a state are the closure of core/lifecycle's
// transitions.
func TestLaterStates(t *testing.T) {
	later := laterStates()
	for _, tc := range []struct {
		from, to message.JobState
		want     bool
	}{
		{message.JobSubmitted, message.JobCompleted, true},
		{message.JobRunning, message.JobRunning, true},
		{message.JobDispatching, message.JobQueued, true},
		{message.JobRunning, message.JobQueued, false},
		{message.JobCancelling, message.JobCompleted, false},
		{message.JobCancelling, message.JobCancelled, true},
		{message.JobCompleted, message.JobFailed, false},
		{message.JobRunning, message.JobTimedOut + 1, false},
	} {
		if got := later.may(tc.from, tc.to); got != tc.want {
			t.Errorf("%v, then %v: got %v, want %v", tc.from, tc.to, got, tc.want)
		}
	}
}
