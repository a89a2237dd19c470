package lifecycle_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/lifecycle"
	"hyperscale/core/message"
)

// The legal transitions: chains of `a>b` and alternatives.
const jobLaw = `
NONE>SUBMITTED
SUBMITTED>QUEUED>DISPATCHING>RUNNING>COMPLETING
COMPLETING>COMPLETED  COMPLETING>PARTIAL  COMPLETING>FAILED
DISPATCHING>QUEUED
SUBMITTED>FAILED  QUEUED>FAILED  DISPATCHING>FAILED
SUBMITTED>CANCELLING  QUEUED>CANCELLING  DISPATCHING>CANCELLING  RUNNING>CANCELLING
CANCELLING>CANCELLED
QUEUED>TIMED_OUT  DISPATCHING>TIMED_OUT  RUNNING>TIMED_OUT  COMPLETING>TIMED_OUT
`

const workflowLaw = `
NONE>PENDING
PENDING>ASSIGNED>RUNNING
RUNNING>COMPLETED  RUNNING>FAILED
ASSIGNED>PENDING  RUNNING>PENDING
PENDING>FAILED  ASSIGNED>FAILED
PENDING>CANCELLED  ASSIGNED>CANCELLED  RUNNING>CANCELLED
PENDING>TIMED_OUT  ASSIGNED>TIMED_OUT  RUNNING>TIMED_OUT
`

func pairs(law string) map[string]bool {
	legal := map[string]bool{}
	for _, chain := range strings.Fields(law) {
		states := strings.Split(chain, ">")
		for i := range len(states) - 1 {
			legal[states[i]+">"+states[i+1]] = true
		}
	}
	return legal
}

// Every pair of states, also of invalid numbers, against the written law.
func TestJobLaw(t *testing.T) {
	legal, seen := pairs(jobLaw), 0
	for from := range message.JobTimedOut + 20 {
		for to := range message.JobTimedOut + 20 {
			pair := from.String() + ">" + to.String()
			if got := lifecycle.LegalJob(from, to); got != legal[pair] {
				t.Errorf("%s: got %v, want %v", pair, got, legal[pair])
			}
			if legal[pair] {
				seen++
			}
		}
	}
	if seen != len(legal) {
		t.Errorf("%d of %d legal pairs were met: a name in the table is no state", seen, len(legal))
	}
}

func TestWorkflowLaw(t *testing.T) {
	legal, seen := pairs(workflowLaw), 0
	for from := range message.WorkflowTimedOut + 20 {
		for to := range message.WorkflowTimedOut + 20 {
			pair := from.String() + ">" + to.String()
			if got := lifecycle.LegalWorkflow(from, to); got != legal[pair] {
				t.Errorf("%s: got %v, want %v", pair, got, legal[pair])
			}
			if legal[pair] {
				seen++
			}
		}
	}
	if seen != len(legal) {
		t.Errorf("%d of %d legal pairs were met: a name in the table is no state", seen, len(legal))
	}
}

// Random pairs, too, against the written laws.
func TestDrawnPairsAgainstTheLaws(t *testing.T) {
	jobs, flows := pairs(jobLaw), pairs(workflowLaw)
	rapid.Check(t, func(t *rapid.T) {
		a, b := message.JobState(rapid.IntRange(0, int(message.JobTimedOut)+2).Draw(t, "from")), message.JobState(rapid.IntRange(0, int(message.JobTimedOut)+2).Draw(t, "to"))
		if got := lifecycle.LegalJob(a, b); got != jobs[a.String()+">"+b.String()] {
			t.Fatalf("job %v > %v: got %v", a, b, got)
		}
		f, g := message.WorkflowState(rapid.IntRange(0, int(message.WorkflowTimedOut)+2).Draw(t, "workflow from")), message.WorkflowState(rapid.IntRange(0, int(message.WorkflowTimedOut)+2).Draw(t, "workflow to"))
		if got := lifecycle.LegalWorkflow(f, g); got != flows[f.String()+">"+g.String()] {
			t.Fatalf("workflow %v > %v: got %v", f, g, got)
		}
	})
}

