package scenarios

import (
	"time"

	"hyperscale/checker"
)

// reference are the worlds that figures are quoted of.
func reference() []Scenario {
	return []Scenario{
		{
			Name:    "steady",
			Doc:     "The reference cluster without faults: 3 gates, 3 datacenters of 3 managers and 4 workers each, a job of 64 virtual users and 10 s every 2 s. Every job completes.",
			Virtual: 5 * time.Minute,
			Least:   time.Second,
			build:   onCluster(buildSteady),
		},
		{
			Name:    "storm",
			Doc:     "The reference cluster under every fault that the seed draws: crashes, pauses, partitions of all sorts, broken and half-open streams, slow and full and torn and lost disks (of a minority), drifting clocks, slow processors, executors that crash and hang; some jobs are cancelled. In a third of the runs only a core quorum is healed: a majority of the gates, and of each datacenter's managers, and two of its workers; the rest stays broken for ever. Nothing is counted twice, no fence is passed, no core is given twice; once everything is healed every accepted job ends.",
			Virtual: 5 * time.Minute,
			Least:   stormLeast,
			build:   onCluster(buildStorm),
		},
		{
			Name:    "storm-beyond",
			Doc:     "The storm, with clocks that drift up to ten times faster than the bound on which leases count. Two may believe for a while that they own a job; tokens are still unique, fences are obeyed, and nothing is counted twice.",
			Virtual: 5 * time.Minute,
			Beyond:  true,
			Least:   stormLeast,
			build:   onCluster(buildStorm),
		},
	}
}

// stormLeast leaves a storm a few seconds for faults, as it draws none before 3 s, and a
// third of them to heal.
const stormLeast = 10 * time.Second

// steadyLoad is what kernel figures speak of.
func steadyLoad(until time.Duration) load {
	return load{every: 2 * time.Second, until: until, vus: 64, cores: 4, duration: 10 * time.Second}
}

func buildSteady(s *cluster) {
	s.build(referenceTopology())
	s.complete = true
	s.checker.Promise(checker.Promises{Once: true})
	s.submitAll(steadyLoad(s.options.Virtual))
}

// stormLoad leaves a third of the cores free, so that what piles up during the
// faults is worked off within the bound of liveness.
func stormLoad(until time.Duration) load {
	return load{every: 4 * time.Second, until: until, vus: 64, cores: 6, duration: 8 * time.Second, cancels: 100_000, layers: true}
}

func buildStorm(s *cluster) {
	t := referenceTopology()
	if s.rand.Chance(1, 3) {
		t.retention = shortMemory
		s.draw("managers forget after %v", t.retention)
	}
	s.build(t)
	s.model.Failed, s.model.TimedOut = 10_000, 1_000
	l := stormLoad(s.heal)
	l.datacenters = s.rand.Int(4)
	if s.rand.Chance(1, 3) {
		s.coreQuorum()
		l.datacenters = min(l.datacenters, 1) // a half of the workers does not come back
	}
	l.duration /= time.Duration(max(1, l.datacenters)) // else they are more than the workers can do, and wait for ever longer
	s.draw("jobs name %d datacenters", l.datacenters)
	s.submitAll(l)
	s.swarm(stormKinds(s.beyond))
	if s.rand.Chance(1, 4) {
		s.loseMinorities()
	}
}
