package lease

import (
	"bytes"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Numbers rise by bounded steps, so that no message of one member uses them up. docs/ownership.md,
// "A member that lies", has the arithmetic.
const (
	epochMax       = 1 << 20 // recoveries of a group, each by an operator
	generationStep = 1 << 16 // disks that a member loses before another one hears of any
	tokenStep      = 1 << 28 // grants and attempts of one register that a member misses
	leaseFactor    = 4       // between the leases of two configurations, while an operator changes them
)

// implausible reports a number that no honest member can say yet.
func (r *seat) implausible(env node.Env, from int, k node.Kind, what string, said, held uint64) {
	env.Emit(event.Implausible{Peer: node.ID(r.set[from]), Message: message.Name(k), What: what, Said: said, Held: held})
}

// faultOf says what is wrong with a frame, "" if nothing is. Another member's software may be
// broken, and its messages must not break this one.
func (r *seat) faultOf(f *message.LeaseFrame, from int) string {
	if len(f.Gens) != r.n {
		return "its list of generations is not of this set"
	}
	if !validGens(f.Gens) {
		return "a generation is out of range"
	}
	if f.Floor > floorMax {
		return "its floor is out of range"
	}
	sender, self := r.ordinal(from), r.ordinal(r.self)
	for i := range f.Prepares {
		m := &f.Prepares[i]
		if !r.chosenBy(m.Token, sender) || m.Life == contested() || !m.Consent.Zero() && !r.valid(m.Consent) {
			return "a prepare's token is out of range"
		}
	}
	for i := range f.Accepts {
		if why := r.faultOfAccept(&f.Accepts[i], sender); why != "" {
			return why
		}
	}
	for i := range f.Consents {
		if !r.chosenBy(f.Consents[i].Token, sender) {
			return "a consent's token is not its sender's"
		}
	}
	for i := range f.Promises {
		m := &f.Promises[i]
		if !r.chosenBy(m.Token, self) || !r.validState(&m.Accepted) || m.Token.Less(m.Accepted.Token) {
			return "a promise's token or state is out of range"
		}
	}
	for i := range f.Refusals {
		m := &f.Refusals[i]
		if !r.chosenBy(m.Token, self) || !m.Promised.Zero() && !r.valid(m.Promised) || !m.Held.Zero() && !r.valid(m.Held) ||
			m.Left < 0 || m.Left > r.c.guard(leaseFactor*r.c.Lease) {
			return "a refusal's token or time is out of range"
		}
	}
	for i := range f.Accepteds {
		if !r.chosenBy(f.Accepteds[i].Token, self) {
			return "an answer's token is not this member's"
		}
	}
	for i := range f.Answers {
		if !r.validState(&f.Answers[i].Accepted) {
			return "an answer's state is out of range"
		}
	}
	return ""
}

func (r *seat) faultOfAccept(m *message.LeaseAccept, sender uint32) string {
	switch {
	case !r.chosenBy(m.Token, sender) || m.Life == contested():
		return "an accept's token is out of range"
	case m.Rev > m.Seq || m.Lease <= 0 || m.Lease > min(LeaseMax, leaseFactor*r.c.Lease) || len(m.Record) > RecordMax:
		return "an accept's state is out of range"
	case m.Renewal && (len(m.Record) > 0 || m.Released || m.Seq == 0):
		return "a renewal carries a record or a release"
	case len(m.Rest) != r.n:
		return "an accept rests on another set"
	}
	return ""
}

// reaches reports whether a token is one that an honest proposer can have chosen, by what this member
// holds of the register. Attempts raise it one by one.
func (r *acceptor) reaches(reg *register, t message.LeaseToken) bool {
	return t.Epoch <= r.held(reg)+tokenStep
}

// held returns the highest epoch that this member knows of a register.
func (r *acceptor) held(reg *register) uint64 {
	return max(reg.seen, reg.promised.Epoch, reg.accepted.Token.Epoch, r.floor.heard)
}

// plausible reports whether an honest proposer can have sent an accept.
func (r *acceptor) plausible(env node.Env, from int, reg *register, m *message.LeaseAccept) bool {
	if !r.reaches(reg, m.Token) {
		r.implausible(env, from, message.KindLeaseFrame, "token", m.Token.Epoch, r.held(reg))
		return false
	}
	return bytes.Equal(m.Record, reg.accepted.Record) || r.readable(env, from, message.KindLeaseFrame, m.Job, m.Token, m.Record)
}

// readable reports whether this member's role reads a record. A register that no member reads ends
// its job.
func (r *seat) readable(env node.Env, from int, k node.Kind, job message.JobID, t message.LeaseToken, b []byte) bool {
	if r.c.Records == nil || len(b) == 0 || r.c.Records.Readable(job, b) {
		return true
	}
	r.implausible(env, from, k, "record", t.Epoch, 0)
	return false
}

// validGens: generations of an epoch leave room for later epochs.
func validGens(gens []uint64) bool {
	for _, g := range gens {
		if g >= 1<<62 {
			return false
		}
	}
	return true
}

// valid reports whether a member can have got this token, and leaves one above it. Before a
// recovery under this set a larger set may have granted it.
func (r *seat) valid(t message.LeaseToken) bool {
	return t.Epoch > 0 && t.Epoch < epochEnd-1 && t.Ordinal >= 1 && t.Ordinal <= message.OrdinalMax
}

func (r *seat) chosenBy(t message.LeaseToken, ordinal uint32) bool {
	return r.valid(t) && t.Ordinal == ordinal
}

func (r *seat) validState(s *message.LeaseState) bool {
	if s.Token.Zero() {
		return s.Seq == 0 && s.Rev == 0 && len(s.Record) == 0 && !s.Released
	}
	return r.valid(s.Token) && s.Rev <= s.Seq && s.Lease > 0 && s.Lease <= LeaseMax && len(s.Record) <= RecordMax
}
