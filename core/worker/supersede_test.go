package worker

import (
	"errors"
	"testing"

	"hyperscale/core/message"
)

// A shard waits once for a superseded execution, however often that is given up.
func TestLeaversAreCountedOnce(t *testing.T) {
	d := newDesk(t, nil)
	x := d.dispatch(0, 0, 1, 1)
	d.dispatch(0, 0, 2, 1)
	x.giveUp(d)
	if x.shard.leaving != 1 {
		t.Errorf("%d leave, want 1", x.shard.leaving)
	}
	next := x.shard.current
	if next == x || next.phase != waiting {
		t.Fatalf("the second attempt is not waiting: %+v", next)
	}
	for _, ref := range d.m.listed() {
		if ref.Fence != next.fence {
			t.Errorf("it lists %v, which is superseded", ref.Fence)
		}
	}
	d.finish(x, message.WorkflowCancelled)
	if next.phase != running {
		t.Errorf("the second attempt does not start behind the first: phase %d", next.phase)
	}
	r := next.runs[0]
	r.asks = []asking{{ExecRows: &message.ExecRows{Ask: 1, Want: 5}}}
	if d.Receive(d.to[0], &message.ShardRowsLeased{Shard: shardOf(0), Fence: x.fence, Ask: 1, Count: 5}); len(r.asks) == 0 {
		t.Error("rows that were leased to a former attempt are handed out")
	}
}

// An execution that the fence of a failed dispatch superseded runs on for a moment. Until it is
// gone the worker lists it under that fence, as no manager may take it as stopped.
func TestListsUnderTheFenceOnDisk(t *testing.T) {
	d := newDesk(t, nil)
	x := d.dispatch(0, 0, 1, 1)
	d.Held = true
	d.dispatch(0, 0, 2, 1)
	d.dispatch(0, 0, 3, 1) // the worker gives the second up for it, and is writing its fence
	d.Complete(1, nil)
	d.Complete(1, errors.New("no space left on device"))
	if x.phase != ending || !x.silent || x.shard.current != nil {
		t.Fatalf("the first attempt is not on its way out: phase %d, silent %v", x.phase, x.silent)
	}
	if got := d.m.listed(); len(got) != 1 || got[0] != ref(0, 2) {
		t.Errorf("it lists %v, and %v is on disk", got, ref(0, 2).Fence)
	}
	d.Held = false
	for d.Pending() > 0 {
		d.Complete(1, nil)
	}
	d.finish(x, message.WorkflowCancelled)
	if got := d.m.listed(); len(got) != 0 {
		t.Errorf("all is gone, and it lists %v", got)
	}
}
