package lease

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A member answers or ignores any frame from any peer or stranger. Nothing panics, and the
// group continues.
func TestHostileMessagesBreakNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGroup([]string{"a", "b", "c"}, small(), 7)
		g.clone = false
		for _, h := range g.members {
			h.begin()
		}
		g.advance(time.Second)
		a := g.members[0]
		a.r.Acquire(a, jobN(1), []byte("seed"))
		g.advance(100 * time.Millisecond)
		for range rapid.IntRange(1, 12).Draw(t, "count") {
			from := rapid.SampledFrom([]node.Peer{g.members[1].self, g.members[2].self, a.self, {ID: "x", Addr: "x:1"}}).Draw(t, "from")
			m := hostile(t)
			if !a.r.Receive(a, from, m) {
				t.Fatalf("%s is not of this part", message.Name(m.Kind()))
			}
			a.drain()
			g.advance(rapid.SampledFrom([]time.Duration{0, time.Millisecond, 12 * time.Second}).Draw(t, "advance"))
		}
		if a.r.Receive(a, g.members[1].self, &message.Beat{}) {
			t.Fatal("a ping is of this part")
		}
	})
}

// A hail without a set tells of no configuration: no alarm, and no place among the strangers.
func TestAHailWithoutASetIsIgnored(t *testing.T) {
	g := three()
	a := g.members[0]
	for _, from := range []node.Peer{g.members[1].self, {ID: "x", Addr: "x:1"}} {
		a.r.Receive(a, from, &message.LeaseHail{Group: "gates", Nonce: 7})
	}
	for _, o := range a.r.Take() {
		if o.Kind == SetDiffers {
			t.Errorf("%+v", o)
		}
	}
	if len(a.r.strangers) > 0 {
		t.Errorf("strangers: %v", a.r.strangers)
	}
}

// A member takes a later set once a majority of its own tells the very same one. Words on different sets do not add
// up, and a stranger's word does not count.
func TestOnlyOneSetIsCounted(t *testing.T) {
	g := newGroup([]string{"a", "b", "c", "d", "e"}, small(), 7)
	for _, h := range g.members {
		h.begin()
	}
	g.advance(time.Second)
	a := g.members[0]
	moves := func(h *message.LeaseHail, by ...node.Peer) bool {
		for _, p := range by {
			m := *h
			a.r.Receive(a, p, &m)
		}
		return a.r.moving != nil
	}
	told := func(seat, by int, to string) *message.LeaseHail {
		s := a.r.Set().Replaced(seat, by, to)
		return &message.LeaseHail{Group: "gates", Members: s.Members, Version: s.Version, Ordinals: s.Ordinals, Retired: s.Retired}
	}
	b, c, d := g.members[1].self, g.members[2].self, g.members[3].self
	x, stranger := told(4, 1, "x:1"), node.Peer{ID: "x", Role: node.RoleGate, Addr: "x:1"}
	if moves(x, b, b, stranger, b) || moves(told(4, 2, "x:1"), c) || moves(told(4, 1, "y:1"), d) || moves(x, c, stranger) {
		t.Errorf("it moves to %+v, and no majority tells that", a.r.moving)
	}
	if moves(told(3, 1, "x:1"), c) || moves(x, d) {
		t.Errorf("it moves to %+v, and one of the majority tells another set by now", a.r.moving)
	}
	if !moves(x, c) || !a.r.moving.Is(setOf(x)) {
		t.Errorf("three of five tell one set, and it moves to %+v", a.r.moving)
	}
}

