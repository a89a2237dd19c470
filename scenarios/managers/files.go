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
			Doc: "All managers of a datacenter lose their disks, one after the other, and meanwhile no file travels between them. The registers outlive that; the files that records name do not: programs, counted results, and in half of the runs the records themselves. A manager ends each such subjob FAILED, says what was lost, and tells the user to submit the job again. All other jobs complete."},
	}
}

// submitAgain is what a manager tells users of a subjob whose files are lost.
const submitAgain = "submit the job again"

// disksApart is the time between two losses: registers join within it.
const disksApart = 6 * time.Second

// buildManagerFilesLost has jobs of two layers, so that each loss meets programs, results
// and records.
func buildManagerFilesLost(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	if s.Rand.Chance(1, 2) {
		t.Manage = func(c *manager.Config) { c.SpillAt = 64 }
	}
	s.Standard(t, func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 4*time.Second, 9*time.Second, 1 })
	lost := 0
	for _, o := range s.Orders {
		o.Judge = func(r *message.Result) {
			switch {
			case r.State == message.JobCompleted:
			case r.State == message.JobFailed && strings.Contains(r.Error, submitAgain):
				lost++
			default:
				s.Checker.Violate("P", s.Record(o.Client), "job %v ended %v; only a lost file ends one here, FAILED: %s", o.Job, r.State, r.Error)
			}
		}
	}
	var windows [][2]time.Duration
	s.Slots(50*time.Second, func(i int, at time.Duration) {
		end := at
		for _, id := range s.Choose(s.Managers, len(s.Managers)) {
			s.Fault(sim.Fault{At: end, For: 2 * time.Second, Kind: sim.FaultCrash, Nodes: stage.Names([]node.ID{id}), Value: 1})
			end += disksApart
		}
		windows = append(windows, [2]time.Duration{at, end})
	})
	s.World.Engage(func(l sim.Letter) bool {
		switch l.Message.(type) {
		case *message.FileChunk, *message.FileOffer:
		default:
			return false
		}
		for _, w := range windows {
			if now := s.World.Now(); w[0] <= now && now < w[1] {
				return slices.Contains(s.Managers, l.From)
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
