package manager

import (
	"testing"

	"hyperscale/core/event"
	"hyperscale/core/lease"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Orders wait while a manager fetches the record of a subjob that it takes over. If it obeyed
// one now, it would overwrite that record with an empty one.
func TestOrdersWaitForARecordThatIsFetched(t *testing.T) {
	for _, later := range []uint64{0, 1} { // of the same epoch of the job, or of the next one
		d := newDesk(t, nil, "w1")
		p := d.submit(1)
		fence := message.Fence{JobEpoch: p.Fence.JobEpoch + later}
		orders := &subjob.Claim{Asked: true}
		d.m.lapse(d, p)
		d.m.fetchSpill(d, &lease.Outcome{Job: p.Job, Token: message.UnpackToken(p.Fence.SubjobEpoch)}, orders, message.FileDigest{9})
		d.WatchEvent = func(e node.Event) {
			if e, ok := e.(event.Acted); ok {
				t.Errorf("it obeys %s under %v before it has read the record", e.What, e.Fence)
			}
		}
		link := d.m.gates.To(p.Gate)
		d.m.onJobDispatch(d, link, &message.JobDispatch{Job: p.Job, Fence: fence})
		if orders.Epoch() != fence.JobEpoch {
			t.Errorf("a dispatch of epoch %d is lost: %d waits", fence.JobEpoch, orders.Epoch())
		}
		cancel := &message.SubjobCancel{Job: p.Job, Fence: fence, State: message.JobCancelled}
		d.m.onSubjobCancel(d, link, cancel)
		if orders.Cancel != cancel {
			t.Error("a cancellation is lost")
		}
		if !d.m.ledger.Idle(p.Job) {
			t.Error("it writes a record before it has read the one that a majority has")
		}
		d.m.onSubjobCancel(d, link, &message.SubjobCancel{Job: p.Job, Fence: message.Fence{JobEpoch: fence.JobEpoch - 1}, State: message.JobTimedOut})
		if orders.Cancel != cancel && fence.JobEpoch > 1 {
			t.Error("a cancellation of an earlier epoch replaces a later one")
		}
	}
}
