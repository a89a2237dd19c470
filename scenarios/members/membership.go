package members

import (
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/swim"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// memberships are worlds of members that only watch each other. They judge the state of each
// member at each other, and the delays.
func memberships() []stage.Scenario {
	return []stage.Scenario{
		{Name: "boot-together", Virtual: 4 * time.Minute, Build: buildBootTogether,
			Doc: "Forty nodes start within a second, five of them twenty seconds late; all know all addresses. A member that was never heard is unconfirmed: no member suspects it, and ten seconds after the last start there is one view."},
		{Name: "suspicion-storm", Virtual: 4 * time.Minute, Build: buildSuspicionStorm,
			Doc: "The messages of one of sixty-four members reach no other any more, so that all others suspect it and confirm each other. The deadline of a suspicion only moves earlier: every other member considers it dead within the time of the shortest suspicion, until its answers arrive again."},
		{Name: "death-by-gossip", Virtual: 4 * time.Minute, Build: buildDeathByGossip,
			Doc: "Members crash, and most others learn of it by gossip before they detect it. A death by gossip has the same outcome as a detected one: once at every running member."},
		{Name: "back-from-dead", Virtual: 5 * time.Minute, Build: buildBackFromDead,
			Doc: "Members are cut off until all consider them dead, or crash and restart soon or late. They are back everywhere under a higher incarnation; old suspicions, gossip and indirect probes revive and kill no member."},
		{Name: "one-way-links", Virtual: 4 * time.Minute, Build: buildOneWayLinks,
			Doc: "Between some pairs of members messages pass in one direction only. Others reach both, so no member is even suspected."},
		{Name: "flapping-links", Virtual: 4 * time.Minute, Build: buildFlappingLinks,
			Doc: "A few members lose and find all others every few hundred milliseconds. They may be declared dead; no other member is."},
		{Name: "paused-process", Virtual: 5 * time.Minute, Build: buildPausedMember,
			Doc: "Members pause for up to forty seconds and wake up with timers that are long overdue. Others may have declared them dead. What they missed is no evidence against others, and no healthy member is declared dead."},
		{Name: "slow-cpu", Virtual: 4 * time.Minute, Build: buildSlowCPU,
			Doc: "The processors of a few members are ten thousand times slower for half a minute. These members notice it themselves, and no member considers a healthy one dead."},
		{Name: "split-and-heal", Virtual: 4 * time.Minute, Build: buildSplitAndHeal,
			Doc: "A group splits into two halves that consider each other dead, then the cut heals. Through its seeds it becomes one group again, and no member is declared dead because of the other side's belief."},
		{Name: "leave-and-reap", Virtual: 4 * time.Minute, Build: buildLeaveAndReap,
			Doc: "Members leave one after the other, some return. All but one see a leaving member as left within 10 seconds, all within 35, and none suspects it. After long enough it is forgotten, and old news does not revive it."},
		{Name: "one-way-dc", Virtual: 5 * time.Minute, Build: buildOneWayDC,
			Doc: "For a while no message of one datacenter reaches the other; later, messages between them take half a second more for two seconds, again and again. Missing answers count: members that do not hear the mute ones consider them dead. Spikes alone kill no member."},
		{Name: "region-out", Virtual: 6 * time.Minute, Build: buildRegionOut,
			Doc: "Three of five regions are cut off at once, later each of them alone. While most of the group fails at once members hold evictions, for a minute at most, once and without oscillation. A region that fails alone holds nothing."},
		{Name: "lossy-few", Virtual: 100 * time.Second, Most: 1000, Build: buildLossyFew,
			Doc: "Of up to a thousand members, one in a hundred loses four fifths of its messages. It flaps; no member considers a healthy one dead."},
		{Name: "crash-known", Virtual: 6 * time.Minute, Build: buildCrashKnown,
			Doc: "Members of a group of 128 crash one after the other. In the median all members know a crash within twelve seconds."},
	}
}

func buildBootTogether(s *stage.Stage) {
	var all []node.Addr
	c := newCrowd(s, size{40, 1}, sim.Spec{}, func(_ int, o *swim.Config) { o.Seeds = all })
	all = c.addrs(len(c.ids))
	c.calm = true
	for i, id := range c.ids {
		at := s.Rand.Duration(0, time.Second)
		if i%8 == 7 {
			at += 20 * time.Second
		}
		s.World.At(at, func() { s.World.Start(id) })
	}
	s.World.At(20*time.Second, func() {
		for _, id := range c.ids {
			if late := c.groups[id]; late != nil && len(late.Unconfirmed()) != 5 {
				c.violate(id, "%d seeds are unconfirmed, five have not started", len(late.Unconfirmed()))
			}
		}
	})
	s.World.At(31*time.Second, c.settled)
}

func buildSuspicionStorm(s *stage.Stage) {
	c := warm(s, 64, sim.Spec{}, nil)
	victim := c.some(1)[0]
	c.blame(victim)
	s.Fault(sim.Fault{At: 10 * time.Second, Kind: sim.FaultOneWay, Nodes: []string{string(victim)}})
	// Each member decides by itself when it probes the victim: of 63, one a second on average,
	// and none for nine seconds in one world of eight thousand. The suspicion's time starts
	// with the third member that asks others for help, because two confirm the first.
	asked, known := map[node.ID]bool{}, false
	c.told = func(_ node.ID, in *node.Input) {
		m, ok := in.Message.(*message.SwimAsk)
		if !ok || m.Target != string(victim) || known || s.World.Now() < 10*time.Second {
			return
		}
		asked[in.From.ID] = true
		if len(asked) < 3 {
			return
		}
		known = true
		s.World.At(s.World.Now()+stormBound, func() {
			for _, at := range c.ids {
				if seen, _ := c.groups[at].Find(victim); at != victim && seen.State != swim.Dead {
					c.violate(at, "three had no answer of %s %v ago, and it is %v", victim, stormBound, seen.State)
				}
			}
		})
	}
	s.World.At(10*time.Second+unwellBound, func() {
		if m := c.groups[victim].Multiplier(); m < unwellMax && s.Options.Faults == nil {
			c.violate(victim, "neither whom it probes nor whom it asks has answered for %v, and it is unwell by %d", unwellBound, m)
		}
	})
	s.World.At(s.Heal-stormBound, func() {
		if !known && s.Options.Faults == nil {
			c.violate(victim, "it has been silent for %v, and fewer than three have probed it", s.Heal-stormBound-10*time.Second)
		}
	})
}

const (
	// stormBound: half a second until the third member judges its round, 3 log10(64) s = 5.4 s
	// of suspicion from the first one, half a second for a last refutation, gossip.
	stormBound = 10 * time.Second
	// unwellBound: five rounds of a victim to which no member answers, each longer.
	unwellBound = 15 * time.Second
)

func buildDeathByGossip(s *stage.Stage) {
	c := warm(s, 24, sim.Spec{}, nil)
	victims := c.some(4)
	c.blame(victims...)
	for i, id := range victims {
		at := time.Duration(10+20*i) * time.Second
		s.Fault(sim.Fault{At: at, For: 3 * time.Minute, Kind: sim.FaultCrash, Nodes: []string{string(id)}})
		s.Judge(at+19*time.Second, func() { c.dead(id, at, 19*time.Second) })
	}
	s.World.At(s.Heal, func() {
		if c.why["gossip"] == 0 && s.Options.Faults == nil {
			c.violate("", "four deaths at twenty members, and none was learnt: reasons %v", c.why)
		}
	})
}

func buildBackFromDead(s *stage.Stage) {
	c := warm(s, 32, sim.Spec{}, nil)
	victims := c.some(8)
	c.blame(victims...)
	for i, id := range victims {
		f := sim.Fault{At: time.Duration(10+6*i) * time.Second, Nodes: []string{string(id)}}
		switch i % 4 {
		case 0:
			f.Kind, f.For = sim.FaultPartition, time.Minute
		case 1:
			f.Kind, f.For = sim.FaultCrash, 500*time.Millisecond // no member even misses it
		case 2:
			f.Kind, f.For = sim.FaultCrash, 40*time.Second
		case 3:
			f.Kind, f.For, f.Value = sim.FaultCrash, 30*time.Second, 1
		}
		s.Fault(f)
		s.Judge(f.At+f.For+backBound, func() {
			for _, at := range c.ids {
				seen, _ := c.groups[at].Find(id)
				back := seen.State == swim.Alive || seen.State == swim.Suspect && seen.Run() == c.groups[id].Incarnation()>>32
				if !c.guilty[at] && !back {
					c.violate(at, "%s is back since %v, and is %v", id, backBound, seen.State)
				}
			}
		})
	}
	// Old news, seconds late, now and then twice.
	s.Fault(sim.Fault{At: 5 * time.Second, Kind: sim.FaultLate, Value: 20_000})
	s.Fault(sim.Fault{At: 5 * time.Second, Kind: sim.FaultDuplicate, Value: 20_000})
}

// backBound is how soon all members see a returned member again. They may suspect its new life
// at that moment: one datagram in 50 is seconds late here, so a probe and its helpers can fail.
const backBound = 20 * time.Second

func buildOneWayLinks(s *stage.Stage) {
	c := warm(s, 32, sim.Spec{}, nil)
	c.calm = true
	ids := c.some(24) // no member is in two pairs: a helper of a probe reaches both sides
	for i := 0; i < len(ids); i += 2 {
		at := s.Rand.Duration(5*time.Second, 20*time.Second).Truncate(time.Millisecond)
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(40*time.Second, 80*time.Second).Truncate(time.Millisecond), Kind: sim.FaultOneWay,
			Nodes: []string{string(ids[i])}, Peers: []string{string(ids[i+1])}})
	}
}

