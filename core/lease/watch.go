package lease

import (
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// watchOver looks at a register when its lease may have run out. If a renewal has moved that
// instant, the entry goes back into the queue.
func (r *acceptor) watchOver(env node.Env, reg *register) {
	if reg.accepted.Token.Zero() || reg.accepted.Released || reg.reaped || reg.watched != 0 {
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
	if a.Token.Zero() || a.Released || reg.reaped || r.registers[reg.job] != reg {
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
	r.tell(Outcome{Kind: Vacant, Job: reg.job, Token: a.Token, Holder: r.addrOf(a.Token), Record: a.Record})
	r.watchAt(env, reg, now.Add(guard))
}

// Forget leaves a tombstone of a released register. It remembers the release under its token
// for TombstoneAge. So neither a delayed accept nor a member that missed the release revives
// the register.
func (r *acceptor) Forget(env node.Env, job message.JobID) {
	reg := r.registers[job]
	if reg == nil || reg.reaped || reg.own != nil {
		return
	}
	if !reg.accepted.Released {
		env.Emit(event.Shed{Reason: event.ShedBound, What: "forgetting job " + job.String(), Why: "its register is not released"})
		return
	}
	if reg.writing {
		return // a member acquires it
	}
	ch := reg.change(r.self)
	a := &reg.accepted
	ch.accepted = message.LeaseState{Token: a.Token, Life: a.Life, Seq: a.Seq, Rev: a.Seq, Released: true, Lease: a.Lease}
	ch.reaped, ch.received = true, env.Now()
	r.record(env, ch)
	r.sweepLater(env)
}

func (r *acceptor) sweepLater(env node.Env) {
	if !r.sweeping {
		r.sweeping = true
		env.SetTimer(node.Key(node.PartLease, node.LeaseSweep), r.c.TombstoneAge/8)
	}
}

// onSweep drops tombstones that are old enough.
func (r *acceptor) onSweep(env node.Env) {
	r.sweeping = false
	now, left := env.Now(), false
	for _, reg := range r.sorted() {
		if !reg.reaped {
			continue
		}
		if reg.writing || reg.own != nil || now.Sub(reg.received) < r.c.TombstoneAge {
			left = true
			continue
		}
		ch := reg.change(r.self)
		ch.then = forgets
		r.record(env, ch)
	}
	if left {
		r.sweepLater(env)
	}
}

func (r *acceptor) drop(reg *register) {
	if r.registers[reg.job] == reg {
		delete(r.registers, reg.job)
	}
}
