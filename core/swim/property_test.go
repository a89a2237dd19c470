package swim

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// quiet is a started group alone in its world, and a way to reach it.
func quiet(change func(*Config)) (*nodetest.Env, *Group) {
	c := small()
	if change != nil {
		change(&c)
	}
	var group *Group
	w := nodetest.New(nodetest.Config{
		Self: node.Peer{ID: "a", Incarnation: 1, Role: node.RoleManager, Addr: "a:1"},
		New:  func() node.Machine { group = New(c); return host{Group: group} },
	})
	w.Discard = true
	w.Start()
	return w, group
}

func peer(id string) node.Peer {
	return node.Peer{ID: node.ID(id), Incarnation: 1, Role: node.RoleWorker, Addr: node.Addr(id + ":1")}
}

func gossip(from string, news ...message.SwimNews) (node.Peer, *message.SwimGossip) {
	return peer(from), &message.SwimGossip{Group: "dc1", Incarnation: firstOf(1), News: news}
}

// known returns what SWIM-1 is about: by name, the incarnation and whether it is alive, suspect
// or gone.
func known(g *Group) map[node.ID]string {
	all := map[node.ID]string{}
	for _, m := range g.Members() {
		all[m.ID] = fmt.Sprint(m.Incarnation, m.State.rank())
	}
	return all
}

// SWIM-1: in any order, any number of times, the same news give the same view.
func TestNewsConverge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		news := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) message.SwimNews {
			name := rapid.SampledFrom([]string{"m", "n", "o"}).Draw(t, "name")
			return message.SwimNews{
				Node: name, Addr: name + ":1", Role: uint8(node.RoleWorker), Incarnation: rapid.Uint64Range(1, 4).Draw(t, "incarnation"),
				State: rapid.Uint8Range(0, 3).Draw(t, "state"), By: rapid.SampledFrom([]string{"", "p", "q"}).Draw(t, "by"),
			}
		}), 1, 12).Draw(t, "news")
		other := slices.Concat(rapid.Permutation(news).Draw(t, "other"), rapid.SliceOfN(rapid.SampledFrom(news), 0, 6).Draw(t, "again"))
		tell := func(news []message.SwimNews) map[node.ID]string {
			w, g := quiet(nil)
			for _, n := range news {
				w.ReceiveDatagram(gossip("b", n))
			}
			return known(g)
		}
		if diff := cmp.Diff(tell(news), tell(other)); diff != "" {
			t.Fatalf("news %+v, then in another order (-first +other):\n%s", news, diff)
		}
	})
}

// SWIM-2: for any confirmations, the deadline never moves later, and never before the shortest
// time of a suspicion; the verdict follows it.
func TestDeadlineMovesEarlierOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.IntRange(0, 40).Draw(t, "members")
		w, g := quiet(nil)
		w.ReceiveDatagram(gossip("m"))
		for i := range members {
			w.ReceiveDatagram(gossip(fmt.Sprint("x", i)))
		}
		accuse := func(by string) {
			w.ReceiveDatagram(gossip("b", message.SwimNews{Node: "m", Addr: "m:1", Incarnation: firstOf(1), State: uint8(Suspect), By: by}))
		}
		accuse("p")
		i, _ := g.table.find("m")
		s := g.suspicion(i)
		last := s.deadline
		for _, step := range rapid.SliceOfN(rapid.IntRange(0, 9), 0, 40).Draw(t, "steps") {
			w.Advance(time.Duration(step) * 200 * time.Millisecond)
			if g.suspicion(i) == nil {
				break
			}
			accuse(fmt.Sprint("c", step))
			accuse("m") // a suspect does not testify against itself
			if s.deadline > last || s.deadline < s.since.Add(s.low) {
				t.Fatalf("the deadline moves from %v to %v, the least is %v after %v", last, s.deadline, s.low, s.since)
			}
			if len(s.confirmed) > s.needed || slices.Contains(s.confirmed, "m") {
				t.Fatalf("confirmed by %v, %d are needed", s.confirmed, s.needed)
			}
			last = s.deadline
			w.Advance(0) // it may have ended already, by the present knowledge
			if w.Now() > last && g.suspicion(i) != nil {
				t.Fatalf("no verdict at %v, the deadline was %v", w.Now(), last)
			}
		}
		w.Advance(max(0, last.Sub(w.Now())) + time.Millisecond)
		if m, _ := g.Find("m"); m.State != Dead || m.By != "p" {
			t.Fatalf("after its deadline m is %v by %q, want dead by p", m.State, m.By)
		}
	})
}

