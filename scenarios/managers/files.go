package managers

import (
	"slices"
	"strings"
	"time"

	"hyperscale/core/manager"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// fileWorlds are worlds in which managers lose files that records name.
func fileWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "manager-files-lost", Virtual: 5 * time.Minute, Build: cluster.On(buildManagerFilesLost),
			Doc: "All managers of a datacenter lose their disks, one after the other, and meanwhile no file travels between them. The registers outlive that; the files that records name do not: programs, counted results, and in half of the runs the records themselves. A manager ends each such subjob FAILED, says what was lost, and tells the user to submit the job again. All other jobs complete. In half of the runs a second datacenter goes on with each job, and gates count subjobs whose managers hear no acknowledgement before the record is lost: such a subjob counts once."},
	}
}

// submitAgain is what a manager tells users of a subjob whose files are lost.
const submitAgain = "submit the job again"

// disksApart is the time between two losses: registers join within it.
const disksApart = 6 * time.Second

// buildManagerFilesLost has jobs of two layers, so that each loss meets programs, results
// and records; or jobs in two datacenters, of which the second one ends later.
func buildManagerFilesLost(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	if s.Rand.Chance(1, 2) {
		s.Draw("records of more than 64 bytes are files")
		t.Manage = func(c *manager.Config) { c.SpillAt = 64 }
	}
	beside := s.Rand.Chance(1, 2)
	if beside {
		s.Draw("each job runs in two datacenters")
		t.Datacenters = 2
	}
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores = 4*time.Second, 9*time.Second, 1
		if beside {
			l.Datacenters, l.Layers = 2, false
		}
	})
	if beside { // the other datacenter ends later: the gate counts a subjob of a job that goes on
		s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultExecSlow, Nodes: stage.Names(s.Workers[t.Workers:]), Value: 1000})
	}
	losing := s.Managers[:t.Managers] // those of the first datacenter
	lost := 0
	for _, o := range s.Orders {
		o.Judge = func(r *message.Result) {
			switch {
			case r.State == message.JobCompleted:
			case (r.State == message.JobFailed || r.State == message.JobPartial && beside) && strings.Contains(r.Error, submitAgain):
				lost++
			default:
				s.Checker.Violate("P", s.Record(o.Client), "job %v ended %v; only a lost file ends one here, FAILED: %s", o.Job, r.State, r.Error)
			}
		}
	}
	var windows [][2]time.Duration
	s.Slots(50*time.Second, func(i int, at time.Duration) {
		end := at
		for _, id := range s.Choose(losing, len(losing)) {
			s.Fault(sim.Fault{At: end, For: 2 * time.Second, Kind: sim.FaultCrash, Nodes: stage.Names([]node.ID{id}), Value: 1})
			end += disksApart
		}
		windows = append(windows, [2]time.Duration{at, end})
		if i%2 == 1 { // ends reach the gates, and no acknowledgement comes back
			s.Fault(sim.Fault{At: at - 2*time.Second, For: end - at, Kind: sim.FaultOneWay, Nodes: stage.Names(s.Gates), Peers: stage.Names(losing)})
		}
	})
	s.World.Engage(func(l sim.Letter) bool {
		switch l.Message.(type) {
		case *message.FileChunk, *message.FileOffer:
		default:
			return false
		}
		for _, w := range windows {
			if now := s.World.Now(); w[0] <= now && now < w[1] {
				return slices.Contains(losing, l.From)
			}
		}
		return false
	})
	s.Verdicts = append(s.Verdicts, func() {
		if lost == 0 && s.Options.Faults == nil {
			s.Checker.Violate("P", s.Record(s.Clients[0]), "no job ended for a lost file: too few to judge")
		}
	})
}
