package manager

import (
	"testing"
	"time"

	"hyperscale/core/manager/roster"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A workflow waits until what it starts after has ended, and is given what COMPLETED
// ones provide, no other.
func TestWhatIsWaitedForAndGiven(t *testing.T) {
	first := &workflow{state: message.WorkflowRunning, plan: &message.WorkflowPlan{}}
	next := &workflow{index: 1, plan: &message.WorkflowPlan{StartAfter: []uint32{0}}}
	p := &subjob{workflows: []*workflow{first, next}, epoch: 5, fence: message.Fence{JobEpoch: 5}}
	first.subjob, next.subjob = p, p
	h := newNet(t).add("m1", node.RoleManager, nil)
	m := &Machine{}
	h.timers = map[node.TimerKey]uint64{}
	if m.isReady(h, next) {
		t.Error("it starts beside what it starts after")
	}
	first.shards = []*shard{{result: &message.ShardResult{Provided: []message.Provided{{Name: "x", To: []uint32{1}}}}}}
	first.end, first.state = message.WorkflowFailed, message.WorkflowFailed
	if !m.isReady(h, next) || len(p.provided(1)) != 0 {
		t.Errorf("behind a failure: ready at %v, given %v", next.ready, p.provided(1))
	}
	first.end = message.WorkflowCompleted
	if len(p.provided(1)) != 1 || len(p.provided(0)) != 0 {
		t.Errorf("given %v, and to another %v", p.provided(1), p.provided(0))
	}
	if m.adoptEpoch(h, p, 4, "dispatch"); p.epoch != 5 {
		t.Errorf("a lower epoch was adopted: %d", p.epoch)
	}
	p.accepted, p.runTimeout = h.net.now.Add(-time.Minute), 3*time.Minute
	m.setRunTimeout(h, p)
	if got := h.net.queue[0].at.Sub(h.net.now); got != 2*time.Minute {
		t.Errorf("a subjob that has run for a minute of three has %v left", got)
	}
}

// A result of an attempt that was given up, or of one before it, is not taken up again.
func TestGivenUpIsNotTakenUp(t *testing.T) {
	h := newNet(t).add("m1", node.RoleManager, nil)
	floor := message.Fence{JobEpoch: 2, SubjobEpoch: 3, Attempt: 4}
	for _, f := range []message.Fence{floor, {JobEpoch: 2, SubjobEpoch: 3, Attempt: 3}, {JobEpoch: 2, SubjobEpoch: 2, Attempt: 9}, {JobEpoch: 1, SubjobEpoch: 9, Attempt: 9}} {
		s := &shard{open: true, state: message.WorkflowPending, floor: floor}
		if new(Machine).counts(h, &roster.Worker{Peer: node.Peer{ID: "w"}}, s, f) || s.fence == f {
			t.Errorf("%v counts, and %v was given up", f, floor)
		}
	}
}

// The gate's word counts from the sending of the heartbeat that it answered, and a later
// answer to an earlier heartbeat takes nothing back.
func TestExtendNeverTakesBack(t *testing.T) {
	m := &Machine{config: Default()}
	asked := node.Instant(time.Hour)
	p := &subjob{}
	for _, sent := range []node.Instant{asked, asked.Add(-time.Second)} {
		m.extend(p, sent)
		if want := asked.Add(59*time.Second + 399*time.Millisecond); p.deadline != want {
			t.Errorf("the deadline is %v, want %v", p.deadline, want)
		}
	}
}
