package gate_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"hyperscale/core/election"
	"hyperscale/core/event"
	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A draining gate takes over no job of a dead gate while another gate can.
func TestDrainingGatesTakeNothingOver(t *testing.T) {
	w := newCluster(t, 3, shortLease())
	w.time(time.Second, nil)
	for k := range 6 {
		w.submit(w.gates[0], fmt.Sprintf("k%d", k))
	}
	w.time(time.Second, nil)
	w.drain(w.gates[1], false)
	w.depart(w.gates[0])
	w.gates[0].world.Crash()
	w.time(30*time.Second, nil)
	if len(w.holder) != 6 || w.grants["g2"] > 0 {
		t.Fatalf("%d jobs were granted, want 6; %d times to g2, which takes none", len(w.holder), w.grants["g2"])
	}
	for _, id := range sortedJobs(w.holder) {
		if w.holder[id] != "g3" {
			t.Errorf("job %v is %s's: want g3's, which alone takes jobs", id, w.holder[id])
		}
	}
	w.drain(w.gates[1], true)
	w.depart(w.gates[2])
	w.gates[2].world.Crash()
	w.gates[0].world.Start()
	w.time(30*time.Second, nil)
	for _, id := range sortedJobs(w.holder) {
		if w.holder[id] == "g3" {
			t.Errorf("job %v is nobody's after the drain was taken back", id)
		}
	}
}

// Two gates drain, and the third one, which owns jobs, dies or stops: one of those that drain goes on with them, as no
// other one takes jobs.
func TestGatesThatAllRetireKeepJobs(t *testing.T) {
	for _, stops := range []bool{false, true} {
		w := newCluster(t, 3, shortLease())
		w.time(time.Second, nil)
		w.drain(w.gates[1], false)
		w.drain(w.gates[2], false)
		for k := range 6 {
			w.submit(w.gates[0], fmt.Sprintf("k%d", k))
		}
		w.time(5*time.Second, nil)
		for _, id := range sortedJobs(w.holder) {
			if w.holder[id] != "g1" {
				t.Fatalf("job %v is %s's, which drains", id, w.holder[id])
			}
		}
		wait := 30 * time.Second
		if stops {
			wait = 8 * time.Second
			w.gates[0].world.Stop()
		} else {
			w.depart(w.gates[0])
			w.gates[0].world.Crash()
		}
		w.time(wait, nil)
		for _, id := range sortedJobs(w.holder) {
			if w.holder[id] == "g1" {
				t.Errorf("stops %v: job %v has no owner", stops, id)
			}
		}
	}
}

// A gate that stops hands no job to one that drains, as long as another one takes jobs.
func TestJobsGoToGatesThatTakeThem(t *testing.T) {
	w := newCluster(t, 3, shortLease())
	w.time(time.Second, nil)
	for k := range 6 {
		w.submit(w.gates[0], fmt.Sprintf("k%d", k))
	}
	w.drain(w.gates[1], false)
	w.time(2*time.Second, nil)
	w.gates[0].world.Stop()
	w.time(5*time.Second, nil)
	for _, id := range sortedJobs(w.holder) {
		if w.holder[id] != "g3" {
			t.Errorf("job %v is %s's: want g3's, which alone takes jobs", id, w.holder[id])
		}
	}
}

func sortedJobs[V any](m map[message.JobID]V) []message.JobID {
	var ids []message.JobID
	//lint:orderfree sorted below
	for id := range m {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, message.JobID.Compare)
	return ids
}

