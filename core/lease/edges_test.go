package lease

import (
	"slices"
	"testing"
	"time"

	"hyperscale/core/message"
)

// three is a group whose members are all ready.
func three() *group {
	g := newGroup([]string{"a", "b", "c"}, small(), 1)
	for _, h := range g.members {
		h.begin()
	}
	g.advance(50 * time.Millisecond)
	return g
}

// A holder passes its own lease in this life and in a later one. A member that starts again
// with a lost disk may count its lives from the same number: it is another proposer.
func TestHolderPassesItsOwnLease(t *testing.T) {
	held := message.LeaseToken{Epoch: 5, Ordinal: 1}
	reg := &register{accepted: message.LeaseState{Token: held, Life: message.LeaseLife{Incarnation: 3, Salt: 30}}}
	for _, row := range []struct {
		name string
		m    message.LeasePrepare
		want bool
	}{
		{"this life", message.LeasePrepare{Token: message.LeaseToken{Epoch: 6, Ordinal: 1}, Life: message.LeaseLife{Incarnation: 3, Salt: 30}}, true},
		{"a later life", message.LeasePrepare{Token: message.LeaseToken{Epoch: 6, Ordinal: 1}, Life: message.LeaseLife{Incarnation: 4, Salt: 40}}, true},
		{"another life of the same number", message.LeasePrepare{Token: message.LeaseToken{Epoch: 6, Ordinal: 1}, Life: message.LeaseLife{Incarnation: 3, Salt: 31}}, false},
		{"an earlier life", message.LeasePrepare{Token: message.LeaseToken{Epoch: 6, Ordinal: 1}, Life: message.LeaseLife{Incarnation: 2, Salt: 20}}, false},
		{"another member", message.LeasePrepare{Token: message.LeaseToken{Epoch: 6, Ordinal: 2}, Life: message.LeaseLife{Incarnation: 9, Salt: 90}}, false},
		{"with the holder's consent", message.LeasePrepare{Token: message.LeaseToken{Epoch: 6, Ordinal: 2}, Consent: held}, true},
		{"with consent to an older one", message.LeasePrepare{Token: message.LeaseToken{Epoch: 6, Ordinal: 2}, Consent: message.LeaseToken{Epoch: 4, Ordinal: 1}}, false},
	} {
		if got := reg.mayPass(&row.m); got != row.want {
			t.Errorf("%s: may pass is %v, want %v", row.name, got, row.want)
		}
	}
}

// Of two reports of one register the merge takes the higher promise. A promise that two lives
// chose belongs to no life. It takes the latest accept, and the tombstone if one report has
// buried the token.
func TestMerge(t *testing.T) {
	low, high := message.LeaseToken{Epoch: 1, Ordinal: 1}, message.LeaseToken{Epoch: 2, Ordinal: 1}
	one, other := message.LeaseLife{Incarnation: 1, Salt: 1}, message.LeaseLife{Incarnation: 1, Salt: 2}
	state := func(t message.LeaseToken, seq uint64) message.LeaseState {
		return message.LeaseState{Token: t, Life: one, Seq: seq, Record: []byte("x")}
	}
	for _, row := range []struct {
		name       string
		a, b, want message.LeaseRegister // want.Accepted: its token and seq
	}{
		{"higher promise", message.LeaseRegister{Promised: low, Life: one}, message.LeaseRegister{Promised: high, Life: other}, message.LeaseRegister{Promised: high, Life: other}},
		{"same promise", message.LeaseRegister{Promised: low, Life: one}, message.LeaseRegister{Promised: low, Life: one}, message.LeaseRegister{Promised: low, Life: one}},
		{"promised to two lives", message.LeaseRegister{Promised: low, Life: one}, message.LeaseRegister{Promised: low, Life: other}, message.LeaseRegister{Promised: low, Life: contested()}},
		{"later seq", message.LeaseRegister{Accepted: state(low, 1)}, message.LeaseRegister{Accepted: state(low, 2)}, message.LeaseRegister{Accepted: state(low, 2)}},
		{"tombstone of the same token", message.LeaseRegister{Accepted: state(low, 2)}, message.LeaseRegister{Accepted: state(low, 1), Reaped: true}, message.LeaseRegister{Accepted: state(low, 1), Reaped: true}},
		{"tombstone of a lower token", message.LeaseRegister{Accepted: state(high, 0)}, message.LeaseRegister{Accepted: state(low, 9), Reaped: true}, message.LeaseRegister{Accepted: state(high, 0)}},
	} {
		for _, swapped := range []bool{false, true} {
			g := newGroup([]string{"a", "b", "c"}, small(), 1)
			h := g.members[0]
			h.begin()
			h.r.joining = &joining{only: -1, merged: map[message.JobID]*register{}}
			pages := []message.LeaseRegister{row.a, row.b}
			if swapped {
				slices.Reverse(pages)
			}
			for i := range pages {
				pages[i].Job = jobN(1)
				h.r.merge(h, &pages[i])
			}
			got, want := h.r.joining.merged[jobN(1)], &row.want
			if got.promised != want.Promised || got.promiser != want.Life || got.accepted.Token != want.Accepted.Token || got.accepted.Seq != want.Accepted.Seq || got.reaped != want.Reaped {
				t.Errorf("%s, swapped %v: got promised %v to %+v, accepted %v seq %d, reaped %v", row.name, swapped, got.promised, got.promiser, got.accepted.Token, got.accepted.Seq, got.reaped)
			}
			if copied := !want.Reaped && !want.Accepted.Token.Zero(); got.accepted.Copied != copied {
				t.Errorf("%s, swapped %v: copied is %v, want %v", row.name, swapped, got.accepted.Copied, copied)
			}
		}
	}
}

