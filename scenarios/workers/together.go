package workers

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

// togetherWorlds test how workflows of a job share cores.
func togetherWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "begin-together", Virtual: 6 * time.Minute, Build: cluster.On(buildBeginTogether),
			Doc: "Jobs have up to nine workflows in a graph, of all priorities, on six cores; some name both cores of a worker, some are light, some have a start_delay. Each workflow begins within two seconds after all that it waits for has ended and its delay is over, whatever else of the job runs. Results report which cores they shared."},
		{Name: "runs-alone", Virtual: 5 * time.Minute, Build: cluster.On(buildRunsAlone),
			Doc: "Jobs come three at a time, and some are exclusive, with fewer users than there are workers. Gates give them to three managers at once. From the begin of an exclusive workflow to its end no other load runs or begins anywhere in the datacenter. All jobs complete."},
		{Name: "runs-alone-storm", Virtual: 6 * time.Minute, Build: cluster.On(buildRunsAloneStorm),
			Doc: "Jobs that are exclusive or not follow each other closely, while workers and managers crash and pause, and groups are cut. While any shard of an exclusive workflow runs, no other load runs anywhere in the datacenter. All jobs end."},
		{Name: "runs-alone-heals", Virtual: 6 * time.Minute, Build: cluster.On(buildRunsAloneHeals),
			Doc: "Again and again a manager and a worker are cut off from the others, for so long that these give the worker up, and exclusive workflows begin without it. When the cut heals, the manager has jobs to place on that worker, and it has not heard the other workers yet. No load runs beside an exclusive workflow."},
		{Name: "shared-cores-storm", Virtual: 6 * time.Minute, Build: cluster.On(buildSharedCoresStorm),
			Doc: "The jobs of begin-together overlap, while workers and managers crash and pause and groups are cut. Cores are shared by workflows of one job, or by light shards within their seats, and by no others; all become free again."},
	}
}

// Bounds of begin-together, in virtual time.
const (
	togetherEvery  = 36 * time.Second
	togetherLength = 6 * time.Second
	togetherWithin = 2 * time.Second
	togetherDelay  = 4 * time.Second
)

func buildBeginTogether(s *cluster.Cluster) {
	togetherLoad(s, togetherEvery)
	s.Complete = true
	g := &together{s: s, plans: map[message.JobID]*message.Plan{}, began: map[message.JobID]time.Duration{}, ended: map[flow]time.Duration{}, started: map[flow]bool{}, shared: map[flow]uint32{}}
	s.Witness = append(s.Witness, g.witness)
	for _, o := range s.Orders {
		o.Judge = func(r *message.Result) { g.judge(o, r) }
	}
}

func buildRunsAlone(s *cluster.Cluster) {
	aloneLoad(s, 12*time.Second, 2*time.Second, 3).ends = map[flow]bool{}
	s.Complete = true
}

// aloneLoad submits bursts of jobs, some of which are exclusive: one at least of several.
func aloneLoad(s *cluster.Cluster, every, length time.Duration, burst int) *alone {
	t := cluster.GroupTopology()
	t.Cores = 2
	s.Build(t)
	l := cluster.Load{Every: every, Duration: length, Cores: 3, Vus: 6}
	for at := 2 * time.Second; at < s.Heal; at += l.Every {
		first := s.Rand.Int(burst)
		for i := range burst {
			n := len(s.Orders) + 1
			o := &cluster.Order{Key: fmt.Sprintf("job-%d", n), Client: s.Clients[n%len(s.Clients)]}
			m := s.Submission(o, l, n)
			if w := &o.Plan.Workflows[0]; burst > 1 && i == first || s.Rand.Int(3) == 0 {
				w.Cores, w.VUs, w.Priority = 0, uint64(1+s.Rand.Int(2)), message.PriorityExclusive
			}
			m.Plan = *o.Plan
			s.Orders = append(s.Orders, o)
			s.World.At(at+s.Rand.Duration(0, 20*time.Millisecond), func() { s.Submit(o, m, 0) })
		}
	}
	a := &alone{s: s}
	s.Witness = append(s.Witness, a.witness)
	return a
}

func buildRunsAloneHeals(s *cluster.Cluster) {
	aloneLoad(s, 4*time.Second, 9*time.Second, 1)
	s.Slots(45*time.Second, func(_ int, at time.Duration) {
		lone := append(s.Choose(s.Managers, 1), s.Choose(s.Workers, 1)...)
		rest := append(stage.Without(s.Managers, lone...), stage.Without(s.Workers, lone...)...)
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(18*time.Second, 26*time.Second).Truncate(time.Millisecond), Kind: sim.FaultPartition, Nodes: stage.Names(lone), Peers: stage.Names(rest)})
	})
}

