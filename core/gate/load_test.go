package gate_test

import (
	"testing"
	"time"

	"hyperscale/core/message"
)

// shows returns what a gate shows of the load of one job; nil: nothing.
func (m *member) shows(id message.JobID) *message.JobStatus {
	all, _ := m.machine.Load(m.world.Now(), time.Minute, 8)
	for _, s := range all {
		if s.Job == id {
			return s
		}
	}
	return nil
}

// showing returns the gates that run and show a job.
func (w *cluster) showing(id message.JobID) (names string) {
	for _, m := range w.gates {
		if m.world.Running() && m.shows(id) != nil {
			names += m.name
		}
	}
	return names
}

// One gate shows the load of a job: its owner, and after the end the gate that ended it, for a while. A
// gate that lost it, or heard of its end alone, does not.
func TestOneGateShowsALoad(t *testing.T) {
	w := newCluster(t, 3, shortLease())
	for _, m := range w.gates {
		m.listen(managerPeer("m1"))
	}
	w.time(time.Second, nil)
	id := w.submit(w.gates[0], "k")
	w.time(2*time.Second, nil)
	if got := w.showing(id); got != "g1" {
		t.Fatalf("%q show the load, want its owner g1 alone", got)
	}
	g := w.gates[0]
	if all, _ := g.machine.Load(g.world.Now().Add(w.config.Lease), time.Minute, 8); len(all) != 0 {
		t.Errorf("%d jobs are shown after the end of their lease, which the gate has not noticed yet: want none", len(all))
	}
	g.cut = true // it owns the job no longer, and runs
	w.time(20*time.Second, nil)
	holder := w.holder[id]
	if got := w.showing(id); got != holder || holder == "g1" {
		t.Fatalf("%q show the load, want its new owner %s alone", got, holder)
	}
	owner := w.at("g2:1")
	if holder == "g3" {
		owner = w.at("g3:1")
	}
	epoch := uint64(0)
	for _, msg := range owner.heard["m1"] {
		if d, ok := msg.(*message.JobDispatch); ok && d.Job == id {
			epoch = d.Fence.JobEpoch
		}
	}
	if epoch == 0 {
		t.Fatal("the new owner has not dispatched the job")
	}
	fence := message.Fence{JobEpoch: epoch, SubjobEpoch: 257}
	owner.deliver("m1", &message.JobAccepted{Job: id, Fence: fence})
	whole := subjobResult(id, fence, "a", message.JobCompleted, 40, "")
	half := *whole
	half.Subjob.State = message.JobRunning
	owner.deliver("m1", &message.JobProgress{Job: id, Fence: fence, Sequence: 1, Subjob: half.Subjob})
	w.pump()
	s := owner.shows(id)
	if s == nil || s.State != message.JobRunning || len(s.Datacenters) != 1 || s.Datacenters[0].Workflows[0].Stats.Steps[0].Started != 40 {
		t.Fatalf("it shows %+v, want what its manager reported", s)
	}
	if all, left := owner.machine.Load(owner.world.Now(), time.Minute, 0); len(all) != 0 || left != 1 {
		t.Errorf("%d jobs are shown and %d left out, want one left out", len(all), left)
	}
	owner.deliver("m1", whole)
	w.time(2*time.Second, nil)
	g.cut = false
	w.time(10*time.Second, nil)
	if s = owner.shows(id); s == nil || s.State != message.JobCompleted || len(s.Datacenters) != 1 || s.Datacenters[0].Workflows[0].Stats.Steps[0].Started != 40 {
		t.Fatalf("it shows %+v, want the result", s)
	}
	if got := w.showing(id); got != holder {
		t.Errorf("%q show the load of a job that has ended, want %s alone", got, holder)
	}
	w.time(time.Minute, nil)
	if got := w.showing(id); got != "" {
		t.Errorf("%q show the load a minute after the end", got)
	}
}
