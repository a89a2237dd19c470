package reference

import (
	"time"

	"hyperscale/checker"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
)

// reference are the worlds of the published figures.
func reference() []stage.Scenario {
	return []stage.Scenario{
		{
			Name:    "steady",
			Doc:     "The reference cluster without faults: 3 gates, 3 datacenters of 3 managers and 4 workers each, a job of 64 virtual users and 10 s every 2 s. Every job completes.",
			Virtual: 5 * time.Minute,
			Least:   time.Second,
			Build:   cluster.On(buildSteady),
		},
		{
			Name:    "storm",
			Doc:     "The reference cluster under every fault that the seed draws: crashes, pauses, partitions of all sorts, broken and half-open streams, slow and full and torn and lost disks (of a minority), drifting clocks, slow processors, executors that crash and hang; some jobs are cancelled. In every second seed load is a fault, too: bursts of jobs, large programs, floods of questions and watches, slow links, and small bounds of queues, archives and mailboxes. In a third of the runs only a core quorum is healed: a majority of the gates, and of each datacenter's managers, and two of its workers; the rest stays broken for ever. Nothing is counted twice, no fence is passed, no core is given twice; once everything is healed every accepted job ends.",
			Virtual: 5 * time.Minute,
			Least:   stormLeast,
			Build:   cluster.On(buildStorm),
		},
		{
			Name:    "storm-replaced",
			Doc:     "The storm, without lost disks, while an operator gives the seats of two gates and of two managers of one datacenter to new nodes, one after the other, as soon as the others can bear it.",
			Virtual: 7 * time.Minute,
			Within:  replacedWithin,
			Build:   cluster.On(buildStormReplaced),
		},
		{
			Name:    "storm-beyond",
			Doc:     "The storm, with clocks that drift up to ten times faster than the bound on which leases count. Two may believe for a while that they own a job; tokens are still unique, fences are obeyed, and nothing is counted twice.",
			Virtual: 5 * time.Minute,
			Beyond:  true,
			Least:   stormLeast,
			Build:   cluster.On(buildStorm),
		},
	}
}

// stormLeast leaves a storm a few seconds for faults and a third of them to heal: it draws no
// fault before 3 s.
const stormLeast = 10 * time.Second

// replacedWithin is how long after the last fault the last seat is given away. The network holds datagrams for up to three
// minutes, and a member that sent one counts as heard until it arrives.
const replacedWithin = 270 * time.Second

// steadyLoad is the load of the published figures.
func steadyLoad(until time.Duration) cluster.Load {
	return cluster.Load{Every: 2 * time.Second, Until: until, Vus: 64, Cores: 4, Duration: 10 * time.Second}
}

func buildSteady(s *cluster.Cluster) {
	s.Build(cluster.ReferenceTopology())
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	s.SubmitAll(steadyLoad(s.Options.Virtual))
}

func buildStorm(s *cluster.Cluster) {
	t := cluster.ReferenceTopology()
	if s.Rand.Chance(1, 3) {
		t.Retention = cluster.ShortMemory
		s.Draw("managers forget after %v", t.Retention)
	}
	s.Tighten(&t)
	s.Build(t)
	s.Model.Failed, s.Model.TimedOut = 10_000, 1_000
	l := cluster.StormLoad(s.Heal)
	l.Datacenters = s.Rand.Int(4)
	if s.Rand.Chance(1, 3) {
		s.CoreQuorum()
		l.Datacenters = min(l.Datacenters, 1) // half of the workers does not return
	}
	l.Duration /= time.Duration(max(1, l.Datacenters)) // else there is more load than the workers can run, and jobs wait longer and longer
	s.Draw("jobs name %d datacenters", l.Datacenters)
	s.SubmitAll(l)
	s.Swarm(stage.StormKinds(s.Beyond))
	if s.Rand.Chance(1, 4) {
		s.LoseMinorities()
	}
	s.Surge()
}

func buildStormReplaced(s *cluster.Cluster) {
	t := cluster.ReferenceTopology()
	s.Tighten(&t)
	s.Build(t)
	l := cluster.StormLoad(s.Heal)
	l.Datacenters = 1
	s.SubmitAll(l)
	s.Swarm(stage.StormKinds(s.Beyond))
	gap := func() time.Duration { return s.Rand.Duration(time.Second, 40*time.Second) }
	x := cluster.NewSpares(s, 2)
	x.ReplaceGates(2, 10*time.Second, gap)
	x.ReplaceManagers(2, 15*time.Second, gap)
	s.Surge()
}
