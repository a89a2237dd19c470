package subjob

import (
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
	"hyperscale/core/plan"
)

// Workflow is one workflow of a subjob.
type Workflow struct {
	Subjob   *Subjob
	Index    uint32
	Plan     *message.WorkflowPlan
	State    message.WorkflowState
	End      message.WorkflowState // how it ends, before a majority has it
	Failure  string
	Client   bool   // Failure is a client's word: it ends CANCELLED
	Abort    Abort  // before a majority has it as Failure
	Waits    string // what it waits for, while it has no cores
	Shards   []*Shard
	Cut      bool               // its cut into shards is on a majority
	Provided []message.Provided // by earlier workflows; nil until its dispatch
	Times
	Adding *Sum          // of a workflow whose shards have ended; nil: nothing is added up
	Stats  message.Stats // of an ended workflow
	Leased uint64        // rows of its feed, in all
	Burned uint64        // rows of these that lost attempts had

	waiting waiting
	unknown record.Unknown // fields of a newer version, from the record
}

// Abort ends a workflow before its time.
type Abort struct {
	Why    string // empty: nothing does
	Client bool   // a client's word, else its own condition's
}

// waiting lists the shards that are PENDING, and perhaps others that were. A manager looks for them
// at each heartbeat of each worker, so it must not look at all shards.
type waiting struct {
	list []*Shard
	of   int // shards of the workflow when the list was made; 0: it must be made anew
}

// Waiting returns the shards that are PENDING, in their order, and perhaps others. The caller must
// not change the list.
func (f *Workflow) Waiting() []*Shard {
	w := &f.waiting
	if w.of != len(f.Shards) {
		*w = waiting{of: len(f.Shards)}
		for _, s := range f.Shards {
			if s.State == message.WorkflowPending {
				w.list = append(w.list, s)
			}
		}
	}
	for len(w.list) > 0 && w.list[0].State != message.WorkflowPending {
		w.list = w.list[1:]
	}
	return w.list
}

// Await makes Waiting look at all shards: one of them has become PENDING.
func (f *Workflow) Await() { f.waiting = waiting{} }

// Fails is how a workflow ends that has a Failure.
func (f *Workflow) Fails() message.WorkflowState {
	if f.Client {
		return message.WorkflowCancelled
	}
	return message.WorkflowFailed
}

// Stopping says that no shard of a workflow may run any more.
func (f *Workflow) Stopping() bool {
	return f.Subjob.Stops(f) || f.Failure != "" || f.Abort.Why != ""
}

// Outcome says how a workflow ends whose shards have all ended. all is false if some have not.
func (f *Workflow) Outcome() (end message.WorkflowState, why string, all bool) {
	completed := true
	end, why = f.Fails(), f.Failure
	for _, s := range f.Shards {
		if !s.State.Terminal() {
			return end, why, false
		}
		if s.State != message.WorkflowCompleted {
			completed = false
			if f.Failure == "" {
				end = s.State
				why = JoinReason(why, s.Why)
			}
		}
	}
	if completed {
		end, why = message.WorkflowCompleted, ""
	}
	return end, why, true
}

// Unblocked is when the last workflow before this one ended; the begin of the subjob without any.
// Any holder knows it from the record.
func (f *Workflow) Unblocked() node.Instant {
	last := f.Subjob.Accepted
	for _, list := range [][]uint32{f.Plan.Depends, f.Plan.StartAfter} {
		for _, on := range list {
			last = max(last, f.Subjob.Workflows[on].Ended)
		}
	}
	return last
}

// Furthest is the state of the furthest shard.
func (f *Workflow) Furthest() message.WorkflowState {
	furthest := message.WorkflowPending
	for _, s := range f.Shards {
		switch {
		case s.State == message.WorkflowRunning || s.Result != nil || s.State == message.WorkflowCompleted:
			return message.WorkflowRunning
		case s.State == message.WorkflowAssigned:
			furthest = message.WorkflowAssigned
		}
	}
	return furthest
}

// Beside returns the plans of workflows of the job that may run at the same time as this one, and
// as each other, and have no cores yet.
func (f *Workflow) Beside() []*message.WorkflowPlan {
	var list []*message.WorkflowPlan
	for _, i := range plan.Beside(&f.Subjob.Dispatch.Plan, f.Index, func(i uint32) bool {
		o := f.Subjob.Workflows[i]
		return len(o.Shards) == 0 && o.End == message.WorkflowNone
	}) {
		list = append(list, f.Subjob.Workflows[i].Plan)
	}
	return list
}
