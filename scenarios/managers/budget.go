package managers

import (
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// budgetWorlds are about workers that a job loses, and how many.
func budgetWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "losing-fleet", Virtual: 4 * time.Minute, Build: cluster.On(buildLosingFleet),
			Doc: "A job wants sixty of sixty-six cores, and its workers die one by one, while managers are killed and take it over. A twelfth of them die in one half of the seeds: the job completes. Half of them die in the other half: the job fails, once, by its workflow's budget. Over all managers no workflow runs shards again after more losses than its budget allows."},
	}
}

// fleet is the workers of the world, each with one core, and what its job wants.
const (
	fleet       = 66
	fleetShards = 60
	fleetMost   = fleetShards / 10 // the workflow's budget: above that of the setting
)

func buildLosingFleet(s *cluster.Cluster) {
	s.Build(cluster.Topology{Gates: 1, Datacenters: 1, Managers: 3, Workers: fleet, Cores: 1, Clients: 1})
	few := s.Rand.Chance(1, 2)
	s.Complete = few
	o := &cluster.Order{Key: "wide", Client: s.Clients[0]}
	s.Orders = append(s.Orders, o)
	submit := s.Submission(o, cluster.Load{Vus: 2 * fleetShards, Cores: fleetShards, Duration: 100 * time.Second}, 1)
	s.World.At(6*time.Second, func() { s.Submit(o, submit, 0) })
	deaths := fleetShards / 12
	if !few {
		deaths = fleet / 2
	}
	for i, id := range s.Choose(s.Workers, deaths) {
		at := 12*time.Second + time.Duration(i)*2500*time.Millisecond + s.Rand.Duration(0, time.Second).Truncate(stage.Tick)
		s.Fault(sim.Fault{At: at, For: 30 * time.Second, Kind: sim.FaultCrash, Nodes: []string{string(id)}})
	}
	first := 16 * time.Second
	if few {
		first = 34 * time.Second // a loss that no manager saw spends nothing
	}
	for i := range 9 { // each manager in turn: the holder is among the first three
		id := s.Managers[i%len(s.Managers)]
		at := first + time.Duration(i)*7*time.Second + s.Rand.Duration(0, time.Second).Truncate(stage.Tick)
		s.Fault(sim.Fault{At: at, For: 4 * time.Second, Kind: sim.FaultCrash, Nodes: []string{string(id)}})
	}
	b := &budget{Cluster: s, lost: map[message.ShardID]bool{}, seen: map[attempt]bool{}}
	s.Witness = append(s.Witness, b.witness)
	o.Judge = func(r *message.Result) {
		switch {
		case few && r.State != message.JobCompleted:
			b.violate(s.Record(o.Client), "the job lost %d workers, its budget is %d, and it is %v: %s", deaths, fleetMost, r.State, r.Error)
		case !few && (r.State != message.JobFailed || !strings.Contains(r.Error, "manager.workflow_rerun_max")):
			b.violate(s.Record(o.Client), "the job lost %d workers, its budget is %d, and it is %v: %s", deaths, fleetMost, r.State, r.Error)
		case !few && b.ends == 0:
			b.violate(s.Record(o.Client), "no manager reported the budget")
		}
	}
}

// attempt is one dispatch of a shard.
type attempt struct {
	shard message.ShardID
	fence message.Fence
}

// budget counts what runs again after a loss, over all managers.
type budget struct {
	*cluster.Cluster
	lost  map[message.ShardID]bool // and not dispatched since
	seen  map[attempt]bool
	again int
	ends  int
}

func (b *budget) witness(r checker.Record) {
	switch e := r.Event.(type) {
	case event.ShardLost:
		if a := (attempt{e.Shard, e.Fence}); !b.seen[a] {
			b.seen[a], b.lost[e.Shard] = true, true
		}
	case event.ShardDispatched:
		if b.lost[e.Shard] {
			b.lost[e.Shard] = false
			if b.again++; b.again > fleetMost {
				b.violate(r, "shards of one workflow ran again %d times after losses, the budget is %d", b.again, fleetMost)
			}
		}
	case event.BudgetSpent:
		b.ends++
	}
}

func (b *budget) violate(r checker.Record, format string, args ...any) {
	b.Checker.Violate("P", r, format, args...)
}
