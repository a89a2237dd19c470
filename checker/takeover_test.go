package checker_test

import (
	"testing"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A subjob moves from m to n, and its job from g to h, while it runs.
func TestTakeOver(t *testing.T) {
	const done = message.WorkflowCompleted
	second := message.ShardID{Job: one, Ordinal: 1}
	ran := func(w node.ID, s message.ShardID, f message.Fence, core int) func(*story) *story {
		return func(x *story) *story {
			return x.on(w, start(s, f, core)).on(w, event.ShardEnded{Shard: s, Fence: f, Cores: []int{core}})
		}
	}
	// both of its shards ran; m has counted the first
	begun := func() *story {
		s := ran("w", second, fence(1, 1), 1)(ran("w", first, fence(1, 1), 0)(tell()))
		return s.on("m", count(first, fence(1, 1), done))
	}
	counted := func(started uint64) event.SubjobCounted {
		return event.SubjobCounted{Job: one, Fence: fence(2, 0), Datacenter: "dc", Manager: "n", State: message.JobCompleted, Started: started}
	}
	adopted := count(second, fence(1, 1), done)
	adopted.Subjob = fence(2, 0)
	again := count(first, fence(1, 1), done)
	again.Subjob = fence(2, 0)
	retold := count(first, fence(1, 1), done)
	retold.Subjob.JobEpoch = 2
	for _, tc := range []struct {
		name, want string
		got        func() *story
	}{
		{"both managers' shards add up", "", func() *story { return begun().on("n", adopted).on("g", counted(14)) }},
		{"the successor counts all anew", "", func() *story { return begun().on("n", adopted).on("n", again).on("g", counted(14)) }},
		{"the predecessor's shards count twice", "T8", func() *story {
			return begun().on("n", adopted).on("n", again).on("g", counted(21))
		}},
		{"the successor's own shards alone, as it began anew", "", func() *story { return begun().on("n", adopted).on("g", counted(7)) }},
		{"a shard is reported again after a restart, under the job's next epoch", "", func() *story {
			s := begun()
			s.Observe(checker.Record{Node: "m", Incarnation: 2, Event: retold})
			return s
		}},
		{"a shard is counted again under the job's next epoch", "T8", func() *story { return begun().on("m", retold) }},
		{"a dependent of what the predecessor counted", "", func() *story {
			s := begun().on("n", event.LeaseGranted{Group: "dc", Job: one, Token: message.LeaseToken{Epoch: 1}})
			s.on("n", event.ShardDispatched{Shard: later, Fence: fence(2, 1)})
			s.Depends(checker.Record{}, one, 1, 0)
			return s
		}},
		{"a dependent of nothing that a manager counted in its datacenter", "T7", func() *story {
			s := begun().on("n", event.LeaseGranted{Group: "far", Job: one, Token: message.LeaseToken{Epoch: 1}})
			s.on("n", event.ShardDispatched{Shard: later, Fence: fence(2, 1)})
			s.Depends(checker.Record{}, one, 1, 0)
			return s
		}},
		{"a gate that was not there is not asked for the sum", "", func() *story { return delivered("h") }},
		{"a gate that took its own record over is not", "", func() *story { return delivered("g") }},
		{"a gate that was is", "T8", func() *story { return delivered("") }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := tc.got().Violations()
			if tc.want == "" && len(got) != 0 || tc.want != "" && (len(got) != 1 || got[0].Invariant != tc.want) {
				t.Fatalf("want %q, got %v", tc.want, got)
			}
		})
	}
}

// delivered is a job that g accepted, and that g or its successor ended. Its result has seven
// starts that no manager counted.
func delivered(by node.ID) *story {
	granted := func(epoch uint64) event.LeaseGranted {
		return event.LeaseGranted{Group: checker.GroupGates, Job: one, Token: message.LeaseToken{Epoch: epoch, Ordinal: 1}}
	}
	s := tell().on("g", granted(1)).on("g", event.JobChanged{Job: one, To: message.JobSubmitted})
	if by == "" {
		by = "g"
	} else {
		s.on(by, granted(2))
	}
	s.on(by, event.JobChanged{Job: one, From: message.JobSubmitted, To: message.JobFailed})
	s.Delivered(checker.Record{}, checker.Delivery{Job: one, State: message.JobFailed, Subjobs: 1, Started: 7})
	return s
}