// A gate that stops waits until other gates own the jobs that it handed over, and no longer.
func TestStopsWaitForWhatWasHandedOver(t *testing.T) {
	c := shortLease()
	w := newCluster(t, 3, c)
	w.time(time.Second, nil)
	id := w.submit(w.gates[0], "k")
	w.time(2*time.Second, nil)
	for _, m := range w.gates { // what its successor promises and accepts is not on disk yet
		m.world.Held = true
	}
	w.gates[0].world.Stop()
	w.pump()
	w.time(c.StopTimeout/2, nil)
	if !w.gates[0].world.Running() || w.holder[id] != "g1" {
		t.Fatalf("g1 runs: %v, the job is %s's: want g1 to wait until another gate has it", w.gates[0].world.Running(), w.holder[id])
	}
	for _, m := range w.gates {
		m.world.Held = false
		m.world.Complete(m.world.Pending(), nil)
		w.pump()
	}
	w.time(time.Second, nil)
	if w.gates[0].world.Running() || w.holder[id] == "g1" {
		t.Errorf("g1 runs: %v, the job is %s's: want it to go once another gate has the job", w.gates[0].world.Running(), w.holder[id])
	}
}

// A gate does not hand over a job with a write that is on no majority. It answers the client of
// that write itself.
func TestDrainsWaitForOpenWrites(t *testing.T) {
	w := newCluster(t, 3, shortLease())
	w.time(time.Second, nil)
	g := w.gates[0]
	id := w.submit(g, "k")
	w.time(2*time.Second, nil)
	for _, m := range w.gates {
		m.world.Held = true
	}
	g.request++
	ask := message.RequestID{Incarnation: 1, Counter: g.request}
	g.deliver("c1", &message.JobCancel{Request: ask, Job: id})
	w.drain(g, false)
	for range 20 { // one write leads to another
		for _, m := range w.gates {
			m.world.Complete(m.world.Pending(), nil)
			w.pump()
		}
	}
	for _, m := range w.gates {
		m.world.Held = false
	}
	w.time(time.Second, nil)
	for _, m := range w.gates[0].heard["c1"] {
		if r, ok := m.(*message.Refused); ok && r.Request == ask {
			t.Errorf("the cancellation was refused in the middle of its write: %v %s", r.Code, r.Detail)
		}
		if a, ok := m.(*message.JobCancelAck); ok && a.Request == ask {
			return
		}
	}
	t.Error("the gate that was asked to cancel did not answer")
}

// A gate that loses a job tells the job's watchers, and names the new owner.
func TestWatchersAreSentOn(t *testing.T) {
	w := newCluster(t, 3, shortLease())
	w.time(time.Second, nil)
	g := w.gates[0]
	id := w.submit(g, "k")
	w.time(time.Second, nil)
	g.request++
	ask := message.RequestID{Incarnation: 1, Counter: g.request}
	g.deliver("c1", &message.JobWatch{Request: ask, Job: id})
	w.drain(g, false)
	w.time(time.Second, nil)
	for _, m := range w.gates[0].heard["c1"] {
		if r, ok := m.(*message.Refused); ok && r.Request == ask {
			if r.Code != message.CodeNotOwner || r.Holder == "" {
				t.Errorf("the watcher is refused with %v, holder %q", r.Code, r.Holder)
			}
			return
		}
	}
	t.Error("the watcher of a job that was handed over was not told where it is")
}

// A gate takes over a job without an owner as soon as it has room for the job.
func TestVacantJobsAreTakenOverOnceThereIsRoom(t *testing.T) {
	c := shortLease()
	c.JobsMax, c.QueueMax = 2, 2
	w := newCluster(t, 3, c)
	w.time(time.Second, nil)
	var lost, others []message.JobID
	for i, m := range w.gates {
		for k := range 2 {
			id := w.submit(m, fmt.Sprintf("k%d-%d", i, k))
			if i == 0 {
				lost = append(lost, id)
			} else {
				others = append(others, id)
			}
			w.time(200*time.Millisecond, nil)
		}
	}
	w.depart(w.gates[0])
	w.gates[0].world.Crash()
	w.time(30*time.Second, nil)
	for _, id := range lost {
		if w.holder[id] != "g1" {
			t.Fatalf("job %v was taken over by %s, which has no room", id, w.holder[id])
		}
	}
	for _, m := range w.gates[1:] {
		for _, id := range others {
			m.request++
			m.deliver("c1", &message.JobCancel{Request: message.RequestID{Incarnation: 1, Counter: m.request}, Job: id})
			w.pump()
		}
	}
	w.time(5*time.Minute, nil)
	for _, id := range lost {
		if w.holder[id] == "g1" {
			t.Errorf("job %v is still nobody's, minutes after there was room", id)
		}
	}
}