func buildFlappingLinks(s *stage.Stage) {
	c := warm(s, 40, sim.Spec{}, nil)
	few := c.some(4)
	c.blame(few...)
	for i, id := range few {
		s.Fault(sim.Fault{At: time.Duration(5+i) * time.Second, For: s.Heal - 10*time.Second, Kind: sim.FaultFlap,
			Nodes: []string{string(id)}, Value: int64(s.Rand.Duration(150, 900))})
	}
}

func buildPausedMember(s *stage.Stage) {
	c := warm(s, 40, sim.Spec{}, nil)
	few := c.some(6)
	c.blame(few...)
	for at := 5 * time.Second; at < s.Heal; at += s.Rand.Duration(2*time.Second, 8*time.Second).Truncate(time.Millisecond) {
		id := few[s.Rand.Int(len(few))]
		length := s.Rand.Duration(500*time.Millisecond, 40*time.Second).Truncate(time.Millisecond)
		s.Fault(sim.Fault{At: at, For: length, Kind: sim.FaultPause, Nodes: []string{string(id)}})
	}
}

func buildSlowCPU(s *stage.Stage) {
	c := warm(s, 40, sim.Spec{Costs: sim.Costs{Default: 30 * time.Microsecond}}, nil)
	few := c.some(5)
	c.blame(few...)
	for i, id := range few {
		s.Fault(sim.Fault{At: time.Duration(5+10*i) * time.Second, For: 30 * time.Second, Kind: sim.FaultSlowCPU, Nodes: []string{string(id)}, Value: 10_000})
	}
}

