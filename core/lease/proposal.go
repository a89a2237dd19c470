package lease

import (
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// phase is a proposer's phase for one register.
type phase uint8

const (
	waiting   phase = iota // to begin an attempt
	preparing              // prepares are sent
	granting               // Seq 0 is sent
	holding                // a majority has accepted it
	releasing              // Released is sent
	leaving                // consent is sent to a successor
)

// proposal is this node's attempt to own one register, from Acquire to its end. A crash forgets
// it.
type proposal struct {
	reg   *register
	phase phase
	seed  []byte
	ended bool // it no longer belongs to the register

	attempt
	offer
	tenure
	updates
	to int // successor, -1 for none

	due    node.Instant // when advanceProposal looks at it
	queued node.Instant // instant of its entry, 0 for none
}

// attempt collects promises under one token; it keeps them after the grant.
type attempt struct {
	token    message.LeaseToken
	began    node.Instant
	promised members // whose promises count
	refused  members // members that have promised a higher token
	rest     []uint64
	best     message.LeaseState // highest state that a promise carried
	blocker  message.LeaseRefusal
	tries    int
	asked    node.Instant // of Acquire
	told     bool         // Waiting is reported
	touched  bool         // an accept of this acquisition was sent
	call     uint64       // of the attempt, or of the release
}

// stale reports that members may have forgotten their promises: they do so after a guard.
func (a *attempt) stale(now node.Instant, hold time.Duration) bool { return now.Sub(a.began) >= hold }

// offer is the last accept that was sent, and what it carries.
type offer struct {
	open     bool
	released bool
	seq, rev uint64
	sent     node.Instant // first send of seq: a resend never moves it
	acked    members
	has      members // members that have the record of rev under this token
	record   []byte
	resent   bool
}

// tenure is what this node owns. held is zero before a grant, and stays below the attempt's
// token while an attempt for a higher one runs.
type tenure struct {
	held    message.LeaseToken
	until   node.Instant
	renewAt node.Instant
	intent  intent
}

// intent is what the role wants to do with its tenure.
type intent uint8

const (
	acting        intent = iota
	stopped              // the role no longer acts
	releasesLater        // as stopped; the running attempt continues only to release
)

// acts reports whether this node owns the job now: now - sent < H.
func (t *tenure) acts(now node.Instant) bool {
	return !t.held.Zero() && t.intent == acting && now < t.until
}

// updates are the records that the role wants to follow the held one.
type updates struct {
	updating uint64 // call of the update that is open, 0 for none
	tickets  []uint64
	next     *update
}

// update is a record that waits for the one before it.
type update struct {
	record  []byte
	tickets []uint64
}

// accept returns the accept that the proposal has open, without its record.
func (p *proposal) accept(life message.LeaseLife, lease time.Duration) message.LeaseAccept {
	return message.LeaseAccept{
		Job: p.reg.job, Token: p.token, Life: life, Seq: p.seq, Rev: p.rev,
		Released: p.released, Lease: lease, Rest: p.rest,
	}
}

// move is what a proposal does once it is due.
type move uint8

const (
	toWait      move = iota // for its next renewal
	toBegin                 // an attempt under a higher token
	toPrepare               // it repeats the prepares that have no answer
	toAccept                // it repeats the accepts that have no answer
	toRenew                 // it sends the same record under the next Seq
	toConsent               // it repeats the consent
	toBackOff               // the window of its grant is over
	toReacquire             // a member has promised a higher token
	toFail                  // so has one, and the missing answers may never arrive
	toEnd                   // another member is about to follow
)

// decide says what a proposal does that is due. A resend keeps the instant of the first send,
// because the acceptors' guards run from the first message that they receive.
func (p *proposal) decide(now node.Instant, hold time.Duration) move {
	switch p.phase {
	case waiting:
		return toBegin
	case preparing:
		switch {
		case p.refused != 0:
			return toFail // a higher token goes to the members that refused as well
		case p.stale(now, hold):
			return toBegin
		}
		return toPrepare
	case granting:
		if now.Sub(p.sent) >= hold {
			return toBackOff
		}
		return toAccept
	case holding:
		switch {
		case p.open && p.refused != 0:
			return toReacquire // the accept has no majority
		case now >= p.renewAt:
			return toRenew
		case p.open:
			return toAccept
		}
	case releasing:
		if p.refused != 0 && now.Sub(p.sent) >= hold {
			return toFail // who has the higher token ends the register
		}
		return toAccept
	case leaving:
		if p.token.Less(p.reg.promised) {
			return toEnd
		}
		return toConsent
	}
	return toWait
}

// agenda holds the proposals until they are due.
type agenda struct {
	proposals dueQueue[*proposal]
	retryFrom node.Instant // when retryAt was drawn
	retryAt   node.Instant
}

func (g *agenda) schedule(env node.Env, p *proposal, at node.Instant) {
	p.due = at
	if p.queued != 0 && p.queued <= at {
		return
	}
	p.queued = at
	g.proposals.push(at, p)
	g.proposals.arm(env, node.LeaseRenew)
}

// scheduleRetry schedules the next look after a random delay, at the latest when the window
// ends.
func (g *agenda) scheduleRetry(env node.Env, p *proposal, s *seat) {
	now := env.Now()
	if g.retryFrom != now {
		g.retryFrom, g.retryAt = now, now.Add(s.retryIn(env)) // retries of one moment stay together
	}
	at := g.retryAt
	if p.acts(now) {
		at = min(at, p.until)
	}
	g.schedule(env, p, at)
}

// proposer advances this node's proposals when they are due: proposal.decide says what they do.
type proposer struct {
	*acceptor
	agenda
}

func (r *proposer) onProposals(env node.Env) {
	now := env.Now()
	r.proposals.fired()
	for {
		p, at, ok := r.proposals.pop(now)
		if !ok {
			break
		}
		if p.ended || p.queued != at {
			continue
		}
		p.queued = 0
		if p.due > now {
			r.schedule(env, p, p.due)
			continue
		}
		r.advanceProposal(env, p)
	}
	r.proposals.rearm(env, node.LeaseRenew)
}

// advanceProposal does what is due.
func (r *proposer) advanceProposal(env node.Env, p *proposal) {
	if r.expire(env, p) {
		return
	}
	if p.phase == preparing || p.phase == granting {
		r.tellWaiting(env, p)
	}
	switch p.decide(env.Now(), r.c.Hold()) {
	case toWait:
		r.schedule(env, p, min(p.renewAt, p.until))
	case toBegin:
		r.begin(env, p)
	case toPrepare:
		r.sendPrepares(env, p)
	case toAccept:
		r.sendAccepts(env, p)
	case toRenew:
		p.renewAt = r.c.renewal(env.Now())
		r.openAccept(env, p, p.seq+1, p.rev, false)
	case toConsent:
		r.sendConsent(env, p.to, message.LeaseConsent{Job: p.reg.job, Token: p.token})
		r.scheduleRetry(env, p, &r.seat)
	case toBackOff:
		r.backOff(env, p)
	case toReacquire:
		r.reacquire(env, p)
	case toFail:
		if p.phase == releasing {
			reached(env, "lease/release-superseded")
		}
		r.fail(env, p)
	case toEnd:
		r.end(env, p)
	}
}

// expire ends a tenure whose window has closed.
func (r *proposer) expire(env node.Env, p *proposal) bool {
	if p.held.Zero() || env.Now() < p.until || p.phase == releasing {
		return false
	}
	if p.intent == releasesLater {
		return false // the attempt continues, only to release
	}
	if p.intent != acting {
		if p.phase != leaving { // an update has not ended in time
			r.tell(Outcome{Kind: Lost, Job: p.reg.job, Token: p.held, Reason: "expired"})
		}
		r.end(env, p)
		return true
	}
	r.lose(env, p, "expired")
	return true
}

// lose ends a tenure against the role's will. The call of an open update stays open.
func (r *proposer) lose(env node.Env, p *proposal, reason string) {
	if !p.held.Zero() && p.intent == acting {
		env.Emit(event.LeaseEnded{Group: r.c.Group, Job: p.reg.job, Token: p.held, Reason: reason})
	}
	if !p.held.Zero() && p.phase != leaving {
		r.tell(Outcome{Kind: Lost, Job: p.reg.job, Token: p.held, Reason: reason})
	}
	r.end(env, p)
}

// end drops a proposal; the acceptors' guards run out by themselves.
func (r *proposer) end(env node.Env, p *proposal) {
	r.endAttempt(env, p)
	p.ended = true
	p.reg.own = nil
	a := &p.reg.accepted
	if a.Token.Zero() {
		r.watchOver(env, p.reg)
		return
	}
	if !a.Released && !p.reg.reaped {
		r.watchAt(env, p.reg, max(p.reg.received.Add(r.c.guard(a.Lease)), p.reg.notBefore, env.Now()+1))
	}
}

// endAttempt closes the call of an attempt that has sent no accept, and so had no effect.
func (r *proposer) endAttempt(env node.Env, p *proposal) {
	if p.call != 0 && p.phase == preparing {
		r.returned(env, p.reg.job, p.call, false, p.token, 0)
	}
	p.call = 0
}
