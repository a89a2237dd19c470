package scenarios

import (
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/manager"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/sim"
)

// boundWorlds reach what takes hours elsewhere: nodes that never come back, and bounds of
// tries and of age, which are short here.
func boundWorlds() []Scenario {
	return []Scenario{
		{Name: "workers-halt", Virtual: 4 * time.Minute, build: onCluster(buildWorkersHalt),
			Doc: "Workers halt for ever in the midst of their shards: two machines stop, and a third one's disk takes nothing any more. What they ran runs elsewhere, every job completes, managers forget who is gone, and no core stays reserved."},
		{Name: "few-tries", Virtual: 4 * time.Minute, build: onCluster(buildFewTries),
			Doc: "A shard may be dispatched three times and lose one worker, a manager knows three workers, and an end that no gate acknowledges is kept for eight seconds. Workers die, disks are full and gates fall silent: every job ends, and no shard runs more often than its bounds allow."},
		{Name: "half-falls-silent", Virtual: 4 * time.Minute, build: onCluster(buildHalfFallsSilent),
			Doc: "All workers of a datacenter are cut off from their managers at once, for longer than a silence. More than half of the group fails together, so that it may be the network: no manager gives a worker up by its silence while its membership holds evictions, and every job ends. A death that the group finds counts all the same."},
	}
}

func buildWorkersHalt(s *cluster) {
	t := groupTopology()
	t.workers = 6
	s.standard(t, func(l *load) { l.every, l.duration, l.cores, l.vus = 5*time.Second, 8*time.Second, 3, 24 })
	s.complete = true
	order := s.choose(s.workers, len(s.workers))
	dead, full := order[:2], order[2:3]
	for _, id := range s.nodes {
		broken := id == full[0]
		for _, d := range dead {
			broken = broken || id == d
		}
		if !broken {
			s.core = append(s.core, id)
		}
	}
	for _, id := range dead {
		s.world.At(s.rand.Duration(10*time.Second, s.heal), func() { s.world.Crash(id) }) // no healing starts it
	}
	s.fault(sim.Fault{At: s.rand.Duration(10*time.Second, s.heal).Truncate(tick), Kind: sim.FaultDiskFull, Nodes: names(full)})
	s.fault(sim.Fault{At: s.heal + time.Millisecond, Kind: sim.FaultDiskFull, Nodes: names(full)})
	s.verdicts = append(s.verdicts, func() { s.knowsWorkers(len(s.workers) - len(dead)) })
}

// knowsWorkers judges that each manager knows the workers that are there, and no others.
func (s *cluster) knowsWorkers(want int) {
	s.world.Sizes(func(id node.ID, what string, n, _ int) {
		if what == "manager/workers" && n != want {
			s.checker.Violate("T12", s.record(id), "%s knows %d workers, and %d are there", id, n, want)
		}
	})
}

const (
	fewDispatches = 3
	fewReruns     = 1
)

func buildFewTries(s *cluster) {
	t := groupTopology()
	t.manage = func(c *manager.Config) {
		c.DispatchMax, c.RerunMax, c.WorkersMax = fewDispatches, fewReruns, 3
		c.ResultAge, c.SweepInterval, c.DispatchTimeout = 8*time.Second, 2*time.Second, 30*time.Second
	}
	s.forgets = true
	s.standard(t, func(l *load) { l.every, l.duration, l.cores, l.cancels = 4*time.Second, 6*time.Second, 2, 100_000 })
	s.often(s.workers, 12*time.Second, sim.FaultCrash, 9*time.Second, 0)
	s.often(s.workers, 6*time.Second, sim.FaultDiskFull, 4*time.Second, 0)
	s.slots(30*time.Second, func(i int, at time.Duration) { // ends come while no gate acknowledges
		s.fault(sim.Fault{At: at, For: s.rand.Duration(9*time.Second, 14*time.Second).Truncate(tick), Kind: sim.FaultOneWay, Nodes: names(s.managers), Peers: names(s.gates)})
	})
	lost := map[message.ShardID]int{}
	s.witness = append(s.witness, func(r checker.Record) {
		if e, ok := r.Event.(event.ShardLost); ok {
			if lost[e.Shard]++; lost[e.Shard] > fewReruns+1 {
				s.checker.Violate("P", r, "shard %v was lost %d times, %d were allowed", e.Shard, lost[e.Shard], fewReruns+1)
			}
		}
	})
}

func buildHalfFallsSilent(s *cluster) {
	t := groupTopology()
	t.workers = 6
	s.standard(t, func(l *load) { l.every, l.duration, l.cores = 4*time.Second, 6*time.Second, 3 })
	held := map[node.ID]time.Duration{} // until when
	var healed time.Duration
	s.slots(30*time.Second, func(i int, at time.Duration) {
		length := s.rand.Duration(7*time.Second, 14*time.Second).Truncate(tick)
		s.fault(sim.Fault{At: at, For: length, Kind: sim.FaultPartition, Nodes: names(s.workers), Peers: names(s.managers)})
		s.world.At(at, func() { healed = at + length })
	})
	workers := map[node.ID]bool{}
	for _, id := range s.workers {
		workers[id] = true
	}
	s.witness = append(s.witness, func(r checker.Record) {
		switch e := r.Event.(type) {
		case event.Reached:
			if e.What == "swim/eviction-hold" {
				held[r.Node] = healed
			}
		case event.PeerLost:
			own := strings.HasPrefix(e.Reason, "silent for") || strings.HasPrefix(e.Reason, "away for")
			if own && workers[e.Peer] && r.At < held[r.Node] {
				s.checker.Violate("P", r, "%s gave %s up while its membership held evictions: %s", r.Node, e.Peer, e.Reason)
			}
		}
	})
}
