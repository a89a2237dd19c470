package gates

import (
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// bestEffortWorlds are about jobs that end without some of their datacenters.
func bestEffortWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "best-effort-dc", Virtual: 4 * time.Minute, Build: cluster.On(buildBestEffort),
			Doc: "Jobs run in three datacenters and may end with two. One after the other is cut off from all gates, and gates are killed around the time at which best effort ends a job. Every job completes: with all three, or without one and not before that time. The result names the missing one, no figure of it counts, and its late result is acknowledged."},
	}
}

const (
	effortLeast = 2
	effortAfter = 14 * time.Second
)

func buildBestEffort(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Datacenters, t.Managers, t.Workers = 3, 1, 2
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Datacenters, l.Layers, l.Cancels = 5*time.Second, 4*time.Second, 2, 3, false, 0
	})
	s.Complete, s.Served = true, true
	e := &effort{Cluster: s}
	for _, o := range s.Orders {
		o.Submit.BestEffort = message.BestEffort{Least: effortLeast, After: effortAfter}
		o.Judge = func(r *message.Result) { e.judge(o, r) }
	}
	s.Slots(30*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(18*time.Second, 24*time.Second).Truncate(stage.Tick), Kind: sim.FaultPartition, Nodes: stage.Names(s.Managers[i%3 : i%3+1]), Peers: stage.Names(s.Gates)})
		kill := at + s.Rand.Duration(8*time.Second, 16*time.Second).Truncate(stage.Tick)
		s.Fault(sim.Fault{At: kill, For: 3 * time.Second, Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(s.Gates, 1)), Aim: "storing:lease/"})
	})
	s.Verdicts = append(s.Verdicts, func() {
		if e.partial == 0 {
			s.Checker.Violate("P", s.Record(s.Gates[0]), "datacenters were cut off, and no job ended without one")
		}
	})
}

// effort judges what a result without a datacenter says. The checker judges when one is left out, and
// as how many others complete (E).
type effort struct {
	*cluster.Cluster
	partial int
}

func (e *effort) judge(o *cluster.Order, r *message.Result) {
	at := e.Record(o.Client)
	if len(r.Missing) > 0 {
		e.partial++
	}
	for i := range r.Datacenters {
		d := &r.Datacenters[i]
		missing := slices.Contains(r.Missing, d.Name)
		if missing == (d.State == message.JobCompleted) || missing && len(d.Workflows) > 0 {
			e.Checker.Violate("P", at, "job %v is without %v, and datacenter %s is %v with %d workflows", o.Job, r.Missing, d.Name, d.State, len(d.Workflows))
		}
	}
}
