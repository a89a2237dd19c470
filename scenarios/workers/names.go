package workers

import (
	"slices"
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/client"
	"hyperscale/core/event"
	"hyperscale/core/manager"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/worker"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// nameWorlds are about nodes that find others by names.
func nameWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "stale-dns", Virtual: 4 * time.Minute, Within: 90 * time.Second, Build: cluster.On(buildStaleDNS),
			Doc: "Workers, managers and clients know nothing but names. Of five addresses of the managers one is that of no node, one of a node that does not answer, and one of another cluster; the gates' name is as stale. Every node joins within three seconds, and none registers with another cluster. Later the names change: workers register with the new manager once their answer is old, and keep the one that no name has any more. Managers crash meanwhile."},
		{Name: "dns-dark", Virtual: 4 * time.Minute, Within: 90 * time.Second, Build: cluster.On(buildDNSDark),
			Doc: "The resolver is dead from the begin. Workers and managers join by the seeds that they know beside the names, clients by gates of their cache. The resolver comes back, and they register with all; then it dies again, and later says that there are no such names. No node loses a peer by that, and nodes that crash meanwhile come back."},
		{Name: "all-seeds-down", Virtual: 4 * time.Minute, Within: 90 * time.Second, Build: cluster.On(buildAllSeedsDown),
			Doc: "No manager behind the workers' name takes a stream for 40 to 70 seconds. Then one returns, and each worker is registered with it within 16 seconds. They do not come at the same instant."},
	}
}

const (
	nameGates    = node.Addr("dns:gates:7400")
	nameManagers = node.Addr("srv:_manager._tcp.dc-a")
	nameTTL      = 10 * time.Second
	nameJoined   = 3 * time.Second                 // from a node's start
	nameFollowed = nameTTL + 3*time.Second         // from a change of the table
	nameReturned = 16 * time.Second                // from a manager's return
	nowhere      = node.Addr("sim-9999999")        // no node has it
	strange      = node.ID(cluster.Impostor + "x") // of another cluster
	mute         = node.ID(cluster.Impostor + "y") // never answers
)

// named holds what nodes that know names alone register with.
type named struct {
	s        *cluster.Cluster
	managers []node.Addr
	gates    []node.Addr
	by       map[[2]node.ID]time.Duration // when the first node registered with the second, newest
	lost     map[[2]node.ID]time.Duration
}

// buildNamed builds a cluster whose nodes find each other by names; seeds are those that each knows
// besides.
func buildNamed(s *cluster.Cluster, seeds bool) *named {
	n := &named{s: s, by: map[[2]node.ID]time.Duration{}, lost: map[[2]node.ID]time.Duration{}}
	t := cluster.GroupTopology()
	t.Ask = func(c *client.Config) {
		c.Discover = []node.Addr{nameGates}
		if seeds {
			c.Cached = []node.Addr{nowhere, n.gates[1]}
		}
	}
	t.Manage = func(c *manager.Config) {
		n.gates = c.Gates
		c.Gates, c.Discover = nil, []node.Addr{nameGates}
		if seeds {
			c.Seeds = []node.Addr{n.gates[0]}
		}
	}
	t.Work = func(c *worker.Config) {
		n.managers = c.Managers
		c.Managers, c.Discover = nil, []node.Addr{nameManagers}
		if seeds {
			c.Managers = []node.Addr{n.managers[0]}
		}
	}
	s.Standard(t, func(l *cluster.Load) { l.Every = 12 * time.Second })
	for _, id := range []node.ID{strange, mute} {
		s.Add(sim.Spec{ID: id, Role: node.RoleManager, Cluster: "other", Place: stage.Datacenter(0), New: func() node.Machine { return welcomer{} }})
		s.World.At(0, func() { s.World.Start(id) })
	}
	s.Witness = append(s.Witness, n.witness)
	return n
}

// welcomer takes each node that comes.
type welcomer struct{}

// Step implements node.Machine.
func (welcomer) Step(env node.Env, in *node.Input) {
	switch m := in.Message.(type) {
	case *message.ManagerHeartbeat:
		env.Send(in.Stream, &message.HeartbeatAck{Sequence: m.Sequence})
	case *message.WorkerHeartbeat:
		env.Send(in.Stream, &message.HeartbeatAck{Sequence: m.Sequence})
	}
}

func (n *named) witness(r checker.Record) {
	switch e := r.Event.(type) {
	case event.PeerRegistered:
		if strings.HasPrefix(string(e.Peer), cluster.Impostor) {
			n.s.Checker.Violate("P", r, "%s registers with %s of another cluster", r.Node, e.Peer)
		}
		n.by[[2]node.ID{r.Node, e.Peer}] = r.At
		delete(n.lost, [2]node.ID{r.Node, e.Peer})
	case event.PeerLost:
		n.lost[[2]node.ID{r.Node, e.Peer}] = r.At
	}
}

