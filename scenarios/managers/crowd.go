package managers

import (
	"fmt"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
)

// crowdWorlds are about managers that place on the same workers at the same time.
func crowdWorlds() []stage.Scenario {
	return []stage.Scenario{crowdWorld(crowd{})}
}

func crowdWorld(c crowd) stage.Scenario {
	return stage.Scenario{Name: "crowded-managers", Virtual: 90 * time.Second, Within: 40 * time.Second, Build: cluster.On(func(s *cluster.Cluster) { buildCrowdedManagers(s, c) }),
		Doc: "Forty jobs come at once, and five managers place them on sixteen workers, whose cores do not suffice. Managers tell each other which cores they are about to take, so that few of their dispatches find a worker full: at most three in ten. Without these hints six in ten do. Every job completes."}
}

// The load of the world: jobs of one to three cores, on workers of four.
const (
	crowdJobs    = 40
	crowdWorkers = 16
)

// crowdRefused is the share of dispatches that may find a worker full, in percent. Seeds have 6 to
// 16, and without hints 54 to 65.
const crowdRefused = 30

// crowd is a variant of the world.
type crowd struct {
	deaf bool                          // managers hear no hints
	told func(dispatched, refused int) // gets what managers sent to workers, and what those refused; nil: none does
}

func buildCrowdedManagers(s *cluster.Cluster, c crowd) {
	if c.deaf {
		s.Arrives = func(_ node.ID, in *node.Input) time.Duration {
			if in.Message.Kind() == message.KindCoresTaken {
				return cluster.Lost
			}
			return 0
		}
	}
	s.Build(cluster.Topology{Gates: 3, Datacenters: 1, Managers: 5, Workers: crowdWorkers, Cores: 4, Clients: 4})
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	for n := range crowdJobs {
		o := &cluster.Order{Key: fmt.Sprintf("crowd-%d", n), Client: s.Clients[n%len(s.Clients)]}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, cluster.Load{Vus: 8, Cores: uint32(1 + s.Rand.Int(3)), Duration: s.Rand.Duration(2*time.Second, 6*time.Second).Truncate(stage.Tick)}, n)
		s.World.At(6*time.Second, func() { s.Submit(o, submit, 0) })
	}
	dispatched, refused := 0, 0
	s.Witness = append(s.Witness, func(r checker.Record) {
		switch e := r.Event.(type) {
		case event.ShardDispatched:
			dispatched++
		case event.Shed:
			if e.Reason == event.ShedCores && e.Kind == message.KindShardDispatch {
				refused++
			}
		}
	})
	s.Verdicts = append(s.Verdicts, func() {
		if c.told != nil {
			c.told(dispatched, refused)
		}
		if !c.deaf && 100*refused > crowdRefused*dispatched {
			s.Checker.Violate("P", s.Record(s.Managers[0]), "workers refused %d of %d dispatches, as other managers had taken their cores; at most %d %% may be", refused, dispatched, crowdRefused)
		}
	})
}
