package lease

import (
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/retry"
)

// Acquire tries to become the owner of a job until Granted, Denied or Abandon. The seed becomes
// the record of a register if no member has accepted one yet.
func (r *proposer) Acquire(env node.Env, job message.JobID, seed []byte) {
	reg := r.known(job)
	if reg != nil && reg.own != nil && reg.own.intent == acting {
		return // an attempt runs, or this node holds it
	}
	if err := r.mayAcquire(job, seed); err != nil {
		r.tell(Outcome{Kind: Denied, Job: job, Err: err})
		return
	}
	if reg == nil {
		reg = r.at(job)
	}
	r.revive(reg)
	if reg.own != nil {
		r.end(env, reg.own) // this node releases it or hands it over: a new attempt, under a higher token
	}
	p := &proposal{reg: reg, seed: seed, attempt: attempt{asked: env.Now()}, to: -1}
	reg.own = p
	r.begin(env, p)
}

func (r *proposer) mayAcquire(job message.JobID, seed []byte) error {
	switch {
	case !r.standing.speaks():
		return ErrNotMember
	case len(seed) > r.c.RecordMax:
		return ErrTooLarge
	case r.registers[job] == nil && len(r.registers) >= r.c.RegistersMax:
		return ErrFull
	}
	return nil
}

// begin sends prepares under a token above all that this member has seen. Calls that are open
// under the earlier token stay open.
func (r *proposer) begin(env node.Env, p *proposal) {
	reg := p.reg
	epoch := 1 + max(reg.seen, reg.promised.Epoch, reg.accepted.Token.Epoch, p.token.Epoch, r.floor.heard)
	if epoch >= epochEnd-1 {
		r.deny(env, p, Outcome{Kind: Denied, Job: reg.job, Err: ErrExhausted})
		return
	}
	r.endAttempt(env, p)
	p.token = message.LeaseToken{Epoch: epoch, Ordinal: r.ordinal(r.self)}
	reg.seen = epoch
	p.phase, p.open, p.began, p.call = preparing, false, env.Now(), 0
	p.promised, p.refused, p.acked, p.has = 0, 0, 0, 0
	p.best, p.blocker = message.LeaseState{}, message.LeaseRefusal{}
	p.updating, p.tickets, p.next = 0, nil, nil
	p.call = r.called(env, reg.job, "acquire", p.token, Value(p.seed))
	r.sendPrepares(env, p)
}

func (r *proposer) sendPrepares(env node.Env, p *proposal) {
	m := message.LeasePrepare{Job: p.reg.job, Token: p.token, Life: r.life, Consent: p.reg.consent}
	for i := range r.n {
		if !p.promised.has(i) && !p.refused.has(i) {
			r.sendPrepare(env, i, m)
		}
	}
	r.scheduleRetry(env, p, &r.seat)
}

// own returns this node's proposal that an answer belongs to.
func (r *proposer) own(job message.JobID, t message.LeaseToken, l message.LeaseLife) *proposal {
	reg := r.registers[job]
	if reg == nil || reg.own == nil || reg.own.token != t || l != r.life {
		return nil
	}
	return reg.own
}

func (r *proposer) onPromise(env node.Env, from int, m *message.LeasePromise) {
	p := r.own(m.Job, m.Token, m.Life)
	if p == nil || p.phase != preparing || p.promised.has(from) {
		return
	}
	if from != r.self && !r.readable(env, from, message.KindLeaseFrame, m.Job, m.Accepted.Token, m.Accepted.Record) {
		return
	}
	p.promised.add(from)
	if later(&m.Accepted, &p.best) {
		p.best = m.Accepted
	}
	if !r.agreed(p.promised) || r.expire(env, p) {
		return
	}
	if p.stale(env.Now(), r.c.Hold()) {
		reached(env, "lease/promised-too-late")
		r.begin(env, p)
		return
	}
	p.rest = make([]uint64, r.n)
	counted := r.agree(p.promised)
	for i := range p.rest {
		if counted.has(i) {
			p.rest[i] = r.gens[i]
		}
	}
	p.record = p.seed
	if !void(&p.best) {
		p.record = p.best.Record // also in place of this node's own copy
		if p.best.Token.Ordinal == p.token.Ordinal && p.best.Life.Incarnation < r.life.Incarnation {
			reached(env, "lease/reacquired-by-restart")
		}
	}
	p.phase, p.touched = granting, true
	r.openAccept(env, p, 0, 0, false)
}

// openAccept sends an accept under the next Seq. It replaces the accept that was open.
func (r *proposer) openAccept(env node.Env, p *proposal, seq, rev uint64, released bool) {
	p.open, p.seq, p.released, p.resent = true, seq, released, false
	if rev != p.rev || seq == 0 {
		p.has = 0
	}
	p.rev = rev
	p.sent, p.acked = env.Now(), 0
	r.sendAccepts(env, p)
}

// sendAccepts sends the open accept to the members that have not answered. A renewal carries no
// record to a member that already has it.
func (r *proposer) sendAccepts(env node.Env, p *proposal) {
	m := p.accept(r.life, r.c.Lease)
	if p.sent != env.Now() && !p.resent {
		p.resent = true
		reached(env, "lease/resend-kept-sent")
	}
	for i := range r.n {
		if p.acked.has(i) || p.refused.has(i) {
			continue
		}
		m.Renewal = p.rev < p.seq && !p.released && p.has.has(i) && !p.resent
		m.Record = p.record
		if m.Renewal {
			m.Record = nil
		}
		r.sendAccept(env, i, m)
	}
	r.scheduleRetry(env, p, &r.seat)
}