// joined asserts that all nodes of a list are registered with each of some others at a time.
func (n *named) joined(at time.Duration, nodes, with []node.ID) {
	n.s.World.At(at, func() {
		for _, id := range nodes {
			for _, to := range with {
				key := [2]node.ID{id, to}
				_, gone := n.lost[key]
				if _, is := n.by[key]; !is || gone {
					n.s.Checker.Violate("P", n.s.Record(id), "%s is not registered with %s at %v", id, to, at)
				}
			}
		}
	})
}

// name sets the table.
func (n *named) name(of node.Addr, addrs ...node.Addr) {
	all := slices.Clone(addrs)
	n.s.Rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	n.s.World.Name(of, nameTTL, all...)
}

func buildStaleDNS(s *cluster.Cluster) {
	n := buildNamed(s, false)
	other, dead := s.World.Addr(strange), s.World.Addr(mute)
	n.name(nameGates, n.gates[0], n.gates[1], n.gates[2], nowhere, other)
	n.name(nameManagers, n.managers[0], n.managers[1], nowhere, dead, other)
	s.Fault(sim.Fault{At: 0, Kind: sim.FaultSuspend, Nodes: []string{string(mute)}})
	joined := time.Second + nameJoined
	n.joined(joined, s.Workers, s.Managers[:2])
	n.joined(joined, s.Managers, s.Gates)
	change := 20*time.Second + s.Rand.Duration(0, 10*time.Second)
	s.World.At(change, func() { n.name(nameManagers, n.managers[1], n.managers[2], nowhere, other) })
	n.joined(change+nameFollowed, s.Workers, s.Managers)
	for at := change + nameFollowed; at+8*time.Second < s.Heal; at += 15 * time.Second {
		s.Fault(sim.Fault{At: at + stage.Tick, For: s.Brief(4 * time.Second), Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(slices.Concat(s.Managers[1:], s.Gates, s.Workers), 1))})
	}
	n.joined(s.Heal+nameReturned, s.Workers, s.Managers[1:])
}

func buildDNSDark(s *cluster.Cluster) {
	n := buildNamed(s, true)
	s.World.Darken(true)
	n.name(nameGates, n.gates...)
	n.name(nameManagers, n.managers...)
	n.joined(time.Second+nameJoined, s.Workers, s.Managers[:1])
	n.joined(time.Second+nameJoined, s.Managers, s.Gates[:1])
	back := 25*time.Second + s.Rand.Duration(0, 5*time.Second)
	s.World.At(back, func() { s.World.Darken(false) })
	all := func(at time.Duration) {
		n.joined(at, s.Workers, s.Managers)
		n.joined(at, s.Managers, s.Gates)
	}
	all(back + nameReturned + 3*time.Second) // a look-up that fails takes two seconds
	dark := back + 25*time.Second
	s.World.At(dark, func() { s.World.Darken(true) })
	s.Fault(sim.Fault{At: dark + 20*time.Second, For: 3 * time.Second, Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(s.Managers, 1))})
	all(dark + 40*time.Second)
	absent := dark + 40*time.Second
	s.World.At(absent, func() {
		s.World.Darken(false)
		n.name(nameManagers)
		n.name(nameGates)
	})
	all(absent + 25*time.Second)
	s.World.At(s.Heal, func() {
		n.name(nameGates, n.gates...)
		n.name(nameManagers, n.managers...)
	})
	s.Fault(sim.Fault{At: absent + 26*time.Second, For: 5 * time.Second, Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(s.Workers, 2))})
	all(s.Heal + 50*time.Second) // an absent name is asked again within 30 seconds
}

func buildAllSeedsDown(s *cluster.Cluster) {
	n := buildNamed(s, false)
	n.name(nameGates, n.gates...)
	n.name(nameManagers, n.managers...)
	first := s.Choose(s.Managers, 1)
	down := 40*time.Second + s.Rand.Duration(0, 30*time.Second).Truncate(stage.Tick)
	s.Fault(sim.Fault{At: 0, For: down, Kind: sim.FaultRefuseAccept, Nodes: stage.Names(first)})
	s.Fault(sim.Fault{At: 0, Kind: sim.FaultRefuseAccept, Nodes: stage.Names(stage.Without(s.Managers, first...))})
	n.joined(down+nameReturned, s.Workers, first)
	n.joined(s.Heal+nameReturned, s.Workers, s.Managers)
	s.Verdicts = append(s.Verdicts, func() {
		at := map[time.Duration]bool{}
		for _, id := range s.Workers {
			at[n.by[[2]node.ID{id, first[0]}].Truncate(10*stage.Tick)] = true
		}
		if len(at) == 1 {
			s.Checker.Violate("P", s.Record(first[0]), "all workers come at the same instant")
		}
	})
}
