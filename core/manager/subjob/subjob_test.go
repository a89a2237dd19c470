package subjob

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/lifecycle"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/stats"
)

// The state changes that a new holder emits for a subjob or workflow are a legal path from
// nothing to its state.
func TestAnnouncedWaysAreLegal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		to := message.JobState(rapid.IntRange(0, int(message.JobTimedOut)).Draw(t, "subjob"))
		from := message.JobNone
		for _, next := range PathOfSubjob(to) {
			if !lifecycle.LegalJob(from, next) {
				t.Fatalf("%v: %v cannot follow %v", to, next, from)
			}
			from = next
		}
		if from != to {
			t.Fatalf("the way to %v ends at %v", to, from)
		}
		flow := message.WorkflowState(rapid.IntRange(0, int(message.WorkflowTimedOut)).Draw(t, "workflow"))
		was := message.WorkflowNone
		for _, next := range PathOfWorkflow(flow) {
			if !lifecycle.LegalWorkflow(was, next) {
				t.Fatalf("%v: %v cannot follow %v", flow, next, was)
			}
			was = next
		}
		if was != flow {
			t.Fatalf("the way to %v ends at %v", flow, was)
		}
	})
}

// However large a subjob's figures are, Fit and then Slim make them fit a frame. Every count
// stays, values that share them do not change, and what fits stays as it is.
func TestFiguresFitAFrame(t *testing.T) {
	var wide stats.Histogram
	for v := uint64(1_000_000); v < 4_000_000_000; v += v >> 7 {
		wide.RecordN(v, 3)
	}
	latency := wide.Wire()
	rapid.Check(t, func(t *rapid.T) {
		d := &message.DatacenterResult{Name: "dc1"}
		steps := rapid.SampledFrom([]int{1, 10, 110}).Draw(t, "steps")
		for i := range rapid.IntRange(1, 2).Draw(t, "workflows") {
			w := message.WorkflowResult{Name: fmt.Sprint(i)}
			for k := range steps {
				w.Stats.Steps = append(w.Stats.Steps, message.StepStats{
					Name: fmt.Sprint("step ", k), Kind: message.StepRequest, Started: latency.Count, OK: uint64(k), Latency: latency, Service: latency,
				})
			}
			w.Stats.Generator.Lag = latency
			d.Workflows = append(d.Workflows, w)
		}
		name := strings.Repeat("n", rapid.SampledFrom([]int{40_000, 1, 200}).Draw(t, "name"))
		for range rapid.SampledFrom([]int{64, 0}).Draw(t, "workers") {
			d.Workers = append(d.Workers, message.WorkerShare{Node: name, Started: 1})
		}
		r := &message.SubjobResult{Subjob: *d}
		shared := append([]message.StepStats(nil), d.Workflows[0].Stats.Steps...)
		original := d.Workflows[0].Stats.Steps
		before, size := counts(d), message.HeaderSize+r.Size()
		Fit(&r.Subjob, r.Size)
		if size <= message.FrameMax && message.HeaderSize+r.Size() != size {
			t.Fatal("what fits was changed")
		}
		largest := message.HeaderSize + r.Size()
		if largest > message.FrameMax {
			Slim(&r.Subjob, r.Size)
		}
		switch now := message.HeaderSize + r.Size(); {
		case now > message.FrameMax:
			t.Fatalf("%d bytes are left of %d, a frame has %d", now, size, message.FrameMax)
		case r.Subjob.Workers == nil && d.Workers != nil && len(name) < 40_000:
			t.Fatal("workers are left out, and their names are short")
		}
		if !reflect.DeepEqual(before, counts(&r.Subjob)) {
			t.Fatal("counts changed")
		}
		if !reflect.DeepEqual(shared, original) {
			t.Fatal("what others share changed")
		}
	})
}

// Joined reasons all appear, within a bound.
func TestReasonsAreJoined(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"", "a", "b", strings.Repeat("long", 300)})
		all := ""
		for range rapid.IntRange(1, 6).Draw(t, "reasons") {
			next := text.Draw(t, "reason")
			joined := JoinReason(all, next)
			if !strings.HasPrefix(joined, all) || len(all) <= 1000 && !strings.HasSuffix(joined, next) || len(joined) > 1000+2+1200 {
				t.Fatalf("%q and %q are %q", all, next, joined)
			}
			all = joined
		}
		if got := Reason(all); got == "" || all != "" && got != all {
			t.Fatalf("%q is reported as %q", all, got)
		}
	})
}