func hostile(t *rapid.T) node.Message {
	number := rapid.OneOf(rapid.SampledFrom([]uint64{0, 1, 2, 3, epochEnd - 2, epochEnd - 1, epochEnd, 1<<64 - 1}), rapid.Uint64Range(0, 9))
	token := rapid.Custom(func(t *rapid.T) message.LeaseToken {
		return message.LeaseToken{Epoch: number.Draw(t, "epoch"), Ordinal: uint32(rapid.Uint64Range(0, 5).Draw(t, "ordinal"))}
	})
	life := rapid.Custom(func(t *rapid.T) message.LeaseLife {
		return rapid.SampledFrom([]message.LeaseLife{{}, {Incarnation: 1, Salt: 5}, contested()}).Draw(t, "life")
	})
	span := rapid.SampledFrom([]time.Duration{-1, 0, 1, time.Second, 10 * time.Second, LeaseMax, LeaseMax + 1, 1<<63 - 1})
	record := rapid.SampledFrom([][]byte{nil, {}, []byte("x"), make([]byte, RecordMax), make([]byte, RecordMax+1)})
	list := rapid.SliceOfN(number, 0, 5)
	job := rapid.Custom(func(t *rapid.T) message.JobID { return jobN(rapid.IntRange(0, 3).Draw(t, "job")) })
	yes := rapid.Bool()
	state := rapid.Custom(func(t *rapid.T) message.LeaseState {
		return message.LeaseState{Token: token.Draw(t, "token"), Life: life.Draw(t, "life"), Seq: number.Draw(t, "seq"), Rev: number.Draw(t, "rev"),
			Released: yes.Draw(t, "released"), Copied: yes.Draw(t, "copied"), Lease: span.Draw(t, "lease"), Record: record.Draw(t, "record")}
	})
	group := rapid.SampledFrom([]string{"gates", "gates", "gates", "dc1", ""}).Draw(t, "group")
	gens := rapid.OneOf(rapid.Just([]uint64{1, 1, 1}), list).Draw(t, "gens")
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		return &message.LeaseHail{Group: group, Members: rapid.SampledFrom([][]string{{"a:1", "b:1", "c:1"}, {"a:1"}, nil}).Draw(t, "members"),
			Standing: uint8(rapid.IntRange(0, 255).Draw(t, "standing")), Answer: yes.Draw(t, "answer"), Epoch: number.Draw(t, "epoch"), Nonce: number.Draw(t, "nonce")}
	case 1:
		return &message.LeaseJoinRead{Group: group, Nonce: number.Draw(t, "nonce")}
	case 2:
		return &message.LeaseJoinKnown{Group: group, Nonce: number.Draw(t, "nonce"), Known: number.Draw(t, "known"), Gens: gens}
	case 3:
		return &message.LeaseJoinSet{Group: group, Nonce: number.Draw(t, "nonce"), Generation: number.Draw(t, "generation"), After: job.Draw(t, "after")}
	case 4:
		return &message.LeaseJoinState{Group: group, Nonce: number.Draw(t, "nonce"), Gens: gens, Registers: []message.LeaseRegister{
			{Job: job.Draw(t, "job"), Promised: token.Draw(t, "promised"), Accepted: state.Draw(t, "accepted"), Reaped: yes.Draw(t, "reaped")}}}
	}
	f := &message.LeaseFrame{Group: group, Gens: gens}
	for range rapid.IntRange(1, 3).Draw(t, "entries") {
		j, tok, l := job.Draw(t, "job"), token.Draw(t, "token"), life.Draw(t, "life")
		switch rapid.IntRange(0, 7).Draw(t, "entry") {
		case 0:
			f.Prepares = append(f.Prepares, message.LeasePrepare{Job: j, Token: tok, Life: l, Consent: token.Draw(t, "consent")})
		case 1:
			f.Promises = append(f.Promises, message.LeasePromise{Job: j, Token: tok, Life: l, Accepted: state.Draw(t, "accepted")})
		case 2:
			f.Refusals = append(f.Refusals, message.LeaseRefusal{Job: j, Token: tok, Life: l, Promised: token.Draw(t, "promised"), Held: token.Draw(t, "held"), Left: span.Draw(t, "left")})
		case 3:
			f.Accepts = append(f.Accepts, message.LeaseAccept{Job: j, Token: tok, Life: l, Seq: number.Draw(t, "seq"), Rev: number.Draw(t, "rev"), Released: yes.Draw(t, "released"),
				Lease: span.Draw(t, "lease"), Record: record.Draw(t, "record"), Renewal: yes.Draw(t, "renewal"), Rest: rapid.OneOf(rapid.Just([]uint64{1, 1, 1}), list).Draw(t, "rest")})
		case 4:
			f.Accepteds = append(f.Accepteds, message.LeaseAccepted{Job: j, Token: tok, Life: l, Seq: number.Draw(t, "seq")})
		case 5:
			f.Queries = append(f.Queries, message.LeaseQuery{Job: j, Nonce: number.Draw(t, "nonce")})
		case 6:
			f.Answers = append(f.Answers, message.LeaseAnswer{Job: j, Nonce: number.Draw(t, "nonce"), Accepted: state.Draw(t, "accepted")})
		case 7:
			f.Consents = append(f.Consents, message.LeaseConsent{Job: j, Token: tok})
		}
	}
	return f
}

