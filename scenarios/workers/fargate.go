package workers

import (
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/client"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/netsim"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

func farGateWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "far-gate", Virtual: 4 * time.Minute, Within: 40 * time.Second, Network: farNetwork, Build: cluster.On(buildFarGate),
			Doc: "A client asks the cluster four questions a second that any gate answers. One gate is 10 ms away, two are 40 ms away. Twice the near gate becomes ten times slower for half a minute, and once it crashes. Nine questions of ten go to the near gate while it is near; within five seconds of becoming slow it gets fewer than one of ten, and within thirty of its recovery it gets them back. The client changes no more often than that. Jobs go to their owners, near or far."},
	}
}

const (
	farEvery = 250 * time.Millisecond // between questions
	farSlow  = 30 * time.Second
	farLeft  = 5 * time.Second  // from the begin of a slow time
	farBack  = 30 * time.Second // from its end
	farSlack = 90               // milliseconds that the near gate is slower by
)

func farNetwork() netsim.Config {
	c := netsim.Default()
	c.Near.Latency, c.Near.Jitter = 5*time.Millisecond, 500*time.Microsecond
	c.Far.Latency, c.Far.Jitter = 20*time.Millisecond, 2*time.Millisecond
	return c
}

// farPhase is a time in which the near gate must get at least, or at most, so many of ten questions.
type farPhase struct {
	from, to    time.Duration
	least, most int
}

func buildFarGate(s *cluster.Cluster) {
	t := cluster.Topology{Gates: 3, Datacenters: 3, Managers: 1, Workers: 1, Cores: 4, Clients: 3}
	t.Ask = func(c *client.Config) { c.Explore = 10 * time.Second }
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Vus, l.Layers = 10*time.Second, 2*time.Second, 1, 4, false
	})
	near, asker := s.Gates[0], s.Clients[0]
	changes := 0
	s.Witness = append(s.Witness, func(r checker.Record) {
		if _, ok := r.Event.(event.GatePreferred); ok && r.Node == asker {
			changes++
		}
	})
	first := 15*time.Second + s.Rand.Duration(0, 5*time.Second).Truncate(stage.Tick)
	second := first + farSlow + farBack + 15*time.Second
	phases := []farPhase{{5 * time.Second, first, 9, 10}}
	for _, from := range []time.Duration{first, second} {
		s.Fault(sim.Fault{At: from, For: farSlow, Kind: sim.FaultLatency, Nodes: []string{string(near)}, Peers: []string{string(asker)}, Value: farSlack / 2})
		phases = append(phases, farPhase{from + farLeft, from + farSlow, 0, 1}, farPhase{from + farSlow + farBack, from + farSlow + farBack + 15*time.Second, 9, 10})
	}
	crash := second + farSlow + farBack + 15*time.Second
	s.Fault(sim.Fault{At: crash, For: 10 * time.Second, Kind: sim.FaultCrash, Nodes: []string{string(near)}})
	answered := map[time.Duration]string{}
	for at := 3 * time.Second; at < s.Heal+s.Within; at += farEvery {
		s.World.At(at, func() {
			s.World.Command(asker, &message.ClusterQuery{}, func(m node.Message) {
				if c, ok := m.(*message.ClusterStatus); ok {
					answered[at] = c.Gate
				}
			})
		})
	}
	s.Verdicts = append(s.Verdicts, func() {
		for _, p := range phases {
			sum, got, lost := 0, 0, 0
			for at := 3 * time.Second; at < p.to; at += farEvery {
				switch gate := answered[at]; {
				case at < p.from:
				case gate == "":
					lost++
				default:
					sum++
					got += strings.Count(gate, string(near))
				}
			}
			s.Draw("%v to %v: the near gate answers %d of %d", p.from, p.to, got, sum)
			if lost > 0 || sum == 0 || 10*got < p.least*sum || 10*got > p.most*sum {
				s.Checker.Violate("P", s.Record(asker), "from %v to %v the near gate answers %d of %d questions, and %d have no answer: want %d to %d of ten", p.from, p.to, got, sum, lost, p.least, p.most)
			}
		}
		if most := 6; changes > most {
			s.Checker.Violate("P", s.Record(asker), "the client prefers another gate %d times, though the near one was slow twice and down once: want %d at most", changes, most)
		}
	})
}
