package members

import (
	"slices"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/swim"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// swimWorlds are small worlds of members, each for one promise of core/swim or core/health.
func swimWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "answers-too-late", Virtual: 4 * time.Minute, Build: buildAnswersTooLate,
			Doc: "Between two members every answer is four seconds late: too late for its own probe, and in time for the following ones. Each suspects the other, because an answer counts only for the probe that it answers. Once answers are in time again, each trusts the other."},
		{Name: "brief-split", Virtual: 4 * time.Minute, Build: buildBriefSplit,
			Doc: "Four members fall into two pairs for five and a half seconds, again and again. Each side has two witnesses, however often they repeat themselves, and two are not enough for the shortest suspicion: no member is declared dead."},
		{Name: "each-in-turn", Virtual: 3 * time.Minute, Build: buildEachInTurn,
			Doc: "Twelve members watch each other without any fault. Each member probes each other one within as many rounds as two iterations over the group have, so that every member detects a silent one in a known time."},
		{Name: "lone-accuser", Virtual: 6 * time.Minute, Build: buildLoneAccuser,
			Doc: "One of twenty-four members loses 94 percent of its messages. It suspects others, and most of its suspicions reach no other member, so that none confirms or refutes them. It keeps those verdicts to itself: no other member considers a healthy one dead."},
		{Name: "overslept", Virtual: 5 * time.Minute, Build: buildOverslept,
			Doc: "A member is cut off for a moment, and suspected. A member that suspects it then falls asleep, with its network or without, until long after all is well again, and once more as it wakes. Awake, it probes before it declares another dead: no member is declared dead."},
		{Name: "returning-few", Virtual: 5 * time.Minute, Build: buildReturningFew,
			Doc: "A few members are cut off together, until the group has given them up and they give the group up, one by one. When the cut heals in the middle of that, no member believes their reports: only members that were cut off are declared dead, and at most one more that two of them suspected when a cut healed."},
		{Name: "watched-clocks", Virtual: 7 * time.Minute, Beyond: true, Build: buildWatchedClocks,
			Doc: "Of eight clocks one becomes 3.75 percent fast; all others run at the bound of one percent, fast or slow. Links are slow and lossy now and then, and processes pause for seconds. All members find the bad clock, and never another one."},
		{Name: "watched-loops", Virtual: 4 * time.Minute, Build: buildWatchedLoops,
			Doc: "Single members pause for 0.8 to 4.3 seconds. Each considers itself as unwell as its loop was late, for the window of that lag, and well a few seconds later. All others are well throughout. It suspects no member because of answers that arrived while it could not read them."},
	}
}

func buildAnswersTooLate(s *stage.Stage) {
	// Rounds without stretching: each contains the answer to an earlier one.
	c := warm(s, 2, sim.Spec{}, func(o *swim.Config) { o.HealthProbe = false })
	c.blame(c.ids...)
	suspected := map[node.ID]bool{}
	s.Witness = append(s.Witness, func(r checker.Record) {
		if e, ok := r.Event.(event.MemberChanged); ok && e.To == swim.Suspect.String() {
			suspected[r.Node] = true
		}
	})
	for at := 10 * time.Second; at < s.Heal-40*time.Second; at += 50 * time.Second {
		s.Fault(sim.Fault{At: at, For: 30 * time.Second, Kind: sim.FaultLatencyOneWay, Nodes: stage.Names(c.ids[:1]), Peers: stage.Names(c.ids[1:]), Value: 4000})
		// At first no message arrives at all; later some arrive all the time.
		s.World.At(at+10*time.Second, func() { clear(suspected) })
		s.World.At(at+30*time.Second, func() {
			for _, id := range c.ids {
				if !suspected[id] && s.Options.Faults == nil {
					c.violate(id, "no probe was answered in time for 20 s, and it has suspected no member")
				}
			}
		})
	}
}

func buildBriefSplit(s *stage.Stage) {
	c := warm(s, 4, sim.Spec{}, nil)
	for at := 10 * time.Second; at < s.Heal-20*time.Second; at += 25 * time.Second {
		side := s.Choose(c.ids, 2)
		other := slices.DeleteFunc(slices.Clone(c.ids), func(id node.ID) bool { return slices.Contains(side, id) })
		s.Fault(sim.Fault{At: at + s.Rand.Duration(0, time.Second).Truncate(time.Millisecond), For: 5500 * time.Millisecond, Kind: sim.FaultPartition, Nodes: stage.Names(side), Peers: stage.Names(other)})
	}
}

