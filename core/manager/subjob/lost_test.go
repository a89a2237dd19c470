package subjob

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

func ran(elapsed, gap time.Duration, begun, missed uint64) message.Stats {
	return message.Stats{
		Elapsed: elapsed, Gap: gap, Generator: message.Generator{Begun: begun, Missed: missed},
		Steps: []message.StepStats{{Name: "get", Kind: message.StepRequest, Started: begun, OK: begun}},
	}
}

func lostAfter(s message.Stats) *Lost {
	return &Lost{LostAttempt: message.LostAttempt{Counted: true, From: s.Gap, Until: s.Elapsed}, Report: &message.ShardResult{Stats: s}}
}

// Ten iterations a second are due for 30 s. The shard runs for 10 s, is away for 6 s, runs for
// 4 s, is away for 2 s and runs to its end.
func TestPartsOfAShardAddUp(t *testing.T) {
	f := &Workflow{Plan: &message.WorkflowPlan{Duration: 30 * time.Second}}
	s := &Shard{Workflow: f, Retries: Retries{Lost: []*Lost{
		lostAfter(ran(10*time.Second, 0, 100, 0)),
		{LostAttempt: message.LostAttempt{From: 10 * time.Second, Until: 10 * time.Second, Unreported: time.Second}},
		lostAfter(ran(20*time.Second, 16*time.Second, 38, 160)),
	}}}
	s.Result = &message.ShardResult{Stats: ran(30*time.Second, 22*time.Second, 80, 220)}
	f.Shards = []*Shard{s}
	sum, err := f.Total()
	if err != nil {
		t.Fatal(err)
	}
	g := sum.Generator
	if sum.Gap != 8*time.Second || sum.Elapsed != 30*time.Second || g.Begun != 218 || g.Missed != 82 || sum.Steps[0].Started != 218 {
		t.Errorf("gap %v of %v, %d began and %d were not offered, %d started; want 8s of 30s, 218, 82, 218", sum.Gap, sum.Elapsed, g.Begun, g.Missed, sum.Steps[0].Started)
	}
	whole := &Shard{Workflow: f, Verdict: Verdict{Result: &message.ShardResult{Stats: ran(30*time.Second, 0, 300, 0)}}}
	f.Shards = append(f.Shards, whole)
	if sum, err = f.Total(); err != nil || sum.Gap != 0 || sum.Generator.Begun != 518 || sum.Generator.Missed != 82 {
		t.Errorf("with a shard that ran all the time: %+v, %v: want no time without load", sum.Generator, err)
	}
}

// What follows a loss, by what the workflow is.
func TestResume(t *testing.T) {
	second := func(n int) node.Instant { return node.Instant(time.Hour).Add(time.Duration(n) * time.Second) }
	requests, none := ran(4*time.Second, 0, 40, 0), message.Stats{Elapsed: 4 * time.Second, Generator: message.Generator{Begun: 9}, Steps: []message.StepStats{{Name: "f", Kind: message.StepFunction, Started: 9, OK: 9}}}
	for _, tc := range []struct {
		name    string
		plan    message.WorkflowPlan
		reports *message.Stats // by the attempt that is lost at 6 s, and stopped at 11 s
		resumes message.Resume // at 12 s
		lost    message.LostAttempt
	}{
		{"load by the clock", message.WorkflowPlan{Duration: 30 * time.Second}, &requests, message.Resume{Elapsed: 12 * time.Second, Begun: 40}, message.LostAttempt{Until: 4 * time.Second, Unreported: 7 * time.Second}},
		{"load by the clock, and no report", message.WorkflowPlan{Duration: 30 * time.Second}, nil, message.Resume{Elapsed: 12 * time.Second}, message.LostAttempt{Unreported: 11 * time.Second}},
		{"load that is over, and no report", message.WorkflowPlan{Duration: 8 * time.Second, GracefulStop: time.Second}, nil, message.Resume{Elapsed: 12 * time.Second, Anew: true}, message.LostAttempt{Unreported: 9 * time.Second}},
		{"iterations that send requests", message.WorkflowPlan{Iterations: 100}, &requests, message.Resume{Elapsed: 12 * time.Second, Begun: 40}, message.LostAttempt{Until: 4 * time.Second, Unreported: 7 * time.Second}},
		{"functions that send none", message.WorkflowPlan{Iterations: 100}, &none, message.Resume{Elapsed: 12 * time.Second, Anew: true}, message.LostAttempt{Unreported: 11 * time.Second}},
	} {
		f := &Workflow{Plan: &tc.plan, Times: Times{Started: second(0)}}
		s := &Shard{Workflow: f, Written: true, Contact: Contact{Dispatch: Dispatch{Dispatched: second(0)}}}
		f.Shards = []*Shard{s}
		if tc.reports != nil {
			s.Progress = &message.ShardProgress{Stats: *tc.reports}
			s.Heard(second(4), tc.reports.Elapsed)
		}
		l := s.GiveUp("silent", second(11))
		if l.Until != tc.lost.Until || l.Unreported != tc.lost.Unreported || (l.Report != nil) != (l.Until > 0) {
			t.Errorf("%s: lost %+v, want until %v and at most %v unreported", tc.name, l.LostAttempt, tc.lost.Until, tc.lost.Unreported)
		}
		s.Lost = append(s.Lost, l)
		if diff := cmp.Diff(tc.resumes, s.Resume(second(12))); diff != "" {
			t.Errorf("%s: it resumes (-want +got):\n%s", tc.name, diff)
		}
	}
}

// A workflow whose shard was over while it waited for a worker has run, also for the next holder.
func TestAnOverShardHasRun(t *testing.T) {
	p := &Subjob{}
	f := &Workflow{Subjob: p, Plan: &message.WorkflowPlan{Name: "a"}, Cut: true}
	f.Shards = []*Shard{{Workflow: f, Verdict: Verdict{End: message.WorkflowCompleted}}}
	p.Workflows = []*Workflow{f}
	p.Reopen(1, 2)
	if p.Derive(1); f.State != message.WorkflowRunning || p.State != message.JobRunning || f.Furthest() != message.WorkflowRunning {
		t.Errorf("the workflow is %v, its furthest shard %v, its subjob %v", f.State, f.Furthest(), p.State)
	}
}
