package lease

import (
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// reacquire begins an attempt under a higher token: the acceptors let their holder pass. A
// holder that hands over needs no new token.
func (r *proposer) reacquire(env node.Env, p *proposal) {
	if p.intent != acting {
		r.lose(env, p, "superseded")
		return
	}
	r.begin(env, p)
}

// Update replaces the record; only while this node holds the job. One update is open at a time,
// and a newer one replaces one that waits.
func (r *proposer) Update(env node.Env, job message.JobID, record []byte, ticket uint64) {
	reg := r.registers[job]
	err := error(nil)
	if len(record) > r.c.RecordMax {
		err = ErrTooLarge
	} else if reg == nil || reg.own == nil || !reg.own.acts(env.Now()) {
		err = ErrNotHolder
	}
	if err != nil {
		r.tell(Outcome{Kind: Rejected, Job: job, Ticket: ticket, Err: err})
		return
	}
	p := reg.own
	if p.next == nil {
		p.next = &update{}
	}
	p.next.record = record
	p.next.tickets = append(p.next.tickets, ticket)
	r.beginUpdate(env, p)
}

// beginUpdate sends the record that waits, unless an update is open or an attempt for a higher
// token runs.
func (r *proposer) beginUpdate(env node.Env, p *proposal) {
	if p.next == nil || p.updating != 0 || p.phase != holding || p.intent != acting {
		return
	}
	p.record, p.tickets, p.next = p.next.record, p.next.tickets, nil
	p.updating = r.called(env, p.reg.job, "update", p.token, Value(p.record))
	r.openAccept(env, p, p.seq+1, p.seq+1, false)
}

// accepted: a majority has the open accept. The window then reaches as far as its first send
// allows, and an open update is done.
func (r *proposer) accepted(env node.Env, p *proposal) {
	job := p.reg.job
	p.until = max(p.until, p.sent.Add(r.c.Hold()))
	p.renewAt = r.c.renewal(p.sent)
	if p.intent == acting {
		env.Emit(event.LeaseExtended{Group: r.c.Group, Job: job, Token: p.token, Until: p.until})
	}
	r.updated(env, p)
	r.schedule(env, p, min(p.renewAt, p.until))
	if p.to >= 0 && p.updating == 0 {
		r.handOver(env, p)
		return
	}
	r.beginUpdate(env, p)
}

func (r *proposer) updated(env node.Env, p *proposal) {
	if p.updating == 0 {
		return
	}
	r.returned(env, p.reg.job, p.updating, true, p.token, Value(p.record))
	for _, ticket := range p.tickets {
		r.tell(Outcome{Kind: Updated, Job: p.reg.job, Token: p.token, Ticket: ticket})
	}
	p.updating, p.tickets = 0, nil
}

// Release ends the lease for good, with the last record that the role gave. The caller has
// stopped acting.
func (r *proposer) Release(env node.Env, job message.JobID) {
	reg := r.registers[job]
	if reg == nil || reg.own == nil || reg.own.intent != acting {
		return
	}
	p := reg.own
	if p.held.Zero() {
		r.Abandon(env, job)
		return
	}
	if r.expire(env, p) {
		return
	}
	r.stop(env, p, "released")
	if p.phase != holding {
		p.intent = releasesLater // under the token of the running attempt: acceptors have promised the lower one away
		return
	}
	r.beginRelease(env, p)
}

// beginRelease sends an update that is open or waits along with the release.
func (r *proposer) beginRelease(env node.Env, p *proposal) {
	p.phase, p.intent = releasing, stopped
	rev := p.rev
	if p.next != nil {
		p.record, p.tickets, p.next = p.next.record, append(p.tickets, p.next.tickets...), nil
		rev = p.seq + 1
		// The call of the earlier open update stays open: that update may be below this one.
		p.updating = r.called(env, p.reg.job, "update", p.token, Value(p.record))
	}
	p.call = r.called(env, p.reg.job, "release", p.token, Value(p.record))
	r.openAccept(env, p, p.seq+1, rev, true)
}

func (r *proposer) becomeReleased(env node.Env, p *proposal) {
	r.updated(env, p)
	r.returned(env, p.reg.job, p.call, true, p.token, Value(p.record))
	r.tell(Outcome{Kind: Released, Job: p.reg.job, Token: p.token, Record: p.record, Reason: "released"})
	p.reg.over = p.token
	if !p.acked.has(r.self) {
		missed := p.accept(r.life, r.c.Lease)
		missed.Record, missed.Rest = p.record, nil // a majority has it: it rests on no promise, so on no disk that may be lost
		p.reg.missed = &missed
	}
	r.end(env, p)
}

// stop ends acting under this token.
func (r *proposer) stop(env node.Env, p *proposal, reason string) {
	p.intent = stopped
	env.Emit(event.LeaseEnded{Group: r.c.Group, Job: p.reg.job, Token: p.held, Reason: reason})
}

// Transfer hands the job to another member once an open update is done. The caller has stopped
// acting. If the successor never acquires, the lease runs out; the caller may also acquire
// again.
func (r *proposer) Transfer(env node.Env, job message.JobID, to node.Addr) {
	reg := r.registers[job]
	index := -1
	for i, a := range r.set {
		if a == to && i != r.self {
			index = i
		}
	}
	if reg == nil || reg.own == nil || index < 0 || !reg.own.acts(env.Now()) {
		r.tell(Outcome{Kind: Rejected, Job: job, Err: ErrNotHolder})
		return
	}
	p := reg.own
	r.stop(env, p, "transferred")
	if p.phase != holding {
		r.tell(Outcome{Kind: Released, Job: job, Token: p.held, Reason: "transferred"})
		r.end(env, p) // its own attempt stops here: the lease runs out
		return
	}
	p.to = index
	if p.next != nil && p.updating == 0 {
		p.intent = acting
		r.beginUpdate(env, p)
		p.intent = stopped
	}
	if p.updating == 0 {
		r.handOver(env, p)
	}
}

// handOver repeats the consent until the window ends.
func (r *proposer) handOver(env node.Env, p *proposal) {
	p.phase, p.open = leaving, false
	r.tell(Outcome{Kind: Released, Job: p.reg.job, Token: p.token, Holder: r.set[p.to], Reason: "transferred"})
	r.sendConsent(env, p.to, message.LeaseConsent{Job: p.reg.job, Token: p.token})
	r.scheduleRetry(env, p, &r.seat)
}

// Holds returns the token under which this node owns the job at an instant.
func (r *proposer) Holds(now node.Instant, job message.JobID) (message.LeaseToken, bool) {
	reg := r.registers[job]
	if reg == nil || reg.own == nil || !reg.own.acts(now) {
		return message.LeaseToken{}, false
	}
	return reg.own.held, true
}

// Releasing reports whether this node is giving a register up. It no longer acts for it, and
// perhaps no majority knows so yet.
func (r *proposer) Releasing(job message.JobID) bool {
	reg := r.registers[job]
	return reg != nil && reg.own != nil && (reg.own.intent == releasesLater || reg.own.phase == releasing)
}

// Held returns the jobs that this node holds, sorted.
func (r *proposer) Held() []message.JobID {
	var jobs []message.JobID
	//lint:orderfree they are sorted below
	for job, reg := range r.registers {
		if reg.own != nil && !reg.own.held.Zero() && reg.own.intent == acting {
			jobs = append(jobs, job)
		}
	}
	slices.SortFunc(jobs, message.JobID.Compare)
	return jobs
}