// buildEachInTurn makes each member record which members probe it. A probe on behalf of another
// carries the requester's news but arrives from the helper, so some recorded probes are no
// member's turn. Here no member requests help, because nothing fails.
func buildEachInTurn(s *stage.Stage) {
	c := warm(s, 12, sim.Spec{}, nil)
	c.calm = true
	type way struct{ from, to node.ID }
	last := map[way]time.Duration{}
	// The first round in one iteration of a list of n and the last one in the next are 2n-1
	// rounds apart; one more, because a probe takes time.
	bound := time.Duration(2*(len(c.ids)-1)) * swim.Default().ProbeInterval
	judge := func(w way) {
		if gone := s.World.Now() - last[w]; gone > bound {
			c.violate(w.to, "%s has not probed it for %v, two passes are over within %v", w.from, gone, bound)
		}
	}
	c.told = func(at node.ID, in *node.Input) {
		if _, ok := in.Message.(*message.SwimProbe); ok {
			w := way{in.From.ID, at}
			judge(w)
			last[w] = s.World.Now()
		}
	}
	s.World.At(s.Heal, func() {
		for _, from := range c.ids {
			for _, to := range c.ids {
				if from != to {
					judge(way{from, to})
				}
			}
		}
	})
}

func buildLoneAccuser(s *stage.Stage) {
	c := warm(s, 24, sim.Spec{}, nil)
	accuser := c.some(1)
	c.blame(accuser...)
	s.Fault(sim.Fault{At: 10 * time.Second, Kind: sim.FaultLossOneWay, Nodes: stage.Names(accuser), Value: 940_000})
}

func buildOverslept(s *stage.Stage) {
	c := warm(s, 16, sim.Spec{}, nil)
	// An answer takes up to three fifths of the ProbeTimeout: a verdict that does not wait for
	// it would be earlier.
	s.Fault(sim.Fault{At: 5 * time.Second, Kind: sim.FaultLatency, Value: int64(1 + s.Rand.Int(150))})
	for at := 10 * time.Second; at < s.Heal-50*time.Second; at += 60 * time.Second {
		victim := c.some(1)
		others := slices.DeleteFunc(slices.Clone(c.ids), func(id node.ID) bool { return id == victim[0] })
		s.Fault(sim.Fault{At: at, For: 2 * time.Second, Kind: sim.FaultPartition, Nodes: stage.Names(victim)})
		kind := []string{sim.FaultPause, sim.FaultSuspend}[s.Rand.Int(2)]
		asleep := s.Choose(others, 5)
		first := sim.Fault{At: at + 1900*time.Millisecond, For: s.Rand.Duration(10*time.Second, 35*time.Second).Truncate(time.Millisecond), Kind: kind, Nodes: stage.Names(asleep)}
		s.Fault(first)
		// They fall asleep again while they wait for an answer.
		again := first.At + first.For + s.Rand.Duration(0, 600*time.Millisecond).Truncate(time.Millisecond)
		s.Fault(sim.Fault{At: again, For: 2 * time.Second, Kind: kind, Nodes: stage.Names(asleep)})
	}
	c.excuseSleepers()
}

// excuseSleepers lets others consider a sleeper dead, also when a schedule is played again. The
// world judges the sleeper's view of others.
func (c *crowd) excuseSleepers() {
	const settled = 5 * time.Second // a sleeper that wakes refutes within this
	faults := c.Faults
	if c.Options.Faults != nil {
		faults = c.Options.Faults
	}
	asleep := map[node.ID]int{}
	for _, f := range faults {
		if f.Kind != sim.FaultPause && f.Kind != sim.FaultSuspend {
			continue
		}
		c.World.At(f.At, func() {
			for _, name := range f.Nodes {
				asleep[node.ID(name)]++
				c.absent[node.ID(name)] = true
			}
		})
		c.World.At(f.At+f.For+settled, func() {
			for _, name := range f.Nodes {
				if asleep[node.ID(name)]--; asleep[node.ID(name)] == 0 {
					delete(c.absent, node.ID(name))
				}
			}
		})
	}
}

