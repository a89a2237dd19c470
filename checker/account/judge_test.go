package account

import (
	"testing"

	"hyperscale/checker/history"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

var (
	job   = message.JobID{1}
	first = message.ShardID{Job: job}
	later = message.ShardID{Job: job, Workflow: 1}
)

func fence(manager, attempt uint64) message.Fence {
	return message.Fence{JobEpoch: 1, SubjobEpoch: manager, Attempt: attempt}
}

func record(id node.ID) history.Record { return history.Record{Node: id, Incarnation: 1} }

// Two managers hold a subjob in turn. Each case changes one thing.
func TestCounts(t *testing.T) {
	count := func(j *Judge, id node.ID, s message.ShardID, held uint64, to message.WorkflowState) {
		e := event.ShardCounted{Shard: s, Fence: fence(held, 1), Datacenter: "dc", Subjob: fence(held, 0), State: to, Started: 7}
		j.ShardCounted(record(id), e, Begun{Started: true, Highest: e.Fence})
	}
	dispatch := func(j *Judge, id node.ID, s message.ShardID, held uint64) {
		j.ShardDispatched(record(id), event.ShardDispatched{Shard: s, Fence: fence(held, 1)})
	}
	lose := func(j *Judge, id node.ID, held, attempt uint64) {
		j.SegmentCounted(record(id), event.SegmentCounted{Shard: first, Fence: fence(1, attempt), Datacenter: "dc", Subjob: fence(held, 0), Started: 5}, true)
	}
	with := func(manager node.ID, held, started uint64) event.SubjobCounted {
		return event.SubjobCounted{Job: job, Fence: fence(held, 0), Datacenter: "dc", Manager: manager, State: message.JobCompleted, Started: started}
	}
	subjob := event.SubjobCounted{Job: job, Fence: fence(1, 0), Datacenter: "dc", Manager: "m", State: message.JobCompleted, Started: 7}
	const done, failed = message.WorkflowCompleted, message.WorkflowFailed
	for _, tc := range []struct {
		name, want string
		do         func(j *Judge)
	}{
		{"a subjob as its manager counted", "", func(j *Judge) { count(j, "m", first, 1, done); j.SubjobCounted(record("g"), subjob) }},
		{"a subjob of which nothing was counted", "T8", func(j *Judge) { j.SubjobCounted(record("g"), subjob) }},
		{"a shard twice", "T8", func(j *Judge) { count(j, "m", first, 1, done); count(j, "m", first, 1, done) }},
		{"a shard after its manager lost its disk", "", func(j *Judge) { count(j, "m", first, 1, done); j.Forget("m"); count(j, "m", first, 1, done) }},
		{"a completed shard that never started", "T8", func(j *Judge) {
			j.ShardCounted(record("m"), event.ShardCounted{Shard: first, Fence: fence(1, 1), Subjob: fence(1, 0), State: done}, Begun{})
		}},
		{"a shard below one that started", "T3", func(j *Judge) {
			j.ShardCounted(record("m"), event.ShardCounted{Shard: first, Fence: fence(1, 1), Subjob: fence(1, 0), State: failed}, Begun{Highest: fence(1, 2)})
		}},
		{"a dependent in its turn", "", func(j *Judge) {
			count(j, "m", first, 1, done)
			dispatch(j, "m", later, 1)
			j.Depends(record("c"), job, 1, 0)
		}},
		{"a dependent of a failure", "T7", func(j *Judge) {
			count(j, "m", first, 1, failed)
			dispatch(j, "m", later, 1)
			j.Depends(record("c"), job, 1, 0)
		}},
		{"a dependent of what the manager before counted", "", func(j *Judge) {
			count(j, "m", first, 1, done)
			j.ManagerOf("dc", "n")
			dispatch(j, "n", later, 2)
			j.Depends(record("c"), job, 1, 0)
		}},
		{"a dependent of what another datacenter counted", "T7", func(j *Judge) {
			count(j, "m", first, 1, done)
			j.ManagerOf("far", "n")
			dispatch(j, "n", later, 2)
			j.Depends(record("c"), job, 1, 0)
		}},
		{"a lost attempt and the one that replaced it", "", func(j *Judge) {
			lose(j, "m", 1, 0)
			count(j, "m", first, 1, done)
			j.SubjobCounted(record("g"), with("m", 1, 12))
		}},
		{"a lost attempt that the next manager counts too", "", func(j *Judge) {
			lose(j, "m", 1, 0)
			lose(j, "n", 2, 0)
			count(j, "n", first, 2, done)
			j.SubjobCounted(record("g"), with("n", 2, 12))
		}},
		{"a lost attempt that the next manager forgot", "T8", func(j *Judge) {
			lose(j, "m", 1, 0)
			count(j, "n", first, 2, done)
			j.SubjobCounted(record("g"), with("n", 2, 7))
		}},
		{"a lost attempt twice", "T8", func(j *Judge) { lose(j, "m", 1, 0); lose(j, "m", 1, 0) }},
		{"the result of a lost attempt", "T8", func(j *Judge) { lose(j, "m", 1, 1); count(j, "m", first, 1, done) }},
		{"the last report of an attempt with a result", "T8", func(j *Judge) { count(j, "m", first, 1, done); lose(j, "m", 1, 1) }},
		{"the last report of an attempt that never started", "T8", func(j *Judge) {
			j.SegmentCounted(record("m"), event.SegmentCounted{Shard: first, Fence: fence(1, 1), Datacenter: "dc", Subjob: fence(1, 0)}, false)
		}},
		{"a workflow that goes on after its end", "L", func(j *Judge) {
			j.WorkflowChanged(record("m"), event.WorkflowChanged{Job: job, From: message.WorkflowRunning, To: failed})
			j.WorkflowChanged(record("m"), event.WorkflowChanged{Job: job, From: message.WorkflowRunning, To: done})
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log := &history.Log{}
			tc.do(New(log))
			got := log.First()
			if tc.want == "" && len(got) != 0 || tc.want != "" && (len(got) != 1 || got[0].Invariant != tc.want) {
				t.Fatalf("want %q, got %v", tc.want, got)
			}
		})
	}
}
