package gates

import (
	"fmt"
	"time"

	"hyperscale/core/message"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// workflowEndWorlds are about the ends of workflows, which watchers get before the job's result.
func workflowEndWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "workflow-ends", Virtual: 4 * time.Minute, Build: cluster.On(buildWorkflowEnds),
			Doc: "Jobs of three workflows end one workflow after the other, while clients lose their streams, owners crash, and words between gates are late. Each client learns each end once, in the order that a majority has, and all of them before the result."},
	}
}

// endsPlan has a workflow that ends early, one beside it that lasts, and one after the first.
func endsPlan(l cluster.Load) message.Plan {
	long := l
	long.Duration = 3 * l.Duration
	return message.Plan{Source: "model.star", Workflows: []message.WorkflowPlan{
		cluster.WorkflowPlan("early", l, nil), cluster.WorkflowPlan("beside", long, nil), cluster.WorkflowPlan("after", l, []uint32{0}),
	}}
}

func buildWorkflowEnds(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Clients, t.Datacenters, t.Workers = 4, 2, 6
	s.Build(t)
	l := cluster.Load{Vus: 8, Cores: 1, Duration: 3 * time.Second}
	n := 0
	for at := 3 * time.Second; at < s.Heal; at += 2 * time.Second {
		n++
		o := &cluster.Order{Key: fmt.Sprintf("ends-%d", n), Client: s.Clients[n%len(s.Clients)]}
		l.Datacenters = n % 3 // every third job goes where the gate chooses
		m := s.Submission(o, l, n)
		m.Plan = endsPlan(l)
		o.Plan = &m.Plan
		s.Orders = append(s.Orders, o)
		s.World.At(at, func() { s.Submit(o, m, 0) })
	}
	for _, id := range s.Gates { // a majority is a while away
		s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultLatencyOneWay, Nodes: []string{string(id)}, Peers: stage.Names(s.Gates), Value: int64(1 + s.Rand.Int(300))})
	}
	s.Often(s.Clients, 3*time.Second, sim.FaultBreakStreams, 0, 0)
	s.Slots(45*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(3*time.Second, 12*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(s.Gates, 1)), Aim: "storing:lease/"})
	})
	s.Slots(25*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(time.Second, 8*time.Second).Truncate(stage.Tick), Nodes: stage.Names(s.Choose(s.Clients, 2)), Peers: stage.Names(s.Choose(s.Gates, 1)), Kind: sim.FaultPartition})
	})
}
