package managers

import (
	"fmt"
	"time"

	"hyperscale/checker"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// loadWorlds bring managers more messages than they can take at once.
func loadWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "paused-manager-of-many", Virtual: 34 * time.Second, Within: 12 * time.Second, Rate: 4 * pausedWorkers, Build: cluster.On(buildPausedManagerOfMany),
			Doc: "The only manager of hundreds of workers is paused for one to two seconds, while each of them runs a shard of one job. Its mailbox holds little more than a message of each. Heartbeats and figures that wait replace older ones: no stream breaks, no worker is lost, nothing runs again, and the job completes."},
		{Name: "file-flood", Virtual: 80 * time.Second, Within: 30 * time.Second, Build: cluster.On(buildFileFlood),
			Doc: "Slow managers get hundreds of dispatches with their programs at once, and keep these files on a majority, while shards of another job run. Renewals wait behind none of it: no peer is lost, nothing runs again, and every job ends."},
	}
}

// pausedWorkers is the most that the world has. A mailbox of 4,096 messages is to the 3,400
// workers of a large datacenter what one of 1.2 messages a worker is to these.
const pausedWorkers = 600

func buildPausedManagerOfMany(s *cluster.Cluster) {
	workers := s.Crowd(pausedWorkers)
	s.Build(cluster.Topology{Gates: 1, Datacenters: 1, Managers: 1, Workers: workers, Cores: 1, Clients: 1,
		Boxes: map[node.Role]func(*node.MailboxConfig){node.RoleManager: func(c *node.MailboxConfig) {
			n := workers * 6 / 5
			c.Lanes = [node.Priorities]int{n, n, n, n}
		}}})
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	s.LosesNoPeer(manyRegistered, s.Options.Virtual)
	o := &cluster.Order{Key: "wide", Client: s.Clients[0]}
	s.Orders = append(s.Orders, o)
	submit := s.Submission(o, cluster.Load{Vus: 2 * uint64(workers), Cores: uint32(workers), Duration: 10 * time.Second}, 1)
	s.World.At(manyRegistered, func() { s.Submit(o, submit, 0) })
	for at := manyRegistered + 3*time.Second; at < manyRegistered+9*time.Second; at += 4 * time.Second {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(1200*time.Millisecond, 2*time.Second).Truncate(stage.Tick), Kind: sim.FaultPause, Nodes: stage.Names(s.Managers)})
	}
}

// manyRegistered is when all workers of a crowd have registered.
const manyRegistered = 9 * time.Second

func buildFileFlood(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Managers, t.Cores = 1, 100
	s.Build(t)
	s.Checker.Promise(checker.Promises{Once: true})
	s.LosesNoPeer(manyRegistered, s.Options.Virtual)
	order := func(key string, at time.Duration, l cluster.Load) {
		o := &cluster.Order{Key: key, Client: s.Clients[len(s.Orders)%len(s.Clients)]}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, l, len(s.Orders))
		submit.Program.Files[0].Data = append(submit.Program.Files[0].Data, make([]byte, floodBytes)...)
		s.World.At(at, func() { s.Submit(o, submit, 0) })
	}
	order("long", manyRegistered, cluster.Load{Vus: 40, Cores: 40, Duration: 30 * time.Second})
	began := manyRegistered + 3*time.Second
	for n := range floodJobs {
		order(fmt.Sprintf("flood-%d", n), began, cluster.Load{Vus: 1, Cores: 1, Duration: time.Second})
	}
	s.Fault(sim.Fault{At: began, For: 7 * time.Second, Kind: sim.FaultSlowCPU, Nodes: stage.Names(s.Managers), Value: 100 + int64(s.Rand.Int(20))})
}

const (
	floodJobs  = 200
	floodBytes = 16 << 10
)
