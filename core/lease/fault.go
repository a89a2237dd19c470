package lease

import "hyperscale/core/message"

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
	sender, self := uint32(from+1), uint32(r.self+1)
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
		if !r.chosenBy(m.Token, self) || !r.validState(&m.Accepted) {
			return "a promise's token or state is out of range"
		}
	}
	for i := range f.Refusals {
		m := &f.Refusals[i]
		if !r.chosenBy(m.Token, self) || !m.Promised.Zero() && !r.valid(m.Promised) || !m.Held.Zero() && !r.valid(m.Held) ||
			m.Left < 0 || m.Left > 2*LeaseMax {
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
	case m.Rev > m.Seq || m.Lease <= 0 || m.Lease > LeaseMax || len(m.Record) > RecordMax:
		return "an accept's state is out of range"
	case m.Renewal && (len(m.Record) > 0 || m.Released || m.Seq == 0):
		return "a renewal carries a record or a release"
	case len(m.Rest) != r.n:
		return "an accept rests on another set"
	}
	return ""
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
