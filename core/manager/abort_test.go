package manager

import (
	"strings"
	"testing"

	"hyperscale/core/message"
)

// A condition also ends a workflow that waits for cores: no worker runs it, so no worker could
// end it. The manager cancels a running one at once, before the next heartbeat.
func TestAbortsEndWhatRunsAndWhatWaits(t *testing.T) {
	for _, test := range []struct {
		name string
		idle bool
	}{{"waits", true}, {"runs", false}} {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, nil)
			if !test.idle {
				d.arrive("w1")
			}
			p := d.submit(2)
			if !test.idle {
				d.accept("w1")
			}
			d.forget()
			d.Receive(d.gate, &message.SubjobAbort{Job: p.Job, Fence: message.Fence{JobEpoch: 1}, Reason: "errors"})
			if !test.idle {
				cancels := took[*message.ShardCancel](d, d.up["w1"])
				if len(cancels) != 1 {
					t.Fatalf("the manager sends %d cancels, want 1", len(cancels))
				}
				d.Receive(d.up["w1"], &message.ShardResult{Shard: cancels[0].Shard, Fence: cancels[0].Fence, State: message.WorkflowCancelled})
			}
			f := p.Workflows[0]
			if f.State != message.WorkflowFailed || !strings.Contains(f.Failure, "errors") {
				t.Errorf("the workflow is %v, its failure %q", f.State, f.Failure)
			}
			if p.Result == nil || p.Result.Subjob.State != message.JobFailed || !strings.Contains(p.Result.Subjob.Error, "errors") {
				t.Errorf("the subjob's result is %+v", p.Result)
			}
		})
	}
}
