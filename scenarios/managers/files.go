package managers

import (
	"slices"
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

// fileWorlds are worlds in which managers lose files that records name.
func fileWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "manager-files-lost", Virtual: 5 * time.Minute, Build: cluster.On(buildManagerFilesLost),
			Doc: "All managers of a datacenter lose their disks, one after the other, and meanwhile no file travels between them. The registers outlive that; the files that records name do not: programs, counted results, and in half of the runs the records themselves. A manager ends each such subjob FAILED, says what was lost, and tells the user to submit the job again. All other jobs complete. In half of the runs a second datacenter goes on with each job, and gates count subjobs whose managers hear no acknowledgement before the record is lost: such a subjob counts once."},
		{Name: "records-kept-late", Virtual: 3 * time.Minute, Within: 80 * time.Second, Build: cluster.On(buildRecordsKeptLate),
			Doc: "Managers keep records as files. One keeps a shard's result, and the record that counts it reaches no other manager for longer than managers spare files: they delete the result. The manager keeps it again before it writes a record that names it. When that manager's disk is lost at once, another one has the result, and the job completes."},
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

const (
	recordRuns = 10 * time.Second // each of the job's two workflows
	recordLate = time.Minute      // until then its managers lack the record: twice as long as they spare files
)

// buildRecordsKeptLate lets the other managers receive one file after the first workflow has ended:
// its result.
func buildRecordsKeptLate(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Clients = 1
	t.Manage = func(c *manager.Config) { c.FileAge, c.SweepInterval, c.SpillAt = 30*time.Second, 2*time.Second, 64 }
	const submitted = 4 * time.Second
	var result message.FileDigest
	blocks := func(m node.Message) bool {
		chunk, ok := m.(*message.FileChunk)
		if !ok || chunk.Group == "gates" || s.World.Now() < submitted+recordRuns || s.World.Now() >= recordLate {
			return false
		}
		if result == (message.FileDigest{}) {
			result = chunk.File
		}
		return chunk.File != result
	}
	s.Arrives = func(_ node.ID, in *node.Input) time.Duration {
		if blocks(in.Message) {
			return cluster.Lost
		}
		return 0
	}
	s.World.Engage(func(l sim.Letter) bool { return slices.Contains(s.Managers, l.To) && blocks(l.Message) })
	s.Build(t)
	s.Complete = true
	s.Reaches("ledger/record-late")
	o := &cluster.Order{Key: "counted", Client: s.Clients[0]}
	s.Orders = append(s.Orders, o)
	m := s.Submission(o, cluster.Load{Vus: 1, Cores: 1, Duration: recordRuns, Layers: true}, 3)
	s.World.At(submitted, func() { s.Submit(o, m, 0) })
	counted := false
	s.Witness = append(s.Witness, func(r checker.Record) {
		if _, ok := r.Event.(event.ShardCounted); !ok || counted {
			return
		}
		counted = true
		s.World.At(r.At, func() {
			s.World.Crash(r.Node)
			s.World.Restore(r.Node, nil)
			s.Checker.Forget(r.Node)
			s.World.At(r.At+2*time.Second, func() { s.World.Start(r.Node) })
		})
	})
}
