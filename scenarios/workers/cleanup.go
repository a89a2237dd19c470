package workers

import (
	"slices"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// cleanUpWorlds test what runs after the load of a job that was stopped.
func cleanUpWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "cleans-up", Virtual: 4 * time.Minute, Build: cluster.On(buildCleansUp),
			Doc: "Each job has a workflow before its load and one that cleans up, and is cancelled or times out at any moment, or completes. What cleans up runs once where the first workflow has completed, after the load has stopped everywhere, and nowhere else."},
		{Name: "cleans-up-storm", Virtual: 6 * time.Minute, Build: cluster.On(buildCleansUpStorm),
			Doc: "The jobs of cleans-up, while workers, managers and gates crash and groups are cut. What cleans up runs after the load, once, and again only for an attempt that the result reports as lost. A result that says COMPLETED of it is true."},
	}
}

const cleanUpLength = 6 * time.Second // of the load

func buildCleansUp(s *cluster.Cluster) {
	cleanUpLoad(s).strict = true
}

func buildCleansUpStorm(s *cluster.Cluster) {
	cleanUpLoad(s)
	s.Often(s.Workers, 25*time.Second, sim.FaultCrash, 8*time.Second, 0)
	s.Often(s.Managers, 25*time.Second, sim.FaultCrash, 6*time.Second, 0)
	s.Often(s.Gates, 40*time.Second, sim.FaultCrash, 6*time.Second, 0)
	s.Slots(45*time.Second, func(_ int, at time.Duration) {
		lone := append(s.Choose(s.Managers, 1), s.Choose(s.Workers, 1)...)
		rest := append(stage.Without(s.Managers, lone...), stage.Without(s.Workers, lone...)...)
		s.Fault(sim.Fault{At: at, For: 9 * time.Second, Kind: sim.FaultPartition, Nodes: stage.Names(lone), Peers: stage.Names(rest)})
	})
}

// cleanUpLoad submits jobs that clean up, most of which end before their load does.
func cleanUpLoad(s *cluster.Cluster) *cleanUps {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Vus, l.Cancels, l.Layers = 5*time.Second, cleanUpLength, 3, 8, 700_000, false
	})
	c := &cleanUps{s: s, starts: map[message.JobID]int{}, ends: map[message.JobID]int{}}
	s.Witness = append(s.Witness, c.witness)
	once := []message.StepPlan{{Name: "once", Kind: message.StepAction}}
	for _, o := range s.Orders {
		load := o.Plan.Workflows[0]
		load.Depends, load.Layer = []uint32{0}, 1
		last := time.Duration(s.Rand.Int(2)) * 3 * time.Second
		o.Plan.AfterAll, o.Plan.Workflows = 3, []message.WorkflowPlan{
			{Name: "before_all", VUs: 1, Timeout: time.Second, Steps: once},
			load,
			{Name: "after_all", VUs: 1, Duration: last, Timeout: time.Second, Steps: once, Depends: []uint32{0}, StartAfter: []uint32{1}, Layer: 2},
		}
		if !o.Cancel && s.Rand.Int(2) == 0 {
			o.Submit.RunTimeout = 2 * time.Second
		}
		o.Submit.Plan = *o.Plan
		o.Judge = func(r *message.Result) { c.judge(o, r) }
	}
	return c
}

// cleanUps judges what cleans up.
type cleanUps struct {
	s      *cluster.Cluster
	strict bool // no node is lost
	loads  []loneRun
	starts map[message.JobID]int
	ends   map[message.JobID]int // COMPLETED
}

// witness asserts that what cleans up begins after the load.
func (c *cleanUps) witness(r checker.Record) {
	switch e := r.Event.(type) {
	case event.ShardStarted:
		c.loads = slices.DeleteFunc(c.loads, func(o loneRun) bool { return !c.s.World.Executes(o.worker, o.shard) })
		if e.Shard.Workflow != 2 {
			c.loads = append(c.loads, loneRun{worker: r.Node, shard: e.Shard})
			return
		}
		c.starts[e.Shard.Job]++
		for _, o := range c.loads {
			if o.shard.Job == e.Shard.Job {
				c.s.Checker.Violate("P", r, "job %v cleans up while shard %v of it runs on %s", e.Shard.Job, o.shard, o.worker)
			}
		}
	case event.ShardEnded:
		if e.Shard.Workflow == 2 && e.State == message.WorkflowCompleted {
			c.ends[e.Shard.Job]++
		}
	}
}

// judge compares a result with what ran.
func (c *cleanUps) judge(o *cluster.Order, r *message.Result) {
	if len(r.Workflows) != 3 {
		if n := c.starts[o.Job]; n > 0 && c.strict {
			c.s.Checker.Violate("P", c.s.Record(o.Client), "job %v cleaned up %d times, and its result has %d workflows", o.Job, n, len(r.Workflows))
		}
		return
	}
	first, last := &r.Workflows[0], &r.Workflows[2]
	starts, ends, lost := c.starts[o.Job], c.ends[o.Job], len(last.Lost)
	at := c.s.Record(o.Client)
	switch done := last.State == message.WorkflowCompleted; {
	case done && ends == 0:
		c.s.Checker.Violate("P", at, "the result of job %v says that it cleaned up, and nothing did to its end", o.Job)
	case starts > 1+lost:
		c.s.Checker.Violate("P", at, "job %v cleaned up %d times, and its result reports %d lost attempts", o.Job, starts, lost)
	case starts > 0 && first.State != message.WorkflowCompleted:
		c.s.Checker.Violate("P", at, "job %v cleaned up what had not begun", o.Job)
	case c.strict && done != (first.State == message.WorkflowCompleted):
		c.s.Checker.Violate("P", at, "job %v, %v: what comes first ended %v, what cleans up %v: %s", o.Job, r.State, first.State, last.State, last.Error)
	}
}
