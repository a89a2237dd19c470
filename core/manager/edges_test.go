package manager

import (
	"testing"
	"time"

	"hyperscale/core/manager/roster"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A workflow waits until the workflows that it starts after have ended. It gets the values of
// COMPLETED ones only.
func TestWhatIsWaitedForAndGiven(t *testing.T) {
	first := &subjob.Workflow{State: message.WorkflowRunning, Plan: &message.WorkflowPlan{}}
	next := &subjob.Workflow{Index: 1, Plan: &message.WorkflowPlan{StartAfter: []uint32{0}}}
	p := &subjob.Subjob{Workflows: []*subjob.Workflow{first, next}, Epoch: 5, Fence: message.Fence{JobEpoch: 5}}
	first.Subjob, next.Subjob = p, p
	h := newNet(t).add("m1", node.RoleManager, nil)
	m := &Machine{}
	h.timers = map[node.TimerKey]uint64{}
	if m.isReady(h, next) {
		t.Error("it starts beside what it starts after")
	}
	first.Shards = []*subjob.Shard{{Verdict: subjob.Verdict{Result: &message.ShardResult{Provided: []message.Provided{{Name: "x", To: []uint32{1}}}}}}}
	first.End, first.State = message.WorkflowFailed, message.WorkflowFailed
	if !m.isReady(h, next) || len(p.Provided(1)) != 0 {
		t.Errorf("behind a failure: ready at %v, given %v", next.Ready, p.Provided(1))
	}
	first.End = message.WorkflowCompleted
	if len(p.Provided(1)) != 1 || len(p.Provided(0)) != 0 {
		t.Errorf("given %v, and to another %v", p.Provided(1), p.Provided(0))
	}
	if m.adoptEpoch(h, p, 4, "dispatch"); p.Epoch != 5 {
		t.Errorf("a lower epoch was adopted: %d", p.Epoch)
	}
	p.Accepted, p.RunTimeout = h.net.now.Add(-time.Minute), 3*time.Minute
	m.setRunTimeout(h, p)
	if got := h.net.queue[0].at.Sub(h.net.now); got != 2*time.Minute {
		t.Errorf("a subjob that has run for a minute of three has %v left", got)
	}
}

// The manager does not adopt a given-up attempt, or an earlier one, again.
func TestGivenUpIsNotTakenUp(t *testing.T) {
	h := newNet(t).add("m1", node.RoleManager, nil)
	floor := message.Fence{JobEpoch: 2, SubjobEpoch: 3, Attempt: 4}
	for _, f := range []message.Fence{floor, {JobEpoch: 2, SubjobEpoch: 3, Attempt: 3}, {JobEpoch: 2, SubjobEpoch: 2, Attempt: 9}, {JobEpoch: 1, SubjobEpoch: 9, Attempt: 9}} {
		s := &subjob.Shard{Open: true, State: message.WorkflowPending, Floor: floor}
		if new(Machine).counts(h, &roster.Worker{Peer: node.Peer{ID: "w"}}, s, f) || s.Fence == f {
			t.Errorf("%v counts, and %v was given up", f, floor)
		}
	}
}

// The gate's word counts from the send of the heartbeat that it answered. A late answer
// to an earlier heartbeat does not shorten it.
func TestExtendNeverTakesBack(t *testing.T) {
	m := &Machine{}
	m.config = Default()
	asked := node.Instant(time.Hour)
	p := &subjob.Subjob{}
	for _, sent := range []node.Instant{asked, asked.Add(-time.Second)} {
		m.extend(p, sent)
		if want := asked.Add(59*time.Second + 399*time.Millisecond); p.Deadline != want {
			t.Errorf("the deadline is %v, want %v", p.Deadline, want)
		}
	}
}