func buildReturningFew(s *stage.Stage) {
	c := warm(s, 24, sim.Spec{}, nil)
	few := c.some(3)
	c.blame(few...)
	for at := 10 * time.Second; at < s.Heal-50*time.Second; at += 50 * time.Second {
		length := s.Rand.Duration(8*time.Second, 20*time.Second).Truncate(time.Millisecond)
		s.Fault(sim.Fault{At: at, For: length, Kind: sim.FaultPartition, Nodes: stage.Names(few)})
		c.heals = append(c.heals, at+length)
	}
}

func buildWatchedClocks(s *stage.Stage) {
	c := watched(s, size{8, 2})
	bad := c.some(1)[0]
	c.blame(c.ids...) // the world has bad links and processes, and judges the clocks
	// At first links are fast and reveal the smallest clock error. Then they are so slow that
	// two answers hide the error of a bad clock.
	const later = 45 * time.Second
	s.Fault(sim.Fault{At: later, Kind: sim.FaultLatency, Value: 30})
	found := map[node.ID]bool{}
	s.Witness = append(s.Witness, func(r checker.Record) {
		e, ok := r.Event.(event.ClockSuspect)
		switch {
		case !ok:
		case e.Peer == bad:
			found[r.Node] = true
		case r.Node != bad && s.Options.Faults == nil:
			c.violate(r.Node, "the clock of %s is said to be off by %d ppm, and both run within the bound", e.Peer, e.PPM)
		}
	})
	for i, id := range c.ids {
		f := sim.Fault{Kind: sim.FaultClockDrift, Nodes: []string{string(id)}, Value: sim.DriftBound}
		switch {
		case id == bad:
			f.At, f.Value, f.Beyond = later, 37_500, true // at least 2.7 percent from all others
		case i%2 == 0:
			f.Value = -sim.DriftBound
		}
		s.Fault(f)
	}
	for at := 5 * time.Second; at < s.Heal-5*time.Second; at += s.Rand.Duration(4*time.Second, 9*time.Second).Truncate(time.Millisecond) {
		f := sim.Fault{At: at, For: s.Rand.Duration(500*time.Millisecond, 5*time.Second).Truncate(time.Millisecond), Nodes: stage.Names(s.Choose(c.ids, 2))}
		switch s.Rand.Int(4) {
		case 0:
			f.Kind = sim.FaultPause
		case 1:
			f.Kind, f.Value = sim.FaultLatencyOneWay, int64(50+s.Rand.Int(900))
		case 2:
			f.Kind, f.Value = sim.FaultLatency, int64(50+s.Rand.Int(400))
		case 3:
			f.Kind, f.Value = sim.FaultLoss, 300_000
		}
		s.Fault(f)
	}
	s.World.At(s.Heal, func() {
		for _, id := range c.ids {
			if id != bad && !found[id] && s.Options.Faults == nil {
				c.violate(id, "the clock of %s is 2.7 percent off or more, and it has not noticed", bad)
			}
		}
	})
}

func buildWatchedLoops(s *stage.Stage) {
	c := watched(s, size{8, 1})
	c.calm = true
	s.Witness = append(s.Witness, func(r checker.Record) {
		if e, ok := r.Event.(event.HealthChanged); ok && !c.absent[r.Node] {
			c.violate(r.Node, "nothing has happened to it, and its level goes from %s to %s", e.From, e.To)
		}
	})
	lengths := []struct {
		pause time.Duration // three tenths above the smallest lag of the level
		level string
	}{{800, "elevated"}, {1300, "high"}, {2300, "severe"}, {4300, "critical"}}
	for i := range 5 {
		at := 10*time.Second + time.Duration(i)*20*time.Second
		late := lengths[s.Rand.Int(len(lengths))]
		pause := late.pause * time.Millisecond
		id := c.some(1)[0]
		s.World.At(at, func() { c.absent[id] = true })
		s.Fault(sim.Fault{At: at, For: pause, Kind: sim.FaultPause, Nodes: []string{string(id)}})
		judge := func(after time.Duration, want string) {
			s.World.At(at+pause+after, func() {
				if got := c.monitors[id].monitor.Level().String(); got != want && s.Options.Faults == nil {
					c.violate(id, "%v after its loop was %v late its level is %s, want %s", after, pause, got, want)
				}
			})
		}
		judge(time.Millisecond, late.level)
		judge(1500*time.Millisecond, late.level)
		judge(14*time.Second, "normal")
		s.World.At(at+pause+15*time.Second, func() { delete(c.absent, id) })
	}
}
