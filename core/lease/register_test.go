package lease

import (
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"

	"pgregory.net/rapid"
)

// deed is one thing that a register has promised, accepted or forgotten.
type deed struct {
	token    message.LeaseToken
	life     message.LeaseLife
	at       node.Instant
	accept   bool
	seq, rev uint64
	released bool
	reaped   bool
}

// history is the model of a register: it keeps every deed, and reads all of them for each
// request.
type history []deed

// forbids reports whether an earlier promise forbids a token of a life.
func (h history) forbids(t message.LeaseToken, l message.LeaseLife) bool {
	for i, d := range h {
		if t.Less(d.token) || d.reaped && t == d.token {
			return true
		}
		if t == d.token && l != d.life && !h[i].reaped {
			return true
		}
	}
	return false
}

// last returns the last accept, nil for none.
func (h history) last() *deed {
	for i := len(h) - 1; i >= 0; i-- {
		if h[i].accept {
			return &h[i]
		}
	}
	return nil
}

func (h history) prepare(now node.Instant, guard time.Duration, m *message.LeasePrepare) bool {
	if h.forbids(m.Token, m.Life) {
		return false
	}
	a := h.last()
	if a == nil || a.released || now >= a.at.Add(guard) {
		return true
	}
	mine := a.token.Ordinal == m.Token.Ordinal
	if mine && (a.life == m.Life || a.life.Incarnation < m.Life.Incarnation) {
		return true
	}
	return m.Consent == a.token || a.token.Less(m.Consent)
}

func (h history) accept(m *message.LeaseAccept) ruling {
	if h.forbids(m.Token, m.Life) {
		return refusesLow
	}
	a := h.last()
	same := a != nil && a.token == m.Token && a.life == m.Life
	if same && m.Seq <= a.seq {
		return has
	}
	if same && m.Rev == a.rev && !m.Released && !a.released {
		return renews
	}
	if m.Renewal {
		return lacksRecord
	}
	return takes
}

// A register holds its last state alone, and decides as one that has seen everything.
func TestRulingsFollowTheHistory(t *testing.T) {
	c := Default()
	guard := c.Guard()
	rapid.Check(t, func(t *rapid.T) {
		reg, twin := &register{}, history{}
		now := node.Instant(1)
		token := func(name string) message.LeaseToken {
			return message.LeaseToken{Epoch: rapid.Uint64Range(1, 4).Draw(t, name), Ordinal: uint32(rapid.IntRange(1, 2).Draw(t, name+" of"))}
		}
		life := func() message.LeaseLife {
			return message.LeaseLife{Incarnation: rapid.Uint64Range(1, 2).Draw(t, "incarnation"), Salt: 1}
		}
		accept := func(t *rapid.T, m *message.LeaseAccept) {
			got := reg.judgeAccept(nil, m)
			want := twin.accept(m)
			if got != want && (want != refusesLow || got != refusesOtherLife) && (want != has || got != hasLater) {
				t.Fatalf("accept %+v at %v: ruling %d, the history %+v says %d", m, now, got, twin, want)
			}
			switch got {
			case takes:
				reg.promised, reg.promiser, reg.reaped, reg.received = m.Token, m.Life, false, now
				reg.accepted = message.LeaseState{Token: m.Token, Life: m.Life, Seq: m.Seq, Rev: m.Rev, Released: m.Released, Lease: m.Lease}
			case renews:
				reg.renew(now, m)
			default:
				return
			}
			twin = append(twin, deed{token: m.Token, life: m.Life, at: now, accept: true, seq: m.Seq, rev: m.Rev, released: m.Released})
		}
		t.Repeat(map[string]func(*rapid.T){
			"time": func(t *rapid.T) {
				now = now.Add(rapid.SampledFrom([]time.Duration{1, guard / 2, guard - 1}).Draw(t, "passes"))
			},
			"prepare": func(t *rapid.T) {
				m := &message.LeasePrepare{Token: token("token"), Life: life()}
				if rapid.Bool().Draw(t, "consent") {
					m.Consent = token("consent")
				}
				got := reg.judgePrepare(now, &c, m)
				if want := twin.prepare(now, guard, m); want != (got == takes || got == has) {
					t.Fatalf("prepare %+v at %v: ruling %d, the history %+v says %v", m, now, got, twin, want)
				}
				if got == takes {
					reg.promised, reg.promiser = m.Token, m.Life
					twin = append(twin, deed{token: m.Token, life: m.Life, at: now})
				}
			},
			"accept": func(t *rapid.T) {
				m := &message.LeaseAccept{Token: token("token"), Life: life(), Seq: rapid.Uint64Range(0, 3).Draw(t, "seq"), Lease: c.Lease}
				m.Rev = rapid.Uint64Range(0, m.Seq).Draw(t, "rev")
				switch rapid.IntRange(0, 5).Draw(t, "sort") {
				case 0:
					m.Released = true
				case 1:
					m.Renewal = true
				}
				accept(t, m)
			},
			"renew": func(t *rapid.T) {
				if a := twin.last(); a != nil {
					accept(t, &message.LeaseAccept{Token: a.token, Life: a.life, Seq: a.seq + 1, Rev: a.rev, Lease: c.Lease, Renewal: true})
				}
			},
			"forget": func(t *rapid.T) {
				if a := &reg.accepted; a.Released && !reg.reaped {
					reg.reaped = true
					twin = append(twin, deed{token: a.Token, life: a.Life, at: now, reaped: true})
				}
			},
		})
	})
}

// An acceptor rejects an accept that rests on the promise of a lost disk, and no other.
func TestAcceptRestsOnLiveDisks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gens := rapid.SliceOfN(rapid.Uint64Range(0, 3), 3, 3).Draw(t, "generations")
		rest := rapid.SliceOfN(rapid.Uint64Range(0, 3), 3, 3).Draw(t, "rest")
		lost := false
		for i := range rest {
			lost = lost || rest[i] != 0 && gens[i] > rest[i]
		}
		m := &message.LeaseAccept{Token: message.LeaseToken{Epoch: 1, Ordinal: 1}, Rest: rest}
		if got := (&register{}).judgeAccept(gens, m); (got == refusesOldDisk) != lost {
			t.Fatalf("rests on %v, known are %v: ruling %d", rest, gens, got)
		}
	})
}

// While the disk hangs, the last request of each member for each register waits, in the order
// of the first ones.
func TestLastRequestOfEachMemberWaits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		regs := []*register{{}, {}}
		var w writes
		var twin []request
		for range rapid.IntRange(0, 20).Draw(t, "requests") {
			q := request{reg: regs[rapid.IntRange(0, 1).Draw(t, "register")], from: rapid.IntRange(0, 2).Draw(t, "from"), prepare: &message.LeasePrepare{}}
			w.wait(q)
			known := false
			for i := range twin {
				if twin[i].reg == q.reg && twin[i].from == q.from {
					twin[i], known = q, true
				}
			}
			if !known {
				twin = append(twin, q)
			}
		}
		if len(w.waiting) != len(twin) || len(w.places) != len(twin) {
			t.Fatalf("%d wait in %d places, want %d", len(w.waiting), len(w.places), len(twin))
		}
		for i := range twin {
			if w.waiting[i] != twin[i] {
				t.Fatalf("at %d waits %+v, want %+v", i, w.waiting[i], twin[i])
			}
		}
	})
}
