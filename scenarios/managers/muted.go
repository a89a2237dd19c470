package managers

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

const (
	mutedWorkers = 48
	mutedJobs    = 36
	mutedNarrow  = 5 * time.Second  // when the narrow jobs begin
	mutedWide    = 12 * time.Second // when the wide ones begin
	mutedWides   = 5
	mutedSlow    = 20 * time.Second // when the manager of most of them becomes slow
	mutedCut     = 34 * time.Second // when its answers do not reach the workers any more
	mutedFor     = 6 * time.Second  // and for how long

	mutedWord = 3 * time.Second // how long what a manager asks for counts, if it does not repeat it

	// mutedGap is how long figures that a client sees stand still while workers report as seldom as they
	// are asked to, and freshGap while they report as often as they like. A report takes half a second
	// to leave its worker, and as long to leave its manager and its gate.
	mutedGap = 2200 * time.Millisecond
	freshGap = 1800 * time.Millisecond
)

// buildMutedWorkers runs wide jobs, most of them of one manager, on all workers. Beside them run narrow
// ones of the other managers.
func buildMutedWorkers(s *cluster.Cluster) {
	costs := stage.Costs()
	costs.ByKind[message.KindShardProgress] = time.Millisecond // so that a slow manager is behind with reports alone
	s.Build(cluster.Topology{Gates: 1, Datacenters: 1, Managers: 3, Workers: mutedWorkers, Cores: 2, Clients: 2, Costs: map[node.Role]sim.Costs{node.RoleManager: costs}})
	s.Complete = true
	s.Excused = func(id message.JobID) bool { // the cut costs a wide job many shards at once
		return slices.ContainsFunc(s.Orders[mutedJobs:], func(o *cluster.Order) bool { return o.Job == id })
	}
	muting := s.Managers[0]
	// It gets no narrow job. Later it has the fewest, and so gets wide ones.
	s.Fault(sim.Fault{At: stage.Tick, For: mutedWide - 3*time.Second, Kind: sim.FaultPartition, Nodes: stage.Names([]node.ID{muting}), Peers: stage.Names(s.Gates)})
	s.Fault(sim.Fault{At: mutedSlow, For: mutedCut + mutedFor - mutedSlow, Kind: sim.FaultSlowCPU, Nodes: stage.Names([]node.ID{muting}), Value: 120})
	s.Fault(sim.Fault{At: mutedCut, For: mutedFor, Kind: sim.FaultOneWay, Nodes: stage.Names([]node.ID{muting}), Peers: stage.Names(s.Workers)})
	order := func(at time.Duration, l cluster.Load) {
		o := &cluster.Order{Key: fmt.Sprintf("job-%d", len(s.Orders)), Client: s.Clients[len(s.Orders)%len(s.Clients)]}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, l, len(s.Orders))
		s.World.At(at, func() { s.Submit(o, submit, 0) })
	}
	for n := range mutedJobs {
		order(mutedNarrow+time.Duration(n)*100*time.Millisecond, cluster.Load{Vus: 2, Cores: 1, Duration: 45 * time.Second})
	}
	const wide = (2*mutedWorkers - mutedJobs) * 9 / 10 / mutedWides // a job that had to wait for cores would end too late
	for n := range mutedWides {
		order(mutedWide+time.Duration(n)*100*time.Millisecond, cluster.Load{Vus: 2 * wide, Cores: wide, Duration: 32 * time.Second})
	}
	mutedNoLonger(s, muting)
}

// mutedNoLonger judges that the figures of jobs of other managers stand still while a manager mutes
// their workers, and no longer once its answers stay away: not until its streams break. A worker that
// runs nothing of it is never muted.
func mutedNoLonger(s *cluster.Cluster, muting node.ID) {
	on := map[message.JobID]node.ID{} // the worker of a narrow job
	shared := map[node.ID]bool{}      // workers that ran a shard of the manager
	asked := false                    // for few reports: now and then the others get all wide jobs, or these wait for cores
	s.Witness = append(s.Witness, func(r checker.Record) {
		switch e := r.Event.(type) {
		case event.ReportsPaced:
			asked = asked || r.Node == muting && r.At < mutedCut-mutedGap && e.Every > mutedGap
		case event.ShardDispatched:
			if r.Node == muting {
				shared[e.Worker] = true
			} else {
				on[e.Shard.Job] = e.Worker
			}
		}
	})
	type figures struct{ elapsed, at time.Duration }
	seen := map[*cluster.Order]figures{}
	muted, judged := 0, 0
	ends := mutedCut + mutedWord
	s.Shown = func(o *cluster.Order, status *message.JobStatus) {
		if !slices.Contains(s.Orders[:mutedJobs], o) || len(status.Datacenters) == 0 || len(status.Datacenters[0].Workflows) == 0 || status.Datacenters[0].State != message.JobRunning {
			return
		}
		now, was := s.World.Now(), seen[o]
		if e := status.Datacenters[0].Workflows[0].Stats.Elapsed; e > was.elapsed {
			seen[o] = figures{e, now}
		}
		still := now - was.at
		switch {
		case was.at == 0:
		case !shared[on[o.Job]]:
			if still > freshGap {
				s.Checker.Violate("P", s.Record(o.Client), "figures of job %v stand still for %v, though its worker runs nothing of %s", o.Job, still, muting)
			}
		case now < mutedCut && still > mutedGap:
			muted++
		case now > ends && now < mutedCut+10*time.Second:
			judged++
			if still = min(still, now-ends); still > freshGap {
				s.Checker.Violate("P", s.Record(o.Client), "figures of job %v stand still for %v, though %s asks for nothing any more", o.Job, still, muting)
			}
		}
	}
	s.Verdicts = append(s.Verdicts, func() {
		meets := slices.ContainsFunc(s.Orders[:mutedJobs], func(o *cluster.Order) bool { return shared[on[o.Job]] }) // its few shards may have other workers
		if asked && meets && (muted == 0 || judged == 0) {
			s.Checker.Violate("P", s.Record(muting), "no worker was muted: %d figures stood still before %v, %d were judged", muted, mutedCut, judged)
		}
	})
}
