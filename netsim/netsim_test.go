package netsim_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/node"
	"hyperscale/netsim"
)

// note is a message with a lane and a number that a test chooses.
type note struct {
	lane   node.Priority
	number int
}

func (note) Kind() node.Kind           { return 1 }
func (n note) Priority() node.Priority { return n.lane }
func (note) Size() int                 { return 100 }
func (note) Full() node.Full {
	return node.Keep
}
func (note) Subject() uint64 {
	return 0
}
func (n note) Digest() uint64 { return uint64(n.number) }

func network(change func(*netsim.Config)) *netsim.Network {
	c := netsim.Default()
	change(&c)
	return netsim.New(c, node.NewRand(1, "test", node.PurposeNetwork))
}

// count sends datagrams one after the other and counts what happens to them.
func count(n *netsim.Network, from, to netsim.Host, sent int) (arrived, doubled, late, reordered int) {
	last := time.Duration(0)
	for i := range sent {
		now := time.Duration(i) * time.Millisecond
		d := n.Datagram(now, from, to, 100)
		arrived += min(1, d.Count)
		doubled += max(0, d.Count-1)
		if d.Count == 0 {
			continue
		}
		if d.At[0]-now >= netsim.Default().LateMin {
			late++
		} else {
			if d.At[0] < last {
				reordered++
			}
			last = max(last, d.At[0])
		}
	}
	return arrived, doubled, late, reordered
}

func near(t *testing.T, what string, got, want int) {
	t.Helper()
	if got < want*9/10 || got > want*11/10 {
		t.Errorf("%s: got %d, want about %d", what, got, want)
	}
}

func TestChancesArePartsPerMillion(t *testing.T) {
	n := network(func(c *netsim.Config) {
		c.Far.Loss, c.Far.Duplicate, c.Far.Late = 200_000, 300_000, 50_000
	})
	a, b := n.Add("x"), n.Add("y")
	arrived, doubled, late, _ := count(n, a, b, 10_000)
	near(t, "arrived", arrived, 8000)
	near(t, "doubled", doubled, 2400)
	near(t, "late", late, 400)
	if arrived, doubled, late, reordered := count(n, a, a, 1000); arrived != 1000 || doubled+late+reordered != 0 {
		t.Errorf("within a place: %d arrived, %d doubled, %d late, %d reordered, want 1000 in order", arrived, doubled, late, reordered)
	}
}

func TestReorderedDatagramsAreOvertaken(t *testing.T) {
	n := network(func(c *netsim.Config) { c.Near.Reorder = 100_000 })
	a, b := n.Add("x"), n.Add("x")
	if _, _, _, reordered := count(n, a, b, 1000); reordered < 50 {
		t.Errorf("%d of 1000 were overtaken, want about a tenth", reordered)
	}
}

func TestPairsHaveLinksOfTheirOwn(t *testing.T) {
	n := network(func(c *netsim.Config) {
		c.Near.Jitter, c.Far.Jitter = 0, 0
		c.Pairs = []netsim.Pair{{From: "x", To: "z", Link: netsim.Link{Latency: time.Second, Bandwidth: 1 << 40}}}
	})
	x, y, z := n.Add("x"), n.Add("y"), n.Add("z")
	for _, way := range []struct {
		from, to netsim.Host
		want     time.Duration
	}{{x, x, 200 * time.Microsecond}, {x, y, 20 * time.Millisecond}, {x, z, time.Second}, {z, x, 20 * time.Millisecond}} {
		if d := n.Datagram(time.Hour, way.from, way.to, 0); d.At[0]-time.Hour != way.want {
			t.Errorf("%d to %d: took %v, want %v", way.from, way.to, d.At[0]-time.Hour, way.want)
		}
	}
}

func TestBandwidthIsAQueueThatEnds(t *testing.T) {
	n := network(func(c *netsim.Config) { c.Near = netsim.Link{Bandwidth: 10_000} })
	a, b := n.Add("x"), n.Add("x")
	var took []time.Duration
	for range 25 {
		if d := n.Datagram(0, a, b, 100); d.Count > 0 {
			took = append(took, d.At[0])
		}
	}
	if len(took) != 20 || took[0] != 10*time.Millisecond || took[19] != 200*time.Millisecond {
		t.Errorf("got %v, want one each 10 ms, and none that waits longer than 200 ms", took)
	}
}

