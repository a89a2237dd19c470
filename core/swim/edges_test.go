package swim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// meeting returns a group that has heard of some members, and a function that returns their
// places.
func meeting(t *testing.T, change func(*Config), names ...string) (*nodetest.Env, *Group, func(string) uint32) {
	w, g := quiet(change)
	for _, name := range names {
		w.ReceiveDatagram(gossip(name))
	}
	return w, g, func(name string) uint32 {
		i, known := g.table.find(node.ID(name))
		if !known {
			t.Fatalf("%s is not known", name)
		}
		return i
	}
}

func about(name string, s State, runs uint64) message.SwimNews {
	return message.SwimNews{Node: name, Addr: name + ":1", Incarnation: firstOf(runs), State: uint8(s), By: "b"}
}

// The sum that compares lists is that of the members, after any history.
func TestViewIsTheSumOfTheMembers(t *testing.T) {
	w, g, _ := meeting(t, nil, "b", "c", "d")
	for _, n := range []message.SwimNews{about("c", Suspect, 1), about("d", Dead, 1), about("c", Alive, 2), about("d", Alive, 2), about("e", Left, 1)} {
		w.ReceiveDatagram(gossip("b", n))
		view, live := g.table.records[0].portion(), 1
		for i := range g.table.records[1:] {
			if r := &g.table.records[i+1]; r.who != nil && !r.state.Gone() {
				view ^= r.portion()
				live++
			}
		}
		if g.view != view && g.view != view^g.table.records[0].portion() || g.live != live {
			t.Fatalf("after %+v: view %x of %d, the members come to %x of %d", n, g.view, g.live, view, live)
		}
	}
}

// Each tombstone goes when its own time is over: counted from the death, not from when this
// node learnt of it.
func TestTombstonesGoInTheirTurn(t *testing.T) {
	w, g, place := meeting(t, nil, "b", "c", "d", "e")
	for i, name := range []string{"c", "d", "e"} {
		n := about(name, Left, 1)
		n.Age = time.Duration(3-i) * time.Minute
		w.ReceiveDatagram(gossip("b", n))
		if end := g.end(place(name)); end == nil || end.since != g.started.Add(-n.Age) {
			t.Fatalf("%s has gone at %+v, want %v ago", name, end, n.Age)
		}
	}
	old := about("x", Dead, 1)
	old.Age = g.config.ReapAge
	w.ReceiveDatagram(gossip("b", old))
	if _, known := g.table.find("x"); known {
		t.Error("a tombstone is taken in that is as old as one may be")
	}
	w.Advance(g.config.ReapAge - 3*time.Minute)
	for gone := 1; gone <= 3; gone++ {
		for i, name := range []string{"c", "d", "e"} {
			if _, known := g.table.find(node.ID(name)); known != (i >= gone) {
				t.Errorf("%v after the first end of a tombstone %s is known: %v", time.Duration(gone-1)*time.Minute, name, known)
			}
		}
		w.Advance(time.Minute)
	}
}

// A hold begins at more than half of three, counts returned members as alive, and ends only
// well below half.
func TestHoldAtItsBounds(t *testing.T) {
	w, g, _ := meeting(t, nil, "b", "c")
	w.ReceiveDatagram(gossip("b", about("c", Dead, 1), about("b", Suspect, 1)))
	if !g.EvictionHold() {
		t.Error("two of three fail, and nothing is held")
	}
	w, g, _ = meeting(t, nil, "b", "c", "d", "e")
	w.ReceiveDatagram(gossip("b", about("c", Suspect, 1), about("d", Suspect, 1), about("e", Dead, 1)))
	if !g.EvictionHold() {
		t.Fatal("three of five fail, and nothing is held")
	}
	w.ReceiveDatagram(gossip("b", about("e", Alive, 2)))
	if !g.EvictionHold() || g.hold.recent != 0 {
		t.Errorf("two of five still fail, %d of them dead: held is %v", g.hold.recent, g.EvictionHold())
	}
	w.ReceiveDatagram(gossip("b", about("d", Alive, 2)))
	if g.EvictionHold() {
		t.Error("one of five fails, and it is held still")
	}
}

// A member that returns at another address before others missed it is found there.
func TestRestartElsewhere(t *testing.T) {
	w, g, place := meeting(t, nil, "b", "c")
	n := about("c", Alive, 2)
	n.Addr = "c:2"
	w.ReceiveDatagram(gossip("b", n))
	if got := g.member(place("c")).Addr; got != "c:2" {
		t.Errorf("c is looked for at %s", got)
	}
	i := place("c")
	g.learn(i, firstOf(2), 1, []byte("new"))
	g.learn(i, firstOf(1), 5, []byte("old"))
	if got := g.member(i).App; string(got) != "new" {
		t.Errorf("what a former run of c said counts: %q", got)
	}
}

// A full buffer drops the news that were sent most often.
func TestFullBufferLosesWhatIsKnown(t *testing.T) {
	_, g, place := meeting(t, func(c *Config) { c.GossipMax = 3 }, "b", "c", "d")
	for at := range g.buffer.pieces {
		g.buffer.pieces[at].sends = map[uint32]uint16{place("b"): 1, place("c"): 3, place("d"): 2}[g.buffer.pieces[at].place]
	}
	slices.SortFunc(g.buffer.pieces, func(a, b piece) int { return compare(b, a) })
	w, _ := quiet(nil)
	g.tell(w, 0, classAlive)
	if r := g.table.records; len(g.buffer.pieces) != 3 || !r[0].queued || !r[place("b")].queued || r[place("c")].queued || !r[place("d")].queued {
		t.Errorf("what waits to be told: %+v", g.buffer.pieces)
	}
}

