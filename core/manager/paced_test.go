package manager

import (
	"testing"
	"time"

	"hyperscale/core/manager/pace"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
)

// A dispatch that waits for room goes in the step in which a worker's answer makes room, in its
// turn, and not at the next tick of a timer. One that is no longer wanted lets the next one go.
func TestWaitingDispatchesGoWithAnswers(t *testing.T) {
	const workers = 4
	p := manyPlacing(workers, 1)
	p.m.pace = pace.New(pace.Bounds{Count: 1, Bytes: 1 << 20, Patience: time.Hour})
	f := p.waiting(workers)
	f.Subjob.Deadline = p.Now().Add(time.Hour)
	p.m.subjobs[f.Subjob.Job] = f.Subjob
	for i, w := range p.m.roster.All() {
		s := &subjob.Shard{Workflow: f, ID: message.ShardID{Job: f.Subjob.Job, Ordinal: uint32(i)}, Extent: subjob.Extent{Cores: 1}, State: message.WorkflowPending}
		f.Shards = append(f.Shards, s)
		p.m.assign(p, s, w)
		s.Written = true
		p.m.sendDispatch(p, s)
	}
	out := func(want ...bool) {
		t.Helper()
		for i, s := range f.Shards {
			if got := s.Sent != 0; got != want[i] {
				t.Errorf("dispatch %d waits though there is room, or went before its turn: sent is %v", i, got)
			}
		}
	}
	out(true, false, false, false)
	f.Shards[1].Written = false // given up meanwhile
	p.m.becomeShard(p, f.Shards[0], message.WorkflowRunning)
	p.m.settle(p)
	out(true, false, true, false)
	p.m.becomeShard(p, f.Shards[2], message.WorkflowRunning)
	p.m.settle(p)
	out(true, false, true, true)
	if n := p.m.pace.Waiting(); n != 0 {
		t.Errorf("%d dispatches wait still", n)
	}
}