// LIFECYCLE-1, along any walk: the first terminal state stays, whatever follows.
func TestFirstEndStays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		at, end := message.JobNone, message.JobNone
		for _, to := range rapid.SliceOfN(rapid.Uint8Range(0, 14), 0, 200).Draw(rt, "walk") {
			if lifecycle.LegalJob(at, message.JobState(to)) {
				at = message.JobState(to)
			}
			if end == message.JobNone && at.Terminal() {
				end = at
			}
			if end != message.JobNone && at != end {
				rt.Fatalf("ended %v and is %v", end, at)
			}
		}
	})
}

func TestOutcome(t *testing.T) {
	const (
		good, some, bad      = message.JobCompleted, message.JobPartial, message.JobFailed
		late, stopped, going = message.JobTimedOut, message.JobCancelled, message.JobRunning
	)
	for _, tc := range []struct {
		why     string
		subjobs []message.JobState
		want    message.JobState
	}{
		{"one good part", []message.JobState{good}, good},
		{"all good", []message.JobState{good, good}, good},
		{"most good", []message.JobState{good, good, bad}, some},
		{"all failed", []message.JobState{bad, bad}, bad},
		{"some good, some failed", []message.JobState{good, bad}, some},
		{"a partial part makes the whole partial", []message.JobState{good, some}, some},
		{"partial and failed", []message.JobState{some, bad}, some},
		{"one good, one that never reported", []message.JobState{good, late}, some},
		{"none good, one late", []message.JobState{bad, late}, late},
		{"all late", []message.JobState{late, late}, late},
		{"all stopped", []message.JobState{stopped, stopped}, stopped},
		{"stopped and failed", []message.JobState{stopped, bad}, bad},
		{"stopped beside a good one", []message.JobState{stopped, good}, some},
		{"one that has not ended is not good", []message.JobState{going}, bad},
	} {
		if got := lifecycle.Outcome(tc.subjobs); got != tc.want {
			t.Errorf("%s: %v: got %v, want %v", tc.why, tc.subjobs, got, tc.want)
		}
	}
}

// The outcome is terminal, does not depend on the order of subjobs, and is COMPLETED only if
// every subjob is.
func TestOutcomeIsAnEnd(t *testing.T) {
	ends := rapid.SampledFrom([]message.JobState{message.JobCompleted, message.JobPartial, message.JobFailed, message.JobCancelled, message.JobTimedOut})
	rapid.Check(t, func(rt *rapid.T) {
		subjobs := rapid.SliceOfN(ends, 1, 6).Draw(rt, "parts")
		got := lifecycle.Outcome(subjobs)
		if !got.Terminal() {
			rt.Fatalf("%v: %v is no end", subjobs, got)
		}
		if again := lifecycle.Outcome(rapid.Permutation(subjobs).Draw(rt, "other order")); again != got {
			rt.Fatalf("%v: %v, in another order %v", subjobs, got, again)
		}
		all := !slices.ContainsFunc(subjobs, func(s message.JobState) bool { return s != message.JobCompleted })
		if (got == message.JobCompleted) != all {
			rt.Fatalf("%v: got %v", subjobs, got)
		}
	})
}

func TestWorkflowsStandForJobs(t *testing.T) {
	for _, tc := range []struct {
		end  message.WorkflowState
		want message.JobState
	}{
		{message.WorkflowCompleted, message.JobCompleted}, {message.WorkflowFailed, message.JobFailed},
		{message.WorkflowCancelled, message.JobCancelled}, {message.WorkflowTimedOut, message.JobTimedOut},
		{message.WorkflowRunning, message.JobFailed},
	} {
		if got := lifecycle.OfWorkflow(tc.end); got != tc.want {
			t.Errorf("%v: got %v, want %v", tc.end, got, tc.want)
		}
	}
}