// A leader that hears no majority stops sweeping vacant registers before another gate may lead,
// even if it learns of its deposition later. However the test cuts it off, no sweep follows
// more than TimeoutMin later.
func TestDeposedLeadersSweepNothing(t *testing.T) {
	const step = 100 * time.Millisecond
	c := shortLease()
	c.JobsMax, c.QueueMax, c.SweepInterval = 2, 2, step
	w := newCluster(t, 3, c)
	for i, m := range w.gates {
		for k := range 2 {
			w.submit(m, fmt.Sprintf("k%d-%d", i, k))
			w.time(2*step, nil)
		}
	}
	w.depart(w.gates[0]) // no gate has room for its jobs: they stay vacant
	w.gates[0].world.Crash()
	var sweeper *member
	for _, m := range w.gates {
		seen := m.world.WatchEvent
		m.world.WatchEvent = func(e node.Event) {
			seen(e)
			if r, ok := e.(event.Reached); ok && r.What == "gate/vacant-swept" {
				sweeper = m
			}
		}
	}
	for round := range 3 {
		sweeper = nil
		for waited := time.Duration(0); sweeper == nil; waited += step {
			if w.time(step, nil); waited > time.Minute {
				t.Fatalf("round %d: no leader sweeps the vacant registers", round)
			}
		}
		leader := sweeper
		w.time(c.Lease+3*time.Second-time.Duration(10+round)*step, nil) // until shortly before the next sweep
		leader.cut = true
		w.depart(leader)
		w.time(election.Default().TimeoutMin, nil)
		sweeper = nil
		if w.time(time.Second, nil); sweeper != nil {
			t.Errorf("round %d: %s sweeps, and another may lead since its cut", round, leader.name)
		}
		leader.cut = false
	}
}

// A gate looks up at most LookupsMax jobs on majorities at a time. It refuses further questions
// and says when to ask again.
func TestLookupsAreBounded(t *testing.T) {
	c := shortLease()
	c.LookupsMax = 2
	w := newCluster(t, 3, c)
	g := w.gates[0]
	g.cut = true // no majority answers
	w.depart(g)
	refused := 0
	for k := range 5 {
		g.request++
		g.deliver("c1", &message.JobQuery{Request: message.RequestID{Incarnation: 1, Counter: g.request}, Job: message.JobOf(fmt.Sprintf("unknown-%d", k))})
	}
	for _, m := range w.gates[0].heard["c1"] {
		if r, ok := m.(*message.Refused); ok && r.Code == message.CodeOverloaded && r.RetryAfter > 0 {
			refused++
		}
	}
	if refused != 3 {
		t.Errorf("%d of 5 questions are refused for want of room, want 3", refused)
	}
}

// If another gate takes a queued job over, the former owner removes it from its queue.
func TestHandedOverJobsLeaveTheQueue(t *testing.T) {
	w := newCluster(t, 3, shortLease())
	w.time(time.Second, nil)
	g := w.gates[0]
	g.beats++ // no core is free
	g.deliver("m1", &message.ManagerHeartbeat{Datacenter: "a", Sequence: g.beats, CoresTotal: 8, WorkerSum: 2})
	for k := range 3 {
		w.submit(g, fmt.Sprintf("k%d", k))
	}
	queued := func() (n int) {
		g.world.Machine().(*gate.Machine).Rests(func(what string, now, _ int) {
			if what == "gate/queue" {
				n = now
			}
		})
		return n
	}
	if n := queued(); n != 3 {
		t.Fatalf("%d jobs are queued, want 3", n)
	}
	w.drain(g, false)
	w.time(200*time.Millisecond, nil)
	if n := queued(); n != 0 {
		t.Errorf("%d jobs are queued at a gate that handed all of them over", n)
	}
}
