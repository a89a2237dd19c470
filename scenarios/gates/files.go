package gates

import (
	"fmt"
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/gate"
	"hyperscale/core/manager"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// fileWorlds are the worlds of files that records name for longer than a sweep spares them.
func fileWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "job-outlives-sweep", Virtual: 7 * time.Minute, Build: cluster.On(buildJobOutlivesSweep),
			Doc: "Jobs run for longer than gates and managers spare files that no record names. Gates and managers lose their disks meanwhile, one of a group at a time. No sweep deletes a file that a record names: each job is taken over with its files, and completes."},
		{Name: "gate-misses-record", Virtual: 7 * time.Minute, Build: cluster.On(buildGateMissesRecord),
			Doc: "One gate has a job's program and misses its record for longer than a sweep spares files. Another gate has the record and misses the program. The owner loses its disk. The first gate has kept its copy, because it asked the others before it swept: the job is taken over, and completes."},
		{Name: "result-passed-on", Virtual: 5 * time.Minute, Build: cluster.On(buildResultPassedOn),
			Doc: "Managers forget an acknowledged subjob after ten seconds. A subjob ends while its gate cannot hear the managers and pauses for longer than its lease. Another gate forwards the result to it, and no client gets it. The manager still has the result when the job is taken over: nothing runs again."},
		{Name: "programs-lost", Virtual: 8 * time.Minute, Build: cluster.On(buildProgramsLost),
			Doc: "All gates lose their disks, one after the other, and meanwhile no file travels between them: the registers outlive that, the programs do not. A gate that takes a job over gives it up once every gate says that it lacks the program, and not while some cannot say. Each of these jobs ends FAILED, and its client learns why. Jobs that arrive later complete."},
		{Name: "results-kept-again", Virtual: 7 * time.Minute, Build: cluster.On(buildResultsKeptAgain),
			Doc: "A job has results of two datacenters, and the first one's file reaches no other gate for longer than gates spare files. The second one's waits for it, and the other gates delete that file. The owner keeps it again before a record names it: when the owner's disk is lost at once, another gate has both results, and the job completes."},
		{Name: "spilled-records", Virtual: 4 * time.Minute, Build: cluster.On(buildSpilledRecords),
			Doc: "Managers keep all records of more than 64 bytes as files, spare files for half a minute, and are killed again and again, some with their disks. Jobs of two layers run meanwhile. A manager that takes a subjob over reads the complete record of the last write: every job completes."},
	}
}

// briefGate and briefManager set the shortest file age that the leases allow, and make managers
// keep most records as files.
func briefGate(c *gate.Config) { c.FileAge, c.SweepInterval = 153*time.Second, 10*time.Second }

func briefManager(c *manager.Config) {
	c.FileAge, c.SweepInterval, c.SpillAt = 30*time.Second, 2*time.Second, 64
}

// outlives is a job that runs for longer than a gate's FileAge.
const outlives = 200 * time.Second

func buildJobOutlivesSweep(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Gate, t.Manage = briefGate, briefManager
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Until, l.Duration, l.Cores, l.Vus = 10*time.Second, 30*time.Second, outlives, 1, 2
		l.Layers = false
	})
	s.Complete = true
	// One disk of a group at a time, and the next one once the first has returned.
	for i, at := 0, 188*time.Second; i < len(s.Gates); i, at = i+1, at+25*time.Second {
		s.Fault(sim.Fault{At: at + s.Rand.Duration(0, 3*time.Second).Truncate(stage.Tick), For: 2 * time.Second, Kind: sim.FaultCrash, Nodes: []string{string(s.Gates[i])}, Value: int64(i % 2)})
	}
	for i, at := 0, 50*time.Second; i < 6; i, at = i+1, at+30*time.Second {
		s.Fault(sim.Fault{At: at + s.Rand.Duration(0, 3*time.Second).Truncate(stage.Tick), For: 8 * time.Second, Kind: sim.FaultCrash, Nodes: []string{string(s.Managers[i%len(s.Managers)])}})
	}
}

