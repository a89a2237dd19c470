package checker

import (
	"hyperscale/checker/history"
	"hyperscale/core/event"
	"hyperscale/core/message"
)

// barriers judges what barriers let pass (B).
type barriers struct {
	log    *history.Log
	passed map[waitsOf]uint64 // as decided, the most
}

func newBarriers(log *history.Log) *barriers {
	return &barriers{log: log, passed: map[waitsOf]uint64{}}
}

// waitsOf are the waits of one executor of an attempt at one barrier.
type waitsOf struct {
	shard message.ShardID
	fence message.Fence
	core  uint32
	of    uint32
}

// decide judges B: a release lets as many pass as its barrier wants, or a multiple of that.
func (s *barriers) decide(r Record, e event.BarrierReleased) {
	var sum uint64
	for _, p := range e.Passes {
		sum += p.Count
		key := waitsOf{p.Shard, p.Fence, p.Core, e.Of}
		s.passed[key] = max(s.passed[key], p.UpTo)
	}
	if sum == 0 || sum%e.Users != 0 {
		s.log.Violate("B", r, "barrier %d of job %v wants %d users, and lets %d pass at %d executors", e.Of, e.Job, e.Users, sum, len(e.Passes))
	}
}

// tell judges B: an executor hears only of waits that its manager lets pass.
func (s *barriers) tell(r Record, e event.WaitsReleased) {
	if most := s.passed[waitsOf{e.Shard, e.Fence, e.Core, e.Of}]; e.Released > most {
		s.log.Violate("B", r, "core %d of shard %v under %v hears that %d of its waits at barrier %d may pass, of which a manager let %d", e.Core, e.Shard, e.Fence, e.Released, e.Of, most)
	}
}