// A workflow ends once all its shards have ended: COMPLETED if all completed, FAILED if it has
// a failure, otherwise like its last shard that did not complete. Its state is that of its
// furthest shard.
func TestShardsDecideTheirWorkflow(t *testing.T) {
	states := []message.WorkflowState{
		message.WorkflowPending, message.WorkflowAssigned, message.WorkflowRunning,
		message.WorkflowCompleted, message.WorkflowCompleted, message.WorkflowFailed, message.WorkflowCancelled,
	}
	rapid.Check(t, func(t *rapid.T) {
		ended := rapid.Bool().Draw(t, "all have ended")
		f := &Workflow{Failure: rapid.SampledFrom([]string{"", "", "broken"}).Draw(t, "failure")}
		count := map[message.WorkflowState]int{}
		last, results := message.WorkflowCompleted, 0
		for range rapid.IntRange(1, 4).Draw(t, "shards") {
			s := &Shard{Workflow: f, State: rapid.SampledFrom(states).Draw(t, "state")}
			if ended {
				s.State = rapid.SampledFrom(states[3:]).Draw(t, "end")
			}
			if s.State.Terminal() && rapid.Bool().Draw(t, "result") {
				s.Result = &message.ShardResult{}
				results++
			}
			if s.State != message.WorkflowCompleted {
				last = s.State
			}
			count[s.State]++
			f.Shards = append(f.Shards, s)
		}
		live := count[message.WorkflowPending] + count[message.WorkflowAssigned] + count[message.WorkflowRunning]
		end, _, all := f.Outcome()
		want := last
		if f.Failure != "" && last != message.WorkflowCompleted {
			want = message.WorkflowFailed
		}
		if all != (live == 0) || all && end != want {
			t.Fatalf("%v: it ends %v as %v, want %v as %v", count, all, end, live == 0, want)
		}
		furthest := message.WorkflowPending
		if count[message.WorkflowAssigned] > 0 {
			furthest = message.WorkflowAssigned
		}
		if count[message.WorkflowRunning]+count[message.WorkflowCompleted]+results > 0 {
			furthest = message.WorkflowRunning
		}
		if got := f.Furthest(); got != furthest {
			t.Fatalf("%v with %d results: the furthest is %v, want %v", count, results, got, furthest)
		}
	})
}

// A fence can be adopted if it is above given-up and formerly adopted ones, while the shard is
// open and has no end.
func TestAdoptedFencesRise(t *testing.T) {
	fence := rapid.Custom(func(t *rapid.T) message.Fence {
		return message.Fence{JobEpoch: 1, SubjobEpoch: rapid.Uint64Range(1, 3).Draw(t, "subjob"), Attempt: rapid.Uint64Range(1, 3).Draw(t, "attempt")}
	})
	rapid.Check(t, func(t *rapid.T) {
		s := &Shard{Open: rapid.Bool().Draw(t, "open"), State: message.WorkflowPending, Floor: fence.Draw(t, "floor")}
		var adopted []message.Fence
		for range 5 {
			f := fence.Draw(t, "fence")
			above := s.Open && s.Floor.Less(f)
			for _, a := range adopted {
				above = above && a.Less(f)
			}
			if got := s.Adoptable(f); got != above {
				t.Fatalf("%v above %v and %v: adoptable %v, want %v", f, s.Floor, adopted, got, above)
			}
			if above {
				s.State, s.Fence = message.WorkflowRunning, f
				adopted = append(adopted, f)
			}
		}
	})
}

// counts returns the counts that Fit and Slim must not change.
func counts(d *message.DatacenterResult) (sum []message.StepStats) {
	for i := range d.Workflows {
		for _, s := range d.Workflows[i].Stats.Steps {
			s.Latency.Buckets, s.Service.Buckets, s.Metric.Buckets = nil, nil, nil
			s.Phases, s.Windows = nil, message.Windows{}
			s.Latency, s.Service, s.Metric = message.Histogram{}, message.Histogram{}, message.Histogram{}
			sum = append(sum, s)
		}
	}
	return sum
}

// A workflow begins in the job's time: the subjob's part of it, then what its manager waited for.
func TestWorkflowsBeginInTheJobsTime(t *testing.T) {
	p := &Subjob{Accepted: node.Instant(50 * time.Second), Dispatch: &message.JobDispatch{Ran: 7 * time.Second}}
	f := &Workflow{Subjob: p}
	if got := f.Began(); got != 0 {
		t.Errorf("one that has not begun began at %v", got)
	}
	f.Started = p.Accepted.Add(20 * time.Second)
	if got := f.Began(); got != 27*time.Second {
		t.Errorf("it began at %v of the job's time, want 27s", got)
	}
}