func buildGateMissesRecord(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Gate, t.Manage, t.Clients = briefGate, briefManager, 1
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Until, l.Duration, l.Cores, l.Vus = 3*time.Second, 12*time.Second, outlives+10*time.Second, 1, 2
		l.Layers = false
	})
	s.Complete = true
	owner, file, record := s.Gates[0], s.Gates[1], s.Gates[2]
	until := 185*time.Second + s.Rand.Duration(0, 5*time.Second).Truncate(stage.Tick)
	s.World.Engage(func(l sim.Letter) bool {
		return s.World.Now() < until && l.From != record && misses(s, l.From == owner && l.To == file, l.To == record, l.Message)
	})
	s.Fault(sim.Fault{At: until, For: 20 * time.Second, Kind: sim.FaultCrash, Nodes: []string{string(owner)}, Value: 1})
}

// misses selects the messages that are lost: one gate misses records, another one files.
func misses(s *cluster.Cluster, records, files bool, m node.Message) bool {
	switch m.(type) {
	case *message.LeaseFrame:
		return records
	case *message.FileChunk, *message.FileOffer:
		return files
	}
	return false
}

// buildResultPassedOn sends each result to a gate that does not own its job, while the owner's
// streams are open and it receives nothing.
func buildResultPassedOn(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Retention, t.Clients = 10*time.Second, 1
	const every, runs = 80 * time.Second, 12 * time.Second
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Vus, l.Layers = every, runs, 1, 2, false
	})
	s.Checker.Promise(checker.Promises{Once: true})
	for at := 2 * time.Second; at+every <= s.Heal; at += every {
		end := at + runs
		s.Fault(sim.Fault{At: end - 8*time.Second, For: 60 * time.Second, Kind: sim.FaultPartition, Nodes: []string{string(s.Gates[0])}, Peers: stage.Names(s.Managers)})
		s.Fault(sim.Fault{At: (end - s.Rand.Duration(0, 2*time.Second)).Truncate(stage.Tick), For: 45 * time.Second, Kind: sim.FaultPause, Nodes: []string{string(s.Gates[0])}})
	}
}

func buildSpilledRecords(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Gate, t.Manage = briefGate, briefManager
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Vus, l.Layers = 5*time.Second, 8*time.Second, 1, 2, true
	})
	for i, at := 0, 8*time.Second; at < s.Heal; i, at = i+1, at+12*time.Second {
		s.Fault(sim.Fault{At: at + s.Rand.Duration(0, 4*time.Second).Truncate(stage.Tick), For: s.Rand.Duration(time.Second, 7*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash,
			Nodes: []string{string(s.Managers[i%len(s.Managers)])}, Value: int64(i % 3 / 2)})
	}
}

const (
	lossesFrom  = 40 * time.Second
	lossesApart = 80 * time.Second // a gate without its disk waits for two leases before it answers
	lossesEnd   = lossesFrom + 2*lossesApart
	filesTravel = lossesEnd + 90*time.Second // the last owner's lease has ended, and another gate has asked for the programs without an answer
)

