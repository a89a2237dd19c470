package lease

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// prefixed reads records of these tests by their first word.
type prefixed struct{}

func (prefixed) Readable(_ message.JobID, b []byte) bool { return bytes.HasPrefix(b, []byte("record")) }

// deceived is a group of which c lies: a holds job 1, then c tells a and b something and is gone.
type deceived struct {
	*group
	a, b, c *host
	named   map[string]int // by what: how often c was named
	alarms  []string
}

func deceive(t tester) *deceived {
	c := small()
	c.Records = prefixed{}
	g := &deceived{group: newGroup([]string{"a", "b", "c"}, c, 7), named: map[string]int{}}
	g.a, g.b, g.c = g.members[0], g.members[1], g.members[2]
	g.watch = func(h *host, e node.Event) {
		switch e := e.(type) {
		case event.Implausible:
			if e.Peer != node.ID(g.c.self.Addr) {
				t.Errorf("%s names %s: %+v", h.name, e.Peer, e)
			}
			g.named[e.What]++
		case event.GroupAlarm:
			g.alarms = append(g.alarms, e.Reason)
		}
	}
	for _, h := range g.members {
		h.begin()
	}
	g.advance(time.Second)
	g.a.r.Acquire(g.a, jobN(1), []byte("record of 1"))
	g.advance(time.Second)
	return g
}

// lie delivers a message of c to a and b.
func (g *deceived) lie(m node.Message) {
	for _, h := range []*host{g.a, g.b} {
		h.r.Receive(h, g.c.self, m)
		h.drain()
	}
	g.advance(300 * time.Millisecond)
}

// tester is what rapid and testing have in common.
type tester interface {
	Errorf(string, ...any)
	Fatal(...any)
	Fatalf(string, ...any)
}

// goesOn checks that without c, a holds job 1 and writes its record, and b acquires another job.
func (g *deceived) goesOn(t tester) {
	g.c.crash(false)
	g.advance(2 * time.Second)
	for _, h := range []*host{g.a, g.b} {
		if !h.r.Speaks() {
			t.Fatalf("%s is silenced: %v", h.name, g.alarms)
		}
	}
	if _, holds := g.a.r.Holds(g.a.Now(), jobN(1)); !holds {
		g.advance(time.Minute) // at most until its lease has run out
		g.a.r.Acquire(g.a, jobN(1), nil)
		g.advance(10 * time.Second)
	}
	if _, holds := g.a.r.Holds(g.a.Now(), jobN(1)); !holds {
		t.Fatal("a does not get its job back")
	}
	if record := g.a.r.registers[jobN(1)].own.record; string(record) != "record of 1" {
		t.Fatalf("the record of job 1 is %q", record)
	}
	g.a.r.Update(g.a, jobN(1), []byte("record, later"), 9)
	g.b.r.Acquire(g.b, jobN(2), []byte("record of 2"))
	g.advance(5 * time.Second)
	if got := g.b.r.registers[jobN(1)].accepted.Record; string(got) != "record, later" {
		t.Fatalf("b has %q of job 1", got)
	}
	if _, holds := g.b.r.Holds(g.b.Now(), jobN(2)); !holds {
		t.Fatal("b gets no job")
	}
	for _, alarm := range g.alarms {
		if strings.Contains(alarm, "wipe") {
			t.Errorf("one member's word, and the operator reads: %s", alarm)
		}
	}
}

func frameOf(with func(*message.LeaseFrame)) *message.LeaseFrame {
	f := &message.LeaseFrame{Group: "gates", Gens: []uint64{1, 1, 1}}
	with(f)
	return f
}

func TestOneMembersWordEndsNothing(t *testing.T) {
	top := message.LeaseToken{Epoch: epochEnd - 2, Ordinal: 3}
	life := message.LeaseLife{Incarnation: 1, Salt: 9}
	accept := message.LeaseAccept{Job: jobN(1), Token: message.LeaseToken{Epoch: 2, Ordinal: 3}, Life: life, Lease: 10 * time.Second, Record: []byte("record of 1"), Rest: []uint64{0, 0, 0}}
	members := []string{"a:1", "b:1", "c:1"}
	for _, lie := range []struct {
		name  string
		what  string // that c is named for; "" if it is not
		times int
		m     node.Message
	}{
		{"a later epoch", "epoch", 1, &message.LeaseHail{Group: "gates", Members: members, Standing: uint8(member), Epoch: 1, Nonce: 5}},
		{"the last epoch", "epoch", 1, &message.LeaseHail{Group: "gates", Members: members, Standing: uint8(recovered), Epoch: 1 << 62, Nonce: 5}},
		{"a newer disk of each", "", 3, frameOf(func(f *message.LeaseFrame) { f.Gens = []uint64{2, 2, 1} })},
		{"the last generations", "generation", 1, frameOf(func(f *message.LeaseFrame) { f.Gens = []uint64{1<<62 - 1, 1<<62 - 1, 1} })},
		{"a generation of its own", "generation", 1, &message.LeaseJoinSet{Group: "gates", Nonce: 3, Generation: 1<<62 - 1}},
		{"a high floor", "floor", 20, frameOf(func(f *message.LeaseFrame) { f.Floor = floorMax })},
		{"the last token to promise", "token", 1, frameOf(func(f *message.LeaseFrame) {
			f.Prepares = []message.LeasePrepare{{Job: jobN(1), Token: top, Life: life, Consent: top}, {Job: jobN(2), Token: top, Life: life}}
		})},
		{"the last token to accept", "token", 1, frameOf(func(f *message.LeaseFrame) {
			m := accept
			m.Token = top
			f.Accepts = []message.LeaseAccept{m}
		})},
		{"a record that no member reads", "record", 1, frameOf(func(f *message.LeaseFrame) {
			m := accept
			m.Record = []byte("garbage")
			f.Accepts = []message.LeaseAccept{m}
		})},
		{"a lease of an hour", "", 1, frameOf(func(f *message.LeaseFrame) {
			m := accept
			m.Lease = time.Hour
			f.Accepts = []message.LeaseAccept{m}
		})},
		{"the last token as promised", "token", 1, frameOf(func(f *message.LeaseFrame) {
			f.Refusals = []message.LeaseRefusal{{Job: jobN(1), Token: message.LeaseToken{Epoch: 1, Ordinal: 1}, Promised: top}}
		})},
	} {
		t.Run(lie.name, func(t *testing.T) {
			g := deceive(t)
			for range lie.times {
				g.lie(lie.m)
			}
			if lie.what != "" && g.named[lie.what] == 0 {
				t.Errorf("no member names c for its %s: %v", lie.what, g.named)
			}
			g.goesOn(t)
		})
	}
}

