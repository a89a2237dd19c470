package election

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// group is a few voters on one clock, and the messages between them.
type group struct {
	t       *rapid.T
	envs    []*nodetest.Env
	toys    []*toy
	wires   []wire
	now     time.Duration
	cut     map[[2]int]bool // messages from one to the other are lost
	delay   func() time.Duration
	leaders map[uint64]node.ID
	votes   []map[uint64]node.ID // of each, by term
	opened  []func(*toy)         // state outside the disk that a restart finds
}

type wire struct {
	from, to int
	at       time.Duration
	m        node.Message
}

func newGroup(t *rapid.T, n int) *group {
	g := &group{t: t, cut: map[[2]int]bool{}, leaders: map[uint64]node.ID{}, delay: func() time.Duration { return time.Millisecond }}
	g.toys, g.opened = make([]*toy, n), make([]func(*toy), n)
	seed := rapid.Uint64().Draw(t, "seed")
	for i := range n {
		g.votes = append(g.votes, map[uint64]node.ID{})
		e := world(i+1, n, seed, func(x *toy) {
			g.toys[i] = x
			if g.opened[i] != nil {
				g.opened[i](x)
			}
			x.post = func(to node.Addr, m node.Message) { g.post(i, int(to[1]-'1'), m) }
		})
		e.Discard = true
		e.WatchEvent = func(v node.Event) { g.judge(i, v) }
		g.envs = append(g.envs, e)
		e.Start()
	}
	return g
}

func (g *group) post(from, to int, m node.Message) {
	if !g.cut[[2]int{from, to}] {
		g.wires = append(g.wires, wire{from, to, g.now + g.delay(), m})
	}
}

// judge checks ELECTION-1: one leader a term, one vote a term.
func (g *group) judge(i int, v node.Event) {
	switch v := v.(type) {
	case event.Elected:
		if first, ok := g.leaders[v.Term]; ok {
			g.t.Fatalf("g%d is elected in term %d, as %s was", i+1, v.Term, first)
		}
		g.leaders[v.Term] = g.envs[i].Self().ID
	case event.Voted:
		if first, ok := g.votes[i][v.Term]; ok && first != v.For {
			g.t.Fatalf("g%d votes for %s in term %d after it did for %s", i+1, v.For, v.Term, first)
		}
		g.votes[i][v.Term] = v.For
	}
}

// one checks ELECTION-4.
func (g *group) one() {
	leads := ""
	for i, e := range g.envs {
		if !e.Running() || !g.toys[i].Leads(node.Instant(time.Hour+g.now)) {
			continue
		}
		if leads != "" {
			g.t.Fatalf("at %v %s and g%d lead", g.now, leads, i+1)
		}
		leads = fmt.Sprintf("g%d", i+1)
	}
}

// advance lets time pass, in steps short enough to mix timers and messages.
func (g *group) advance(d time.Duration, paused map[int]bool) {
	const step = 5 * time.Millisecond
	for end := g.now + d; g.now < end; {
		g.now += step
		for i, e := range g.envs { // before messages: a node that was paused reads its clock when it wakes up
			if !paused[i] {
				e.Advance(time.Hour + g.now - time.Duration(e.Now()))
			}
		}
		for i := 0; i < len(g.wires); i++ {
			w := g.wires[i]
			if w.at > g.now || paused[w.to] {
				continue
			}
			g.wires = append(g.wires[:i:i], g.wires[i+1:]...)
			i--
			if g.envs[w.to].Running() {
				g.envs[w.to].ReceiveDatagram(peer(w.from+1), w.m)
			}
		}
		g.one()
	}
}

func (g *group) restart(i int, disk string) {
	e := g.envs[i]
	if e.Running() {
		e.Complete(rapid.IntRange(0, e.Pending()).Draw(g.t, "survive"), nil) // torn: a prefix survives
		e.Crash()
	}
	if disk == "lost" {
		e.LoseDisk()
		g.votes[i] = map[uint64]node.ID{}
	}
	e.Advance(time.Hour + g.now - time.Duration(e.Now()))
	e.Start()
}

// known reports whether all agree on one leader, and it leads.
func (g *group) known() bool {
	first, term, ok := g.toys[0].Leader()
	for i, x := range g.toys {
		a, n, known := x.Leader()
		if !known || a != first || n != term || !g.envs[i].Running() {
			return false
		}
	}
	return ok && g.toys[first[1]-'1'].Leads(g.envs[first[1]-'1'].Now())
}