// SWIM-6: for any waiting news, a datagram has room for its header. No piece is sent more often
// than allowed, except to its subject.
func TestDatagramsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, g := quiet(nil)
		sends := map[string]int{}
		check := func(m node.Message, news []message.SwimNews, to string) {
			if m.Size() > bodyMax {
				t.Fatalf("%s of %d bytes, at most %d", message.Name(m.Kind()), m.Size(), bodyMax)
			}
			for _, n := range news {
				if n.Node != to {
					sends[fmt.Sprint(n.Node, n.Incarnation, n.State, n.By)]++
				}
			}
		}
		w.WatchDatagram = func(to node.Addr, m node.Message) {
			name := string(to[:len(to)-2])
			switch m := m.(type) {
			case *message.SwimProbe:
				check(m, m.News, name)
			case *message.SwimAck:
				check(m, m.News, name)
			case *message.SwimAsk:
				check(m, m.News, name)
			case *message.SwimGossip:
				check(m, m.News, name)
			}
		}
		g.SetState(make([]byte, stateMax))
		long := rapid.IntRange(1, idMax).Draw(t, "long")
		for i := range rapid.IntRange(1, 60).Draw(t, "members") {
			name := fmt.Sprintf("%0*d", long, i%30)
			w.ReceiveDatagram(peer(name), &message.SwimProbe{Group: "dc1", Sequence: 1, Target: "a", Incarnation: firstOf(1), News: []message.SwimNews{{
				Node: fmt.Sprintf("%0*d", long, (i+7)%30), Addr: name + ":1", Incarnation: firstOf(1), State: uint8(Suspect), By: name,
			}}})
			w.Advance(150 * time.Millisecond)
		}
		w.Advance(5 * time.Second)
		limit := sendsMax(g.config.GossipFactor, 40) + g.config.GossipFanout
		//lint:orderfree each is judged alone
		for what, n := range sends {
			if n > limit*2 { // a suspicion goes out again when another member confirms or raises it
				t.Fatalf("%s was sent %d times, at most %d", what, n, limit*2)
			}
		}
	})
}

