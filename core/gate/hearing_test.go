package gate

import (
	"testing"

	"hyperscale/core/gate/job"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// After a manager takes a subjob over, its progress counts from sequence number 1.
func TestProgressBeginsAnewWithEachManager(t *testing.T) {
	env, _ := owner()
	p := &job.Subjob{Datacenter: "a", Fence: message.Fence{JobEpoch: 1, SubjobEpoch: 1}, Sequence: 9}
	in := &node.Input{From: node.Peer{ID: "m1", Role: node.RoleManager}, Stream: 7, Message: &message.JobProgress{}}
	j := &entry{Job: job.Job{ID: message.JobID{1}, Epoch: 1, Subjobs: []*job.Subjob{p}}}
	if follows(env, in, j, p, message.Fence{JobEpoch: 1, SubjobEpoch: 2}); p.Sequence != 0 {
		t.Errorf("a manager that took over is heard from number %d on", p.Sequence)
	}
}

// A gate refuses gates of another set, whatever their number.
func TestAnotherSetIsRefused(t *testing.T) {
	env, m := owner()
	in := &node.Input{From: node.Peer{ID: "m1", Role: node.RoleManager}}
	for _, x := range []struct {
		gates  []string
		refuse bool
	}{{nil, false}, {[]string{"g1:1"}, false}, {[]string{"g2:1"}, true}, {[]string{"g1:1", "g2:1"}, true}} {
		if got := m.refusesSet(env, in, &message.ManagerHeartbeat{Sequence: 1, Gates: x.gates}); got != x.refuse {
			t.Errorf("%v: refused is %v", x.gates, got)
		}
	}
}

// A gate judges no condition of a job that has ended.
func TestEndedJobsWatchNothing(t *testing.T) {
	env, m := owner()
	spec := &message.JobSubmit{Plan: message.Plan{Workflows: []message.WorkflowPlan{{AbortWhen: []message.AbortPlan{{}}}}}}
	j := &entry{Job: job.Job{ID: message.JobID{1}, Ready: true, Program: job.Program{Spec: spec}, Course: job.Course{State: message.JobCompleting, Shown: message.JobCompleting}}}
	m.jobs[j.ID] = j
	if j.Observe(0, env.Now()); j.Watching() != 1 {
		t.Fatalf("%d workflows are watched, want 1", j.Watching())
	}
	if m.end(env, j, message.JobCompleted, ""); j.Watching() != 0 {
		t.Errorf("%d workflows are watched", j.Watching())
	}
}
