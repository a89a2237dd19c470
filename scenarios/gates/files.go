package gates

import (
	"time"

	"hyperscale/checker"
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
