package manager

import (
	"testing"
	"time"
)

// A manager that reaches no other manager rejects a dispatch within three quorum timeouts. That
// holds also while it tries to acquire a register that it believes vacant, which has no bound.
func TestDispatchesWithoutAMajorityAreRejected(t *testing.T) {
	d, j, old := started(t)
	third := d.managers[0]
	if third == old {
		third = d.managers[1]
	}
	for _, m := range d.managers {
		if m != third {
			d.part(third, m, true)
		}
	}
	d.run(10 * time.Second)
	if c := third.machine.(*Machine).claims[j.dispatch.Job]; c == nil || !c.Asked {
		t.Fatal("it does not take the subjob for vacant")
	}
	for epoch := range uint64(3) { // gates that take the job over
		later := *j.dispatch
		later.Fence.JobEpoch = 513 + 256*epoch
		j.refused = nil
		d.gate.Send(d.model.managers[third.peer.ID], &later)
		d.until("the dispatch is rejected", 3*time.Second, func() bool { return len(j.refused) > 0 })
		if r := j.refused[0]; r.Fence != later.Fence || !r.Code.Retryable() {
			t.Fatalf("epoch %d is answered with %+v", later.Fence.JobEpoch, r)
		}
	}
}
