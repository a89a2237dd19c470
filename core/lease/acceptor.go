package lease

import (
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// low says that a token was promised away: a lower one, or an equal one that
// another life has chosen.
func (reg *register) low(t message.LeaseToken, l message.LeaseLife) bool {
	c := t.Compare(reg.promised)
	return c < 0 || c == 0 && l != reg.promiser
}

// left returns how long a register is still held: now - received < guard.
func (reg *register) left(now node.Instant, c *Config) time.Duration {
	a := &reg.accepted
	if reg.reaped || a.Token.Zero() || a.Released {
		return 0
	}
	return max(0, c.guard(a.Lease)-now.Sub(reg.received))
}

// mayPass says that a held register may be promised to somebody all the same: to
// its holder, in this life or a later one, or to whom its holder has consented.
func (reg *register) mayPass(m *message.LeasePrepare) bool {
	a := &reg.accepted
	if a.Token.Ordinal == m.Token.Ordinal && (a.Life == m.Life || a.Life.Incarnation < m.Life.Incarnation) {
		return true
	}
	return !m.Consent.Zero() && !m.Consent.Less(a.Token)
}

// buried says that a token is not above a tombstone's.
func (reg *register) buried(t message.LeaseToken) bool {
	return reg.reaped && !reg.accepted.Token.Less(t)
}

func (r *Registers) onPrepare(env node.Env, from int, m *message.LeasePrepare) {
	reg := r.admit(env, from, m.Job)
	if reg == nil {
		return
	}
	if reg.writing {
		r.wait(request{reg: reg, from: from, prepare: m})
		return
	}
	reg.seen = max(reg.seen, m.Token.Epoch)
	if reg.low(m.Token, m.Life) || reg.buried(m.Token) {
		if m.Token == reg.promised && m.Life != reg.promiser {
			reached(env, "lease/equal-token-other-life")
		}
		r.refuse(env, from, m.Job, m.Token, m.Life, 0)
		return
	}
	if left := reg.left(env.Now(), &r.c); left > 0 && !reg.mayPass(m) {
		reached(env, "lease/held-refusal")
		if !m.Consent.Zero() {
			reached(env, "lease/consent-stale")
		}
		r.refuse(env, from, m.Job, m.Token, m.Life, left)
		return
	}
	ch := reg.change(from)
	ch.promise, ch.answer = true, true
	ch.promised, ch.promiser = m.Token, m.Life
	if m.Token == reg.promised {
		r.commit(env, &ch) // it is on the disk already
		return
	}
	r.record(env, ch)
}

func (r *Registers) onAccept(env node.Env, from int, m *message.LeaseAccept) {
	reg := r.admit(env, from, m.Job)
	if reg == nil {
		return
	}
	if reg.writing {
		r.wait(request{reg: reg, from: from, accept: m})
		return
	}
	reg.seen = max(reg.seen, m.Token.Epoch)
	if reg.buried(m.Token) {
		reached(env, "lease/late-accept-refused")
		r.refuse(env, from, m.Job, m.Token, m.Life, 0)
		return
	}
	if reg.low(m.Token, m.Life) {
		if m.Token == reg.promised {
			reached(env, "lease/equal-token-other-life")
		} else {
			reached(env, "lease/late-accept-refused")
		}
		r.refuse(env, from, m.Job, m.Token, m.Life, 0)
		return
	}
	for i, g := range m.Rest {
		if g > 0 && g < r.gens[i] {
			reached(env, "lease/rest-refused")
			r.refuse(env, from, m.Job, m.Token, m.Life, 0)
			return
		}
	}
	a := &reg.accepted
	same := a.Token == m.Token && a.Life == m.Life
	if same && m.Seq <= a.Seq {
		if m.Seq < a.Seq {
			reached(env, "lease/old-seq-kept-out")
		}
		r.sendAccepted(env, from, message.LeaseAccepted{Job: m.Job, Token: m.Token, Life: m.Life, Seq: m.Seq})
		return
	}
	r.take(env, reg, from, m, same)
}

// take stores what onAccept found acceptable. A renewal stays in memory: a
// restart loses only its Seq, and the time, which begins anew then.
func (r *Registers) take(env node.Env, reg *register, from int, m *message.LeaseAccept, same bool) {
	a := &reg.accepted
	if same && m.Rev == a.Rev && !m.Released && !a.Released {
		a.Seq, a.Lease, a.Copied = m.Seq, m.Lease, false
		reg.received = env.Now()
		r.sendAccepted(env, from, message.LeaseAccepted{Job: m.Job, Token: m.Token, Life: m.Life, Seq: m.Seq})
		return
	}
	if m.Renewal {
		reached(env, "lease/renewal-without-record")
		return // its record is not here: the next send brings it
	}
	ch := reg.change(from)
	ch.answer = true
	ch.promised, ch.promiser = m.Token, m.Life
	ch.accepted = message.LeaseState{
		Token: m.Token, Life: m.Life, Seq: m.Seq, Rev: m.Rev, Released: m.Released, Lease: m.Lease, Record: m.Record,
	}
	ch.reaped = false
	ch.received = env.Now()
	r.record(env, ch)
}

// admit returns the register of a job for an acceptor's rule, nil when there is
// no room for a new one: then nothing is said, and others may accept.
func (r *Registers) admit(env node.Env, from int, job message.JobID) *register {
	reg := r.registers[job]
	if reg == nil {
		if len(r.registers) >= r.c.RegistersMax {
			env.Emit(event.Shed{What: "lease register", Why: ErrFull.Error()})
			return nil
		}
		reg = r.at(job)
	}
	return reg
}

func (r *Registers) refuse(env node.Env, to int, job message.JobID, t message.LeaseToken, l message.LeaseLife, left time.Duration) {
	reg := r.registers[job]
	m := message.LeaseRefusal{Job: job, Token: t, Life: l, Promised: reg.promised, Left: left}
	if left > 0 {
		m.Held = reg.accepted.Token
	}
	r.sendRefusal(env, to, m)
}

func (r *Registers) onQuery(env node.Env, from int, m *message.LeaseQuery) {
	a := message.LeaseAnswer{Job: m.Job, Nonce: m.Nonce}
	if reg := r.registers[m.Job]; reg != nil && !reg.reaped {
		a.Accepted = reg.accepted
	}
	r.sendAnswer(env, from, a)
}

// onConsent remembers that the holder lets this member acquire what it held.
func (r *Registers) onConsent(env node.Env, from int, m *message.LeaseConsent) {
	reg := r.registers[m.Job]
	if reg == nil {
		if len(r.registers) >= r.c.RegistersMax {
			return
		}
		reg = r.at(m.Job)
	}
	if m.Token.Less(reg.accepted.Token) {
		reached(env, "lease/consent-stale")
		return
	}
	if !reg.consent.Less(m.Token) || reg.reaped || reg.accepted.Released {
		return
	}
	reg.consent = m.Token
	if reg.own == nil {
		r.tell(Outcome{Kind: Vacant, Job: m.Job, Token: m.Token, Holder: r.set[from], Record: reg.accepted.Record, Consented: true})
	}
}
