package job

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/plan"
)

func jobOf(workflows int, datacenters ...string) *Job {
	j := &Job{ID: message.JobOf("k"), Key: "k", Program: Program{Spec: &message.JobSubmit{}}}
	j.State, j.Shown, j.Last.To = message.JobRunning, message.JobRunning, message.JobRunning
	for i := range workflows {
		j.Spec.Plan.Workflows = append(j.Spec.Plan.Workflows, message.WorkflowPlan{Name: fmt.Sprint("w", i)})
	}
	for _, name := range datacenters {
		r := &message.DatacenterResult{Name: name}
		for i := range workflows {
			r.Workflows = append(r.Workflows, message.WorkflowResult{Name: fmt.Sprint("w", i), State: message.WorkflowRunning})
		}
		j.Subjobs = append(j.Subjobs, &Subjob{Datacenter: name, Phase: Running, Progress: r})
	}
	return j
}

// TestEndsKeepTheirOrder: whatever datacenters report in whatever order, an end enters the list once
// all have it, and keeps its place, in the record too. The job's end completes the list.
func TestEndsKeepTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "workflows")
		j := jobOf(n, []string{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(t, "datacenters")]...)
		var before []record.Ended
		check := func() {
			now := j.Ends.list
			if len(now) < len(before) || !slices.EqualFunc(before, now[:len(before)], func(a, b record.Ended) bool { return a.Workflow == b.Workflow && a.Left == b.Left }) {
				t.Fatalf("the list was %v, and is %v", before, now)
			}
			seen := map[uint32]bool{}
			for _, e := range now {
				if seen[e.Workflow] {
					t.Fatalf("workflow %d stands twice: %v", e.Workflow, now)
				}
				seen[e.Workflow] = true
			}
			before = slices.Clone(now)
		}
		for range rapid.IntRange(0, 12).Draw(t, "reports") {
			p := j.Subjobs[rapid.IntRange(0, len(j.Subjobs)-1).Draw(t, "datacenter")]
			p.Progress.Workflows[rapid.IntRange(0, n-1).Draw(t, "workflow")].State = message.WorkflowCompleted
			j.Ends.Note(j)
			check()
			for _, e := range j.Ends.list {
				if !j.EndedEverywhere(int(e.Workflow)) {
					t.Fatalf("workflow %d runs somewhere", e.Workflow)
				}
			}
		}
		j.Ends.Complete(j)
		check()
		if len(before) != n {
			t.Fatalf("the job has ended, and %d of %d workflows have", len(before), n)
		}
		rec, err := ReadRecord(j.ID, j.Record(0))
		if err != nil {
			t.Fatal(err)
		}
		k := FromRecord(j.ID, &rec, 0, 0, 1)
		if !slices.EqualFunc(k.Ends.Known(), before, func(a, b record.Ended) bool { return a.Workflow == b.Workflow && a.State == b.State }) {
			t.Fatalf("the record has %v, want %v", k.Ends.Known(), before)
		}
	})
}

// TestEndsOfLeftDatacenters: workflows that begin again elsewhere end again, and clients learn both.
func TestEndsOfLeftDatacenters(t *testing.T) {
	j := jobOf(2, "a")
	j.Subjobs[0].Progress.Workflows[0].State = message.WorkflowCompleted
	if !j.Ends.Note(j) || j.Ends.Note(j) {
		t.Fatal("an end is noted once")
	}
	j.Moves(j.Subjobs[0], "silent", 0)
	j.Subjobs = jobOf(2, "b").Subjobs
	j.Subjobs[0].Progress.Workflows[0].State = message.WorkflowFailed
	if !j.Ends.Note(j) {
		t.Fatal("it ended again")
	}
	j.Ends.Confirm(j.Ends.Len())
	told := j.Ends.After(j, 0)
	if len(told) != 2 || told[0].Again || told[0].State != message.WorkflowCompleted || !told[1].Again || told[1].State != message.WorkflowFailed {
		t.Fatalf("clients learn %+v", told)
	}
}

// TestEndsFitARecord: the ends of as many workflows as a plan may have take half a record at most.
func TestEndsFitARecord(t *testing.T) {
	j := jobOf(plan.WorkflowsMax, "a")
	before := len(j.Record(0))
	for i := range plan.WorkflowsMax {
		j.Ends.list = append(j.Ends.list, record.Ended{
			Workflow: uint32(i), State: message.WorkflowCompleted, Started: math.MaxUint64, Failed: math.MaxUint64,
			Duration: 720 * time.Hour, P50: time.Hour, P99: time.Hour, Met: plan.VerdictsMax, Missed: plan.VerdictsMax, Left: true,
		})
	}
	if took := len(j.Record(0)) - before; took > lease.Default().RecordMax/2 {
		t.Fatalf("%d ends take %d bytes of a record", plan.WorkflowsMax, took)
	}
}
