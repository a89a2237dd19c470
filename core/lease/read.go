package lease

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// read is one request for the record that a majority has.
type read struct {
	job     message.JobID
	ticket  uint64
	nonce   uint64
	call    uint64
	began   node.Instant
	got     members
	answers []message.LeaseState
	ended   bool
}

// reader asks majorities for records.
type reader struct {
	*acceptor
	reads     map[uint64]*read // by nonce
	readQueue dueQueue[*read]
}

// Read requests the record that a majority has. The owner answers itself while its window is
// open and no update is. Other members, and an owner in doubt, query all members.
func (r *reader) Read(env node.Env, job message.JobID, ticket uint64) {
	if !r.standing.speaks() {
		r.tell(Outcome{Kind: Read, Job: job, Ticket: ticket, Err: ErrNotMember})
		return
	}
	if reg := r.registers[job]; reg != nil && reg.own != nil {
		if p := reg.own; p.acts(env.Now()) && p.phase == holding && p.updating == 0 {
			r.returned(env, job, r.called(env, job, "read-held", p.token, 0), true, p.token, Value(p.record))
			r.tell(Outcome{Kind: Read, Job: job, Ticket: ticket, Found: true, State: message.LeaseState{
				Token: p.token, Life: r.life, Seq: p.seq, Rev: p.rev, Lease: r.c.Lease, Record: p.record}})
			return
		}
	}
	if len(r.readQueue.entries) >= readsMax {
		r.tell(Outcome{Kind: Read, Job: job, Ticket: ticket, Err: ErrFull})
		return
	}
	q := &read{job: job, ticket: ticket, began: env.Now(), answers: make([]message.LeaseState, r.n)}
	q.call = r.called(env, job, "read", message.LeaseToken{}, 0)
	r.ask(env, q)
}

// ask begins a try under its own nonce: a late answer to the earlier try must not count for
// this one.
func (r *reader) ask(env node.Env, q *read) {
	delete(r.reads, q.nonce)
	q.nonce, q.got = env.Rand(node.PurposeLease).Uint64(), 0
	r.reads[q.nonce] = q
	for i := range r.n {
		r.sendQuery(env, i, message.LeaseQuery{Job: q.job, Nonce: q.nonce})
	}
	at := min(env.Now().Add(r.retryIn(env)), q.began.Add(r.c.AttemptTimeout))
	r.readQueue.push(max(at, env.Now()+1), q)
	r.readQueue.arm(env, node.LeaseRead)
}

func (r *reader) onReads(env node.Env) {
	r.readQueue.fired()
	for {
		q, _, ok := r.readQueue.pop(env.Now())
		if !ok {
			break
		}
		if q.ended {
			continue
		}
		if env.Now().Sub(q.began) < r.c.AttemptTimeout {
			r.ask(env, q)
			continue
		}
		o := Outcome{Kind: Read, Job: q.job, Ticket: q.ticket, Err: ErrQuorumUnavailable}
		if q.got.count() >= r.majority {
			o.Err = ErrQuorumTimeout
			if best := q.best(); !best.Token.Zero() {
				o.Holder, o.State = r.Address(best.Token), *best
			}
		}
		r.returned(env, q.job, q.call, false, message.LeaseToken{}, 0)
		r.endRead(q, o)
	}
	r.readQueue.rearm(env, node.LeaseRead)
}

// best returns the latest state among the answers.
func (q *read) best() *message.LeaseState {
	best := &message.LeaseState{}
	for i := range q.answers {
		if q.got.has(i) && later(&q.answers[i], best) {
			best = &q.answers[i]
		}
	}
	return best
}

func (r *reader) endRead(q *read, o Outcome) {
	q.ended = true
	delete(r.reads, q.nonce)
	r.tell(o)
}

// onAnswer counts the members that agree on (token, rev). A copy does not count: before it was
// lost, the former disk of that member may have promised it away.
func (r *reader) onAnswer(env node.Env, from int, m *message.LeaseAnswer) {
	q := r.reads[m.Nonce]
	if q == nil || q.job != m.Job {
		return
	}
	q.got.add(from)
	q.answers[from] = m.Accepted
	var none, same members
	state := &q.answers[from]
	for i := range q.answers {
		if !q.got.has(i) {
			continue
		}
		a := &q.answers[i]
		if a.Token.Zero() {
			none.add(i)
			continue
		}
		if a.Copied {
			reached(env, "lease/copy-not-counted")
			continue
		}
		if a.Token == m.Accepted.Token && a.Life == m.Accepted.Life && a.Rev == m.Accepted.Rev {
			same.add(i)
			if later(a, state) {
				state = a
			}
		}
	}
	switch {
	case r.agreed(none), r.agreed(same) && void(state):
		r.returned(env, q.job, q.call, true, message.LeaseToken{}, 0)
		r.endRead(q, Outcome{Kind: Read, Job: q.job, Ticket: q.ticket})
	case r.agreed(same) && !m.Accepted.Token.Zero() && !m.Accepted.Copied:
		r.returned(env, q.job, q.call, true, state.Token, Value(state.Record))
		r.endRead(q, Outcome{Kind: Read, Job: q.job, Ticket: q.ticket, Found: true, State: *state, Holder: r.Address(state.Token)})
	}
}
