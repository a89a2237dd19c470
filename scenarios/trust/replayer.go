package trust

import (
	"time"

	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

const (
	replayFirst = 8                     // letters of a kind, of one node to another, that the replayer keeps for ever: founders sent them
	replayMost  = 24                    // and all that it keeps
	replayPause = 20 * time.Millisecond // between two replays from one node to another
	replayYoung = 45 * time.Second      // of a node that has started again: longer than it takes to join
)

// replayer is on the network, without a key. It records datagrams, and sends them again to their receiver
// or to the process that has started in its place. It aims: what a node says shows that an answer
// comes, and old ones come before it.
type replayer struct {
	c     *cluster.Cluster
	lives map[node.ID]life
	piles map[way][]pile
	last  map[way]time.Duration // the newest replay
	again map[bool]int          // replays, by whether the receiver has started since
}

type way struct{ from, to node.ID }

type life struct {
	number      int
	incarnation uint64
	clock       node.Instant
	since       time.Duration
}

// pile holds what one node sent to another, of one kind.
type pile struct {
	kind    node.Kind
	letters []old
}

type old struct {
	letter sim.Letter
	life   int // of the receiver
}

func buildReplayer(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Duration, l.Every = 10*time.Second, 5*time.Second })
	r := &replayer{c: s, lives: map[node.ID]life{}, piles: map[way][]pile{}, last: map[way]time.Duration{}, again: map[bool]int{}}
	s.World.Engage(func(l sim.Letter) bool {
		if s.World.Now() < s.Heal {
			r.hear(l)
		}
		return false
	})
	// One gate and one manager lose their disks again and again: what others told an earlier run of
	// them is old. A member without its disk waits for two leases before it answers.
	crash := func(ids []node.ID, every, longest time.Duration) {
		victim := stage.Names(s.Choose(ids, 1))
		s.Slots(every, func(i int, at time.Duration) {
			s.Fault(sim.Fault{At: at, For: s.Rand.Duration(time.Second, longest).Truncate(stage.Tick), Kind: sim.FaultCrash, Nodes: victim, Value: int64(1 - i%3/2)})
		})
	}
	crash(s.Gates, 60*time.Second, 8*time.Second)
	crash(s.Managers, 20*time.Second, 4*time.Second)
	s.Slots(9*time.Second, func(i int, at time.Duration) {
		ids := s.Gates
		if i%2 == 1 {
			ids = s.Managers
		}
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(time.Second, 7*time.Second).Truncate(stage.Tick), Kind: []string{sim.FaultPause, sim.FaultPartition, sim.FaultCrash}[s.Rand.Int(3)], Nodes: stage.Names(s.Choose(ids, 1))})
	})
	s.Verdicts = append(s.Verdicts, func() {
		if s.Options.Faults == nil && (r.again[false] < 1000 || r.again[true] < 1000) {
			s.Checker.Violate("P", s.Record(s.Gates[0]), "%d datagrams were sent again to the process that had heard them, and %d to one that started later", r.again[false], r.again[true])
		}
	})
}

func (r *replayer) hear(l sim.Letter) {
	r.keep(l)
	now, back := r.c.World.Now(), way{from: l.To, to: l.From}
	if at := r.life(l.From); at.number > 1 && now-at.since < replayYoung || r.c.Rand.Chance(1, 20) {
		if last, ok := r.last[back]; !ok || now-last >= replayPause {
			r.last[back] = now
			r.replay(back, now)
		}
	}
}

// life counts the processes of a node.
func (r *replayer) life(id node.ID) life {
	l := r.lives[id]
	if clock, incarnation, running := r.c.World.Clock(id); running {
		if l.number == 0 || incarnation != l.incarnation || clock < l.clock {
			l = life{number: l.number + 1, since: r.c.World.Now()}
		}
		l.incarnation, l.clock = incarnation, clock
		r.lives[id] = l
	}
	return l
}

func (r *replayer) keep(l sim.Letter) {
	w, kind := way{l.From, l.To}, l.Message.Kind()
	o := old{l, r.life(l.To).number}
	piles := r.piles[w]
	for i := range piles {
		if p := &piles[i]; p.kind == kind {
			if len(p.letters) < replayMost {
				p.letters = append(p.letters, o)
			} else if r.c.Rand.Chance(1, 4) {
				p.letters[replayFirst+r.c.Rand.Int(replayMost-replayFirst)] = o
			}
			return
		}
	}
	r.piles[w] = append(piles, pile{kind, []old{o}})
}

// replay sends one letter of each kind: every other time one of the first, which founders sent.
func (r *replayer) replay(w way, now time.Duration) {
	life, founders := r.life(w.to).number, r.c.Rand.Chance(1, 2)
	for _, p := range r.piles[w] {
		n := len(p.letters)
		if founders {
			n = min(n, replayFirst)
		}
		o := p.letters[r.c.Rand.Int(n)]
		r.again[o.life < life]++
		r.c.World.Deliver(o.letter, now+r.c.Rand.Duration(50*time.Microsecond, 400*time.Microsecond))
	}
}
