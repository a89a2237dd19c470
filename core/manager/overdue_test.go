package manager

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Managers are cut off from each other for random times, and hear the gate all the while. One that
// reaches no majority says so with its heartbeat after at most 4 s, and one that does never does,
// but for the time until the next answers. What the others say does not change.
func TestManagersTellThatTheyReachNoMajority(t *testing.T) {
	const (
		told = 4 * time.Second                     // three beats and a heartbeat
		back = 2*5*time.Second + (2+1)*time.Second // a stream and its opening fall silent, the wait before the next, a heartbeat
	)
	refused, took := 0, 0
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 1))
		d := newDatacenter(t, 3)
		d.run(3 * time.Second)
		since := map[node.ID]node.Instant{} // when its reach last changed
		alone := map[node.ID]bool{}
		d.model.hear = func(from node.ID, h *message.ManagerHeartbeat) {
			age := d.now.Sub(since[from])
			switch lacks := h.Refuses == message.CodeQuorumUnavailable; {
			case h.Refuses != message.CodeNone && !lacks || h.Managers != 3:
				t.Errorf("%s refuses as %v, of %d managers", from, h.Refuses, h.Managers)
			case alone[from] && age > told && !lacks:
				t.Errorf("seed %d: %s has had no majority for %v and does not say so", seed, from, age)
			case !alone[from] && age > back && lacks:
				t.Errorf("seed %d: %s has had a majority for %v and says that it has none", seed, from, age)
			case lacks:
				refused++
			default:
				took++
			}
		}
		for range 6 {
			lost := d.managers[r.IntN(3)]
			for _, o := range d.managers {
				if o != lost {
					d.part(lost, o, true)
				}
			}
			alone[lost.peer.ID], since[lost.peer.ID] = true, d.now
			d.run(time.Duration(r.IntN(12000)) * time.Millisecond)
			for _, o := range d.managers {
				d.part(lost, o, false)
			}
			alone[lost.peer.ID], since[lost.peer.ID] = false, d.now
			d.run(back + time.Duration(r.IntN(5000))*time.Millisecond) // the next one to be cut off needs this one
		}
	}
	if refused == 0 || took == 0 {
		t.Errorf("%d heartbeats told of no majority, and %d of one: the test shows nothing", refused, took)
	}
}

// A manager says as soon as its group has it that it takes subjobs, not with its next heartbeat.
func TestAMemberTellsAtOnceThatItTakesSubjobs(t *testing.T) {
	d := newDatacenter(t, 3)
	takes, speaks := map[node.ID]node.Instant{}, map[node.ID]node.Instant{}
	joining := 0
	d.model.hear = func(from node.ID, h *message.ManagerHeartbeat) {
		if _, before := takes[from]; h.Refuses == message.CodeNone && !before {
			takes[from] = d.now
		} else if h.Refuses == message.CodeNotMember {
			joining++
		}
	}
	for range 500 {
		d.run(10 * time.Millisecond)
		for _, h := range d.managers {
			if _, before := speaks[h.peer.ID]; !before && h.machine.(*Machine).group.Leases.Speaks() {
				speaks[h.peer.ID] = d.now
			}
		}
	}
	if joining == 0 || len(takes) != 3 || len(speaks) != 3 {
		t.Fatalf("%d heartbeats told that a manager joins, %d of 3 managers are members, and %d told that they take subjobs", joining, len(speaks), len(takes))
	}
	for _, h := range d.managers {
		if wait := takes[h.peer.ID].Sub(speaks[h.peer.ID]); wait > 50*time.Millisecond {
			t.Errorf("%s told %v after it became a member that it takes subjobs", h, wait)
		}
	}
}

// Dispatches that no worker answers are overdue; nothing else of the datacenter is, whatever runs
// or waits for cores there.
func TestUnansweredDispatchesAreOverdue(t *testing.T) {
	d := newDatacenter(t, 3)
	d.run(3 * time.Second)
	most := map[node.ID]time.Duration{}
	d.model.hear = func(from node.ID, h *message.ManagerHeartbeat) { most[from] = max(most[from], h.Overdue) }
	d.slow(true)
	full := d.submit(1, 1, 12) // all cores
	d.until("it runs", 10*time.Second, func() bool { return d.running(full.dispatch.Job) == 3 })
	for _, w := range d.workers {
		w.machine.(*modelWorker).full = true
	}
	d.run(2 * time.Second)
	waits := d.submit(2, 1, 1) // for cores
	d.run(time.Minute)
	if d.running(waits.dispatch.Job) > 0 || !waits.accepted {
		t.Fatal("a job runs in a full datacenter, or no manager has it")
	}
	for _, id := range []node.ID{"m1", "m2", "m3"} {
		if most[id] > 2*time.Second {
			t.Errorf("%s tells that work is overdue by %v in a full datacenter", id, most[id])
		}
	}

	d = newDatacenter(t, 3)
	d.run(3 * time.Second)
	d.model.hear = func(from node.ID, h *message.ManagerHeartbeat) { most[from] = max(most[from], h.Overdue) }
	clear(most)
	for _, w := range d.workers {
		w.machine.(*modelWorker).mute = true
	}
	d.submit(1, 1, 4)
	d.run(45 * time.Second)
	var told []time.Duration
	//lint:orderfree sorted below
	for _, w := range most {
		told = append(told, w)
	}
	slices.Sort(told)
	if len(told) != 3 || told[1] != 0 || told[2] < 40*time.Second || told[2] > 45*time.Second {
		t.Errorf("no worker answered for 45 s: the managers tell of %v", told)
	}
}
