package registers

import (
	"maps"
	"slices"
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/scenarios/stage"
)

// restores makes a member of the script start with another disk than its own, after a while
// down.
func (p *leaseStage) restores(at time.Duration, i int, image func() map[string][]byte) {
	p.crash(at, 300*ms, i, "", false)
	p.World.At(at+100*ms, func() {
		if !p.World.Alive(p.ids[i]) {
			p.World.Restore(p.ids[i], image())
		}
	})
}

func leaseOldDisk(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	p.acquires(founded, 0)
	var backup map[string][]byte
	p.World.At(founded+300*ms, func() { backup = p.World.Image(p.ids[1]) })
	alone := s.Rand.Chance(1, 2) // the others know nothing of the records on that disk
	if alone {
		p.cut(founded+320*ms, founded+4*p.length, 0, 2)
	}
	p.updates(founded+350*ms, 0)
	p.crash(founded+400*ms, 200*ms, 1, "", true)
	p.updates(founded+1400*ms, 0)
	p.restores(founded+1500*ms, 1, func() map[string][]byte { return backup })
	if !alone {
		p.updates(founded+1850*ms, 0)
	}
	if alone || s.Rand.Chance(1, 2) {
		p.crash(founded+1860*ms, 3*p.length, 0, "", false)
	}
	p.acquires(founded+1900*ms, 2)
	p.acquires(founded+1900*ms, 1)
}

func leaseTornDisk(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	p.acquires(founded, 0)
	p.cut(founded+150*ms, founded+1400*ms, 0, 2) // the torn disk and one other have what follows
	p.updates(founded+200*ms, 0)
	half := s.Rand.Int(2)
	p.restores(founded+500*ms, 1, func() map[string][]byte {
		image := p.World.Image(p.ids[1])
		for _, key := range slices.Sorted(maps.Keys(image)) {
			if mark := strings.HasSuffix(key, "/member"); mark == (half == 0) {
				image[key] = image[key][:len(image[key])/2]
				break
			}
		}
		return image
	})
	p.crash(founded+1300*ms, 3*p.length, 0, "", false)
	p.acquires(founded+1400*ms, 2)
}

func leaseOldEpoch(s *stage.Stage) {
	p := newLeaseStage(s, 5, quietLength(s), 0)
	p.acquires(founded, 1)
	p.updates(founded+300*ms, 1)
	for i := range 2 {
		p.World.At(founded+500*ms, func() { p.World.Crash(p.ids[i]) })
	}
	for i := 2; i < 5; i++ {
		p.crash(founded+600*ms, 500*ms, i, "", true)
	}
	t := founded + 3*p.length
	p.World.At(t, func() {
		p.w.recover = p.ids[0]
		p.World.Start(p.ids[0])
	})
	p.acquires(t+3*p.length, 2)
	p.updates(t+3*p.length+time.Second, 2)
	t += 4 * p.length
	p.World.At(t, func() { p.World.Start(p.ids[1]) })
	p.acquires(t+time.Second, 1)
	p.orders(t+2*time.Second, 1)
	p.World.At(t+p.length, func() {
		if p.w.machines[p.ids[1]].registers.Speaks() {
			p.violate("P", 1, "its disk is of an old epoch, which the others have told it, and it speaks")
		}
		p.World.Crash(p.ids[1])
		p.World.Restore(p.ids[1], nil)
		p.World.Start(p.ids[1])
	})
}

func leaseRenewalToNewDisk(s *stage.Stage) {
	p := newLeaseStage(s, 5, 6*time.Second, 0)
	p.acquires(founded, 0)
	end := founded + 3*p.length
	for i := 2; i < 5; i++ {
		p.cut(founded+300*ms, end, 0, i)
	}
	p.updates(founded+400*ms, 0)
	p.cut(founded+500*ms, founded+1900*ms, 0, 1)
	p.crash(founded+510*ms, 200*ms, 1, "", true)
	for _, i := range []int{1, 3, 4} { // so that no member gets a grant without the new disk
		p.cut(founded+2300*ms, end, i, 2)
	}
	p.crash(founded+2500*ms+p.length/3, 2*p.length, 0, "", false)
	p.acquires(founded+3*time.Second+p.length/3, 3)
}

func leaseRecoveryRefused(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	p.acquires(founded, 0)
	p.Witness = append(p.Witness, func(r checker.Record) {
		if e, ok := r.Event.(event.GroupJoined); ok && e.How == "recovered" {
			p.Checker.Violate("P", r, "%s founded an epoch of its own beside a majority", r.Node)
		}
	})
	p.World.At(founded+300*ms, func() { p.World.Crash(p.ids[2]) })
	p.updates(founded+400*ms, 0)
	t := founded + time.Second
	p.World.At(t, func() {
		p.w.recover = p.ids[2]
		p.World.Start(p.ids[2])
	})
	for at := t; at < t+3*p.length; at += p.length / 3 {
		p.acquires(at, 2)
		p.updates(at, 0)
		p.reads(at, 2)
	}
}
