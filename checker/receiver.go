package checker

import (
	"maps"

	"hyperscale/checker/history"
	"hyperscale/checker/linear"
	"hyperscale/checker/operation"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// receivers judges the nodes that obey fenced orders (T3, A), and passes their answers on as
// operations (T4).
type receivers struct {
	log        *history.Log
	operations *operation.Judge
	acting     map[operation.Receiver]*acting
	aborted    map[message.JobID]bool // a majority of the gates knows
}

func newReceivers(log *history.Log, operations *operation.Judge) *receivers {
	return &receivers{log: log, operations: operations, acting: map[operation.Receiver]*acting{}, aborted: map[message.JobID]bool{}}
}

// acting is what a receiver has acted on.
type acting struct {
	highest message.Fence
	ordered message.Fence // of its last dispatch
}

// acted judges T3. Equal fences pass, except for a dispatch: a receiver answers an equal
// dispatch again and starts nothing.
func (s *receivers) acted(r Record, e event.Acted) {
	who := operation.Receiver{Node: r.Node, Shard: e.Shard, Subjob: e.Subjob, Datacenter: e.Datacenter}
	a := s.acting[who]
	if a == nil {
		a = &acting{}
		s.acting[who] = a
	}
	if e.Fence.Less(a.highest) {
		s.log.Violate("T3", r, "%s of %v under fence %v after it had acted under %v", e.What, e.Shard, e.Fence, a.highest)
		return
	}
	a.highest = e.Fence
	if e.What == "abort" && !s.aborted[e.Shard.Job] {
		s.log.Violate("A", r, "a workflow of job %v was aborted before a majority of the gates knew that it was to be", e.Shard.Job)
	}
	if e.What == "dispatch" {
		if a.ordered != (message.Fence{}) && !a.ordered.Less(e.Fence) {
			s.log.Violate("T3", r, "dispatch of %v under fence %v was obeyed, though %v had been", e.Shard, e.Fence, a.ordered)
		}
		a.ordered = e.Fence
	}
	s.operations.Answered(r, who, linear.FencedOp{What: e.What, Fence: e.Fence})
}

// refused judges rejections of receivers that have acted. One that has not may hold a fence
// that it learnt from a report.
func (s *receivers) refused(r Record, e event.FenceRefused) {
	who := operation.Receiver{Node: r.Node, Shard: e.Shard, Subjob: e.Subjob, Datacenter: e.Datacenter}
	if s.acting[who] != nil {
		s.operations.Answered(r, who, linear.FencedOp{What: e.What, Fence: e.Got, Refused: true, Current: e.Current})
	}
}

// forget notes that a node has lost its disk.
func (s *receivers) forget(id node.ID) {
	maps.DeleteFunc(s.acting, func(who operation.Receiver, _ *acting) bool { return who.Node == id })
	s.operations.Forget(id)
}
