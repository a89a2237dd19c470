package swim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// told sends all waiting news.
func told(g *Group) {
	for _, p := range g.buffer.pieces {
		g.table.records[p.place].queued = false
	}
	g.buffer.pieces = nil
}

// A member that still spreads a suspicion long refuted learns of the refutation. While the
// refutation is on its way, this node does not correct the sender.
func TestWhoeverMissedARefutationIsTold(t *testing.T) {
	w, g := quiet(nil)
	alive := message.SwimNews{Node: "m", Addr: "m:1", Incarnation: firstOf(1) + 1}
	old := message.SwimNews{Node: "m", Incarnation: firstOf(1), State: uint8(Suspect), By: "b"}
	w.ReceiveDatagram(gossip("b", alive))
	answers := 0
	w.WatchDatagram = func(to node.Addr, m node.Message) {
		if a, ok := m.(*message.SwimGossip); ok && to == "b:1" && len(a.News) == 1 && a.News[0].Incarnation == alive.Incarnation {
			answers++
		}
	}
	w.ReceiveDatagram(gossip("b", old))
	if answers != 0 {
		t.Errorf("b was told at once %d times, though the refutation still waits to be told", answers)
	}
	told(g)
	w.ReceiveDatagram(gossip("b", old))
	if answers != 1 {
		t.Errorf("b told an old suspicion, and was told otherwise %d times, want once", answers)
	}
	if m, _ := g.Find("m"); m.State != Alive {
		t.Errorf("m is %v by old news", m.State)
	}
}

// A suspicion that this node hears while it waits counts as sent; a refutation does not.
func TestEchoesAreNotToldAgain(t *testing.T) {
	w, g := quiet(func(c *Config) { c.GossipFanout = 0 })
	suspicion := message.SwimNews{Node: "m", Addr: "m:1", Incarnation: firstOf(1), State: uint8(Suspect), By: "c"}
	refuted := message.SwimNews{Node: "m", Addr: "m:1", Incarnation: firstOf(1) + 1}
	for range 4 {
		w.ReceiveDatagram(gossip("b", suspicion))
	}
	sends := func() uint16 {
		for _, p := range g.buffer.pieces {
			if i, _ := g.table.find("m"); p.place == i {
				return p.sends
			}
		}
		return 0
	}
	if got := sends(); got != 3 {
		t.Errorf("heard four times, the suspicion counts as told %d times, want 3", got)
	}
	for range 4 {
		w.ReceiveDatagram(gossip("b", refuted))
	}
	if got := sends(); got != 0 {
		t.Errorf("the refutation counts as told %d times, want 0", got)
	}
}

// News of another incarnation carry no address, so alone they do not make the member alive;
// news of the same incarnation do.
func TestNewsWithoutAnAddress(t *testing.T) {
	w, g := quiet(nil)
	w.ReceiveDatagram(gossip("m"))
	tell := func(incarnation uint64) Member {
		w.ReceiveDatagram(gossip("b", message.SwimNews{Node: "m", Incarnation: incarnation}, message.SwimNews{Node: "x", Incarnation: incarnation}))
		m, _ := g.Find("m")
		return m
	}
	if m := tell(firstOf(1) + 7); m.Incarnation != firstOf(1)+7 || m.Addr != "m:1" {
		t.Errorf("m refuted, and is %+v", m)
	}
	if m := tell(firstOf(2)); m.Incarnation != firstOf(1)+7 {
		t.Errorf("m runs again nobody knows where, and is %+v", m)
	}
	if _, known := g.Find("x"); known {
		t.Error("x is known, and not where it is")
	}
}

