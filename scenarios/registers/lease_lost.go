package registers

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/ring"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// lostLeases are the worlds of the later rules: lost disks, lost majorities, and reads of them.
func lostLeases() []stage.Scenario {
	return quietly([]stage.Scenario{
		{Name: "register-lone-gate", Build: leaseLoneGate,
			Doc: "The holder and less than half of the others are cut off, and one of them restarts there. The minority acquires, renews and acknowledges nothing. Its holder stops by its own clock, and the majority continues."},
		{Name: "register-shrinking-quorum", Build: leaseShrinkingQuorum,
			Doc: "Members of an even set crash one by one until half of them are left, or are cut into two halves. A majority counts all configured members, not the living ones: no half acquires anything."},
		{Name: "register-paused-owner", Build: leasePausedOwner,
			Doc: "The holder pauses for longer than its lease in the middle of a write, and one of its orders travels for longer still. The next owner gets a higher token; receivers reject the old holder."},
		{Name: "register-torn-promise", Build: leaseTornPromise,
			Doc: "Power fails again and again while slow disks write promises and accepts of contending members. Either a promise was never sent, or it is there."},
		{Name: "register-same-key", Build: leaseSameKeyTwoGates,
			Doc: "Two members acquire one job at most a few milliseconds apart, with different records, and the one that gets it crashes while its first update is open. There is one job with one record at a time; the member that waits starts none."},
		{Name: "register-restarted-acceptors", Build: leaseRestartedAcceptors,
			Doc: "All acceptors but the holder restart while it holds, one after the other or at once. They have forgotten when its lease began, so they wait for the whole of it again: no member gets the job while the holder may act."},
		{Name: "register-late-read", Build: leaseLateRead,
			Doc: "The answers to one read arrive after its end, while the next read of the same reader is open, after an update. They do not count: the second read returns the update."},
		{Name: "register-last-tick", Build: leaseLastTick,
			Doc: "A prepare reaches an acceptor in the last nanosecond in which it holds the lease, or right after. The holder checks its own window at its end, and a nanosecond before. Both are as long as the formula says."},
		{Name: "register-lost-majority", Build: leaseLostMajority,
			Doc: "Two of three return without their disks, and the third is down. No member founds the group again, and no member gets a grant, until the one with its disk starts with the order to recover. Then its records are the truth, above all earlier tokens."},
		{Name: "register-remembered-record", Build: leaseRememberedRecord,
			Doc: "An attempt fails because another member has got the job. That member updates it, and hands it back. The next attempt adopts the update, whatever the first one had found."},
		{Name: "register-old-attempt", Build: leaseAnswerToOldAttempt,
			Doc: "An acceptor takes the accept of an attempt. Its answer arrives while the next attempt's accept is on its way and reaches no member. It counts only for the attempt that it answers: the acceptor's guard began with that."},
		{Name: "register-read-of-unknown", Build: leaseReadOfUnknown,
			Doc: "One acceptor has never heard of a job, and it reads, first of all from itself. A job is unknown only if a majority knows nothing of it."},
		{Name: "register-old-disk", Build: leaseOldDisk,
			Doc: "A member loses its disk, joins again, and is then started with a backup of its first disk. The others know of a later disk, so nothing counts that it answers from the backup; it joins once more."},
		{Name: "register-torn-disk", Build: leaseTornDisk,
			Doc: "A member starts with a disk on which one record is torn. It believes none of it, and joins as if it had lost the whole disk."},
		{Name: "register-old-epoch", Build: leaseOldEpoch,
			Doc: "Three of five lose their disks, one of the two others starts with the order to recover the group, and the last one returns with its disk of the old epoch. It stays silent until its disk is wiped, and acts for nothing that it held."},
		{Name: "register-renewal-to-new-disk", Build: leaseRenewalToNewDisk,
			Doc: "An update has reached one acceptor only, which loses its disk, joins without it, and gets the renewal that follows: a renewal carries no record. It accepts nothing that it lacks; the update is done once a majority has it."},
		{Name: "register-smaller-set", Build: leaseSmallerSet,
			Doc: "Five members stop, and one of them recovers the group as one of three; the other two begin with empty disks, and the holder, often of an ordinal that three have not, is none of them. The three become members, the one that recovered stays one when it restarts, and another goes on with the record."},
		{Name: "register-recovery-refused", Build: leaseRecoveryRefused,
			Doc: "A member that was away starts with the order to recover the group while a majority of it is alive and one of those holds the job. It recovers nothing, and is a member as before."},
		{Name: "register-dead-member", Build: leaseDeadMember,
			Doc: "The holder dies for ever, and the clocks of the two others differ as much as they may. So one of them prepares while the other still considers the job held. Together they are a majority: within three leases one of them owns the job."},
	})
}