// A rule makes a link slower while it is in force, and none makes one faster.
func TestARuleBoundsTheBandwidth(t *testing.T) {
	n := network(func(c *netsim.Config) { c.Near = netsim.Link{Bandwidth: 10_000} })
	a, b := n.Add("x"), n.Add("x")
	rule := func(bandwidth uint64) *netsim.Rule {
		return &netsim.Rule{From: netsim.SetOf(a), To: netsim.SetOf(b), Bandwidth: bandwidth}
	}
	took := func(now time.Duration) time.Duration { return n.Datagram(now, a, b, 100).At[0] - now }
	slow, fast := rule(1_000), rule(1_000_000)
	for i, row := range []struct {
		change func()
		want   time.Duration
	}{
		{func() { n.Impose(fast) }, 10 * time.Millisecond}, {func() { n.Impose(slow) }, 100 * time.Millisecond},
		{func() { n.Lift(fast) }, 100 * time.Millisecond}, {func() { n.Lift(slow) }, 10 * time.Millisecond},
	} {
		row.change()
		if got := took(time.Duration(i+1) * time.Second); got != row.want {
			t.Errorf("after change %d a datagram of 100 bytes takes %v, want %v", i, got, row.want)
		}
	}
}

func TestRulesCutWhatTheySay(t *testing.T) {
	n := network(func(*netsim.Config) {})
	a, b, c := n.Add("x"), n.Add("x"), n.Add("x")
	oneWay := &netsim.Rule{From: netsim.SetOf(a), To: netsim.SetOf(b), Cut: true}
	n.Impose(oneWay)
	flap := &netsim.Rule{From: netsim.SetOf(b), To: netsim.SetOf(c), Both: true, Cut: true, Flap: time.Second, Since: 10 * time.Second}
	n.Impose(flap)
	for _, row := range []struct {
		now      time.Duration
		from, to netsim.Host
		want     bool
	}{
		{10 * time.Second, a, b, false}, {10 * time.Second, b, a, true}, {10 * time.Second, a, a, true}, {10 * time.Second, a, c, true},
		{10 * time.Second, b, c, false}, {10 * time.Second, c, b, false}, {11 * time.Second, b, c, true}, {12 * time.Second, b, c, false},
	} {
		if got := n.Passes(row.now, row.from, row.to); got != row.want {
			t.Errorf("at %v from %d to %d: passes %v, want %v", row.now, row.from, row.to, got, row.want)
		}
	}
	n.Lift(oneWay)
	if !n.Passes(0, a, b) {
		t.Error("the way is cut after the rule was lifted")
	}
}

func TestConfigNamesWhatIsWrong(t *testing.T) {
	c := netsim.Default()
	if err := c.Validate(); err != nil {
		t.Fatalf("the default is refused: %v", err)
	}
	c.Near.Bandwidth, c.Far.Loss, c.LateMax = 0, 2_000_000, 0
	err := c.Validate()
	for _, want := range []string{"network.near.bandwidth = 0", "network.far: chance 2000000", "late 2s to 0s"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to name %q", err, want)
		}
	}
}

// end is what one side of a stream saw, and what it sent.
type end struct {
	opened, broken, closed bool
	sent                   [node.Priorities]int
	got                    [node.Priorities]int
}

// play is a world with one stream at a time, and a sorted slice as its queue.
type play struct {
	t       *rapid.T
	net     *netsim.Network
	streams *netsim.Streams
	hosts   [2]netsim.Host
	now     time.Duration
	queue   []netsim.Action
	conn    netsim.ConnID
	ends    [2]end
	cut     *netsim.Rule
	accepts bool
	gentle  bool // nothing but a close ended this stream
}

func (p *play) drain() {
	p.queue = append(p.queue, p.streams.Out...)
	p.streams.Out = p.streams.Out[:0]
	slices.SortStableFunc(p.queue, func(a, b netsim.Action) int { return int(max(-1, min(1, a.At-b.At))) })
}

func (p *play) run(d time.Duration) {
	until := p.now + d
	for p.drain(); len(p.queue) > 0 && p.queue[0].At <= until; p.drain() {
		a := p.queue[0]
		p.queue = p.queue[1:]
		p.now = max(p.now, a.At)
		if p.streams.Happens(p.now, &a) {
			p.happen(&a)
		}
	}
	p.now = until
}

