package workers

import (
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

// gapWorlds test what a lost attempt costs: a gap, and not a second run.
func gapWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "gap-not-rerun", Virtual: 5 * time.Minute, Build: cluster.On(buildGapNotRerun),
			Doc: "A worker is killed in the middle of a timed job, every third time together with a manager, and others are free. The replacement joins the schedule where time stands: the job ends on time. What began and what was not offered are together what the plan asks for. A lost attempt ran no longer than its last report and its bound of unreported load say."},
	}
}

// Bounds of gap-not-rerun, in virtual time.
const (
	gapLength  = 40 * time.Second
	gapEvery   = 50 * time.Second        // between two jobs, and their kills: a job is done by then
	gapBack    = 8 * time.Second         // from a worker's death to its shard's next attempt
	gapBackTo  = 13 * time.Second        // the same, if a manager dies with it
	gapEnds    = gapLength + time.Second // from the begin of a workflow to the end of its last shard
	gapReports = 2 * time.Second         // an attempt has reported by then
	gapLatency = 100 * time.Millisecond  // of messages and disks, and drift, in any of these
)

func buildGapNotRerun(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Workers, t.Cores = 3, 4
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Vus, l.Layers = gapEvery, gapLength, 8, 64, false
	})
	s.Complete = true
	g := &gaps{s: s, attempts: map[message.ShardID][]*attempt{}, began: map[message.JobID]time.Duration{}}
	s.Witness = append(s.Witness, g.witness)
	for i, o := range s.Orders {
		if i%2 == 1 {
			o.Plan.Workflows[0].Cores = 4 // one shard: no other tells its manager the workflow's time
		}
		o.Judge = func(r *message.Result) { g.judge(o, r) }
	}
	s.Slots(gapEvery, func(i int, at time.Duration) {
		g.kill(at, 4*time.Second+time.Duration(i%2)*8*time.Second, s.Choose(s.Workers, 1))
		switch dead := s.Choose(s.Managers, 1); i % 3 {
		case 1:
			g.kill(at+7*time.Second, 6*time.Second, append(dead, s.Choose(s.Workers, 1)...))
		case 2:
			g.kill(at, 6*time.Second, dead)
		}
	})
}

// attempt is an attempt of a shard as its worker ran it.
type attempt struct {
	worker       node.ID
	fence        message.Fence
	began, ended time.Duration // ended is zero while it runs
	result       bool
}

// gaps judges gap-not-rerun.
type gaps struct {
	s        *cluster.Cluster
	attempts map[message.ShardID][]*attempt
	began    map[message.JobID]time.Duration // when the first shard of each job did
	manager  time.Duration                   // when a manager died last
}

// kill crashes nodes, and notes the ends of what they run.
func (g *gaps) kill(at, length time.Duration, ids []node.ID) {
	g.s.Fault(sim.Fault{At: at, For: length, Kind: sim.FaultCrash, Nodes: stage.Names(ids)})
	g.s.World.At(at, func() {
		for _, id := range ids {
			if slices.Contains(g.s.Managers, id) {
				g.manager = at
			}
			//lint:orderfree each attempt by itself
			for _, all := range g.attempts {
				for _, a := range all {
					if a.worker == id && a.ended == 0 {
						a.ended = at
					}
				}
			}
		}
	})
}

func (g *gaps) witness(r checker.Record) {
	switch e := r.Event.(type) {
	case event.ShardStarted:
		g.back(r, e.Shard)
		g.attempts[e.Shard] = append(g.attempts[e.Shard], &attempt{worker: r.Node, fence: e.Fence, began: r.At})
		if _, known := g.began[e.Shard.Job]; !known {
			g.began[e.Shard.Job] = r.At
		}
	case event.ShardEnded:
		for _, a := range g.attempts[e.Shard] {
			if a.fence == e.Fence {
				a.ended, a.result = r.At, true
			}
		}
		if took := r.At - g.began[e.Shard.Job]; took > gapEnds {
			g.s.Checker.Violate("P", r, "shard %v ended %v after its workflow began, which takes %v", e.Shard, took, gapLength)
		}
	}
}

// back asserts that a lost shard runs again soon.
func (g *gaps) back(r checker.Record, shard message.ShardID) {
	all := g.attempts[shard]
	if len(all) == 0 {
		return
	}
	lost, bound := all[len(all)-1].ended, gapBack
	if g.manager > lost-gapBack {
		bound = gapBackTo
	}
	if took := r.At - lost; lost == 0 || took > bound {
		g.s.Checker.Violate("P", r, "shard %v is back %v after its worker was killed, %v were called for", shard, took, bound)
	}
}

// judge asserts that no load is lost or counted twice without a word.
func (g *gaps) judge(o *cluster.Order, r *message.Result) {
	at := g.s.Record(o.Client)
	if len(r.Workflows) != 1 {
		return
	}
	w, plan := &r.Workflows[0], &o.Plan.Workflows[0]
	x := &w.Stats.Generator
	if asked, want := x.Begun+x.Dropped+x.Missed, plan.VUs*uint64(plan.Duration/sim.ArrivalEvery); asked != want {
		g.s.Checker.Violate("T8", at, "job %v: %d iterations began and %d were not offered, the plan asks for %d", o.Job, x.Begun, x.Missed, want)
	}
	//lint:orderfree each attempt by itself
	for shard, all := range g.attempts {
		for _, a := range all {
			if shard.Job == o.Job && !a.result && !told(w.Lost, shard, a, a.ended-g.began[o.Job]) {
				g.s.Checker.Violate("T8", at, "job %v: an attempt of shard %v ran on %s until %v after the begin, and no lost attempt says so: %+v", o.Job, shard, a.worker, a.ended-g.began[o.Job], w.Lost)
			}
		}
	}
}

// told says whether a lost attempt and its bound cover an attempt that ran until then. What a
// manager knows to have run for seconds has reported, and counts.
func told(lost []message.LostAttempt, shard message.ShardID, a *attempt, until time.Duration) bool {
	return slices.ContainsFunc(lost, func(l message.LostAttempt) bool {
		known := l.Worker == "" || l.Worker == string(a.worker) && (l.Counted || a.ended-a.began < gapReports)
		return l.Shard == shard && known && until <= l.Until+l.Unreported+gapLatency
	})
}
