package manager

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/plan"
)

// started runs a job until some of its shards run.
func started(t *testing.T) (*datacenter, *modelJob, *host) {
	t.Helper()
	return startedLayers(t, 2)
}

func startedLayers(t *testing.T, layers int) (*datacenter, *modelJob, *host) {
	t.Helper()
	d := newDatacenter(t, 3)
	d.run(3 * time.Second)
	d.slow(true)
	j := d.submit(1, layers, 6)
	d.until("it runs", 10*time.Second, func() bool { return d.running(j.dispatch.Job) >= 2 })
	d.run(1500 * time.Millisecond)
	return d, j, d.holder(j.dispatch.Job)
}

func (d *datacenter) another(j *modelJob, than *host) *host {
	d.t.Helper()
	d.until("another manager holds it", 6*time.Second, func() bool {
		h := d.holder(j.dispatch.Job)
		return h != nil && h != than
	})
	return d.holder(j.dispatch.Job)
}

func TestNobodyReportsAShard(t *testing.T) {
	d, j, old := started(t)
	began := len(d.runs)
	old.crash()
	for _, w := range d.workers {
		w.crash()
	}
	d.another(j, old)
	granted := d.now
	for _, r := range d.runs {
		r.end = granted // with their hosts
	}
	for _, w := range d.workers {
		w.start()
	}
	d.until("it is dispatched anew", 10*time.Second, func() bool { return len(d.runs) > began })
	if wait := d.now.Sub(granted); wait < 5100*time.Millisecond || wait > 6*time.Second {
		t.Errorf("dispatched %v after the grant: its last renewal may have been answered by the former holder", wait)
	}
	want(t, d.ended(j, 40*time.Second), message.JobCompleted)
}

func TestResultsCountOnceAcrossHolders(t *testing.T) {
	d, j, old := started(t)
	// One worker's shard ends and counts. The other's ends while no manager holds the subjob.
	first := d.runs[0]
	w := d.workers[int(first.worker[1]-'1')]
	w.machine.(*modelWorker).finish(w, first, message.WorkflowCompleted)
	d.run(500 * time.Millisecond)
	old.crash()
	second := d.runs[1]
	w = d.workers[int(second.worker[1]-'1')]
	if r := w.machine.(*modelWorker).runs[second.id]; r != nil {
		w.machine.(*modelWorker).finish(w, r, message.WorkflowCompleted)
	}
	h := d.another(j, old)
	d.slow(false)
	want(t, d.ended(j, 30*time.Second), message.JobCompleted)
	for _, r := range []*modelRun{first, second} {
		if n := d.counted[fmt.Sprint(h.peer, r.id, j.results[0].Fence)]; n != 1 {
			t.Errorf("%v was counted %d times by who ended the subjob", r.id, n)
		}
	}
}

func TestCutOffHolderStopsActing(t *testing.T) {
	d, j, old := started(t)
	for _, m := range d.managers {
		if m != old {
			d.part(old, m, true)
		}
	}
	lost := d.now
	d.until("its lease runs out", 3*time.Second, func() bool { return d.holder(j.dispatch.Job) != old })
	if d.now.Sub(lost) > 2*time.Second {
		t.Errorf("it held on for %v", d.now.Sub(lost))
	}
	d.another(j, old)
	d.run(8 * time.Second)
	for _, m := range d.managers {
		d.part(old, m, false)
	}
	if n := d.running(j.dispatch.Job); n != 2 || len(d.runs) != 2 {
		t.Errorf("%d attempts run, %d began", n, len(d.runs))
	}
	d.slow(false)
	want(t, d.ended(j, 30*time.Second), message.JobCompleted)
}

func TestLaterEpochIsAdopted(t *testing.T) {
	d, j, old := started(t)
	d.model.Step(d.gate, &node.Input{Kind: node.InputStreamOpened}) // keeps nothing
	later := *j.dispatch
	later.Fence.JobEpoch = 513
	j.dispatch, j.accepted, j.at = &later, false, old.peer.ID
	d.until("it is accepted", 3*time.Second, func() bool { return j.accepted && j.fence.JobEpoch == 513 })
	if d.holder(later.Job) != old || d.running(later.Job) != 2 {
		t.Errorf("%v holds it, %d shards run", d.holder(later.Job), d.running(later.Job))
	}
	stale := later
	stale.Fence.JobEpoch = 257
	d.gate.Send(d.model.managers[old.peer.ID], &stale)
	d.until("the earlier epoch is refused", time.Second, func() bool {
		return len(j.refused) > 0 && j.refused[0].Code == message.CodeStaleFence && j.refused[0].Current.JobEpoch == 513
	})
	d.slow(false)
	r := d.ended(j, 30*time.Second)
	want(t, r, message.JobCompleted)
	if r.Fence.JobEpoch != 513 {
		t.Errorf("told under %v", r.Fence)
	}
}