func (p *play) happen(a *netsim.Action) {
	id := a.Stream.Of(a.Side)
	e := &p.ends[a.Side]
	if a.Kind != netsim.ActionSyn && (e.closed || e.broken) {
		p.t.Fatalf("side %d is told %d after it closed or broke", a.Side, a.Kind)
	}
	switch a.Kind {
	case netsim.ActionSyn:
		if !p.accepts {
			p.streams.Refuse(p.now, a.Stream, "no")
			e.broken = true
		} else if p.streams.Accept(p.now, a.Stream, node.Peer{ID: "b"}) {
			p.open(e, a.Side)
		}
	case netsim.ActionOpened:
		p.open(e, a.Side)
	case netsim.ActionBroken:
		e.broken = true
		if !p.streams.Told(id) {
			p.t.Fatalf("side %d must not be told of the break", a.Side)
		}
	case netsim.ActionMessage:
		n := a.Message.(note)
		if !e.opened {
			p.t.Fatalf("side %d got a message before the stream opened", a.Side)
		}
		if n.number != e.got[n.lane] {
			p.t.Fatalf("side %d got %d in lane %d, want %d", a.Side, n.number, n.lane, e.got[n.lane])
		}
		e.got[n.lane]++
	}
}

func (p *play) open(e *end, side uint8) {
	if e.opened {
		p.t.Fatalf("side %d was opened twice", side)
	}
	e.opened = true
}

func TestStreamsKeepTheirOrderWhateverHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := netsim.Default()
		c.Far.Loss = rapid.SampledFrom([]uint32{0, 300_000}).Draw(t, "loss")
		n := netsim.New(c, node.NewRand(rapid.Uint64().Draw(t, "seed"), "net", node.PurposeNetwork))
		p := &play{t: t, net: n, streams: netsim.NewStreams(n), accepts: true}
		p.hosts = [2]netsim.Host{n.Add("x"), n.Add("y")}
		p.reopen()
		t.Repeat(map[string]func(*rapid.T){
			"send": func(t *rapid.T) { p.send(t, rapid.Uint8Range(0, 1).Draw(t, "side")) },
			"both": func(t *rapid.T) { p.send(t, 0); p.send(t, 1) },
			"end": func(t *rapid.T) {
				if rapid.IntRange(0, 3).Draw(t, "really") == 0 {
					p.end(t, rapid.Uint8Range(0, 1).Draw(t, "side"))
				}
			},
			"cut": func(t *rapid.T) {
				p.gentle = false
				if p.cut == nil {
					p.cut = &netsim.Rule{From: netsim.SetOf(p.hosts[0]), To: netsim.SetOf(p.hosts[1]), Both: rapid.Bool().Draw(t, "both"), Cut: true}
					n.Impose(p.cut)
				} else {
					n.Lift(p.cut)
					p.cut = nil
				}
			},
			"wait":   func(t *rapid.T) { p.run(time.Duration(rapid.IntRange(0, 15000).Draw(t, "ms")) * time.Millisecond) },
			"pass":   func(t *rapid.T) { p.run(time.Duration(rapid.IntRange(0, 50).Draw(t, "ms")) * time.Millisecond) },
			"reopen": func(t *rapid.T) { p.settle(); p.accepts = rapid.IntRange(0, 9).Draw(t, "accepts") > 0; p.reopen() },
		})
		p.settle()
	})
}

func (p *play) send(t *rapid.T, side uint8) {
	e := &p.ends[side]
	if e.closed || e.broken || side == 1 && !e.opened {
		return
	}
	for _, n := range rapid.SliceOfN(rapid.IntRange(0, node.Priorities-1), 1, 8).Draw(t, "lanes") {
		lane := node.Priority(n)
		p.streams.Send(p.now, p.conn.Of(side), note{lane, e.sent[lane]}, 0, 100)
		e.sent[lane]++
	}
}

// end ends the stream in one of all possible ways.
func (p *play) end(t *rapid.T, side uint8) {
	e := &p.ends[side]
	how := rapid.SampledFrom([]string{"close", "close", "break", "half-open", "crash"}).Draw(t, "how")
	p.gentle = p.gentle && how == "close" && e.opened
	switch how {
	case "close":
		if side == 0 || e.opened {
			p.streams.Close(p.now, p.conn, side)
			e.closed = true
		}
	case "break":
		p.streams.Break(p.now, p.conn, side, "test")
	case "half-open":
		p.streams.HalfOpen(p.now, p.conn, side, rapid.Bool().Draw(t, "never"), "test")
	case "crash":
		p.streams.Crash(p.now, p.hosts[side], func() bool { return rapid.Bool().Draw(t, "lose") })
		e.closed = e.closed || side == 0 || e.opened
	}
}

