package managers

import (
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/manager"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// boundWorlds reach states that take hours elsewhere: nodes that never return, and bounds of
// tries and of age, which are short here.
func boundWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "workers-halt", Virtual: 4 * time.Minute, Build: cluster.On(buildWorkersHalt),
			Doc: "Workers stop for ever in the middle of their shards: two machines halt, and the disk of a third accepts nothing any more. Their shards run elsewhere, every job completes, managers forget the lost workers, and no core stays reserved."},
		{Name: "few-tries", Virtual: 4 * time.Minute, Build: cluster.On(buildFewTries),
			Doc: "Bounds are small: three dispatches and one lost worker per shard, three workers per manager, and eight seconds for an end that no gate acknowledges. Workers die, disks are full and gates fall silent. Every job ends, and no shard runs more often than its bounds allow."},
		{Name: "half-falls-silent", Virtual: 4 * time.Minute, Build: cluster.On(buildHalfFallsSilent),
			Doc: "All workers of a datacenter are cut off from their managers at once, for longer than a silence. More than half of the group fails together, so the cause may be the network. No manager gives a worker up for its silence while its membership holds evictions, and every job ends. A death that the group detects counts nevertheless."},
	}
}

func buildWorkersHalt(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Workers = 6
	s.Standard(t, func(l *cluster.Load) { l.Every, l.Duration, l.Cores, l.Vus = 5*time.Second, 8*time.Second, 3, 24 })
	s.Complete = true
	order := s.Choose(s.Workers, len(s.Workers))
	dead, full := order[:2], order[2:3]
	for _, id := range s.Nodes {
		broken := id == full[0]
		for _, d := range dead {
			broken = broken || id == d
		}
		if !broken {
			s.Core = append(s.Core, id)
		}
	}
	for _, id := range dead {
		s.World.At(s.Rand.Duration(10*time.Second, s.Heal), func() { s.World.Crash(id) }) // the healing does not start it
	}
	s.Fault(sim.Fault{At: s.Rand.Duration(10*time.Second, s.Heal).Truncate(stage.Tick), Kind: sim.FaultDiskFull, Nodes: stage.Names(full)})
	s.Fault(sim.Fault{At: s.Heal + time.Millisecond, Kind: sim.FaultDiskFull, Nodes: stage.Names(full)})
	s.Verdicts = append(s.Verdicts, func() { knowsWorkers(s, len(s.Workers)-len(dead)) })
}

// knowsWorkers judges that each manager knows exactly the workers that run.
func knowsWorkers(s *cluster.Cluster, want int) {
	s.World.Sizes(func(id node.ID, what string, n, _ int) {
		if what == "manager/workers" && n != want {
			s.Checker.Violate("T12", s.Record(id), "%s knows %d workers, and %d are there", id, n, want)
		}
	})
}

const (
	fewDispatches = 3
	fewReruns     = 1
)

func buildFewTries(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Manage = func(c *manager.Config) {
		c.DispatchMax, c.RerunMax, c.WorkersMax = fewDispatches, fewReruns, 3
		c.ResultAge, c.SweepInterval, c.DispatchTimeout = 8*time.Second, 2*time.Second, 30*time.Second
	}
	s.Forgets = true
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Cancels = 4*time.Second, 6*time.Second, 2, 100_000
	})
	s.Often(s.Workers, 12*time.Second, sim.FaultCrash, 9*time.Second, 0)
	s.Often(s.Workers, 6*time.Second, sim.FaultDiskFull, 4*time.Second, 0)
	s.Slots(30*time.Second, func(i int, at time.Duration) { // subjobs end while no gate acknowledges
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(9*time.Second, 14*time.Second).Truncate(stage.Tick), Kind: sim.FaultOneWay, Nodes: stage.Names(s.Managers), Peers: stage.Names(s.Gates)})
	})
	lost := map[message.ShardID]int{}
	s.Witness = append(s.Witness, func(r checker.Record) {
		if e, ok := r.Event.(event.ShardLost); ok {
			if lost[e.Shard]++; lost[e.Shard] > fewReruns+1 {
				s.Checker.Violate("P", r, "shard %v was lost %d times, %d were allowed", e.Shard, lost[e.Shard], fewReruns+1)
			}
		}
	})
}

func buildHalfFallsSilent(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Workers = 6
	s.Standard(t, func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 4*time.Second, 6*time.Second, 3 })
	held := map[node.ID]time.Duration{} // until when each node is held up
	var healed time.Duration
	s.Slots(30*time.Second, func(i int, at time.Duration) {
		length := s.Rand.Duration(7*time.Second, 14*time.Second).Truncate(stage.Tick)
		s.Fault(sim.Fault{At: at, For: length, Kind: sim.FaultPartition, Nodes: stage.Names(s.Workers), Peers: stage.Names(s.Managers)})
		s.World.At(at, func() { healed = at + length })
	})
	workers := map[node.ID]bool{}
	for _, id := range s.Workers {
		workers[id] = true
	}
	s.Witness = append(s.Witness, func(r checker.Record) {
		switch e := r.Event.(type) {
		case event.Reached:
			if e.What == "swim/eviction-hold" {
				held[r.Node] = healed
			}
		case event.PeerLost:
			own := strings.HasPrefix(e.Reason, "silent for") || strings.HasPrefix(e.Reason, "away for")
			if own && workers[e.Peer] && r.At < held[r.Node] {
				s.Checker.Violate("P", r, "%s gave %s up while its membership held evictions: %s", r.Node, e.Peer, e.Reason)
			}
		}
	})
}