func TestOthersNameTheHolder(t *testing.T) {
	d, j, old := started(t)
	for _, m := range d.managers {
		if m != old {
			d.gate.Send(d.model.managers[m.peer.ID], j.dispatch)
		}
	}
	d.run(100 * time.Millisecond)
	if len(j.refused) != 2 {
		t.Fatalf("%d refusals", len(j.refused))
	}
	for _, r := range j.refused {
		if r.Code != message.CodeNotOwner || r.Holder != string(old.peer.Addr) {
			t.Errorf("refused with %v, holder %q", r.Code, r.Holder)
		}
	}
}

func TestDrainHandsSubjobsOver(t *testing.T) {
	d, j, old := started(t)
	old.step(&node.Input{Kind: node.InputStop})
	began := d.now
	d.another(j, old)
	if d.now.Sub(began) > time.Second {
		t.Errorf("taken over after %v", d.now.Sub(began))
	}
	d.until("it leaves", 3*time.Second, func() bool { return old.machine == nil })
	d.run(6 * time.Second)
	if len(d.runs) != 2 || d.running(j.dispatch.Job) != 2 {
		t.Errorf("%d attempts run, %d began", d.running(j.dispatch.Job), len(d.runs))
	}
	d.slow(false)
	want(t, d.ended(j, 30*time.Second), message.JobCompleted)
}

func TestLostWorkerIsWaitedFor(t *testing.T) {
	d, j, _ := started(t)
	began := len(d.runs)
	lost := d.runs[0]
	w := d.workers[int(lost.worker[1]-'1')]
	for _, m := range d.managers {
		d.part(w, m, true)
	}
	cut := d.now
	d.until("it runs elsewhere", 12*time.Second, func() bool { return len(d.runs) > began })
	if wait := d.now.Sub(cut); wait < 4*time.Second {
		t.Errorf("dispatched again after %v", wait)
	}
	for _, m := range d.managers {
		d.part(w, m, false)
	}
	d.slow(false)
	want(t, d.ended(j, 40*time.Second), message.JobCompleted)
}

func TestDatacenterStopsWhenItsGatesAreGone(t *testing.T) {
	d, j, _ := started(t)
	d.model.mute = true
	muted := d.now
	r := d.ended(j, 70*time.Second)
	want(t, r, message.JobFailed)
	if !strings.Contains(r.Subjob.Error, "cut off from the gates") || d.now.Sub(muted) < 55*time.Second {
		t.Errorf("after %v: %s", d.now.Sub(muted), r.Subjob.Error)
	}
	if d.running(j.dispatch.Job) != 0 {
		t.Error("it still runs")
	}
}

func TestLeaderCancelsWhatNobodyOwns(t *testing.T) {
	d := newDatacenter(t, 3)
	d.run(3 * time.Second)
	d.slow(true)
	w := d.workers[0]
	m := w.machine.(*modelWorker)
	stray := &modelRun{worker: w.peer.ID, id: message.ShardID{Job: message.JobID{9}}, fence: message.Fence{JobEpoch: 1, SubjobEpoch: 1, Attempt: 1}, began: d.now, until: d.now.Add(time.Hour)}
	m.runs[stray.id] = stray
	d.until("it is cancelled", 2*time.Minute, func() bool { return stray.end != 0 })
	d.run(2 * time.Second)
	if len(m.results) != 0 {
		t.Errorf("nobody takes its result")
	}
}

func TestCancelBeforeDispatch(t *testing.T) {
	d := newDatacenter(t, 3)
	d.run(3 * time.Second)
	j := d.submit(1, 1, 2)
	j.at = "m1"
	d.gate.Send(d.model.managers["m1"], &message.SubjobCancel{Job: j.dispatch.Job, Fence: j.dispatch.Fence, State: message.JobCancelled, Reason: "asked"})
	want(t, d.ended(j, 10*time.Second), message.JobCancelled)
	if len(d.runs) != 0 {
		t.Error("it began all the same")
	}
}

// TestFaults: managers and workers crash, restart, and get isolated at random. The assertions
// of judge hold throughout, and after repairs every job ends.
func TestFaults(t *testing.T) {
	seeds := 60
	if testing.Short() {
		seeds = 10
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { faults(t, uint64(seed)) })
	}
}