func (p *play) reopen() {
	p.gentle = true
	p.ends = [2]end{}
	id := p.streams.Open(p.now, p.hosts[0], node.Peer{ID: "a"}, p.hosts[1])
	p.conn, _ = netsim.End(id)
}

// settle repairs the network and waits. No action may be left, and no message lost without a
// break. A side that neither broke nor closed has all that the other side sent before it broke
// or closed.
func (p *play) settle() {
	if p.cut != nil {
		p.net.Lift(p.cut)
		p.cut = nil
	}
	p.run(time.Minute)
	for i := range p.ends {
		a, b := &p.ends[i], &p.ends[1-i]
		if a.opened && !a.closed && !a.broken && b.opened && !b.closed && !b.broken && a.got != b.sent {
			p.t.Fatalf("side %d got %v of %v, and nobody was told of a break", i, a.got, b.sent)
		}
		if p.gentle && a.opened && !a.closed && b.closed && a.got != b.sent {
			p.t.Fatalf("side %d got %v of %v that were sent before the other side closed", i, a.got, b.sent)
		}
	}
	for i := range uint8(2) {
		p.streams.Close(p.now, p.conn, i)
		p.ends[i].closed = true
	}
	p.run(time.Minute)
	if len(p.queue) != 0 {
		p.t.Fatalf("%d actions are left when all is over: %v", len(p.queue), p.queue)
	}
}

func BenchmarkDatagram(b *testing.B) {
	n := network(func(c *netsim.Config) { c.Far.Loss = 10_000 })
	x, y := n.Add("x"), n.Add("y")
	b.ReportAllocs()
	now := time.Duration(0)
	for b.Loop() {
		now += time.Microsecond
		n.Datagram(now, x, y, 100)
	}
}

// Bytes that wait for a slow link count, also without any cut. They leave at its rate, and beyond
// the bound the stream breaks.
func TestSlowLinksHoldBytes(t *testing.T) {
	c := netsim.Default()
	c.Far.Bandwidth, c.Far.Jitter, c.StreamMax = 100_000, 0, 500_000
	n := netsim.New(c, node.NewRand(1, "world", node.PurposeNetwork))
	a, b := n.Add("x"), n.Add("y")
	s := netsim.NewStreams(n)
	id := s.Open(0, a, node.Peer{ID: "a"}, b)
	happen := func(until time.Duration) (broken int) {
		for {
			out := s.Out
			s.Out = nil
			moved := false
			for _, act := range out {
				if act.At > until {
					s.Out = append(s.Out, act)
					continue
				}
				moved = true
				if s.Happens(act.At, &act) {
					if act.Kind == netsim.ActionSyn {
						s.Accept(act.At, act.Stream, node.Peer{ID: "b"})
					}
					if act.Kind == netsim.ActionBroken {
						broken++
					}
				}
			}
			if !moved {
				return broken
			}
		}
	}
	happen(time.Second)
	waits := func(at time.Duration) int {
		got, bound := s.Backlog(at, id)
		if bound != c.StreamMax {
			t.Fatalf("the bound is %d, want %d", bound, c.StreamMax)
		}
		return got
	}
	for range 3 {
		s.Send(time.Second, id, note{}, 0, 100_000)
	}
	if got := waits(time.Second); got != 300_000 {
		t.Errorf("%d bytes wait at once, want 300,000", got)
	}
	if got := waits(2500 * time.Millisecond); got != 200_000 {
		t.Errorf("%d bytes wait after 1.5 s of 100 kB/s, want the two messages that have not left", got)
	}
	if got := waits(5 * time.Second); got != 0 {
		t.Errorf("%d bytes wait when all have left", got)
	}
	for range 6 {
		s.Send(6*time.Second, id, note{}, 0, 100_000)
	}
	if broken := happen(time.Minute); broken != 2 {
		t.Errorf("%d sides learnt of a break, want both: 600,000 bytes waited, 500,000 are the bound", broken)
	}
}