func buildSplitAndHeal(s *stage.Stage) {
	c := warm(s, 24, sim.Spec{}, nil)
	var left, right []string
	for i, id := range c.ids {
		if i%2 == 0 {
			left = append(left, string(id))
		} else {
			right = append(right, string(id))
		}
	}
	c.blame(c.ids...) // each side considers the other dead
	length := s.Heal - 40*time.Second
	s.Fault(sim.Fault{At: 10 * time.Second, For: length, Kind: sim.FaultPartition, Nodes: left, Peers: right})
	// No member is blamed for what follows: seeds meet within SeedInterval, and both sides
	// refute within the time of a suspicion.
	s.World.At(10*time.Second+length+time.Millisecond, func() { clear(c.guilty) })
	s.World.At(10*time.Second+length+30*time.Second, c.settled)
}

func buildLeaveAndReap(s *stage.Stage) {
	c := warm(s, 24, sim.Spec{}, func(o *swim.Config) { o.ReapAge = 40 * time.Second })
	c.calm = true
	leavers := c.some(6)
	for i, id := range leavers {
		stay := 5 * time.Minute
		if i%2 == 0 {
			stay = 15 * time.Second // and returns for good
		}
		at := time.Duration(5+8*i) * time.Second
		s.World.At(at, func() { s.World.Stop(id) })
		if i%2 == 0 {
			s.World.At(at+stay, func() { s.World.Start(id) })
			continue
		}
		// Gossip may miss a member; an exchange of lists, within 30 s, does not.
		for _, within := range []struct {
			after  time.Duration
			missed int
		}{{10 * time.Second, 1}, {35 * time.Second, 0}} {
			s.World.At(at+within.after, func() {
				missed := 0
				for _, at := range c.ids {
					if seen, _ := c.groups[at].Find(id); s.World.Alive(at) && !slices.Contains(leavers, at) && seen.State != swim.Left {
						if missed++; missed > within.missed {
							c.violate(at, "%s left %v ago, and is %v", id, within.after, seen.State)
						}
					}
				}
			})
		}
		s.World.At(at+90*time.Second, func() {
			for _, at := range c.ids {
				if _, known := c.groups[at].Find(id); s.World.Alive(at) && known {
					c.violate(at, "%s has been gone for 90 s, and is remembered", id)
				}
			}
		})
	}
}

