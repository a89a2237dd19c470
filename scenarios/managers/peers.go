package managers

import (
	"slices"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/manager"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/swim"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/members"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// peerWorlds are worlds of gates, managers and workers that lose each other. Each role drops
// the peer, its stream and the plans with it, and registers it again.
func peerWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "dead-by-hearsay", Virtual: 5 * time.Minute, Build: cluster.On(buildDeadByHearsay),
			Doc: "A member of the managers' group claims that a worker is dead, while the worker runs and its streams are open; gossip spreads the claim. Each manager that believes it drops worker, stream and shards at once, dispatches nothing to it, and registers it again as soon as it refutes. Every job completes, unless rumours cost one shard more workers than rerun_max: then it fails with the fourth, each lost to another rumour. Gates and workers rely on 5 s of silence: no manager is in the gates' group, and a worker's shards live by acknowledged heartbeats, which no rumour ends."},
		{Name: "peers-cut", Virtual: 6 * time.Minute, Build: cluster.On(buildPeersCut),
			Doc: "Gates, managers and workers crash, are cut off both ways or one way, alone, or as a whole datacenter. Each role on each other node drops the peer and its stream within ten seconds and plans nothing with it. Twenty seconds after the cut it has every peer again."},
	}
}

// peers records which node has registered which, by each node's own events.
type peers struct {
	*cluster.Cluster
	registered map[[2]node.ID]bool
	dead       map[[2]node.ID]time.Duration // dead in the group, since when
	deaths     int                          // of registered workers, at their managers
	losses     map[message.ShardID][]time.Duration
	lives      map[node.ID]uint64
}

func watchPeers(s *cluster.Cluster) *peers {
	p := &peers{Cluster: s, registered: map[[2]node.ID]bool{}, dead: map[[2]node.ID]time.Duration{}, lives: map[node.ID]uint64{}, losses: map[message.ShardID][]time.Duration{}}
	s.Witness = append(s.Witness, p.see)
	return p
}

func (p *peers) violate(r checker.Record, format string, args ...any) {
	p.Checker.Violate(members.InvariantM, r, format, args...)
}

func (p *peers) see(r checker.Record) {
	if p.lives[r.Node] != r.Incarnation {
		p.lives[r.Node] = r.Incarnation
		p.restarted(r.Node)
	}
	switch e := r.Event.(type) {
	case event.PeerRegistered:
		p.registered[[2]node.ID{r.Node, e.Peer}] = true
	case event.PeerLost:
		delete(p.registered, [2]node.ID{r.Node, e.Peer})
	case event.MemberChanged:
		pair := [2]node.ID{r.Node, e.Member}
		if e.To != swim.Dead.String() {
			delete(p.dead, pair)
			return
		}
		p.dead[pair] = r.At
		if p.registered[pair] && slices.Contains(p.Managers, r.Node) && slices.Contains(p.Workers, e.Member) {
			p.deaths++
			p.World.At(p.World.Now()+time.Millisecond, func() {
				if since, still := p.dead[pair]; still && since == r.At && p.registered[pair] && p.World.Alive(r.Node) {
					p.violate(r, "%s is dead in the group, as %s says, and is still registered", e.Member, e.By)
				}
			})
		}
	case event.ShardLost:
		p.losses[e.Shard] = append(p.losses[e.Shard], r.At)
	case event.ShardDispatched:
		p.plans(r, e.Worker)
	case event.SubjobDispatched:
		p.plans(r, e.Manager)
	}
}

// spent reports that a shard of the job lost more workers than rerun_max, each to another
// rumour: at least half an interval apart.
func (p *peers) spent(job message.JobID) bool {
	//lint:orderfree any one will do
	for shard, at := range p.losses {
		apart := 1
		for i := 1; i < len(at); i++ {
			if at[i]-at[i-1] >= rumourEvery/2 {
				apart++
			}
		}
		if shard.Job == job && apart > manager.Default().RerunMax {
			return true
		}
	}
	return false
}

// plans judges that a node gives work only to a registered peer that it does not consider dead.
func (p *peers) plans(r checker.Record, to node.ID) {
	pair := [2]node.ID{r.Node, to}
	if _, dead := p.dead[pair]; dead || !p.registered[pair] {
		p.violate(r, "it dispatches work to %s, which it has dropped", to)
	}
}

// restarted forgets what a node had registered before it crashed.
func (p *peers) restarted(id node.ID) {
	for _, other := range p.Nodes {
		delete(p.registered, [2]node.ID{id, other})
		delete(p.dead, [2]node.ID{id, other})
	}
}

// rumour is a member of a group that gossips deaths that did not happen.
type rumour struct {
	group  *swim.Group
	name   string
	victim func() (dead node.ID, to node.Addr)
}

// rumourEvery leaves a worker time to refute, and to take shards again.
const rumourEvery = 8 * time.Second

// Step implements node.Machine.
func (m *rumour) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		m.group.Start(env)
		env.SetTimer(node.Key(node.PartGossip, members.GossipTimerSpread), rumourEvery)
	case node.InputMessage:
		m.group.Receive(env, in)
	case node.InputStreamOpened:
		m.group.Opened(env, in)
	case node.InputStreamBroken:
		m.group.Broken(env, in)
	case node.InputTimer:
		if !m.group.Fire(env, in.Timer) {
			m.tell(env)
			env.SetTimer(node.Key(node.PartGossip, members.GossipTimerSpread), rumourEvery)
		}
	case node.InputStop:
		env.Halt("")
	}
	m.group.Take()
}