func buildRunsAloneStorm(s *cluster.Cluster) {
	aloneLoad(s, 5*time.Second, togetherLength, 1)
	s.Often(s.Workers, 20*time.Second, sim.FaultCrash, 8*time.Second, 0)
	s.Often(s.Managers, 30*time.Second, sim.FaultCrash, 6*time.Second, 0)
	s.Often(s.Workers, 25*time.Second, sim.FaultPause, 2*time.Second, 0)
	s.Often(s.Managers, 40*time.Second, sim.FaultPause, 3*time.Second, 0)
	s.Slots(45*time.Second, func(_ int, at time.Duration) {
		lone := append(s.Choose(s.Managers, 1), s.Choose(s.Workers, 1)...)
		rest := append(stage.Without(s.Managers, lone...), stage.Without(s.Workers, lone...)...)
		s.Fault(sim.Fault{At: at, For: 9 * time.Second, Kind: sim.FaultPartition, Nodes: stage.Names(lone), Peers: stage.Names(rest)})
	})
}

func buildSharedCoresStorm(s *cluster.Cluster) {
	togetherLoad(s, 9*time.Second)
	s.Often(s.Workers, 30*time.Second, sim.FaultCrash, 8*time.Second, 0)
	s.Often(s.Managers, 50*time.Second, sim.FaultCrash, 6*time.Second, 0)
	s.Often(s.Workers, 25*time.Second, sim.FaultPause, 2*time.Second, 0)
	s.Slots(45*time.Second, func(i int, at time.Duration) {
		lone := append(s.Choose(s.Managers, 1), s.Choose(s.Workers, 1)...)
		rest := append(stage.Without(s.Managers, lone...), stage.Without(s.Workers, lone...)...)
		s.Fault(sim.Fault{At: at, For: 9 * time.Second, Kind: sim.FaultPartition, Nodes: stage.Names(lone), Peers: stage.Names(rest)})
	})
}

// togetherLoad submits jobs of several workflows to six cores.
func togetherLoad(s *cluster.Cluster, every time.Duration) {
	t := cluster.GroupTopology()
	t.Workers, t.Cores = 3, 2
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Vus, l.Layers = every, togetherLength, 0, 64, false
	})
	for i, o := range s.Orders {
		first := o.Plan.Workflows[0]
		o.Plan.Workflows = nil
		for k := range 1 + s.Rand.Int(9) {
			o.Plan.Workflows = append(o.Plan.Workflows, drawn(s, first, o.Plan.Workflows, i, k))
		}
		o.Submit.Plan = *o.Plan
	}
}

// drawn draws the k-th workflow of the i-th job.
func drawn(s *cluster.Cluster, w message.WorkflowPlan, before []message.WorkflowPlan, i, k int) message.WorkflowPlan {
	w.Name = fmt.Sprint("w", k)
	w.Duration = togetherLength * time.Duration(1+s.Rand.Int(2)) / 2
	w.Priority = []message.Importance{message.PriorityAuto, message.PriorityAuto, message.PriorityLow, message.PriorityNormal, message.PriorityHigh}[s.Rand.Int(5)]
	switch s.Rand.Int(4) {
	case 0:
		w.Cores = 2
	case 1:
		w.Rate, w.Priority = 50_000, message.PriorityAuto
	}
	switch {
	case i%4 == 3 && k == 0:
		w.Priority, w.Cores, w.Rate, w.VUs = message.PriorityExclusive, 0, 0, uint64(8+s.Rand.Int(8))
	case i%4 == 3 || k > 0 && s.Rand.Int(3) == 0:
		on := uint32(s.Rand.Int(k))
		w.Layer = before[on].Layer + 1
		if w.StartAfter = []uint32{on}; s.Rand.Int(2) == 0 {
			w.StartAfter, w.Depends = nil, []uint32{on}
		}
	}
	if w.Layer > 2 {
		w.StartAfter, w.Depends, w.Layer = []uint32{0}, nil, 1
	}
	if k > 0 && i%4 != 3 && s.Rand.Int(4) == 0 {
		w.StartDelay = togetherDelay
	}
	return w
}

// flow is a workflow of a job.
type flow struct {
	job      message.JobID
	workflow uint32
}

// together judges begin-together.
type together struct {
	s       *cluster.Cluster
	plans   map[message.JobID]*message.Plan
	began   map[message.JobID]time.Duration // when the first shard of each job did
	ended   map[flow]time.Duration
	started map[flow]bool
	shared  map[flow]uint32 // cores on which others of its job may run
}