// A member takes no record from a promise that its role cannot read, and none under a token above the one
// that it asked for.
func TestAPromiseThatNoMemberReads(t *testing.T) {
	for _, state := range []message.LeaseState{
		{Token: message.LeaseToken{Epoch: 1, Ordinal: 1}, Lease: time.Second, Record: []byte("garbage")},
		{Token: message.LeaseToken{Epoch: 9, Ordinal: 3}, Lease: time.Second, Record: []byte("record of the liar")},
	} {
		g := deceive(t)
		g.latency = func(from, to int, m node.Message) []time.Duration {
			if from == 0 && to == 1 {
				return []time.Duration{50 * time.Millisecond}
			}
			return []time.Duration{time.Millisecond}
		}
		g.b.r.Acquire(g.b, jobN(3), []byte("record of 3"))
		p := g.b.r.registers[jobN(3)].own
		g.lie(frameOf(func(f *message.LeaseFrame) {
			f.Promises = []message.LeasePromise{{Job: jobN(3), Token: p.token, Life: g.b.r.life, Accepted: state}}
		}))
		g.advance(time.Second)
		if got := g.a.r.registers[jobN(3)].accepted.Record; string(got) != "record of 3" {
			t.Errorf("%v: a has %q of job 3", state.Token, got)
		}
	}
}

// A majority's word silences a member of an old epoch, and only then the operator hears that its
// disk must go.
func TestAMajoritySaysThatAnEpochIsOver(t *testing.T) {
	g := deceive(t)
	hail := &message.LeaseHail{Group: "gates", Members: []string{"a:1", "b:1", "c:1"}, Standing: uint8(member), Epoch: 1, Nonce: 5}
	g.a.r.Receive(g.a, g.c.self, hail)
	if !g.a.r.Speaks() {
		t.Fatal("one member's word silences a")
	}
	g.a.r.Receive(g.a, g.b.self, hail)
	if g.a.r.Speaks() || len(g.alarms) != 2 || !strings.Contains(g.alarms[1], "2 of 3 members are at epoch 1") || !strings.Contains(g.alarms[1], "wipe") {
		t.Fatalf("a speaks: %v, alarms %q", g.a.r.Speaks(), g.alarms)
	}
}

// A member that has lost its disk joins again, whatever one of the others says of its former disks.
func TestALiarUsesUpNoGenerations(t *testing.T) {
	g := deceive(t)
	g.latency = func(from, to int, m node.Message) []time.Duration {
		if from == 2 {
			switch m := m.(type) {
			case *message.LeaseJoinKnown:
				m.Known = 1<<62 - 2
			case *message.LeaseJoinState:
				m.Floor = floorMax
			}
		}
		return []time.Duration{time.Millisecond}
	}
	g.b.crash(true)
	g.b.begin()
	g.advance(5 * time.Second)
	if !g.b.r.Speaks() || g.b.r.gens[1] > 3 || g.b.r.floor.own > tokenStep {
		t.Fatalf("b speaks: %v, its generation is %d, its floor %d", g.b.r.Speaks(), g.b.r.gens[1], g.b.r.floor.own)
	}
	g.goesOn(t)
}

// Whatever one member says, and how often, the two others go on without it.
func TestRandomLiesEndNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := deceive(t)
		g.clone = false
		for range rapid.IntRange(1, 12).Draw(t, "count") {
			m := hostile(t)
			if f, ok := m.(*message.LeaseFrame); ok {
				harmless(f)
			}
			g.lie(m)
		}
		g.alarms = nil
		g.goesOn(t)
	})
}

// harmless takes out what a member with a majority's tokens may do: it may take a register over.
func harmless(f *message.LeaseFrame) {
	f.Prepares, f.Consents = nil, nil
	for i := range f.Accepts {
		f.Accepts[i].Record = []byte("x")
		f.Accepts[i].Released = false
	}
}
