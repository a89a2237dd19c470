package lease

import (
	"time"

	"hyperscale/core/event"
	"hyperscale/core/lease/tomb"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// watchOver looks at a register when its lease may have run out, or when nothing was accepted for
// as long. If a renewal has moved that instant, the entry goes back into the queue.
func (r *acceptor) watchOver(env node.Env, reg *register) {
	if reg.accepted.Released || reg.reaped || reg.watched != 0 {
		return
	}
	if reg.accepted.Token.Zero() {
		r.watchAt(env, reg, max(reg.received.Add(r.c.Guard()), env.Now()+1))
		return
	}
	r.watchAt(env, reg, reg.received.Add(r.c.guard(reg.accepted.Lease)))
}

func (r *acceptor) watchAt(env node.Env, reg *register, at node.Instant) {
	if reg.watched != 0 && reg.watched <= at {
		return
	}
	reg.watched = at
	r.watch.push(at, reg)
	r.watch.arm(env, node.LeaseExpire)
}

func (r *acceptor) onWatch(env node.Env) {
	now := env.Now()
	r.watch.fired()
	for {
		reg, at, ok := r.watch.pop(now)
		if !ok {
			break
		}
		if reg.watched != at {
			continue // an earlier entry of the register exists or has fired
		}
		reg.watched = 0
		r.look(env, reg)
	}
	r.watch.rearm(env, node.LeaseExpire)
}

// look reports that a lease has run out, once it is this member's turn.
func (r *acceptor) look(env node.Env, reg *register) {
	a := &reg.accepted
	if a.Released || reg.reaped || r.registers[reg.job] != reg {
		return
	}
	if a.Token.Zero() {
		r.lookAtPromise(env, reg)
		return
	}
	now, guard := env.Now(), r.c.guard(a.Lease)
	if !reg.over.Less(a.Token) && !reg.over.Less(reg.promised) { // a majority has its release
		if reg.missed != nil {
			r.onAccept(env, r.self, reg.missed)
			r.watchAt(env, reg, now.Add(guard)) // the disk may reject it again
		}
		return
	}
	if !r.standing.speaks() || reg.own != nil {
		r.watchAt(env, reg, now.Add(guard))
		return
	}
	end := max(reg.received.Add(guard), reg.notBefore)
	if turn := end.Add(time.Duration(r.rank(reg.job)) * r.c.RankWait); now < turn {
		r.watchAt(env, reg, max(turn, now+1))
		return
	}
	r.tell(Outcome{Kind: Vacant, Job: reg.job, Token: a.Token, Holder: r.Address(a.Token), Record: a.Record})
	r.watchAt(env, reg, now.Add(guard))
}

// Silent counts the registers whose holder has renewed nothing for two thirds of its lease, or nothing since
// this member took them in. Each restart of the members begins their guards anew, so a group that starts again
// meanwhile keeps these jobs without an owner for longer. After wait the last of them is vacant. One that no member
// takes for another guard counts no longer: to wait helps it no more. A register that another member calls held
// counts there: this member has promised its own token, and hears no renewal.
func (r *Registers) Silent(now node.Instant) (n int, wait time.Duration) {
	//lint:orderfree a count, and the latest end
	for _, reg := range r.registers {
		a := &reg.accepted
		if a.Token.Zero() || a.Released || reg.reaped || reg.own != nil || !reg.over.Less(a.Token) || now < reg.notBefore {
			continue
		}
		age, guard := now.Sub(reg.received), r.c.guard(a.Lease)
		if reg.received > r.began && age < 2*a.Lease/3 || age >= 2*guard {
			continue
		}
		n++
		wait = max(wait, guard-age)
	}
	return n, wait
}

// lookAtPromise forgets a register of which this member has accepted nothing for a guard: its
// proposer has given up, or has gone on without this member. No role hears of it, as there is
// no record to take over.
func (r *acceptor) lookAtPromise(env node.Env, reg *register) {
	now, guard := env.Now(), r.c.Guard()
	end := reg.received.Add(guard)
	switch {
	case reg.own != nil || reg.writing || !r.standing.speaks():
		r.watchAt(env, reg, now.Add(guard))
	case now < end:
		r.watchAt(env, reg, end)
	case reg.missed != nil && !reg.missed.Token.Less(reg.promised): // this node's release, which a majority has
		r.onAccept(env, r.self, reg.missed)
		r.watchAt(env, reg, now.Add(guard)) // the disk may reject it again
	case r.floor.raise(max(reg.promised.Epoch, reg.seen)):
		reached(env, "lease/promise-forgotten")
		r.erode(env, reg)
	}
}

// watchFailed follows a change that the disk has refused: a tombstone or promise is still to be
// forgotten, and a new register holds nothing.
func (r *acceptor) watchFailed(env node.Env, ch *change) {
	switch reg := ch.reg; {
	case ch.then == forgets && reg.reaped:
		r.sweepLater(env, r.c.TombstoneAge/8)
	case reg.accepted.Token.Zero():
		r.watchAt(env, reg, env.Now().Add(r.c.Guard()))
	}
}

// Forget buries a register without an epitaph: its job may begin anew.
func (r *acceptor) Forget(env node.Env, job message.JobID) bool { return r.Bury(env, job, nil) }

// Bury leaves a tombstone of a released register, and says whether it does. The tombstone
// remembers the release under its token for TombstoneAge, so neither a delayed accept nor a
// member that missed the release revives the register. While it has an epitaph, a proposer gets
// that in place of a record: the job does not begin anew.
func (r *acceptor) Bury(env node.Env, job message.JobID, epitaph []byte) bool {
	reg := r.registers[job]
	if len(epitaph) > EpitaphMax {
		node.Bug("lease: an epitaph of %d bytes, at most %d fit", len(epitaph), EpitaphMax)
	}
	switch {
	case reg == nil || reg.reaped || reg.own != nil || reg.writing: // forgotten, or a member acquires it
		return false
	case !reg.accepted.Released:
		env.Emit(event.Shed{Reason: event.ShedBound, What: "forgetting job " + job.String(), Why: "its register is not released"})
		return false
	case len(epitaph) > 0 && r.tombs.Len() >= r.tombs.Max():
		return false
	}
	ch := reg.change(r.self)
	a := &reg.accepted
	ch.accepted = message.LeaseState{
		Token: a.Token, Life: a.Life, Seq: a.Seq, Rev: a.Seq, Released: true, Lease: a.Lease, Record: engraved(Value(a.Record), epitaph),
	}
	if len(epitaph) > 0 {
		ch.accepted.Rev = a.Rev // it means what the record means: readers count it with members that have the record
	}
	ch.reaped, ch.received = true, env.Now()
	r.record(env, ch)
	r.sweepLater(env, r.c.TombstoneAge/8)
	return true
}

// Buried counts the tombstones, and says how many there may be.
func (r *acceptor) Buried() (n, most int) { return r.tombs.Len(), r.tombs.Max() }

// inter moves a register that its disk has as a tombstone to the tombs, where it takes less
// memory. One that a member acquires, or that does not fit, remains as it is.
func (r *acceptor) inter(reg *register) {
	a := &reg.accepted
	if reg.own != nil || reg.promised != a.Token || reg.promiser != a.Life || r.registers[reg.job] != reg {
		return
	}
	t := tomb.Tomb{Job: reg.job, Token: a.Token, Life: a.Life, Seq: a.Seq, Rev: a.Rev, Buried: reg.received}
	if text, ok := Epitaph(a.Record); ok {
		t.Epitaph, t.Value = text, Value(a.Record)
	}
	if r.tombs.Add(&t) {
		delete(r.registers, reg.job)
	}
}

// buried returns the register that a tombstone stands for, or nil. Until revive, the tombstone
// remains, and the register is the caller's alone.
func (r *acceptor) buried(job message.JobID) *register {
	t, ok := r.tombs.Find(job)
	if !ok {
		return nil
	}
	return r.risen(&t)
}

func (r *acceptor) risen(t *tomb.Tomb) *register {
	return &register{
		job: t.Job, promised: t.Token, promiser: t.Life, reaped: true, received: t.Buried, seen: t.Token.Epoch,
		accepted: message.LeaseState{
			Token: t.Token, Life: t.Life, Seq: t.Seq, Rev: t.Rev, Released: true, Lease: r.c.Lease, Record: engraved(t.Value, t.Epitaph),
		},
	}
}

// revive makes a register of a tombstone again, because it changes.
func (r *acceptor) revive(reg *register) {
	if r.registers[reg.job] == nil {
		r.registers[reg.job] = reg
		r.tombs.Remove(reg.job)
	}
}

func (r *acceptor) sweepLater(env node.Env, wait time.Duration) {
	if !r.sweeping {
		r.sweeping = true
		env.SetTimer(node.Key(node.PartLease, node.LeaseSweep), wait)
	}
}

// onSweep drops tombstones that are old enough, as many as one write takes.
func (r *acceptor) onSweep(env node.Env) {
	r.sweeping = false
	now, left := env.Now(), r.tombs.Len() > 0
	for _, reg := range r.sorted() {
		if !reg.reaped {
			continue
		}
		if reg.writing || reg.own != nil || now.Sub(reg.received) < r.c.TombstoneAge {
			left = true
			continue
		}
		r.erode(env, reg)
	}
	for range r.c.PutRecords {
		t, ok := r.tombs.Oldest()
		if !ok || now.Sub(t.Buried) < r.c.TombstoneAge {
			break
		}
		reg := r.risen(&t)
		r.revive(reg)
		r.erode(env, reg)
	}
	t, ok := r.tombs.Oldest()
	switch {
	case ok && now.Sub(t.Buried) >= r.c.TombstoneAge:
		r.sweepLater(env, r.c.RetryMax)
	case left:
		r.sweepLater(env, r.c.TombstoneAge/8)
	}
}

// erode deletes a register from the disk.
func (r *acceptor) erode(env node.Env, reg *register) {
	ch := reg.change(r.self)
	ch.then = forgets
	r.record(env, ch)
}

// drop forgets a register that the disk no longer has. One that this node has begun to acquire
// meanwhile remains, with nothing in it.
func (r *acceptor) drop(reg *register) {
	switch {
	case r.registers[reg.job] != reg:
	case reg.own == nil:
		delete(r.registers, reg.job)
	default:
		reg.promised, reg.promiser, reg.accepted, reg.reaped = message.LeaseToken{}, message.LeaseLife{}, message.LeaseState{}, false
		reg.bind(r.floor.own)
	}
}
