package gate_test

import (
	"testing"
	"time"

	"hyperscale/core/gate"
	"hyperscale/core/message"
)

// A gate repeats an abort every CancelRetry until the subjob reports that the workflow has
// ended, and never after that.
func TestAbortsAreSentUntilTheWorkflowEnds(t *testing.T) {
	c := gate.Default()
	e := newListener(c, client("c1"), managerPeer("m1"))
	e.says("m1")
	submit := e.submission("k", nil, 2)
	submit.RunTimeout = time.Hour
	submit.Plan.Workflows[0].AbortWhen = []message.AbortPlan{{For: time.Second, When: message.Threshold{
		Expr: "get.errors > 30%", Step: "get", Of: message.OfErrors, Op: message.OpAbove, Bound: 300_000,
	}}}
	e.deliver("c1", submit)
	d, _ := last[*message.JobDispatch](e, "m1")
	if d == nil {
		t.Fatal("the job was not dispatched")
	}
	fence := message.Fence{JobEpoch: d.Fence.JobEpoch, SubjobEpoch: 257}
	e.deliver("m1", &message.JobAccepted{Job: d.Job, Fence: fence})
	tells := func(second int, state message.WorkflowState) {
		n := uint64(100 * (second + 1))
		e.deliver("m1", &message.JobProgress{Job: d.Job, Fence: fence, Sequence: uint64(second + 1), Subjob: message.DatacenterResult{
			Name: "a", State: message.JobRunning, Workflows: []message.WorkflowResult{{Name: "load", State: state, VUs: 2, Stats: message.Stats{
				Steps: []message.StepStats{{Name: "get", Kind: message.StepRequest, Started: n, Failed: n}},
			}}},
		}})
		e.says("m1", message.SubjobRef{Job: d.Job, Fence: fence, State: message.JobRunning})
		e.world.Advance(time.Second)
	}
	const failing, ended = 30, 10
	for second := range failing {
		tells(second, message.WorkflowRunning)
	}
	_, sent := last[*message.SubjobAbort](e, "m1")
	if least := failing - 10; sent < least {
		t.Errorf("its workflow fails for %d s and the abort is sent %d times, want at least %d", failing, sent, least)
	}
	for second := range ended {
		tells(failing+second, message.WorkflowFailed)
	}
	if _, n := last[*message.SubjobAbort](e, "m1"); n > sent+1 {
		t.Errorf("the workflow has ended, and the abort is sent %d times more", n-sent)
	}
}
