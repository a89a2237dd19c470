package manager

import (
	"slices"
	"testing"
	"time"

	"hyperscale/core/message"
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

// A dispatch of a later epoch replaces the one for which a manager acquires a register. One that stops a
// workflow that its plan has not is rejected there, too: nothing below checks a plan again.
func TestALaterDispatchIsCheckedToo(t *testing.T) {
	d := newDatacenter(t, 3)
	d.run(3 * time.Second)
	at := d.managers[0]
	for _, m := range d.managers[1:] {
		d.part(at, m, true)
	}
	j := d.submit(1, 2, 6)
	m := at.machine.(*Machine)
	d.gate.Send(d.model.managers[at.peer.ID], j.dispatch)
	d.until("it acquires the register", time.Second, func() bool { return m.claims[j.dispatch.Job] != nil })
	later := *j.dispatch
	later.Fence.JobEpoch += 256
	later.Stops = []message.WorkflowStop{{Workflow: uint32(len(later.Plan.Workflows)), Reason: "it was never there"}}
	j.refused = nil
	d.gate.Send(d.model.managers[at.peer.ID], &later)
	d.until("the dispatch is rejected", time.Second, func() bool { return len(j.refused) > 0 })
	if r := j.refused[0]; r.Code != message.CodeBadPlan || r.Fence != later.Fence {
		t.Errorf("it is answered with %+v", r)
	}
	if c := m.claims[j.dispatch.Job]; c != nil && c.Dispatch == &later {
		t.Error("it replaced the one that was checked")
	}

	later.Stops = []message.WorkflowStop{{Workflow: 0, Reason: "a client cancelled it"}}
	later.Plan.Workflows = slices.Clone(later.Plan.Workflows)
	later.Name, later.Plan.Workflows[0].VUs = "another program", later.Plan.Workflows[0].VUs+1
	d.gate.Send(d.model.managers[at.peer.ID], &later)
	kept := func() *message.JobDispatch { return m.claims[j.dispatch.Job].Dispatch }
	d.until("the later dispatch is kept", time.Second, func() bool { return kept().Fence == later.Fence })
	if k := kept(); k.Name != j.dispatch.Name || k.Plan.Workflows[0].VUs != j.dispatch.Plan.Workflows[0].VUs || len(k.Stops) != 1 {
		t.Errorf("the file has %q with %d users, and the manager begins %q with %d", j.dispatch.Name, j.dispatch.Plan.Workflows[0].VUs, k.Name, k.Plan.Workflows[0].VUs)
	}
}
