package members

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/swim"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// memberWorlds are worlds of members that leave, are forgotten and recover.
func memberWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "missed-departure", Virtual: 5 * time.Minute, Build: buildMissedDeparture,
			Doc: "Members leave one after the other, and each time another one is suspended and misses all news of it. When it probes the departed member, the members that it asks for help answer that the member left. No member suspects it."},
		{Name: "seed-forgotten", Virtual: 5 * time.Minute, Build: buildSeedForgotten,
			Doc: "The only seed crashes for longer than tombstones last, so that all members forget it. It returns with no seed of its own, and hears no other. The members list it as unconfirmed, compare lists with it again, and it is back everywhere within seconds."},
		{Name: "lists-in-turn", Virtual: 2 * time.Minute, Build: buildListsInTurn,
			Doc: "A hundred and fifty members with one seed start at once, and each wants the whole list. A member sends so many bytes of lists a second, and names others to those that wait. No member sends more, and thirty seconds later there is one view."},
		{Name: "flap-epoch", Virtual: 5 * time.Minute, Build: buildFlapEpoch,
			Doc: "The links of a few members flap every 300 ms, while these members crash and restart at drawn times and every message may come seconds late, or twice. A stale recovery never overwrites a newer failure: a member that is dead comes back under a higher incarnation only, and one that stays down is dead again soon after its last word."},
	}
}

func buildMissedDeparture(s *stage.Stage) {
	c := warm(s, 24, sim.Spec{}, nil)
	c.calm = true
	// Half of them leave; each of the others sleeps through one departure.
	drawn := c.some(20)
	for i := range 10 {
		leaver, sleeper := drawn[i], drawn[10+i]
		at := time.Duration(5+15*i) * time.Second
		s.World.At(at-200*time.Millisecond, func() { c.absent[sleeper] = true })
		s.World.At(at+10*time.Second, func() { delete(c.absent, sleeper) })
		s.Fault(sim.Fault{At: at - 200*time.Millisecond, For: 3 * time.Second, Kind: sim.FaultSuspend, Nodes: stage.Names([]node.ID{sleeper})})
		s.World.At(at, func() { s.World.Stop(leaver) })
	}
}

func buildSeedForgotten(s *stage.Stage) {
	var seeds []node.Addr
	c := newCrowd(s, size{12, 1}, sim.Spec{}, func(_ int, o *swim.Config) {
		o.Seeds, o.ReapAge = seeds, 20*time.Second
	})
	seeds = c.addrs(1) // the seed itself skips its own address: it has none
	seed := c.ids[0]
	c.blame(seed)
	for _, id := range c.ids {
		s.World.Start(id)
	}
	const away = 60 * time.Second
	for at := 20 * time.Second; at+away+seedBack < s.Heal; at += away + 30*time.Second {
		s.Fault(sim.Fault{At: at, For: away, Kind: sim.FaultCrash, Nodes: stage.Names([]node.ID{seed})})
		s.Judge(at+away-time.Second, func() {
			for _, id := range c.ids[1:] {
				if _, known := c.groups[id].Find(seed); known || len(c.groups[id].Unconfirmed()) != 1 {
					c.violate(id, "the seed %s has been gone for %v and is remembered, or is not unconfirmed", seed, away)
				}
			}
		})
		s.Judge(at+away+seedBack, c.settled)
	}
}

// seedBack: a member compares lists with an unconfirmed seed every 5 s at most.
const seedBack = 15 * time.Second

const (
	listRate  = 10_000 // bytes a second, and at once
	listsSeen = 30 * time.Second
)

func buildListsInTurn(s *stage.Stage) {
	var seeds []node.Addr
	c := newCrowd(s, size{150, 1}, sim.Spec{}, func(_ int, o *swim.Config) {
		o.Seeds, o.ListRate, o.ListBurst = seeds, listRate, listRate
	})
	seeds = c.addrs(1)
	c.calm = true
	for _, id := range c.ids {
		s.World.At(s.Rand.Duration(0, 200*time.Millisecond), func() { s.World.Start(id) })
	}
	sent := map[node.ID]int{}
	c.told = func(_ node.ID, in *node.Input) {
		m, ok := in.Message.(*message.SwimList)
		if !ok {
			return
		}
		for i := range m.News {
			sent[in.From.ID] += m.News[i].Bytes()
		}
		// Beside the burst, what it promised in time and two lists may exceed the rate.
		if most := 4*listRate + listRate*int(s.World.Now()/time.Millisecond)/1000; sent[in.From.ID] > most {
			c.violate(in.From.ID, "it has sent %d bytes of lists, at most %d are due", sent[in.From.ID], most)
			sent[in.From.ID] = 0
		}
	}
	s.World.At(listsSeen, func() {
		c.settled()
		if s.Checker.Reached()["swim/put-off"] == 0 && s.Options.Faults == nil {
			c.violate(c.ids[0], "all members had the list at once: no one waited")
		}
	})
}

func buildFlapEpoch(s *stage.Stage) {
	c := warm(s, 24, sim.Spec{}, nil)
	few := c.some(4)
	c.blame(few...)
	s.Fault(sim.Fault{At: 5 * time.Second, Kind: sim.FaultLate, Value: 50_000})
	s.Fault(sim.Fault{At: 5 * time.Second, Kind: sim.FaultDuplicate, Value: 50_000})
	for i, id := range few {
		s.Fault(sim.Fault{At: time.Duration(5+i) * time.Second, For: s.Heal - 30*time.Second, Kind: sim.FaultFlap, Nodes: []string{string(id)}, Value: 300})
		at := time.Duration(15+5*i) * time.Second
		for at < s.Heal-70*time.Second {
			length := s.Rand.Duration(time.Second, 50*time.Second).Truncate(time.Millisecond)
			s.Fault(sim.Fault{At: at, For: length, Kind: sim.FaultCrash, Nodes: []string{string(id)}})
			if down := 35 * time.Second; length > down {
				s.Judge(at+down, func() { c.down(id, "a crash", down) })
			}
			at += length + s.Rand.Duration(2*time.Second, 20*time.Second).Truncate(time.Millisecond)
		}
	}
}

// lastWord is how soon a member that came back by the last word of its former life is dead again:
// the network holds a refutation that was sent before the crash for up to 45 s. A probe, a
// suspicion without a confirmation and gossip take about 9 s.
const lastWord = 20 * time.Second

// down judges that no healthy member considers a stopped member alive, unless it has just heard
// the last word of it.
func (c *crowd) down(id node.ID, after string, since time.Duration) {
	for _, at := range c.ids {
		late := c.World.Now()-c.views[at][id].back < lastWord
		if seen, known := c.groups[at].Find(id); c.World.Alive(at) && !c.guilty[at] && known && !seen.State.Gone() && !late {
			c.violate(at, "%s does not run since %s %v ago, and is %v", id, after, since, seen.State)
		}
	}
}