func leaseLoneGate(s *stage.Stage) {
	n := 3 + 2*s.Rand.Int(2)
	p := newLeaseStage(s, n, quietLength(s), 0)
	p.acquires(founded, 0)
	cut := founded + s.Rand.Duration(300*ms, p.length)
	end := cut + 5*p.length
	few := (n - 1) / 2
	for i := range few {
		for j := few; j < n; j++ {
			p.cut(cut, end, i, j)
		}
	}
	for at := cut; at < end; at += p.length / 4 {
		p.updates(at, 0)
		p.orders(at, 0)
		p.reads(at, 0)
		p.updates(at, n-1)
		p.orders(at, n-1)
	}
	p.acquires(cut+100*ms, n-1)
	again := s.Rand.Int(few)
	p.crash(cut+2*p.length, 200*ms, again, "", false)
	p.acquires(cut+2*p.length+500*ms, again)
}

func leaseShrinkingQuorum(s *stage.Stage) {
	n := 4 + 2*s.Rand.Int(2)
	p := newLeaseStage(s, n, quietLength(s), 0)
	end := founded + 6*p.length
	if s.Rand.Chance(1, 2) {
		for i := range n / 2 {
			for j := n / 2; j < n; j++ {
				p.cut(founded+time.Second, end, i, j)
			}
		}
		p.acquires(founded+1100*ms, 0)
		p.acquires(founded+1100*ms, n-1)
		return
	}
	// One half crashes with what it knows; on its return it must be correct.
	p.acquires(founded, 0)
	for i := range n / 2 {
		at := founded + time.Second + time.Duration(i)*200*ms
		p.crash(at, 3*p.length, n-1-i, "", false)
		p.acquires(at+100*ms, 0)
		p.updates(at+150*ms, 0)
	}
	t := founded + time.Second + 3*p.length
	for i := range n / 2 {
		p.crash(t-200*ms, 3*p.length, i, "", false)
	}
	p.acquires(t+time.Second, n-1)
	p.updates(t+2*p.length, n-1)
	p.orders(t+2*p.length, n-1)
}

func leasePausedOwner(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	p.acquires(founded, 0)
	t := founded + s.Rand.Duration(300*ms, p.length)
	a := []string{string(p.ids[0])}
	p.Fault(sim.Fault{At: t - 50*ms, For: 100 * ms, Kind: sim.FaultLatencyOneWay, Nodes: a, Peers: stage.Names(p.w.obeyers), Value: (3 * p.length).Milliseconds()})
	p.orders(t-10*ms, 0)
	p.Fault(sim.Fault{At: t.Truncate(stage.Tick), For: p.length * 2, Kind: sim.FaultPause, Nodes: a, Aim: p.atWrite()})
	p.updates(t+ms, 0)
	p.acquires(t+100*ms, 2)
	for i := range 20 {
		at := t + 100*ms + time.Duration(i)*p.length/4
		p.orders(at, 0)
		p.orders(at, 2)
		p.updates(at, 2)
		p.reads(at, 0)
	}
}

func leaseTornPromise(s *stage.Stage) {
	p := newLeaseStage(s, 3, 2*time.Second, 0)
	p.Fault(sim.Fault{At: founded, Kind: sim.FaultDiskSlow, Value: 100})
	p.Fault(sim.Fault{At: founded, Kind: sim.FaultDiskTorn})
	for at := founded; at < s.Heal-5*time.Second; at += s.Rand.Duration(100*ms, 600*ms).Truncate(stage.Tick) {
		switch i := s.Rand.Int(3); s.Rand.Int(4) {
		case 0:
			p.crash(at, s.Rand.Duration(50*ms, 400*ms), i, "", false)
		case 1:
			p.acquires(at, i)
		case 2:
			p.updates(at, i)
			p.releases(at+200*ms, i)
		case 3:
			p.reads(at, i)
		}
	}
}