func TestNewsAreToldByClassThenFewestSendsThenNewest(t *testing.T) {
	pieces := []piece{
		{class: classDead, born: 1}, {class: classSuspect, born: 2}, {class: classAlive, sends: 1, born: 3},
		{class: classAlive, born: 4}, {class: classAlive, born: 5}, {class: classLeave, sends: 3, born: 6}, {class: classJoin, sends: 9, born: 7},
	}
	slices.SortFunc(pieces, compare)
	var got []uint64
	for _, p := range pieces {
		got = append(got, p.born)
	}
	if diff := cmp.Diff([]uint64{7, 6, 5, 4, 3, 2, 1}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// The bound limits the cost of a list of a hundred thousand.
func TestListIsBounded(t *testing.T) {
	w, g := quiet(func(c *Config) { c.MembersMax, c.GossipMax = 500, 64 })
	on := w.Accept(peer("b"))
	for page := range 100 {
		news := make([]message.SwimNews, 1000)
		for i := range news {
			name := fmt.Sprint("m", page*1000+i)
			news[i] = message.SwimNews{Node: name, Addr: name + ":1", Incarnation: firstOf(1)}
		}
		w.Receive(on, &message.SwimList{Group: "dc1", Incarnation: firstOf(1), News: news, More: page < 99})
	}
	if got := len(g.Members()); got != 500 {
		t.Errorf("%d members, want the bound, 500", got)
	}
	if got := len(g.buffer.pieces); got > 64 {
		t.Errorf("%d pieces of news wait, at most 64", got)
	}
}

func TestLogarithmsAgreeWithFloats(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 4, 5, 7, 10, 31, 128, 1000, 10_000, 1 << 40, math.MaxUint32} {
		if got, want := float64(log2(n))/logUnit, math.Log2(float64(n)); math.Abs(got-want) > 2.0/logUnit {
			t.Errorf("log2(%d) = %v, want %v", n, got, want)
		}
	}
	for n := 1; n < 3000; n++ {
		if got, want := float64(log10Milli(n))/1000, max(1, math.Log10(float64(n))); math.Abs(got-want) > 0.0015 {
			t.Errorf("log10(%d) = %v, want %v", n, got, want)
		}
		if got, want := sendsMax(4, n), 4*int(math.Ceil(math.Log10(float64(n+1)))); got != want {
			t.Errorf("%d members: news are sent %d times, want %d", n, got, want)
		}
	}
	low, high := 8*time.Second, 30*time.Second
	for c, want := range []time.Duration{30 * time.Second, 19 * time.Second, 12565 * time.Millisecond, 8 * time.Second} {
		if got := shrunk(low, high, c, 3); got < want-2*time.Millisecond || got > want+2*time.Millisecond {
			t.Errorf("after %d of 3 confirmations: %v, want %v", c, got, want)
		}
	}
}

// Lifeguard 4.2 next to our formula, in a group of 128.
func TestSuspicionBounds(t *testing.T) {
	for _, r := range []struct {
		why        string
		config     Config
		multiplier int
		low, high  time.Duration
	}{
		{"plain: alpha log10 n, no spread", Plain(), 0, 10535 * time.Millisecond, 10535 * time.Millisecond},
		{"the paper: beta times that", Paper(), 0, 10535 * time.Millisecond, 63210 * time.Millisecond},
		{"ours: a shorter least, capped", Default(), 0, 6321 * time.Millisecond, 30 * time.Second},
		{"ours at its worst: thrice the time", Default(), 8, 18963 * time.Millisecond, 30 * time.Second},
	} {
		r.config.Group = "dc1"
		g := New(r.config)
		g.live, g.multiplier = 128, r.multiplier
		if low, high := g.bounds(g.live); low != r.low || high != r.high {
			t.Errorf("%s: from %v to %v, want %v to %v", r.why, low, high, r.low, r.high)
		}
	}
}

// The worse of local health and lag stretches timeouts, never both.
func TestScaling(t *testing.T) {
	for _, r := range []struct {
		scaling    Scaling
		multiplier int
		lag        time.Duration
		want       time.Duration
	}{
		{ScaleQuarter, 0, 0, time.Second}, {ScaleQuarter, 2, 0, 1500 * time.Millisecond}, {ScaleQuarter, 8, 0, 3 * time.Second},
		{ScaleQuarter, 2, time.Second, 1500 * time.Millisecond}, {ScaleQuarter, 2, 5 * time.Second, 3 * time.Second},
		{ScaleQuarter, 0, 499 * time.Millisecond, time.Second}, {ScaleQuarter, 0, 500 * time.Millisecond, 1250 * time.Millisecond},
		{ScaleQuarter, 0, 3999 * time.Millisecond, 2 * time.Second}, {ScaleQuarter, 0, 4 * time.Second, 3 * time.Second}, {ScalePaper, 8, 5 * time.Second, 9 * time.Second},
	} {
		c := small()
		c.Scaling = r.scaling
		g := New(c)
		g.multiplier, g.lag = r.multiplier, r.lag
		if got := g.scaled(time.Second); got != r.want {
			t.Errorf("scaling %d, multiplier %d, lag %v: %v, want %v", r.scaling, r.multiplier, r.lag, got, r.want)
		}
	}
}

// A new member waits for its first probe at most two rounds through the list.
func TestEverybodyIsProbed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, g := quiet(func(c *Config) { c.GossipFanout = 0 })
		probed := map[string]int{}
		rounds := 0
		var answers []*message.SwimAck
		w.WatchDatagram = func(_ node.Addr, m node.Message) {
			if p, ok := m.(*message.SwimProbe); ok {
				probed[p.Target] = rounds
				rounds++
				answers = append(answers, &message.SwimAck{Group: "dc1", Sequence: p.Sequence, Target: p.Target, Incarnation: firstOf(1)})
			}
		}
		advance := func(seconds int) {
			for range 10 * seconds {
				w.Advance(100 * time.Millisecond)
				for _, a := range answers {
					w.ReceiveDatagram(peer(a.Target), a)
				}
				answers = nil
			}
		}
		var joined []string
		for i := range rapid.IntRange(1, 20).Draw(t, "members") {
			name := fmt.Sprint("m", i)
			joined = append(joined, name)
			w.ReceiveDatagram(gossip(name))
			advance(rapid.IntRange(0, 3).Draw(t, "wait"))
		}
		advance(2*len(joined) + 1)
		for _, name := range joined {
			if at, ok := probed[name]; !ok || rounds-at > 2*len(joined)+1 {
				t.Fatalf("%s was last probed in round %d of %d, of %d members", name, at, rounds, len(joined))
			}
		}
		if m := g.Multiplier(); m != 0 {
			t.Fatalf("all answered, and the multiplier is %d", m)
		}
	})
}