// Only the answer to this round's probe ends the round, and with it the doubt whether this node
// is cut off.
func TestAnswersOfOtherRoundsCountForNothing(t *testing.T) {
	w, g, _ := meeting(t, nil, "b")
	for range 3 {
		w.Advance(g.config.ProbeInterval)
	}
	if !g.round.active || g.round.sequence < 2 {
		t.Fatalf("no second round: %+v", g.round)
	}
	g.silence = 2
	answer := func(sequence uint64) {
		w.ReceiveDatagram(peer("b"), &message.SwimAck{Group: "dc1", Sequence: sequence, Target: "b", Incarnation: firstOf(1)})
	}
	if answer(g.round.sequence - 1); g.round.acked || g.silence != 2 {
		t.Error("the answer to an earlier question counts")
	}
	if answer(g.round.sequence); !g.round.acked || g.silence != 0 {
		t.Errorf("answered %v, silent rounds %d", g.round.acked, g.silence)
	}
}

// A member that leaves the list does not move any other member's turn.
func TestTurnsAreKept(t *testing.T) {
	_, g, _ := meeting(t, nil, "b", "c", "d", "e")
	g.cursor = 2
	next := g.order[2]
	g.unlist(0)
	if got := g.order[g.cursor]; got != next {
		t.Errorf("it is the turn of place %d, want %d", got, next)
	}
}

// A relay ends with its answer, or a while after its nack.
func TestRelaysEnd(t *testing.T) {
	w, g := quiet(nil)
	w.ReceiveDatagram(gossip("b"))
	w.ReceiveDatagram(gossip("c"))
	denied := 0
	w.WatchDatagram = func(_ node.Addr, m node.Message) {
		if _, ok := m.(*message.SwimNack); ok {
			denied++
		}
	}
	ask := func(sequence uint64) uint64 {
		w.ReceiveDatagram(peer("b"), &message.SwimAsk{Group: "dc1", Sequence: sequence, Target: "c", Incarnation: firstOf(1), Nack: true})
		return g.sequence
	}
	own := ask(7)
	w.ReceiveDatagram(peer("c"), &message.SwimAck{Group: "dc1", Sequence: own, Target: "c", Incarnation: firstOf(1)})
	if len(g.relays) != 0 {
		t.Errorf("%d probes for others are answered and kept", len(g.relays))
	}
	ask(8)
	w.Advance(10 * time.Second)
	if denied != 1 || len(g.relays) != 0 {
		t.Errorf("denied %d times, want once; %d are kept", denied, len(g.relays))
	}
}

// A list goes out completely, in any number of pages. An exchange that hangs or breaks makes
// room for the next one.
func TestExchangesEndAndTellAll(t *testing.T) {
	w, g := quiet(nil)
	const members = pageNews + 100
	for i := range members {
		w.ReceiveDatagram(gossip(fmt.Sprint("m", i)))
	}
	compare := func() {
		w.ReceiveDatagram(peer("m1"), &message.SwimCompare{Group: "dc1", Incarnation: firstOf(1), View: 1, Answer: true})
	}
	compare()
	compare()
	if n := len(w.Opening()); n != 1 {
		t.Fatalf("%d exchanges at once", n)
	}
	told := 0
	w.WatchSend = func(_ node.StreamID, m node.Message) {
		if l, ok := m.(*message.SwimList); ok {
			told += len(l.News)
		}
	}
	w.Opened(w.Opening()[0], peer("m1"))
	if told != members+1 {
		t.Errorf("a list tells %d of %d members", told, members+1)
	}
	first := g.exchange.stream
	w.Break(first, "cut")
	compare()
	if g.exchange.stream == 0 || g.exchange.stream == first {
		t.Error("no exchange follows one that broke")
	}
	second := g.exchange.stream
	w.Advance(exchangeIntervals * g.config.ProbeInterval)
	compare()
	if g.exchange.stream == second {
		t.Error("an exchange that hangs is waited for without end")
	}
	w.Advance(exchangeIntervals*g.config.ProbeInterval + g.config.PushPullInterval)
	if g.exchange.stream != 0 {
		t.Error("an exchange that hangs keeps its stream until the lists differ again")
	}
}

// A death that this node knows only from a list goes to the member itself as a death: the member
// then recants its own verdicts, and a suspicion would not make it.
func TestADoubtedMemberLearnsItsDeath(t *testing.T) {
	w, _, _ := meeting(t, func(c *Config) { c.Additions = Default().Additions }, "b", "c")
	var told []message.SwimNews
	w.WatchDatagram = func(to node.Addr, m node.Message) {
		if g, ok := m.(*message.SwimGossip); ok && to == "c:1" {
			told = append(told, g.News...)
		}
	}
	w.Receive(w.Accept(peer("b")), &message.SwimList{Group: "dc1", Incarnation: firstOf(1), News: message.SwimNewsList{about("c", Dead, 1)}})
	if len(told) != 1 || told[0].Node != "c" || State(told[0].State) != Dead {
		t.Errorf("c learns %+v, want its death", told)
	}
}