// A node's application state goes with probes while it may be new to their receivers, and with
// answers to members that lack it.
func TestStateIsToldToThoseWhoDoNotHaveIt(t *testing.T) {
	w, g := quiet(nil)
	w.ReceiveDatagram(gossip("b"))
	probes, answers := map[uint64]int{}, map[uint64]int{}
	w.WatchDatagram = func(_ node.Addr, m node.Message) {
		switch m := m.(type) {
		case *message.SwimProbe:
			probes[m.Version]++
			w.ReceiveDatagram(peer("b"), &message.SwimAck{Group: "dc1", Sequence: m.Sequence, Target: "b", Incarnation: firstOf(1)})
		case *message.SwimAck:
			answers[m.Version]++
		}
	}
	g.SetState([]byte("x"))
	w.Advance(10 * time.Second)
	if probes[1] < 1 || probes[1] > 2 || probes[0] < 6 {
		t.Errorf("probes by the version that they tell: %v, want 1 or 2 of version 1, then none", probes)
	}
	for _, known := range []uint64{0, 1, 1} {
		w.ReceiveDatagram(peer("b"), &message.SwimProbe{Group: "dc1", Sequence: 9, Target: "a", Incarnation: firstOf(1), Known: known})
	}
	if answers[1] != 1 || answers[0] != 2 {
		t.Errorf("answers by the version that they tell: %v, want version 1 once, to whom has none", answers)
	}
}

// A suspect that probes learns of the suspicion with the answer, and can refute it.
func TestAnswersTellASuspect(t *testing.T) {
	w, g := quiet(nil)
	for _, name := range []string{"b", "c", "d"} {
		w.ReceiveDatagram(gossip(name))
	}
	w.ReceiveDatagram(gossip("b", message.SwimNews{Node: "c", Incarnation: firstOf(1), State: uint8(Suspect), By: "b"}))
	if i, _ := g.table.find("c"); g.suspicion(i) == nil {
		t.Fatal("c is not suspected")
	}
	told := false
	w.WatchDatagram = func(_ node.Addr, m node.Message) {
		if a, ok := m.(*message.SwimAck); ok {
			told = len(a.News) > 0 && a.News[0].Node == "c" && State(a.News[0].State) == Suspect
		}
	}
	w.ReceiveDatagram(peer("c"), &message.SwimProbe{Group: "dc1", Sequence: 9, Target: "a", Incarnation: firstOf(1)})
	if !told {
		t.Error("the answer to a suspect says nothing of the suspicion")
	}
}

// A suspect that answers after the round has just woken up, and hears of the suspicion at once.
// An answer to a relay goes to its origin.
func TestLateAnswersTellASuspect(t *testing.T) {
	w, g := quiet(nil)
	for _, name := range []string{"b", "c", "d"} {
		w.ReceiveDatagram(gossip(name))
	}
	told := 0
	w.WatchDatagram = func(to node.Addr, m node.Message) {
		if n, ok := m.(*message.SwimGossip); ok && to == "c:1" && len(n.News) == 1 && n.News[0].Node == "c" && State(n.News[0].State) == Suspect {
			told++
		}
	}
	answer := func(sequence uint64) {
		w.ReceiveDatagram(peer("c"), &message.SwimAck{Group: "dc1", Sequence: sequence, Target: "c", Incarnation: firstOf(1)})
	}
	answer(77)
	if told != 0 {
		t.Error("c is alive, and hears of a suspicion")
	}
	w.ReceiveDatagram(gossip("b", message.SwimNews{Node: "c", Incarnation: firstOf(1), State: uint8(Suspect), By: "b"}))
	answer(77)
	if told != 1 {
		t.Errorf("a late answer of a suspect tells it %d times of the suspicion, not once", told)
	}
	w.ReceiveDatagram(peer("d"), &message.SwimAsk{Group: "dc1", Sequence: 9, Target: "c", Incarnation: firstOf(1)})
	answer(g.sequence)
	if told != 1 || len(g.relays) != 0 {
		t.Errorf("an answer to a relay tells it again: %d", told)
	}
}

// A restart resets a member's application state: its next incarnation may have none.
func TestStateEndsWithItsLife(t *testing.T) {
	w, g := quiet(nil)
	sequence := uint64(0)
	say := func(life, version uint64, state string) {
		sequence++
		w.ReceiveDatagram(peer("b"), &message.SwimProbe{Group: "dc1", Sequence: sequence, Target: "a", Incarnation: firstOf(life), Version: version, State: []byte(state)})
	}
	said := func() string {
		i, _ := g.table.find("b")
		return string(g.member(i).App)
	}
	say(1, 2, "drained")
	if got := said(); got != "drained" {
		t.Fatalf("got %q want what the member says", got)
	}
	say(2, 0, "")
	if got := said(); got != "" {
		t.Errorf("got %q after a restart, want nothing: the next life has said nothing", got)
	}
	say(2, 1, "new")
	if got := said(); got != "new" {
		t.Errorf("got %q want what the next life says, though its version is lower", got)
	}
}