func leaseSameKeyTwoGates(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	p.acquires(founded+s.Rand.Duration(0, 2*ms), 0)
	p.acquires(founded+s.Rand.Duration(0, 2*ms), 1)
	at := founded + time.Second
	for i := range 2 {
		p.updates(at, i)
		p.Fault(sim.Fault{At: at.Truncate(stage.Tick), For: p.length / 2, Kind: sim.FaultCrash, Nodes: []string{string(p.ids[i])}, Aim: p.atWrite()})
		at += 2 * p.length
	}
	p.reads(at, 2)
}

func leaseRestartedAcceptors(s *stage.Stage) {
	n := 3 + 2*s.Rand.Int(2)
	p := newLeaseStage(s, n, quietLength(s), 0)
	p.acquires(founded, 0)
	t := founded + s.Rand.Duration(300*ms, p.length)
	for i := 1; i < n; i++ {
		p.crash(t+s.Rand.Duration(0, 300*ms), 100*ms, i, "", false)
		p.cut(t, founded+4*p.length, 0, i)
	}
	p.acquires(t+600*ms, n-1)
	p.acquires(t+600*ms, n-2)
}

func leaseLateRead(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	p.acquires(founded, 0)
	late := p.keep(founded+400*ms, anyone, 2, answers)
	p.reads(founded+410*ms, 2)
	t := founded + 500*ms + p.length/6 // the read has ended
	p.updates(t, 0)
	p.reads(t+100*ms, 2)
	p.comes(t+101*ms, late)
}

// leaseLastTick tests both ends of a lease that is never renewed.
func leaseLastTick(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), sim.DriftBound)
	hold, guard := p.length-p.length/100-stage.Tick, p.length+p.length/100+stage.Tick
	var window, held node.Instant // when the holder sent, and when the acceptor received
	asked := p.keep(founded, 2, 1, prepares)
	p.World.Engage(func(l sim.Letter) bool {
		if l.From == p.ids[0] && l.To == p.ids[1] && carriedBy(l.Message)&accepts != 0 {
			if held != 0 {
				return true // only the first one arrives
			}
			window = p.Local(p.ids[0])
			at := p.World.Now() + 100*time.Microsecond
			p.World.Deliver(l, at)
			p.World.At(at, func() { held = p.Local(p.ids[1]) })
			return true
		}
		return p.courier(l)
	})
	early := s.Rand.Chance(1, 2)
	look := func() {
		end, over := window.Add(hold), held.Add(guard)
		at := p.World.When(p.ids[0], end)
		p.World.At(at-time.Nanosecond, func() {
			if !p.holds(0) && p.Local(p.ids[0]) < end {
				p.violate("T2", 0, "its window ended before its clock read %v", time.Duration(end))
			}
		})
		p.World.At(at, func() {
			if p.holds(0) {
				p.violate("T2", 0, "it acts when its clock reads %v, at which its window has ended", time.Duration(end))
			}
		})
		at = p.World.When(p.ids[1], over)
		if early {
			at -= time.Nanosecond
		} else {
			at += ms // it may be busy with another input
		}
		p.comes(at, asked)
		told := carried(0)
		p.World.At(at, func() {
			p.World.Engage(func(l sim.Letter) bool {
				if l.From == p.ids[1] && l.To == p.ids[2] && told == 0 {
					told = carriedBy(l.Message) & (promises | refusals)
				}
				return p.courier(l)
			})
		})
		p.World.At(at+50*ms, func() {
			switch {
			case early && told&promises != 0:
				p.violate("T2", 1, "it promised in the last nanosecond in which the lease is held")
			case !early && told&refusals != 0:
				p.violate("T2", 1, "it refused when the lease was not held any more")
			}
		})
	}
	p.acquires(founded, 0)
	p.cut(founded+200*ms, founded+3*p.length, 0, 2)
	p.World.At(founded+200*ms, look)
	p.keep(founded+200*ms, 0, 1, accepts)
	p.keep(founded+200*ms, 1, 0, accepteds)
	p.acquires(founded+p.length/2+p.length/2, 2)
}