// Items that are due at one instant arrive in the order in which they were pushed.
func TestDueInOrder(t *testing.T) {
	var q dueQueue[int]
	for i := range 100 {
		q.push(7, i)
	}
	q.push(6, -1)
	for want := -1; want < 100; want++ {
		if got, _, ok := q.pop(7); !ok || got != want {
			t.Fatalf("got %d, %v, want %d", got, ok, want)
		}
	}
}

// The frame after a full one takes entries until it is full, too.
func TestFramesAreFilled(t *testing.T) {
	g := newGroup([]string{"a", "b"}, small(), 1)
	h := g.members[0]
	h.begin()
	for range 3 { // two fit
		h.r.sendAccept(h, 1, message.LeaseAccept{Job: jobN(1), Record: make([]byte, 400<<10)})
	}
	for i := range 10 {
		h.r.sendPrepare(h, 1, message.LeasePrepare{Job: jobN(i)})
	}
	if frames := h.r.out[1].frames; len(frames) != 2 || len(frames[0].Accepts) != 2 || len(frames[1].Prepares) != 10 {
		t.Errorf("%d frames", len(frames))
	}
}

// A tombstone survives a restart. A late accept revives nothing, a member that queries learns
// of the release, and the tombstone goes when it is old enough.
func TestTombstoneOutlivesARestart(t *testing.T) {
	c := small()
	c.TombstoneAge = time.Minute
	g := newGroup([]string{"a", "b", "c"}, c, 1)
	for _, h := range g.members {
		h.begin()
	}
	g.advance(50 * time.Millisecond)
	a, b := g.members[0], g.members[1]
	a.r.Acquire(a, jobN(1), []byte("seed"))
	g.advance(50 * time.Millisecond)
	life := a.r.life
	a.r.Release(a, jobN(1))
	g.advance(50 * time.Millisecond)
	b.r.Forget(b, jobN(1))
	g.advance(50 * time.Millisecond)
	b.crash(false)
	b.begin()
	g.advance(50 * time.Millisecond)
	reg := b.r.known(jobN(1))
	if reg == nil || !reg.reaped || !reg.accepted.Released || len(reg.accepted.Record) != 0 {
		t.Fatalf("after the restart the register is %+v", reg)
	}
	late := message.LeaseAccept{Job: jobN(1), Token: reg.accepted.Token, Life: life, Seq: reg.accepted.Seq + 1, Rev: reg.accepted.Seq + 1, Record: []byte("late")}
	b.r.onAccept(b, 0, &late)
	g.advance(50 * time.Millisecond)
	if !reg.reaped || len(reg.accepted.Record) != 0 {
		t.Errorf("a late accept has made it %+v", reg.accepted)
	}
	g.advance(2 * time.Minute)
	if b.r.registers[jobN(1)] != nil {
		t.Error("it is there two minutes later, and is kept for one")
	}
}

// A release reports every update that the role requested before it, with whichever record went
// out.
func TestReleaseTellsAllUpdates(t *testing.T) {
	g := newGroup([]string{"a", "b", "c"}, small(), 1)
	var tickets []uint64
	g.tell = func(_ *host, o Outcome) {
		if o.Kind == Updated {
			tickets = append(tickets, o.Ticket)
		}
	}
	for _, h := range g.members {
		h.begin()
	}
	g.advance(50 * time.Millisecond)
	a := g.members[0]
	a.r.Acquire(a, jobN(1), []byte("seed"))
	g.advance(50 * time.Millisecond)
	for ticket := range uint64(3) { // the first is open, the others wait
		a.r.Update(a, jobN(1), []byte{byte(ticket)}, ticket+1)
	}
	a.r.Release(a, jobN(1))
	g.advance(50 * time.Millisecond)
	if want := []uint64{1, 2, 3}; !slices.Equal(tickets, want) {
		t.Errorf("told of updates %v, want %v", tickets, want)
	}
}

// A majority of the set is alive with this member: it refuses to recover.
func TestNothingIsRecoveredBesideAMajority(t *testing.T) {
	g := three()
	a, c := g.members[0], g.members[2]
	c.crash(false)
	a.crash(false)
	a.config.Recover = true
	a.begin()
	g.advance(time.Minute)
	if epoch, speaks := a.r.Epoch(); epoch != 0 || !speaks {
		t.Errorf("epoch %d, speaks %v: want the old epoch, and to speak", epoch, speaks)
	}
}

// A register copied from others becomes the member's own once its holder has renewed it.
func TestRenewalEndsACopy(t *testing.T) {
	g := three()
	a, c := g.members[0], g.members[2]
	a.r.Acquire(a, jobN(1), []byte("seed"))
	g.advance(50 * time.Millisecond)
	c.crash(true)
	c.begin()
	g.advance(time.Second)
	if sight, ok := c.r.Seen(c.Now(), jobN(1)); !ok || !sight.Copied {
		t.Fatalf("after its disk was lost it sees %+v, %v: want a copy", sight, ok)
	}
	g.advance(5 * time.Second)
	if sight, ok := c.r.Seen(c.Now(), jobN(1)); !ok || sight.Copied {
		t.Errorf("after a renewal it sees %+v, %v: want no copy", sight, ok)
	}
}

// A member remembers the names of the records that it loaded only while it may erase them.
func TestMembersForgetWhatTheyLoaded(t *testing.T) {
	g := three()
	a := g.members[0]
	a.r.Acquire(a, jobN(1), []byte("seed"))
	g.advance(50 * time.Millisecond)
	a.crash(false)
	a.begin()
	if g.advance(50 * time.Millisecond); !a.r.Speaks() || len(a.r.writes.keys) != 0 {
		t.Errorf("speaks %v, and keeps %q", a.r.Speaks(), a.r.writes.keys)
	}
}
