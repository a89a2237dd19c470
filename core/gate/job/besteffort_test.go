package job

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Best effort ends a job at its time, and not before, if enough of its datacenters have completed. What
// the cluster ended, or best effort itself, is missing then and counts nowhere; what failed by its own
// program is not. While too few have completed, and for a job that is stopped, everything is as without.
func TestBestEffortLeavesOutWhatIsLate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const after = 20 * time.Second
		now := node.Instant(time.Hour)
		e := message.BestEffort{Least: uint32(rapid.IntRange(0, 3).Draw(t, "least")), After: after}
		j := Job{
			Course: Course{State: rapid.SampledFrom([]message.JobState{message.JobRunning, message.JobRunning, message.JobCancelling}).Draw(t, "state")},
			Times:  Times{Started: now.Add(-rapid.SampledFrom([]time.Duration{after - 1, after, after + 1}).Draw(t, "ran"))},
		}
		j.Spec = &message.JobSubmit{BestEffort: e}
		completed, late, lost := 0, []string{}, []string{}
		for i := range rapid.IntRange(2, 4).Draw(t, "datacenters") {
			p := &Subjob{Datacenter: string(rune('a' + i)), Phase: Done, End: Counted, Accepted: true}
			p.Result = &message.DatacenterResult{Name: p.Datacenter, State: message.JobCompleted, Workflows: []message.WorkflowResult{{Name: "load"}}}
			j.Subjobs = append(j.Subjobs, p)
			switch rapid.SampledFrom([]string{"completed", "completed", "failed", "lost", "late"}).Draw(t, "fate") {
			case "completed":
				completed++
			case "failed":
				p.Result.State, p.Fault = message.JobFailed, message.FaultProgram
			case "lost":
				p.Result.State, p.Fault, p.End = message.JobFailed, message.FaultLost, Unheard
				EffortOf(&j).Bare(p)
				lost = append(lost, p.Datacenter)
			case "late":
				p.Phase, p.End, p.Result = Running, Open, nil
				late = append(late, p.Datacenter)
			}
		}
		on := e.Least > 0 && j.State == message.JobRunning
		for _, p := range j.Subjobs {
			if slices.Contains(lost, p.Datacenter) && (len(p.Result.Workflows) == 0) != on {
				t.Fatalf("best effort %v: what a lost datacenter reported counts: %+v", on, p.Result)
			}
		}
		satisfied := on && completed >= int(e.Least)
		at, enough := EffortOf(&j).EndsAt()
		if enough != (satisfied && len(late) > 0) || enough && at != j.Started.Add(after) {
			t.Fatalf("%d of %d have completed, %v are late: it ends at %v: %v", completed, e.Least, late, at.Sub(j.Started), enough)
		}
		for _, p := range j.Subjobs { // as the gate does at the time
			if p.Phase != Done {
				j.GiveUp(p, message.JobCancelled, "late", now)
				EffortOf(&j).Bare(p)
			}
		}
		missing := slices.Sorted(slices.Values(slices.Concat(late, lost)))
		if !satisfied {
			missing = nil
		}
		if got := EffortOf(&j).missing(); !slices.Equal(got, missing) {
			t.Fatalf("%v are missing, want %v", got, missing)
		}
		if end := j.Ending(); satisfied && (end.To == message.JobCompleted) != (completed == len(j.Subjobs)-len(missing)) {
			t.Fatalf("%d of %d completed, %v are missing, and the job is %v", completed, len(j.Subjobs), missing, end.To)
		} else if !satisfied && end.To == message.JobCompleted && completed < len(j.Subjobs) {
			t.Fatalf("%d of %d completed, %d must, and the job is %v", completed, len(j.Subjobs), e.Least, end.To)
		}
	})
}