func faults(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	d := newDatacenter(t, 3)
	d.run(3 * time.Second)
	var jobs []*modelJob
	hosts := append(append([]*host{}, d.managers...), d.workers...)
	for step := range 30 {
		if step%10 == 0 {
			jobs = append(jobs, d.submit(byte(len(jobs)+1), 2, uint32(1+r.IntN(6))))
		}
		a, b := hosts[r.IntN(len(hosts))], hosts[r.IntN(len(hosts))]
		switch r.IntN(6) {
		case 0:
			d.down(a)
		case 1:
			if a.machine == nil {
				a.start()
			}
		case 2:
			d.part(a, b, a != b)
		case 3:
			d.part(a, b, false)
		case 4:
			j := jobs[r.IntN(len(jobs))]
			j.cancel = j.cancel || r.IntN(4) == 0
		}
		d.run(time.Duration(r.IntN(3000)) * time.Millisecond)
	}
	clear(d.cut)
	for _, h := range hosts {
		if h.machine == nil {
			h.start()
		}
	}
	for _, j := range jobs {
		d.ended(j, 120*time.Second)
	}
	d.until("nothing runs that nobody wants", 90*time.Second, func() bool {
		n := 0
		for _, j := range jobs {
			n += d.running(j.dispatch.Job)
		}
		return n == 0
	})
	d.judge()
	for _, e := range d.events {
		if s, ok := e.(event.StoreFailed); ok {
			t.Errorf("%+v", s)
		}
	}
}

// down crashes a node; a worker's shards end with it.
func (d *datacenter) down(h *host) {
	if h.machine == nil {
		return
	}
	for _, r := range d.runs {
		if r.worker == h.peer.ID && r.end == 0 {
			r.end = d.now
		}
	}
	h.crash()
}

func TestLargeRecordsAreFiles(t *testing.T) {
	d := newDatacenterOf(t, 3, func(c *Config) { c.SpillAt = 1 << 10 })
	d.run(3 * time.Second)
	d.slow(true)
	j := d.submit(1, plan.WorkflowsMax, 1)
	for i := range j.dispatch.Plan.Workflows {
		j.dispatch.Plan.Workflows[i].Name = fmt.Sprint(strings.Repeat("long", 12), i)
		j.dispatch.Plan.Workflows[i].Depends, j.dispatch.Plan.Workflows[i].Layer = nil, 0
		j.dispatch.Plan.Workflows[i].VUs = 1
	}
	d.slow(false)
	for _, w := range d.workers {
		w.machine.(*modelWorker).length = 100 * time.Millisecond
	}
	d.until("its record is a file", 4*time.Minute, func() bool {
		h := d.holder(j.dispatch.Job)
		if h == nil {
			return false
		}
		seen, ok := h.machine.(*Machine).group.Leases.Seen(d.now, j.dispatch.Job)
		_, spilled := subjob.SpillOf(seen.Record)
		return ok && spilled
	})
	d.holder(j.dispatch.Job).crash()
	want(t, d.ended(j, 8*time.Minute), message.JobCompleted)
}

func TestDeathInTheGroupIsASilence(t *testing.T) {
	d, j, _ := started(t)
	h := d.holder(j.dispatch.Job)
	m := h.machine.(*Machine)
	w := m.roster.Of(d.runs[0].worker)
	probe := &message.SwimGossip{Group: "dc1", Incarnation: 1 << 32, News: []message.SwimNews{
		{Node: string(w.Peer.ID), Addr: string(w.Peer.Addr), Role: uint8(node.RoleWorker), Incarnation: w.Peer.Incarnation << 32, State: 0},
		{Node: string(w.Peer.ID), Addr: string(w.Peer.Addr), Role: uint8(node.RoleWorker), Incarnation: w.Peer.Incarnation << 32, State: 2, By: "m9"},
	}}
	began := len(d.runs)
	told := d.now
	h.step(&node.Input{Kind: node.InputMessage, From: node.Peer{ID: "w9", Incarnation: 1, Role: node.RoleWorker, Addr: "w9:1"}, Message: probe})
	if m.roster.Of(w.Peer.ID) == w {
		t.Fatal("who is dead in the group is still known")
	}
	d.until("its shard runs elsewhere, or again", 12*time.Second, func() bool { return len(d.runs) > began })
	if wait := d.now.Sub(told); wait < 4*time.Second {
		t.Errorf("a death in the group shortened the wait to %v", wait)
	}
	d.slow(false)
	want(t, d.ended(j, 40*time.Second), message.JobCompleted)
}