// settle waits until all know one leader, within a bound.
func (g *group) settle(bound time.Duration) {
	for began := g.now; !g.known(); {
		if g.now-began > bound {
			for _, x := range g.toys {
				a, n, _ := x.Leader()
				g.t.Logf("%s: role %d term %d/%d leader %q blank %v silent %d fitness %d epoch %d/%d pass %+v admitted %v joined %v", x.config.Self, x.role, x.term, n, a, x.blank(), x.silent, x.fitness, x.epoch, x.member, x.pass, x.admitted, x.round.joined)
			}
			g.t.Fatalf("%v after all was well: no leader that all know", bound)
		}
		g.advance(50*time.Millisecond, nil)
	}
}

func (g *group) heal() {
	clear(g.cut)
	g.delay = func() time.Duration { return time.Millisecond }
	for i, e := range g.envs {
		e.Held, e.Failure = false, nil
		e.Complete(e.Pending(), nil)
		if !e.Running() {
			g.restart(i, "")
		}
		g.toys[i].SetFitness(e, 0)
	}
}

// Voters crash between write and answer, lose and tear writes, lose a disk, are cut off in one
// or both directions, and pause. Messages arrive late, doubled and out of order. Each term has
// one leader, each voter one vote a term, and one node leads at a time. Once all is well again,
// all know a leader.
func TestOneLeaderATerm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 2, 3, 3, 3, 4, 5}).Draw(t, "voters")
		g := newGroup(t, n)
		g.settle(5 * time.Second)
		draw := func(name string, n int) int { return rapid.IntRange(0, n-1).Draw(t, name) }
		g.delay = func() time.Duration {
			if draw("late", 12) == 0 {
				return time.Duration(draw("delay", 4000)) * time.Millisecond
			}
			return time.Duration(draw("delay", 10)) * time.Millisecond
		}
		wiped := time.Duration(-time.Hour)
		for range rapid.IntRange(1, 25).Draw(t, "faults") {
			i := draw("node", n)
			switch rapid.SampledFrom([]string{"crash", "crash", "cut", "cut", "mend", "held", "free", "full", "pause", "again", "wipe", "fitness", "drain"}).Draw(t, "fault") {
			case "crash":
				g.restart(i, "")
			case "cut":
				g.cut[[2]int{i, draw("peer", n)}] = true
			case "mend":
				clear(g.cut)
			case "held":
				g.envs[i].Held = true
			case "free":
				g.envs[i].Held = false
				g.envs[i].Complete(g.envs[i].Pending(), g.envs[i].Failure)
			case "full":
				g.envs[i].Failure = errors.New("no space left on device")
			case "pause":
				g.advance(time.Duration(draw("ms", 3000))*time.Millisecond, map[int]bool{i: true})
			case "again":
				if len(g.wires) > 0 {
					w := g.wires[draw("wire", len(g.wires))]
					w.at += time.Duration(draw("more", 6000)) * time.Millisecond
					g.wires = append(g.wires, w)
				}
			case "wipe": // of a minority, and the disk lost before has long been replaced
				if n > 2 && g.now-wiped > 20*time.Second {
					g.settleForNow()
					wiped = g.now
					g.restart(i, "lost")
				}
			case "fitness":
				g.toys[i].SetFitness(g.envs[i], draw("fitness", 9))
			case "drain":
				g.envs[i].Command(&message.LeaderHandOver{Group: "x", Term: 1})
				g.advance(time.Duration(draw("ms", 1000))*time.Millisecond, nil)
				g.restart(i, "")
			}
			g.advance(time.Duration(draw("ms", 2500))*time.Millisecond, nil)
		}
		g.heal()
		g.settle(15 * time.Second)
	})
}

// settleForNow lets voters without a memory get one.
func (g *group) settleForNow() {
	for _, e := range g.envs {
		e.Held, e.Failure = false, nil
		e.Complete(e.Pending(), nil)
	}
	clear(g.cut)
	g.advance(10*time.Second, nil)
}