func leaseLostMajority(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	p.acquires(founded, 0)
	p.updates(founded+300*ms, 0)
	p.updates(founded+400*ms, 0)
	p.World.At(founded+500*ms, func() { p.World.Crash(p.ids[0]) })
	for i := 1; i < 3; i++ {
		p.crash(founded+600*ms+time.Duration(s.Rand.Int(300))*ms, 500*ms, i, "", true)
	}
	back := founded + 3*p.length
	for at := founded + 1500*ms; at < back; at += p.length / 4 {
		p.acquires(at, 1)
		p.acquires(at, 2)
	}
	p.World.At(back, func() {
		p.w.recover = p.ids[0]
		p.World.Start(p.ids[0])
	})
}

func leaseRememberedRecord(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	first := p.keep(founded-100*ms, 0, anyone, accepts)
	p.acquires(founded, 0)
	p.acquires(founded+100*ms, 2)
	p.updates(founded+300*ms, 2)
	p.transfers(founded+500*ms, 2, 0)
	p.comes(founded+600*ms, first)
}

func leaseAnswerToOldAttempt(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	p.cut(founded-100*ms, founded+4*p.length, 0, 2)
	late := p.keep(founded-100*ms, 1, 0, accepteds)
	p.acquires(founded, 0)
	p.keep(founded+p.length/2, 0, 1, accepts)
	t := founded + p.length + p.length/5
	p.comes(t, late)
	p.acquires(t+100*ms, 2) // to learn the token that an acceptor has promised
	p.givesUp(t+150*ms, 2)
	p.acquires(t+160*ms, 2)
}

func leaseReadOfUnknown(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	lost := p.keep(founded-100*ms, 0, 2, accepts)
	p.acquires(founded, 0)
	p.updates(founded+300*ms, 0)
	p.reads(founded+400*ms, 2)
	p.reads(founded+500*ms, 1)
	p.loses(founded+600*ms, lost)
}

func leaseDeadMember(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	p.vacant = true
	for i, a := range ring.New(p.w.config.Members).Order(p.job) { // the member whose turn is first has the fast clock
		for _, id := range p.w.members {
			if p.World.Addr(id) == a {
				p.ids[2-i] = id
			}
		}
	}
	for i, ppm := range []int64{0, -sim.DriftBound, sim.DriftBound} {
		p.Fault(sim.Fault{At: time.Second, Kind: sim.FaultClockDrift, Nodes: []string{string(p.ids[i])}, Value: ppm})
	}
	p.acquires(founded, 0)
	died := founded + s.Rand.Duration(300*ms, p.length)
	p.World.At(died, func() { p.World.Crash(p.ids[0]) })
	p.World.At(died+3*p.length, func() {
		if !p.holds(1) && !p.holds(2) {
			p.violate("T11", 1, "no member owns the job %v after its owner died, and two of three are alive", 3*p.length)
		}
	})
}

func leaseSmallerSet(s *stage.Stage) {
	p := newLeaseStage(s, 5, quietLength(s), 0)
	p.acquires(founded, 3)
	p.updates(founded+300*ms, 3)
	p.World.At(founded+500*ms, func() {
		for _, id := range p.ids {
			p.World.Crash(id)
		}
	})
	t := founded + 3*p.length
	p.World.At(t, func() {
		p.w.config.Members, p.w.order = nil, map[message.JobID][]node.Addr{}
		for _, id := range p.ids[:3] {
			p.w.config.Members = append(p.w.config.Members, p.World.Addr(id))
		}
		p.w.recover = p.ids[0]
		for i, id := range p.ids[:3] {
			if i > 0 {
				p.World.Restore(id, nil)
				p.Checker.Forget(id)
			}
			p.World.Start(id)
		}
	})
	t += 3 * p.length
	p.World.At(t, func() {
		p.w.recover = ""
		p.World.Crash(p.ids[0])
		p.World.Start(p.ids[0])
	})
	p.acquires(t+500*ms, 1)
	p.updates(t+time.Second, 1)
	p.reads(t+1500*ms, 0)
	p.World.At(t+2*time.Second, func() {
		for i, id := range p.ids[:3] {
			if !p.w.machines[id].registers.Speaks() {
				p.violate("P", i, "the group was recovered under its set, and it does not speak")
			}
		}
	})
}