// buildProgramsLost brings all jobs to one gate, whose disk is the last to be lost.
func buildProgramsLost(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	s.Build(t)
	s.Reaches("gate/given-up")
	gates := s.Choose(s.Gates, len(s.Gates))
	s.Fault(sim.Fault{At: time.Second, For: lossesFrom - 2*time.Second, Kind: sim.FaultPartition, Nodes: stage.Names(gates[:len(gates)-1]), Peers: stage.Names(s.Clients)})
	for i, id := range gates {
		s.Fault(sim.Fault{At: lossesFrom + time.Duration(i)*lossesApart, For: 2 * time.Second, Kind: sim.FaultCrash, Nodes: []string{string(id)}, Value: 1})
	}
	silent := func(at time.Duration) bool { return at >= lossesFrom-time.Second && at < filesTravel }
	s.World.Engage(func(l sim.Letter) bool {
		switch l.Message.(type) {
		case *message.FileChunk, *message.FileOffer, *message.FileFetch, *message.FileMissing:
			return silent(s.World.Now())
		}
		return false
	})
	s.Witness = append(s.Witness, func(r checker.Record) {
		if e, ok := r.Event.(event.Reached); ok && e.What == "gate/given-up" && silent(r.At) {
			s.Checker.Violate("P", r, "%s gave a job up while no gate could tell it whether it has the program", r.Node)
		}
	})
	const old, new = 4, 4
	ended := 0
	for n := range old + new {
		o := &cluster.Order{Key: fmt.Sprintf("lost-%d", n), Client: s.Clients[n%len(s.Clients)]}
		s.Orders = append(s.Orders, o)
		l, at := cluster.Load{Vus: 1, Cores: 1, Duration: 10 * time.Minute}, 5*time.Second
		want, why := message.JobFailed, "is on no gate's disk any more"
		if n >= old {
			l.Duration, at, want, why = 10*time.Second, filesTravel+40*time.Second, message.JobCompleted, ""
		}
		o.Judge = func(r *message.Result) {
			if ended++; r.State != want || !strings.Contains(r.Error, why) {
				s.Checker.Violate("P", s.Record(o.Client), "job %v ended %v (%s), want %v (%s)", o.Job, r.State, r.Error, want, why)
			}
		}
		submitsUntilTaken(s, o, s.Submission(o, l, n+1), at+s.Rand.Duration(0, 3*time.Second), func() {})
	}
	s.Verdicts = append(s.Verdicts, func() {
		if ended != old+new && s.Options.Faults == nil {
			s.Checker.Violate("P", s.Record(s.Clients[0]), "%d jobs of %d have ended", ended, old+new)
		}
	})
}

const (
	keepsBlocked = 190 * time.Second // longer than gates spare a file, and than the polls of a sweep
	keepsOwner   = keepsBlocked + 30*time.Second
)

// buildResultsKeptAgain has a job of three datacenters, of which the last runs until the owner has
// lost its disk.
func buildResultsKeptAgain(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Datacenters, t.Managers, t.Workers, t.Clients, t.Gate = 3, 1, 1, 1, briefGate
	for d := range t.Datacenters {
		m := sim.DefaultModel()
		m.ResponseMin = time.Duration(1+d) * 5 * time.Second
		if d == t.Datacenters-1 {
			m.ResponseMin = keepsOwner + time.Minute
		}
		m.ResponseMax = m.ResponseMin
		s.Models = append(s.Models, m)
	}
	first := map[message.FileDigest]bool{}
	s.Meets = func(to node.ID, in *node.Input) time.Duration {
		chunk, ok := in.Message.(*message.FileChunk)
		if !ok || s.World.Now() < 8*time.Second || s.World.Now() >= keepsBlocked {
			return 0
		}
		if len(first) == 0 {
			first[chunk.File] = true
		}
		if first[chunk.File] {
			return cluster.Lost
		}
		return 0
	}
	s.Build(t)
	s.Complete = true
	s.Reaches("ledger/kept-again")
	o := &cluster.Order{Key: "counted", Client: s.Clients[0]}
	s.Orders = append(s.Orders, o)
	m := s.Submission(o, cluster.Load{Vus: 1, Cores: 1, Datacenters: t.Datacenters}, 1)
	m.RunTimeout = 20 * time.Minute
	s.World.At(4*time.Second, func() { s.Submit(o, m, 0) })
	counted := 0
	s.Witness = append(s.Witness, func(r checker.Record) {
		if _, ok := r.Event.(event.SubjobCounted); !ok {
			return
		}
		if counted++; counted == 2 { // a majority has the record that names both files
			s.World.At(r.At, func() {
				s.World.Crash(r.Node)
				s.World.Restore(r.Node, nil)
				s.Checker.Forget(r.Node)
				s.World.At(r.At+2*time.Second, func() { s.World.Start(r.Node) })
			})
		}
	})
}