func (r *proposer) onAccepted(env node.Env, from int, m *message.LeaseAccepted) {
	p := r.own(m.Job, m.Token, m.Life)
	if p == nil || m.Seq != p.seq || p.acked.has(from) || p.phase == preparing || p.phase == waiting {
		return
	}
	p.acked.add(from)
	p.has.add(from) // also if a majority has answered before
	if !p.open || !r.agreed(p.acked) || r.expire(env, p) {
		return
	}
	p.open = false
	switch p.phase {
	case granting:
		r.becomeHolder(env, p)
	case holding:
		r.accepted(env, p)
	case releasing:
		r.becomeReleased(env, p)
	}
}

// becomeHolder ends an attempt with a grant, if its window is still open.
func (r *proposer) becomeHolder(env node.Env, p *proposal) {
	job := p.reg.job
	if env.Now().Sub(p.sent) >= r.c.Hold() {
		reached(env, "lease/granted-too-late")
		r.backOff(env, p)
		return
	}
	r.returned(env, job, p.call, true, p.token, Value(p.record))
	p.call = 0
	p.updating, p.tickets, p.next = 0, nil, nil // an update queued meanwhile was made from an older record
	if p.intent == releasesLater {
		p.held, p.phase = p.token, holding
		r.beginRelease(env, p)
		return
	}
	again := !p.held.Zero()
	if again {
		env.Emit(event.LeaseEnded{Group: r.c.Group, Job: job, Token: p.held, Reason: "superseded"})
	}
	p.held, p.until, p.phase, p.tries = p.token, p.sent.Add(r.c.Hold()), holding, 0
	p.touched, p.told, p.to, p.intent = false, false, -1, acting
	p.reg.consent = message.LeaseToken{}
	env.Emit(event.LeaseGranted{Group: r.c.Group, Job: job, Token: p.token, Life: r.life, Until: p.until, Began: p.began})
	r.tell(Outcome{Kind: Granted, Job: job, Token: p.token, Record: p.record, Fresh: void(&p.best), Again: again})
	p.renewAt = r.c.renewal(p.sent)
	r.schedule(env, p, min(p.renewAt, p.until))
}

func (r *proposer) onRefusal(env node.Env, from int, m *message.LeaseRefusal) {
	if reg := r.registers[m.Job]; reg != nil {
		said := max(m.Promised.Epoch, m.Held.Epoch)
		if said > r.held(reg)+tokenStep {
			r.implausible(env, from, message.KindLeaseFrame, "token", said, r.held(reg))
			said = 0
		}
		reg.seen = max(reg.seen, said)
	}
	p := r.own(m.Job, m.Token, m.Life)
	if p == nil || p.phase != preparing && !m.Held.Zero() {
		return // a prepare's refusal says nothing about an accept
	}
	p.refused.add(from)
	p.promised.drop(from)
	if p.phase == holding {
		reached(env, "lease/promise-against-holder")
	}
	if !m.Held.Zero() && p.blocker.Held.Compare(m.Held) <= 0 {
		p.blocker = *m
	}
	if r.n-p.refused.count() >= r.majority || r.expire(env, p) {
		return
	}
	r.fail(env, p)
}

// fail ends an accept or an attempt that can no longer reach a majority.
func (r *proposer) fail(env node.Env, p *proposal) {
	switch p.phase {
	case preparing, granting:
		if p.blocker.Held.Zero() {
			r.backOff(env, p)
			return
		}
		now := env.Now()
		p.reg.notBefore = now.Add(p.blocker.Left)
		r.deny(env, p, Outcome{Kind: Denied, Job: p.reg.job, Holder: r.Address(p.blocker.Held), Token: p.blocker.Held, Left: p.blocker.Left})
	case holding:
		if p.open {
			r.reacquire(env, p)
		}
	case releasing:
		r.lose(env, p, "superseded") // a member has a higher token: its holder knows whether the release took effect
	}
}

// deny ends an attempt for good.
func (r *proposer) deny(env node.Env, p *proposal, o Outcome) {
	r.lose(env, p, "superseded")
	if p.intent != releasesLater {
		r.tell(o)
	}
}

// backOff waits, longer each time, then begins again with a higher token.
func (r *proposer) backOff(env node.Env, p *proposal) {
	r.endAttempt(env, p)
	p.phase, p.open = waiting, false
	p.tries++
	wait := retry.Backoff{Base: r.c.RetryMax, Cap: 8 * r.c.RetryMax, Least: r.c.RetryMin / 4}
	at := env.Now().Add(wait.Next(env.Rand(node.PurposeLease), p.tries-1))
	if p.acts(env.Now()) {
		at = min(at, p.until)
	}
	r.schedule(env, p, at)
}

// tellWaiting reports once that a majority does not answer.
func (r *proposer) tellWaiting(env node.Env, p *proposal) {
	if p.told || !p.held.Zero() || env.Now().Sub(p.asked) < r.c.AttemptTimeout {
		return
	}
	p.told = true
	err := ErrQuorumUnavailable
	if p.touched {
		err = ErrQuorumTimeout
	}
	r.tell(Outcome{Kind: Waiting, Job: p.reg.job, Err: err})
}

// Abandon ends the attempt or the tenure of a job without an outcome. This member reports no
// Vacant before the others' guards have run out, even if its own copy of the register has
// expired.
func (r *proposer) Abandon(env node.Env, job message.JobID) {
	reg := r.registers[job]
	if reg == nil || reg.own == nil {
		return
	}
	p := reg.own
	if !p.held.Zero() && p.intent == acting {
		env.Emit(event.LeaseEnded{Group: r.c.Group, Job: job, Token: p.held, Reason: "released"})
	}
	reg.notBefore = max(reg.notBefore, env.Now().Add(r.c.Guard()))
	r.end(env, p)
}
