package registers

import (
	"time"

	"hyperscale/core/node"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// leases are worlds in which a single rule of the register prevents a violation: each plays the
// counterexample of its rule.
func leases() []stage.Scenario {
	return quietly([]stage.Scenario{
		{Name: "register-promise-amnesia", Build: leasePromiseAmnesia,
			Doc: "An acceptor crashes while its promise of a higher token goes to its disk, before or after it is durable, or after it has sent it. An accept under the lower token arrives when it has returned. It remembers each promise that it sent: one of the two gets the grant, and no windows overlap."},
		{Name: "register-accept-amnesia", Build: leaseAcceptAmnesia,
			Doc: "An acceptor crashes while an update goes to its disk, and its holder is never heard again. The next holder adopts a record that contains each acknowledged update."},
		{Name: "register-late-answers", Build: leaseLateAnswers,
			Doc: "The answers to a grant, to a renewal or to an update arrive half a lease late, after its accepts were repeated again and again. Then the holder is cut off. Its window began with the first accept, so it ends before the acceptors grant another one."},
		{Name: "register-drift-at-bound", Build: leaseDriftAtBound,
			Doc: "The holder's clock runs as slowly as the drift bound allows, those of the acceptors as fast, and the holder is cut off. Its window has ended by its own clock before another member gets a grant."},
		{Name: "register-drift-beyond", Build: leaseDriftBeyond, Beyond: true,
			Doc: "The same with clocks that drift beyond the bound, while both holders give orders. Windows overlap; tokens are unique nevertheless, and receivers obey only the higher one."},
		{Name: "register-old-answer-first", Build: leaseOldAnswerFirst,
			Doc: "A holder crashes when one of two others has its last update. The other one acquires, and gets its own answer first. It adopts the update."},
		{Name: "register-late-renewal", Build: leaseLateRenewal,
			Doc: "An acceptor has promised a higher token when a renewal or an update of the holder reaches it, and the other acceptor is cut off from the holder. The acceptor rejects the holder, which acquires again. The member with the promise loses nothing that the holder reported as done."},
		{Name: "register-late-release", Build: leaseLateRelease,
			Doc: "A release is delayed until the lease has run out and another member holds the job. It frees nothing: a member that prepares then is rejected."},
		{Name: "register-late-accept", Build: leaseLateAccept,
			Doc: "An accept arrives a second time, after the next update, after the next grant, or after the job was released and forgotten. It overwrites and revives nothing."},
		{Name: "register-forgotten-promise", Build: leaseForgottenPromise,
			Doc: "An acceptor promises a token whose accepts do not reach it. Another member, which has heard nothing, acquires under a lower token: at once, when the acceptor has forgotten that promise, when it has restarted since, or when it has lost its disk since. The acceptor rejects the lower token each time, no windows overlap, and the owner of the higher token comes back to a record that contains each acknowledged update."},
		{Name: "register-answer-to-another", Build: leaseAnswerToAnother,
			Doc: "The answer to one update arrives while the next one is on its way and reaches no member; then the holder crashes. An answer counts only for its own update: the holder reports nothing as done without a majority."},
		{Name: "register-read-of-open-update", Build: leaseReadOfOpenUpdate,
			Doc: "A holder reads its own job while an update is open that has reached no other member, and crashes. The read returned nothing that can be lost."},
		{Name: "register-read-of-minority", Build: leaseReadOfMinority,
			Doc: "A member reads while only the holder has an update, and then the holder crashes. A reader returns what a majority agrees on, and waits if there is none."},
		{Name: "register-copied-register", Build: leaseCopiedRegister,
			Doc: "Two of five have accepted one token, a third has lost its disk and copies it, and a fourth has accepted a higher token alone. A copy proves nothing: a reader that queries the three does not return the record, because the higher token's owner continues without it."},
		{Name: "register-second-life", Build: leaseSecondLife,
			Doc: "A gate gets a job from the others while its own disk hangs, crashes, and starts again with a disk that knows nothing of it: it may choose the same token. Its life distinguishes the two: no token is granted twice."},
		{Name: "register-late-consent", Build: leaseLateConsent,
			Doc: "A holder hands its job to another member, and its consent arrives when the lease has run out and a third one holds it. The consent frees nothing."},
		{Name: "register-lost-disk", Build: leaseLostDisk,
			Doc: "A member returns without its disk, and one of the two others is away, before that or after. It answers nothing until a majority has sent it everything: the group keeps an update that this disk lost."},
		{Name: "register-old-generation", Build: leaseOldGeneration,
			Doc: "One of five promises a token, loses its disk, returns, and accepts a lower token and its update. Its old promise no longer counts, whether it arrived before or arrives at last."},
	})
}

// quietly plays worlds of four minutes in a network without faults.
func quietly(all []stage.Scenario) []stage.Scenario {
	for i := range all {
		all[i].Virtual, all[i].Network = 4*time.Minute, quietNetwork
	}
	return all
}

const ms = time.Millisecond

// atWrite is a crash at the moment of a write of a register.
func (p *leaseStage) atWrite() string {
	return []string{"storing:lease/", "stored:lease/"}[p.Rand.Int(2)]
}

func leasePromiseAmnesia(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	p.cut(founded, founded+p.length, 0, 2)
	first := p.keep(founded, 0, 1, accepts)
	second := p.keep(founded, 2, 1, accepts)
	p.acquires(founded+ms, 0)
	if s.Rand.Chance(1, 3) {
		p.crash(founded+600*ms, 300*ms, 1, "", false) // after it has sent its promise
	} else {
		p.crash(founded+490*ms, 300*ms, 1, p.atWrite(), false)
	}
	p.acquires(founded+500*ms, 2)
	p.comes(founded+1400*ms, first)
	p.comes(founded+1800*ms, second)
}

func leaseAcceptAmnesia(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	p.acquires(founded, 0)
	p.cut(founded+500*ms, founded+3*p.length, 0, 2)
	p.crash(founded+590*ms, 300*ms, 1, p.atWrite(), false)
	p.updates(founded+600*ms, 0)
	p.cut(founded+800*ms, founded+3*p.length, 0, 1)
	p.acquires(founded+1200*ms, 2)
}

func leaseLateAnswers(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	p.acquires(founded+ms, 0)
	from, sent := founded, founded
	if s.Rand.Chance(1, 4) { // of a grant, when another member has the job
		late := p.keep(from, anyone, 0, accepteds)
		p.comes(founded+p.length+p.length/2, late)
		p.acquires(founded+p.length/2, 2)
		return
	}
	switch s.Rand.Int(3) {
	case 1: // of the renewal
		from, sent = founded+300*ms, founded+p.length/3
	case 2: // of an update
		from, sent = founded+300*ms, founded+310*ms
		p.updates(sent, 0)
	}
	late := p.keep(from, anyone, 0, accepteds)
	come := sent + s.Rand.Duration(p.length/4, p.length/2)
	p.comes(come, late)
	p.cut(come+5*ms, founded+4*p.length, 0, 1)
	p.cut(come+5*ms, founded+4*p.length, 0, 2)
	p.acquires(come, 2)
}

// drifts slows the holder's clock and speeds up those of the acceptors.
func (p *leaseStage) drifts(ppm int64) {
	for i, id := range p.ids {
		v := ppm
		if i == 0 {
			v = -ppm
		}
		p.Fault(sim.Fault{At: time.Second, Kind: sim.FaultClockDrift, Nodes: []string{string(id)}, Value: v, Beyond: ppm > sim.DriftBound})
	}
}

func leaseDriftAtBound(s *stage.Stage) {
	p := newLeaseStage(s, 3, s.Rand.Duration(10*time.Second, 20*time.Second).Truncate(stage.Tick), 0)
	p.drifts(sim.DriftBound)
	p.cutHolder()
}

// cutHolder cuts the holder off, and makes another member acquire as soon as it may.
func (p *leaseStage) cutHolder() {
	p.acquires(founded, 0)
	cut := founded + p.Rand.Duration(200*ms, 2*p.length)
	p.cut(cut, founded+5*p.length, 0, 1)
	p.cut(cut, founded+5*p.length, 0, 2)
	p.acquires(cut+p.length/2, 2)
}

func leaseDriftBeyond(s *stage.Stage) {
	p := newLeaseStage(s, 3, s.Rand.Duration(10*time.Second, 20*time.Second).Truncate(stage.Tick), 0)
	p.drifts(5 * sim.DriftBound)
	p.cutHolder()
	for at := founded + p.length/2; at < founded+5*p.length; at += p.length / 64 {
		p.orders(at, 0)
		p.orders(at, 2)
	}
}

func leaseOldAnswerFirst(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	p.acquires(founded, 0)
	p.cut(founded+300*ms, founded+3*p.length, 0, 2)
	p.updates(founded+400*ms, 0)
	p.crash(founded+700*ms, 4*p.length, 0, "", false)
	p.acquires(founded+800*ms, 2)
}

func leaseLateRenewal(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	p.acquires(founded, 0)
	from := founded - 100*ms // the acceptor has accepted nothing, or something that has expired there
	if s.Rand.Chance(1, 2) {
		from = founded + 100*ms
	}
	renewals := p.keep(from, 0, 2, accepts)
	asked := p.keep(founded+100*ms, 2, anyone, prepares)
	t := founded + p.length + p.length/4
	half := t + p.length/2 // an attempt begins again once it is as old as a window
	p.cut(t+50*ms, founded+5*p.length, 0, 1)
	p.acquires(half, 2)
	p.loses(half+50*ms, renewals)
	if s.Rand.Chance(1, 2) {
		p.updates(half+60*ms, 0)
	}
	p.comes(t+p.length+p.length/10, asked)
}

func leaseLateRelease(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	p.acquires(founded, 0)
	late := p.keep(founded+500*ms, 0, anyone, accepts)
	p.releases(founded+600*ms, 0)
	p.acquires(founded+700*ms, 1)
	t := founded + p.length + p.length/2
	p.comes(t, late)
	p.acquires(t+100*ms, 2)
}

func leaseLateAccept(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	p.acquires(founded, 0)
	late := p.repeat(founded+400*ms, 0, anyone, accepts)
	p.updates(founded+410*ms, 0)
	p.stops(founded+450*ms, late)
	p.updates(founded+500*ms, 0)
	switch s.Rand.Int(3) {
	case 0: // after the next update
		p.comes(founded+600*ms, late)
		p.crash(founded+700*ms, 3*p.length, 0, "", false)
		p.acquires(founded+800*ms, 2)
	case 1: // after the next grant and its first update
		p.crash(founded+600*ms, 3*p.length, 0, "", false)
		p.acquires(founded+700*ms, 1)
		p.updates(founded+p.length+p.length/2, 1)
		p.comes(founded+p.length+p.length/2+50*ms, late)
		p.crash(founded+p.length+p.length/2+100*ms, 3*p.length, 1, "", false)
		p.acquires(founded+p.length+p.length/2+200*ms, 2)
	case 2: // after the end
		p.releases(founded+600*ms, 0)
		for i := range p.ids {
			p.step(founded+700*ms, i, func(env node.Env, m *registrar) { m.registers.Forget(env, p.job) })
		}
		p.comes(founded+900*ms, late)
		p.reads(founded+1000*ms, 2)
		p.reads(founded+1000*ms+2*p.length, 2)
	}
}

func leaseForgottenPromise(s *stage.Stage) {
	how := s.Rand.Int(4)
	members := 3
	if how == 3 {
		members = 5
	}
	p := newLeaseStage(s, members, quietLength(s), 0)
	p.lowFirst(0, 1)
	forgotten := founded + p.length + p.length/4
	heard := forgotten + p.length
	if how == 0 {
		forgotten, heard = founded+300*ms, founded+200*ms
	}
	for i := 1; i < members; i++ {
		until := heard
		switch {
		case i == 1:
			until = p.Heal
		case how == 3: // the one without its disk needs it
			until = forgotten
		}
		p.cut(founded, until, 0, i)
	}
	late := p.keep(founded, 1, anyone, accepts)
	if members == 5 {
		p.cut(founded, p.Heal, 1, 4)
	}
	p.acquires(founded+100*ms, 1)
	switch how {
	case 0: // the acceptor has forgotten nothing yet
		p.comes(founded+700*ms, late)
		p.acquires(heard+50*ms, 0)
		p.updates(founded+1200*ms, 0)
		p.orders(founded+1250*ms, 0)
		p.orders(founded+1250*ms, 1)
		return
	case 2:
		p.crash(forgotten+100*ms, p.length/4, 2, "", false)
	case 3:
		p.crash(forgotten+100*ms, p.length/4, 2, "", true)
	}
	p.crash(founded+400*ms, heard+800*ms-(founded+400*ms), 1, "", false)
	p.acquires(heard+50*ms, 0)
	p.updates(heard+600*ms, 0)
	p.crash(heard+800*ms, 3*p.length, 0, "", false)
	p.acquires(heard+1000*ms, 1)
}

func leaseAnswerToAnother(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	p.acquires(founded, 0)
	late := p.keep(founded+400*ms, 1, 0, accepteds)
	p.updates(founded+410*ms, 0)
	p.keep(founded+500*ms, 0, anyone, accepts)
	p.updates(founded+510*ms, 0)
	p.comes(founded+600*ms, late)
	p.crash(founded+700*ms, 3*p.length, 0, "", false)
	p.acquires(founded+800*ms, 2)
}

func leaseReadOfOpenUpdate(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	p.acquires(founded, 0)
	lost := p.keep(founded+400*ms, 0, anyone, accepts)
	p.updates(founded+410*ms, 0)
	p.reads(founded+450*ms, 0)
	p.crash(founded+700*ms, 3*p.length, 0, "", false)
	p.loses(founded+710*ms, lost)
	p.acquires(founded+800*ms, 2)
}

func leaseReadOfMinority(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	p.acquires(founded, 0)
	lost := p.keep(founded+400*ms, 0, anyone, accepts)
	p.updates(founded+410*ms, 0)
	other := p.keep(founded+400*ms, 2, 1, answers)
	p.reads(founded+450*ms, 1)
	p.crash(founded+700*ms+p.length/6, 3*p.length, 0, "", false)
	p.loses(founded+710*ms+p.length/6, lost)
	p.loses(founded+710*ms+p.length/6, other)
	p.acquires(founded+800*ms+p.length/6, 2)
}

func leaseCopiedRegister(s *stage.Stage) {
	p := newLeaseStage(s, 5, quietLength(s), 0)
	for i := 2; i < 5; i++ {
		p.keep(founded, 0, i, accepts) // A's accepts reach B alone
	}
	p.cut(founded+50*ms, founded+6*p.length, 2, 0)
	p.cut(founded+50*ms, founded+6*p.length, 2, 1)
	p.acquires(founded+ms, 0)
	mine := p.keep(founded, 2, anyone, accepts) // and C's reaches no member
	p.acquires(founded+100*ms, 2)
	p.givesUp(founded+600*ms, 0)
	t := founded + 700*ms
	p.cut(t, t+3*time.Second, 2, 4)
	p.cut(t, t+3*time.Second, 2, 3)
	p.crash(t, 200*ms, 4, "", true)
	p.cut(t+1800*ms, t+3*time.Second, 1, 3)
	p.reads(t+2*time.Second, 1)
	p.loses(t+3*time.Second, mine)
}

func leaseSecondLife(s *stage.Stage) {
	p := newLeaseStage(s, 3, 6*time.Second, 0)
	a := []string{string(p.ids[0])}
	p.Fault(sim.Fault{At: founded - 100*ms, For: 800 * ms, Kind: sim.FaultDiskSlow, Nodes: a, Value: 10_000})
	p.Fault(sim.Fault{At: founded - 100*ms, For: 800 * ms, Kind: sim.FaultDiskLostWrites, Nodes: a})
	p.acquires(founded, 0)
	p.crash(founded+500*ms, 300*ms, 0, "", false)
	p.acquires(founded+1200*ms, 0)
}

func leaseLateConsent(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	p.acquires(founded, 0)
	late := p.keep(founded+400*ms, 0, 1, consents)
	p.transfers(founded+500*ms, 0, 1)
	t := founded + p.length + p.length/2
	p.cut(founded+550*ms, t+p.length, 1, 2)
	p.acquires(founded+600*ms, 2)
	p.comes(t, late)
}

func leaseLostDisk(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	p.acquires(founded, 0)
	p.cut(founded+300*ms, founded+5*p.length, 0, 2)
	p.updates(founded+400*ms, 0)
	away := founded + 440*ms
	if s.Rand.Chance(1, 2) {
		away = founded + 580*ms + p.length/4 // after it has sent what it knows, and before it repeats it
	}
	p.crash(away, 3*p.length, 0, "", false)
	p.crash(founded+450*ms, 150*ms, 1, "", true)
	p.acquires(founded+600*ms+p.length+p.length/4, 2) // its own acceptor considers the job held until then
}

func leaseOldGeneration(s *stage.Stage) {
	p := newLeaseStage(s, 5, quietLength(s), 0)
	p.lowFirst(1, 2) // C's first token is above B's
	end := founded + 6*p.length
	early := s.Rand.Chance(1, 2) // the old promise counts before its disk is lost, or arrives last
	if !early {
		late := p.keep(founded, 0, 2, promises)
		p.comes(founded+3200*ms, late)
	}
	asked := p.keep(founded, 2, 4, prepares)
	p.cut(founded, end, 2, 1)
	p.cut(founded, end, 2, 3)
	p.acquires(founded+ms, 2)
	p.cut(founded+200*ms, end, 0, 2)
	p.crash(founded+300*ms, 200*ms, 0, "", true)
	p.cut(founded+1900*ms, founded+2900*ms, 1, 4)
	p.acquires(founded+2*time.Second, 1)
	p.updates(founded+2500*ms, 1)
	p.crash(founded+2900*ms, 3*p.length, 1, "", false)
	p.comes(founded+3*time.Second, asked)
}

// loses ends a wait: the held datagrams never arrive.
func (p *leaseStage) loses(at time.Duration, w *wait) {
	p.World.At(at, func() { w.over, w.kept = true, nil })
}

// stops makes a wait hold nothing more; what it holds arrives later.
func (p *leaseStage) stops(at time.Duration, w *wait) {
	p.World.At(at, func() { w.over = true })
}
