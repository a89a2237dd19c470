package job

import (
	"testing"
	"time"

	"hyperscale/core/gate/queue"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A job that leaves a silent datacenter reports what that one had begun as lost, and how long it may
// have gone on: also when the next datacenter never took the job up, and when another gate ends it.
func TestAJobThatMovesReportsWhatItLeft(t *testing.T) {
	const began, now = node.Instant(time.Hour), node.Instant(time.Hour + 40*time.Second)
	plan := message.Plan{Workflows: []message.WorkflowPlan{{Name: "load", VUs: 2, Duration: 30 * time.Second, GracefulStop: 5 * time.Second}}}
	j := &Job{
		ID: message.JobOf("k"), Key: "k", Turn: queue.Turn{Job: message.JobOf("k")}, Program: Program{Spec: &message.JobSubmit{Plan: plan}},
		Times: Times{Started: began, Ran: true},
	}
	j.Become(message.JobSubmitted, "")
	j.Become(message.JobQueued, "")
	j.Become(message.JobDispatching, "")
	p := &Subjob{Datacenter: "a", Accepted: true, Phase: Running, Progress: &message.DatacenterResult{Workflows: []message.WorkflowResult{{
		Name: "load", State: message.WorkflowRunning,
		Stats: message.Stats{Elapsed: 12 * time.Second, Active: 2, Steps: []message.StepStats{{Name: "get", Kind: message.StepRequest, Started: 1901, OK: 1899}}},
	}}}}
	j.Moves(p, "datacenter a was silent for 40s", now)
	j.Moves(&Subjob{Datacenter: "c"}, "no manager took it", now)
	if p.Phase != Running || p.Result != nil {
		t.Errorf("the subjob that the job leaves has changed: %+v", p)
	}
	rec, err := ReadRecord(j.ID, j.Record(now))
	if err != nil {
		t.Fatal(err)
	}
	next := FromRecord(j.ID, &rec, now, now, 2)
	next.Spec = j.Spec
	b := &Subjob{Datacenter: "b"}
	next.Subjobs = []*Subjob{b}
	next.GiveUp(b, message.JobFailed, "no manager took it", now)
	w := next.Merged().Result.Workflows[0]
	if len(w.Lost) != 1 {
		t.Fatalf("the result reports %+v as lost, want what a had begun", w.Lost)
	}
	l := w.Lost[0]
	want := message.LostAttempt{
		Shard: message.ShardID{Job: j.ID}, Reason: "datacenter a was silent for 40s", Started: 1901, OK: 1899, Until: 12 * time.Second, Unreported: 23 * time.Second,
	}
	if l != want {
		t.Errorf("lost is %+v, want %+v", l, want)
	}
}
