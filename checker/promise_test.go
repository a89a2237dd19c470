package checker_test

import (
	"testing"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// story is a short history of one job on one gate g, manager m and worker w.
type story struct {
	*checker.Checker
	at time.Duration
}

func tell() *story { return &story{Checker: checker.New()} }

func (s *story) on(id node.ID, e node.Event) *story {
	s.at += time.Second
	s.Observe(checker.Record{At: s.at, Node: id, Incarnation: 1, Event: e})
	return s
}

func (s *story) job(states ...message.JobState) *story {
	from := message.JobNone
	for _, to := range states {
		s.on("g", event.JobChanged{Job: one, From: from, To: to})
		from = to
	}
	return s
}

var (
	one   = message.JobID{1}
	first = message.ShardID{Job: one}
	later = message.ShardID{Job: one, Workflow: 1}
)

func fence(manager, attempt uint64) message.Fence {
	return message.Fence{JobEpoch: 1, SubjobEpoch: manager, Attempt: attempt}
}

func start(s message.ShardID, f message.Fence, core int) event.ShardStarted {
	return event.ShardStarted{Shard: s, Fence: f, Datacenter: "dc", Cores: []int{core}, Total: 4}
}

func count(s message.ShardID, f message.Fence, to message.WorkflowState) event.ShardCounted {
	return event.ShardCounted{Shard: s, Fence: f, Datacenter: "dc", Subjob: fence(f.SubjobEpoch, 0), State: to, Started: 7}
}

func TestOrdersAndPromises(t *testing.T) {
	const done, failed = message.WorkflowCompleted, message.WorkflowFailed
	running := []message.JobState{message.JobSubmitted, message.JobQueued, message.JobDispatching, message.JobRunning}
	completed := append(running[:4:4], message.JobCompleting, message.JobCompleted)
	cancelled := append(running[:4:4], message.JobCancelling, message.JobCancelled)
	subjob := event.SubjobCounted{Job: one, Fence: fence(1, 0), Datacenter: "dc", Manager: "m", State: message.JobCompleted, Started: 7}
	dispatched := func(s message.ShardID, f message.Fence) event.ShardDispatched {
		return event.ShardDispatched{Shard: s, Fence: f, Worker: "w"}
	}
	ran := func() *story {
		return tell().on("m", dispatched(first, fence(1, 1))).on("w", start(first, fence(1, 1), 0)).
			on("w", event.ShardEnded{Shard: first, Fence: fence(1, 1), Cores: []int{0}})
	}
	for _, tc := range []struct {
		name, want string
		got        func() *story
	}{
		{"a result of the attempt before", "T3", func() *story {
			return ran().on("m", dispatched(first, fence(1, 2))).on("m", count(first, fence(1, 1), done))
		}},
		{"a result of an attempt that was given up", "T3", func() *story {
			return ran().on("m", event.ShardLost{Shard: first, Fence: fence(1, 1)}).on("m", count(first, fence(1, 1), done))
		}},
		{"the result of a subjob that another has", "T3", func() *story {
			return ran().on("m", count(first, fence(1, 1), done)).
				on("g", event.SubjobDispatched{Job: one, Fence: fence(2, 0), Datacenter: "dc"}).on("g", subjob)
		}},
		{"two attempts at once on one worker", "T6", func() *story {
			return tell().on("w", start(first, fence(1, 1), 0)).on("w", start(first, fence(1, 2), 1))
		}},
		{"a dependent in its turn", "", func() *story {
			s := ran().on("m", count(first, fence(1, 1), done)).on("m", dispatched(later, fence(1, 1)))
			s.Depends(checker.Record{}, one, 1, 0)
			return s
		}},
		{"a dependent too early", "T7", func() *story {
			s := ran().on("m", dispatched(later, fence(1, 1))).on("m", count(first, fence(1, 1), done))
			s.Depends(checker.Record{}, one, 1, 0)
			return s
		}},
		{"a dependent of a failure", "T7", func() *story {
			s := ran().on("m", count(first, fence(1, 1), failed)).on("m", dispatched(later, fence(1, 1)))
			s.Depends(checker.Record{}, one, 1, 0)
			return s
		}},
		{"run again", "P", func() *story {
			s := tell()
			s.Promise(checker.Promises{Once: true})
			return s.on("w", start(first, fence(1, 1), 0)).on("v", start(first, fence(1, 2), 0))
		}},
		{"refused once, then run", "", func() *story {
			s := tell()
			s.Promise(checker.Promises{Once: true})
			return s.on("w", start(first, fence(1, 2), 0))
		}},
		{"a slow cancellation", "P", func() *story {
			s := tell()
			s.Promise(checker.Promises{CancelWithin: 500 * time.Millisecond})
			return s.job(cancelled...)
		}},
		{"a result as counted", "", func() *story {
			s := ran().on("m", count(first, fence(1, 1), done)).job(running...).on("g", subjob)
			s.on("g", event.JobChanged{Job: one, From: message.JobRunning, To: message.JobCompleting})
			s.on("g", event.JobChanged{Job: one, From: message.JobCompleting, To: message.JobCompleted})
			s.Delivered(checker.Record{}, checker.Delivery{Job: one, State: message.JobCompleted, Subjobs: 1, Started: 7})
			return s
		}},
		{"a result with more than was counted", "T8", func() *story {
			s := tell().job(cancelled...)
			s.Delivered(checker.Record{}, checker.Delivery{Job: one, State: message.JobCancelled, Subjobs: 1, Started: 7})
			return s
		}},
		{"workers that did what their subjob did", "", func() *story { return toldOf(shares(4, 3), steps(7)) }},
		{"workers that did more", "T8", func() *story { return toldOf(shares(4, 4), steps(7)) }},
		{"a worker that is not told of", "T8", func() *story { return toldOf(shares(4), steps(7)) }},
		{"no room for workers", "", func() *story { return toldOf(nil, steps(7)) }},
		{"no room for steps", "", func() *story { return toldOf(shares(4, 3), nil) }},
		{"a result that its gate did not decide", "L", func() *story {
			s := tell().job(cancelled...)
			s.Delivered(checker.Record{}, checker.Delivery{Job: one, State: message.JobCompleted, Subjobs: 1, Started: 0})
			return s
		}},
		{"completed without its subjobs", "L", func() *story {
			s := tell().job(completed...)
			s.Delivered(checker.Record{}, checker.Delivery{Job: one, State: message.JobCompleted, Subjobs: 1, Started: 0})
			return s
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := tc.got().Violations()
			if tc.want == "" && len(got) != 0 || tc.want != "" && (len(got) != 1 || got[0].Invariant != tc.want) {
				t.Fatalf("want %q, got %v", tc.want, got)
			}
		})
	}
}

func shares(started ...uint64) (out []message.WorkerShare) {
	for _, n := range started {
		out = append(out, message.WorkerShare{State: message.WorkerDone, Started: n, OK: n})
	}
	return out
}

func steps(started uint64) []message.StepStats {
	return []message.StepStats{{Kind: message.StepRequest, Started: started, OK: started}, {Kind: message.StepCheck, Started: 99}}
}

func toldOf(workers []message.WorkerShare, steps []message.StepStats) *story {
	s := tell()
	s.Told(checker.Record{}, one, []message.DatacenterResult{{
		Name: "dc", Workers: workers, Workflows: []message.WorkflowResult{{Stats: message.Stats{Steps: steps}}},
	}})
	return s
}