func buildOneWayDC(s *stage.Stage) {
	c := warmIn(s, size{32, 2}, sim.Spec{}, nil)
	here, there := c.at(stage.Datacenter(0)), c.at(stage.Datacenter(1))
	c.blame(c.ids...)
	s.Fault(sim.Fault{At: 10 * time.Second, For: 40 * time.Second, Kind: sim.FaultOneWay, Nodes: stage.Names(there), Peers: stage.Names(here)})
	s.World.At(49*time.Second, func() {
		for _, at := range here {
			for _, id := range there {
				if seen, _ := c.groups[at].Find(id); seen.State != swim.Dead && s.Options.Faults == nil {
					c.violate(at, "%s has not answered for 39 s, and is %v", id, seen.State)
				}
			}
		}
	})
	s.World.At(95*time.Second, func() {
		c.settled()
		clear(c.guilty)
	})
	for at := 100 * time.Second; at < s.Heal; at += 5 * time.Second {
		s.Fault(sim.Fault{At: at, For: 2 * time.Second, Kind: sim.FaultLatency, Nodes: stage.Names(there), Peers: stage.Names(here), Value: 500})
	}
}

func buildRegionOut(s *stage.Stage) {
	c := warmIn(s, size{40, 5}, sim.Spec{}, nil)
	stay := append(c.at(stage.Datacenter(0)), c.at(stage.Datacenter(4))...)
	var out []node.ID
	for r := 1; r <= 3; r++ {
		out = append(out, c.at(stage.Datacenter(r))...)
	}
	c.blame(out...)
	s.Fault(sim.Fault{At: 10 * time.Second, For: 40 * time.Second, Kind: sim.FaultPartition, Nodes: stage.Names(out), Peers: stage.Names(stay)})
	held := func(want int, when string) {
		for _, at := range stay {
			if got := c.holds[at]; got != want && s.Options.Faults == nil {
				c.violate(at, "evictions were held %d times %s, want %d", got, when, want)
			}
			if c.groups[at].EvictionHold() {
				c.violate(at, "evictions are held, though no member is cut off")
			}
		}
	}
	s.World.At(100*time.Second, func() { held(1, "while three regions of five were cut off at once") })
	for r := 1; r <= 3; r++ {
		at := 110*time.Second + time.Duration(r-1)*40*time.Second
		s.Fault(sim.Fault{At: at, For: 20 * time.Second, Kind: sim.FaultPartition, Nodes: stage.Names(c.at(stage.Datacenter(r))), Peers: stage.Names(stay)})
	}
	s.World.At(s.Heal, func() { held(1, "and by single regions after that") })
}

func buildLossyFew(s *stage.Stage) {
	members := s.Crowd(1000)
	c := warm(s, members, sim.Spec{}, nil)
	few := c.some(max(2, members/100))
	c.blame(few...)
	s.Fault(sim.Fault{At: 10 * time.Second, Kind: sim.FaultLossOneWay, Nodes: stage.Names(few), Value: 800_000})
}

// crashKnown is when all 128 members know a crash at the latest. Each member probes the others in
// an order of its own, one a second: the first probe of the victim takes longer than 23 s once in
// 10^11 crashes, than 10 s once in 50,000. The suspicion takes 3 log10(128) s, gossip less than 1 s.
const crashKnown = 31 * time.Second

func buildCrashKnown(s *stage.Stage) {
	c := warm(s, 128, sim.Spec{}, nil)
	victims := c.some(12)
	c.blame(victims...)
	const gap = 18 * time.Second
	var times []time.Duration
	for i, id := range victims {
		at := 5*time.Second + time.Duration(i)*gap + s.Rand.Duration(0, time.Second).Truncate(time.Millisecond)
		s.Fault(sim.Fault{At: at, Kind: sim.FaultCrash, Nodes: []string{string(id)}})
		if at+crashKnown < s.Heal {
			s.Judge(at+crashKnown, func() { times = append(times, c.dead(id, at, crashKnown)) })
		}
	}
	s.World.At(s.Heal, func() {
		if len(times) == 0 {
			return
		}
		slices.Sort(times)
		s.Draw("median of %d crashes known everywhere: %v", len(times), times[len(times)/2].Round(time.Millisecond))
		if times[len(times)/2] > 12*time.Second {
			c.violate("", "a crash is known everywhere after %v in the median", times[len(times)/2])
		}
	})
}