// A node whose verdict is late asks the suspect once more: it may have lost the refutation.
func TestLateVerdictAsksTheSuspect(t *testing.T) {
	w, g := quiet(nil)
	for _, name := range []string{"b", "c", "d"} {
		w.ReceiveDatagram(gossip(name))
	}
	w.ReceiveDatagram(gossip("b", message.SwimNews{Node: "c", Incarnation: firstOf(1), State: uint8(Suspect), By: "b"}))
	i, _ := g.table.find("c")
	s := g.suspicion(i)
	if s == nil {
		t.Fatal("c is not suspected")
	}
	s.deadline = w.Now()
	s.due = w.Now().Add(-time.Minute)
	w.Discard = false
	w.Take()
	g.onSuspicion(w, i)
	if said := w.Take(); !strings.Contains(said, "-> c:1 (datagram) SwimGossip") || g.table.records[i].state != Suspect {
		t.Errorf("c is %v, and this was said:\n%s", g.table.records[i].state, said)
	}
	if g.onSuspicion(w, i); g.table.records[i].state != Dead {
		t.Errorf("c is %v after the verdict that was put off", g.table.records[i].state)
	}
}

// In a group of two no other member needs news of the peer, which knows them.
func TestPairKeepsNoNewsOfEachOther(t *testing.T) {
	w, g := quiet(nil)
	w.ReceiveDatagram(gossip("b"))
	i, _ := g.table.find("b")
	g.tell(w, i, classAlive)
	for range sendsMax(g.config.GossipFactor, g.live) {
		if news := g.letter(w, i, false, &message.SwimAck{}); len(news) > 0 {
			t.Fatalf("b is told of itself: %v", news)
		}
	}
	if n := g.Waiting(); n > 0 {
		t.Errorf("%d pieces of news wait for ever", n)
	}
}

// However many joins wait, they are sent so seldom that a buffer is soon empty, and each at least once.
// A few are sent as often as any news, and a suspicion always is.
func TestAThousandJoinsAreSentLessOften(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		joins := rapid.OneOf(rapid.IntRange(1, joinsMany-2), rapid.IntRange(joinsMany, 3000)).Draw(t, "joins")
		w, g := quiet(func(c *Config) { c.GossipFanout = 0 })
		for i := range joins {
			w.ReceiveDatagram(gossip(fmt.Sprint("m", i)))
		}
		accused := about("m0", Suspect, 1)
		w.ReceiveDatagram(gossip("m0", accused))
		all := sendsMax(g.config.GossipFactor, g.live)
		for _, c := range []class{classLeave, classAlive, classSuspect, classDead} {
			if got := g.limits().of(c); got != all {
				t.Fatalf("news of class %d are sent %d times beside %d joins, want %d", c, got, joins, all)
			}
		}
		sent, total := map[string]int{}, 0
		for letters := 0; g.Waiting() > 0; letters++ {
			if letters > 3000 {
				t.Fatalf("after %d letters %d pieces of news wait", letters, g.Waiting())
			}
			for _, n := range g.fill(w, nil, bodyMax-20, parcel{times: 1}) {
				sent[n.Node]++
				total++
			}
		}
		if sent["m0"] != all {
			t.Fatalf("a suspicion is sent %d times beside %d joins, want %d", sent["m0"], joins, all)
		}
		if len(sent) != joins {
			t.Fatalf("%d of %d members are sent", len(sent), joins)
		}
		most, least := all*joinsMany+2*joins, all*joins
		for n := joinsMany; n < joins; n *= 2 {
			most, least = most+all*joinsMany, joins
		}
		if total < least || total > most {
			t.Fatalf("%d joins are sent %d times, want %d to %d", joins, total, least, most)
		}
	})
}