// A leader dies while a majority is connected: another one leads within the bound, and nearly
// always at the first try.
func TestANewLeaderWithinTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{3, 5, 7}).Draw(t, "voters")
		g := newGroup(t, n)
		g.settle(5 * time.Second)
		a, _, _ := g.toys[0].Leader()
		dead := int(a[1] - '1')
		g.envs[dead].Crash()
		began := g.now
		for {
			g.advance(10*time.Millisecond, nil)
			for i, x := range g.toys {
				if i != dead && x.Leads(g.envs[i].Now()) {
					return
				}
			}
			if g.now-began > 3*time.Second {
				t.Fatalf("%d of %d voters have elected nobody within 3 s", n-1, n)
			}
		}
	})
}

// A and C cannot reach each other, both reach B, and one of the three leads: C finds no
// majority, and the leader stays.
func TestAPartialPartitionDeposesNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGroup(t, 3)
		g.settle(5 * time.Second)
		a, term, _ := g.toys[0].Leader()
		leads := int(a[1] - '1')
		other := (leads + rapid.IntRange(1, 2).Draw(t, "other")) % 3
		g.cut[[2]int{leads, other}], g.cut[[2]int{other, leads}] = true, true
		g.advance(20*time.Second, nil)
		for i, x := range g.toys {
			if x.Term() != term {
				t.Fatalf("g%d is in term %d, want %d", i+1, x.Term(), term)
			}
		}
		if !g.toys[leads].Leads(g.envs[leads].Now()) {
			t.Fatal("the leader was deposed")
		}
	})
}

// A leader drains, or is unfit while a peer is fit: the next leader stands at once.
func TestHandOverIsQuick(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGroup(t, 3)
		g.settle(5 * time.Second)
		a, _, _ := g.toys[0].Leader()
		leads := int(a[1] - '1')
		g.advance(time.Second, nil) // answers of this term
		if rapid.Bool().Draw(t, "drain") {
			g.toys[leads].HandOver(g.envs[leads])
		} else {
			g.toys[leads].SetFitness(g.envs[leads], rapid.IntRange(6, 8).Draw(t, "health"))
		}
		g.settle(100 * time.Millisecond)
		if b, _, _ := g.toys[0].Leader(); b == a {
			t.Fatal("it leads still")
		}
	})
}

// Three unfit voters: after three timeouts one leads anyway, and stays the leader.
func TestTheUnfitLeadForWantOfOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGroup(t, 3)
		for i, x := range g.toys {
			x.SetFitness(g.envs[i], rapid.IntRange(5, 8).Draw(t, "health"))
		}
		g.settle(15 * time.Second)
		_, term, _ := g.toys[0].Leader()
		g.advance(20*time.Second, nil)
		if _, now, known := g.toys[0].Leader(); !known || now != term {
			t.Fatalf("the leader of term %d did not last: term %d", term, now)
		}
	})
}

// No message of any sender causes a panic, or a term that leaves no room to count on.
func TestHostileMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := world(1, 3, 1, nil)
		e.Discard = true
		e.Start()
		number := rapid.OneOf(rapid.Uint64Range(1, 5), rapid.SampledFrom([]uint64{termMax - 1, termMax, ^uint64(0)}))
		for range rapid.IntRange(1, 40).Draw(t, "messages") {
			group := rapid.SampledFrom([]string{"gates", "gates", "gates", "dc1"}).Draw(t, "group")
			term, nonce, yes := number.Draw(t, "term"), number.Draw(t, "nonce"), rapid.Bool().Draw(t, "yes")
			if x := e.Machine().(*toy); rapid.Bool().Draw(t, "asked") {
				nonce = max(1, x.round.nonce)
			}
			ms := []node.Message{
				&message.VoteAsk{Group: group, Term: term, Nonce: nonce, Pre: yes, Handed: nonce%2 == 0},
				&message.VoteAnswer{Group: group, Nonce: nonce, Term: term - 1, Granted: yes},
				&message.LeaderBeat{Group: group, Term: term, Counter: nonce},
				&message.LeaderBeatAck{Group: group, Term: term, Counter: nonce, Fitness: uint32(nonce), Stands: yes},
				&message.LeaderHandOver{Group: group, Term: term},
				&message.VoterJoin{Group: group, Nonce: nonce},
				&message.VoterJoined{Group: group, Nonce: nonce, Blank: yes, Term: term - 1},
			}
			e.ReceiveDatagram(peer(rapid.IntRange(1, 4).Draw(t, "from")), rapid.SampledFrom(ms).Draw(t, "message"))
			e.Advance(time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * time.Millisecond)
			if x := e.Machine().(*toy); x.Term() > termMax+1000 {
				t.Fatalf("term %d", x.Term())
			}
		}
	})
}