func (g *together) witness(r checker.Record) {
	switch e := r.Event.(type) {
	case event.WorkflowChanged:
		if f := (flow{e.Job, e.Workflow}); e.To.Terminal() {
			if _, known := g.ended[f]; !known {
				g.ended[f] = r.At
			}
		}
	case event.ShardStarted:
		g.begins(r, e.Shard)
		if e.Tenancy == message.TenancyJob {
			g.shared[flow{e.Shard.Job, e.Shard.Workflow}] += uint32(len(e.Cores))
		}
	}
}

// judge asserts that the result reports the shared cores of each workflow.
func (g *together) judge(o *cluster.Order, r *message.Result) {
	for i := range r.Workflows {
		if w, want := &r.Workflows[i], g.shared[flow{o.Job, uint32(i)}]; w.Shared != want {
			g.s.Checker.Violate("P", g.s.Record(o.Client), "workflow %s of job %v had %d shared cores, and its result says %d", w.Name, o.Job, want, w.Shared)
		}
	}
}

// begins asserts that a workflow begins soon after all that it waits for, and its delay; the first
// of a job has none, and begins within a second.
func (g *together) begins(r checker.Record, shard message.ShardID) {
	f := flow{shard.Job, shard.Workflow}
	if g.started[f] {
		return
	}
	g.started[f] = true
	if _, known := g.began[f.job]; !known {
		g.began[f.job] = r.At
	}
	w := g.planOf(f)
	if w == nil {
		return
	}
	ready := g.began[f.job]
	for _, on := range slices.Concat(w.Depends, w.StartAfter) {
		ready = max(ready, g.ended[flow{f.job, on}])
	}
	switch late := r.At - ready - w.StartDelay; {
	case late > togetherWithin:
		g.s.Checker.Violate("P", r, "workflow %d of job %v begins %v after all that it waits for", f.workflow, f.job, late)
	case late < -time.Second:
		g.s.Checker.Violate("P", r, "workflow %d of job %v begins %v before its start_delay of %v is over", f.workflow, f.job, -late, w.StartDelay)
	}
}

// alone judges runs-alone and runs-alone-storm.
type alone struct {
	s    *cluster.Cluster
	runs []loneRun
	ends map[flow]bool // exclusive workflows that have begun: whether they have ended; nil: not judged
}

// loneRun is a shard on a worker.
type loneRun struct {
	worker    node.ID
	shard     message.ShardID
	exclusive bool
}

func (r loneRun) flow() flow { return flow{r.shard.Job, r.shard.Workflow} }

// witness asserts that no other load runs beside a shard of an exclusive workflow, nor, where no
// node is lost, begins before the workflow's end.
func (a *alone) witness(r checker.Record) {
	switch e := r.Event.(type) {
	case event.WorkflowChanged:
		if f := (flow{e.Job, e.Workflow}); a.ends != nil && e.To.Terminal() {
			if _, begun := a.ends[f]; begun {
				a.ends[f] = true
			}
		}
	case event.ShardStarted:
		next := loneRun{r.Node, e.Shard, e.Tenancy == message.TenancyMachine}
		a.runs = slices.DeleteFunc(a.runs, func(o loneRun) bool { return !a.s.World.Executes(o.worker, o.shard) })
		for _, o := range a.runs {
			if o.flow() != next.flow() && (o.exclusive || next.exclusive) {
				a.s.Checker.Violate("P", r, "shard %v begins on %s beside %v on %s, and one of them is of an exclusive workflow", e.Shard, r.Node, o.shard, o.worker)
			}
		}
		a.runs = append(a.runs, next)
		//lint:orderfree any one is a violation
		for f, ended := range a.ends {
			if !ended && f != next.flow() {
				a.s.Checker.Violate("P", r, "shard %v begins on %s before the end of exclusive workflow %d of job %v", e.Shard, r.Node, f.workflow, f.job)
			}
		}
		if next.exclusive && a.ends != nil {
			a.ends[next.flow()] = false
		}
	}
}

func (g *together) planOf(f flow) *message.WorkflowPlan {
	if g.plans[f.job] == nil {
		i := slices.IndexFunc(g.s.Orders, func(o *cluster.Order) bool { return o.Job == f.job })
		if i < 0 {
			return nil // its client has no answer yet
		}
		g.plans[f.job] = g.s.Orders[i].Plan
	}
	return &g.plans[f.job].Workflows[f.workflow]
}