func (m *rumour) tell(env node.Env) {
	dead, to := m.victim()
	if seen, known := m.group.Find(dead); known && seen.State == swim.Alive {
		env.Datagram(to, &message.SwimGossip{Group: m.name, Incarnation: m.group.Incarnation(), News: []message.SwimNews{{
			Node: string(dead), Addr: string(seen.Addr), Role: uint8(seen.Role), Incarnation: seen.Incarnation, State: uint8(swim.Dead), By: string(env.Self().ID),
		}}})
	}
}

func buildDeadByHearsay(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 3*time.Second, 4*time.Second, 3 })
	p := watchPeers(s)
	s.Complete, s.Excused = true, p.spent
	config := swim.Default()
	config.Group = stage.Datacenter(0)
	for _, id := range s.Managers {
		config.Seeds = append(config.Seeds, s.World.Addr(id))
	}
	s.World.Add(sim.Spec{ID: "rumour", Role: node.RoleWorker, Place: stage.Datacenter(0), New: func() node.Machine {
		return &rumour{swim.New(config), config.Group, func() (node.ID, node.Addr) {
			victim := s.Workers[s.Rand.Int(len(s.Workers))]
			if s.World.Now() < s.Heal {
				s.World.At(s.World.Now()+rumourEvery-time.Second, func() { p.back(s.Managers, []node.ID{victim}) })
			}
			return victim, s.World.Addr(s.Managers[s.Rand.Int(len(s.Managers))])
		}}
	}})
	s.World.At(2*time.Second, func() { s.World.Start("rumour") })
	s.Verdicts = append(s.Verdicts, func() {
		if p.deaths < 20 && s.Options.Faults == nil {
			p.violate(s.Record("rumour"), "managers took registered workers for dead %d times: too few to judge", p.deaths)
		}
	})
}

// back judges that nodes have registered other running nodes.
func (p *peers) back(at, others []node.ID) {
	for _, x := range at {
		for _, y := range others {
			if p.World.Alive(x) && p.World.Alive(y) && !p.registered[[2]node.ID{x, y}] {
				p.violate(p.Record(x), "%s can be reached again, and is not registered", y)
			}
		}
	}
}

const (
	// dropBound: silence of 5 s, the time of a death in the group, a tick.
	dropBound = 10 * time.Second
	// peersCut is how long a cut lasts, and peersBack how soon after it all must have
	// registered.
	peersCut  = 15 * time.Second
	peersBack = 20 * time.Second
)

func buildPeersCut(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Datacenters, t.Workers = 2, 3
	s.Standard(t, func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 4*time.Second, 3*time.Second, 2 })
	p := watchPeers(s)
	s.Slots(peersCut+peersBack+5*time.Second, func(i int, at time.Duration) {
		victims := [][]node.ID{s.Choose(s.Gates, 1), s.Choose(s.Managers, 1), s.Choose(s.Workers, 1), inPlace(s, stage.Datacenter(1))}[s.Rand.Int(4)]
		f := sim.Fault{At: at, For: peersCut, Kind: []string{sim.FaultCrash, sim.FaultPartition, sim.FaultOneWay}[i%3], Nodes: stage.Names(victims)}
		s.Fault(f)
		if s.Options.Faults == nil {
			p.cut(f, victims)
		}
	})
}

// inPlace returns the managers and workers of a datacenter.
func inPlace(s *cluster.Cluster, place string) []node.ID {
	return slices.DeleteFunc(slices.Concat(s.Managers, s.Workers), func(id node.ID) bool { return s.World.Place(id) != place })
}

// cut judges that each node drops the peers that it no longer hears, and registers them again.
func (p *peers) cut(f sim.Fault, victims []node.ID) {
	var had [][2]node.ID
	p.World.At(f.At, func() {
		for _, x := range p.Nodes {
			for _, y := range p.Nodes {
				if p.registered[[2]node.ID{x, y}] {
					had = append(had, [2]node.ID{x, y})
				}
			}
		}
	})
	p.World.At(f.At+dropBound, func() {
		for _, pair := range had {
			if p.World.Alive(pair[0]) && p.registered[pair] && p.deaf(pair[0], pair[1], f.Kind, victims) {
				p.violate(p.Record(pair[0]), "%s cannot be heard for %v, and is still registered", pair[1], dropBound)
			}
		}
	})
	p.World.At(f.At+f.For+peersBack, func() {
		for _, pair := range had {
			p.back(pair[:1], pair[1:])
		}
	})
}

// deaf reports that a node must drop another one during a cut. A manager that is cut off from
// its whole group holds evictions.
func (p *peers) deaf(x, y node.ID, kind string, victims []node.ID) bool {
	from, to := slices.Contains(victims, x), slices.Contains(victims, y)
	if kind == sim.FaultPartition && from && !to {
		return !slices.Contains(p.Managers, x) || !slices.Contains(p.Workers, y)
	}
	return to && !from
}