func TestValidateNamesEveryFault(t *testing.T) {
	c := small()
	c.Self, c.Members = "a:1", []node.Addr{"b:1", "a:1"}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	err := Config{Group: "a/b", Self: "x", Members: []node.Addr{"a", "a"}, DriftPPM: -1}.Validate()
	for _, k := range []string{"group", "members", "self", "lease", "attempt_timeout", "retry_min", "rank_wait", "tombstone_age", "granularity", "drift_ppm", "registers_max", "record_max"} {
		if err == nil || !strings.Contains(err.Error(), "lease."+k) {
			t.Errorf("no fault of lease.%s in %v", k, err)
		}
	}
}

// The figures of the document: L = 30 s, r = 1/100, g = 1 ms.
func TestWindowsOfTheDocument(t *testing.T) {
	c := Default()
	if got, want := c.Hold(), 29_699*time.Millisecond; got != want {
		t.Errorf("hold is %v, want %v", got, want)
	}
	if got, want := c.Guard(), 30_301*time.Millisecond; got != want {
		t.Errorf("guard is %v, want %v", got, want)
	}
}

// The window closes before the guard opens, at all clock rates within the bound.
func TestHoldEndsBeforeGuard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Default()
		c.Lease = time.Duration(rapid.Int64Range(int64(10*time.Millisecond), int64(LeaseMax)).Draw(t, "lease"))
		c.DriftPPM = rapid.Int64Range(0, 200_000).Draw(t, "drift")
		// Real time of the window on the slowest clock is H/(1-r), of the guard on
		// the fastest G/(1+r): compared with L, multiplied out.
		million := int64(1_000_000)
		h, g := int64(c.Hold()), int64(c.Guard())
		if h/(million-c.DriftPPM) > int64(c.Lease)/million || g/(million+c.DriftPPM) < int64(c.Lease)/million-1 {
			t.Fatalf("lease %v at %d ppm: hold %v, guard %v", c.Lease, c.DriftPPM, c.Hold(), c.Guard())
		}
	})
}

// A member that promises a token near the end of all keeps the promise, and its floor stays where
// it was: it still acquires other jobs.
func TestHighTokensRaiseNoFloor(t *testing.T) {
	g := three()
	a, b := g.members[0], g.members[1]
	prepare := message.LeasePrepare{Job: jobN(9), Token: message.LeaseToken{Epoch: epochEnd - 2, Ordinal: 2}, Life: message.LeaseLife{Incarnation: 1, Salt: 5}}
	a.r.Receive(a, b.self, &message.LeaseFrame{Group: "gates", Gens: []uint64{1, 1, 1}, Prepares: []message.LeasePrepare{prepare}})
	g.advance(30 * time.Second)
	a.r.Acquire(a, jobN(1), []byte("seed"))
	g.advance(time.Second)
	if _, ok := a.r.Holds(a.Now(), jobN(1)); !ok {
		t.Error("a is denied every job after a promise of a token near the end")
	}
}

// No promise makes a floor that leaves no token above it.
func TestFloorsLeaveTokens(t *testing.T) {
	f := floor{of: make([]uint64, 1)}
	if f.raise(floorMax+1) || f.own != 0 || !f.raise(floorMax) || f.own != floorMax {
		t.Errorf("a token above %d becomes a floor: %+v", uint64(floorMax), f)
	}
}
