package workers

import (
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

func rowWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "unique-rows", Virtual: 4 * time.Minute, Build: cluster.On(buildUniqueRows),
			Doc: "The iterations of each job take rows that no other may use, in one datacenter or divided between two. Managers are cut off from each other, or killed when they write their leases; workers are killed and cut off, and streams break. No two executors get one row. The rows of a lost attempt are burned, and reported."},
		{Name: "unique-values", Virtual: 4 * time.Minute, Build: cluster.On(buildUniqueValues),
			Doc: "All workflows of a job take values of one counter, in one datacenter or divided between two, under the faults of unique-rows. No two executors get one value, and no more are given than the counter has."},
		{Name: "rows-in-peace", Virtual: 170 * time.Second, Build: cluster.On(buildRowsInPeace),
			Doc: "The same without faults. Executors get all rows, and none is burned."},
		{Name: "bound-rows", Virtual: 5 * time.Minute, Build: cluster.On(buildBoundRows),
			Doc: "Jobs that name no datacenter take rows that no other iteration may use. Then one of the two datacenters is cut off from all gates for longer than it may continue. No gate knows which rows were taken there: the other datacenter hands out none of them."},
		{Name: "barriers", Virtual: 4 * time.Minute, Build: cluster.On(buildBarriers),
			Doc: "Users of each job wait for each other at a barrier, over both of its workflows. Workers and managers are killed and cut off, managers also when they write who may pass. No release lets fewer pass than the barrier wants, no executor hears of one that its manager did not decide, and each wait ends within its time and two seconds."},
		{Name: "barriers-in-peace", Virtual: 60 * time.Second, Build: cluster.On(buildBarriersInPeace),
			Doc: "The same without faults, with as many users as the barrier wants: they pass again and again, and none times out but at the end."},
		{Name: "bound-values", Virtual: 5 * time.Minute, Build: cluster.On(buildBoundValues),
			Doc: "The same with values of a counter in place of rows."},
	}
}

// rowsOf gives each job a unique feed; every third one names two datacenters.
func rowsOf(s *cluster.Cluster, rows uint64) {
	s.Model.Want, s.Model.Asks = 400, 500*time.Millisecond
	for i, o := range s.Orders {
		for k := range o.Plan.Workflows {
			o.Plan.Workflows[k].Feed = message.FeedPlan{Name: "people.csv", Rows: rows, Unique: true, Order: message.RowsShuffled, AtEnd: message.RowsStop}
		}
		if i%3 == 0 {
			o.Submit.Datacenters = []string{stage.Datacenter(0), stage.Datacenter(1)}
		}
		o.Judge = func(r *message.Result) {
			for _, w := range r.Workflows {
				if sum := w.Stats.Rows + w.Burned; sum > rows {
					s.Checker.Violate("F", s.Record(o.Client), "job %v took %d rows and burned %d, of %d", o.Job, w.Stats.Rows, w.Burned, rows)
				}
			}
		}
	}
}

func buildUniqueRows(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Datacenters, t.Clients = 2, 2
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Layers = 4*time.Second, 10*time.Second, 3, false
	})
	rowsOf(s, 20_000)
	tearLeases(s)
}

// tearLeases breaks what leases rows, and what carries them.
func tearLeases(s *cluster.Cluster) {
	s.Often(append(append([]node.ID{}, s.Managers...), s.Workers...), 5*time.Second, sim.FaultBreakStreams, 0, 0)
	aims := []string{"", "storing:lease/", "stored:lease/"}
	s.Slots(7*time.Second, func(i int, at time.Duration) {
		f := sim.Fault{At: at, For: s.Rand.Duration(time.Second, 6*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash}
		switch i % 4 {
		case 0: // its workers hear it, the other managers do not: no majority knows what it leases
			lone := s.Choose(s.Managers, 1)
			f.Kind, f.Nodes, f.Peers = sim.FaultPartition, stage.Names(lone), stage.Names(stage.Without(s.Managers, lone...))
		case 1, 2:
			f.Nodes, f.Aim = stage.Names(s.Choose(s.Managers, 1)), aims[s.Rand.Int(len(aims))]
		default:
			f.Nodes = stage.Names(s.Choose(s.Workers, 1))
			if s.Rand.Chance(1, 2) {
				f.Kind, f.Peers, f.For = sim.FaultPartition, stage.Names(s.Managers), 12*time.Second
			}
		}
		s.Fault(f)
	})
	if s.Rand.Chance(1, 2) { // answers are late, and arrive twice
		s.Fault(sim.Fault{At: 5 * time.Second, Kind: sim.FaultLatencyOneWay, Nodes: stage.Names(s.Managers), Peers: stage.Names(s.Workers), Value: int64(700 + s.Rand.Int(900))})
	}
}

// valuesOf gives each job a counter, and judges that no more is given than it has.
func valuesOf(s *cluster.Cluster, most uint64) {
	s.Model.Want, s.Model.Asks, s.Model.Of = 400, 500*time.Millisecond, 1
	for _, o := range s.Orders {
		o.Submit.Plan.Counters = []message.CounterPlan{{Name: "orders", Most: most, Start: 1, AtEnd: message.RowsStop}}
	}
	given := map[message.JobID]uint64{}
	s.Witness = append(s.Witness, func(r checker.Record) {
		e, ok := r.Event.(event.RowsTaken)
		if !ok {
			return
		}
		given[e.Shard.Job] += e.Count
		if sum := given[e.Shard.Job]; e.Of != 1 || e.First+e.Count > most || sum > most {
			s.Checker.Violate("F", r, "job %v gives %d values up to %d of counter %d, which has %d", e.Shard.Job, sum, e.First+e.Count, e.Of, most)
		}
	})
}

func buildUniqueValues(s *cluster.Cluster) {
	const most = 20_000
	t := cluster.GroupTopology()
	t.Datacenters, t.Clients = 2, 2
	var load cluster.Load
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Layers = 4*time.Second, 10*time.Second, 2, false
		load = *l
	})
	valuesOf(s, most)
	for i, o := range s.Orders {
		p := &o.Submit.Plan
		o.Plan, p.Workflows = p, append(p.Workflows, cluster.WorkflowPlan("beside", load, nil))
		if i%3 == 0 {
			o.Submit.Datacenters = []string{stage.Datacenter(0), stage.Datacenter(1)}
		}
	}
	tearLeases(s)
}

func buildRowsInPeace(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Datacenters, t.Clients = 2, 2
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Layers = 6*time.Second, 30*time.Second, 2, false
	})
	const rows = 5000
	rowsOf(s, rows)
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	for _, o := range s.Orders {
		judge := o.Judge
		o.Judge = func(r *message.Result) {
			judge(r)
			for _, w := range r.Workflows {
				if w.Stats.Rows != rows || w.Burned != 0 {
					s.Checker.Violate("P", s.Record(o.Client), "job %v took %d of its %d rows, and burned %d", o.Job, w.Stats.Rows, rows, w.Burned)
				}
			}
		}
	}
}

func buildBoundRows(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Datacenters, t.Clients = 2, 2
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Layers = 15*time.Second, 30*time.Second, 2, false
	})
	rowsOf(s, 50_000)
	for _, o := range s.Orders {
		o.Submit.Datacenters = nil
	}
	cutOneOff(s)
}

func buildBoundValues(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Datacenters, t.Clients = 2, 2
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Layers = 15*time.Second, 30*time.Second, 2, false
	})
	valuesOf(s, 50_000)
	cutOneOff(s)
}

// cutOneOff cuts one of two datacenters off from all gates.
func cutOneOff(s *cluster.Cluster) {
	s.Model.Want = 50
	d := s.Rand.Int(2)
	var cut []node.ID
	for _, id := range append(append([]node.ID{}, s.Managers...), s.Workers...) {
		if s.World.Place(id) == stage.Datacenter(d) {
			cut = append(cut, id)
		}
	}
	s.Fault(sim.Fault{At: 20 * time.Second, For: 90 * time.Second, Kind: sim.FaultPartition, Nodes: stage.Names(cut), Peers: stage.Names(s.Gates)})
}

// gatherAt gives each job a barrier at which the users of two workflows wait, and judges how long.
func gatherAt(s *cluster.Cluster, load cluster.Load, users uint64, each uint64) (released, timedOut *uint64) {
	const patience = 6 * time.Second
	released, timedOut = new(uint64), new(uint64)
	s.Model.Script = func(start *message.ExecStart, r *node.Rand) sim.Script {
		g := &gathering{patience: patience, between: r.Duration(time.Millisecond, 400*time.Millisecond), users: make([]meeting, min(each, start.VUs))}
		g.ended = func(pass bool, took time.Duration) {
			if took > patience+2*time.Second {
				s.Checker.Violate("B", s.Record(s.Clients[0]), "a user of shard %v waited %v, its time was %v", start.Shard, took, patience)
			}
			if pass {
				*released++
			} else {
				*timedOut++
			}
		}
		return g
	}
	for _, o := range s.Orders {
		p := &o.Submit.Plan
		o.Plan, p.Workflows = p, append(p.Workflows, cluster.WorkflowPlan("beside", load, nil))
		p.Barriers = []message.BarrierPlan{{Name: "rush", Users: users, Timeout: patience}}
	}
	return released, timedOut
}

func buildBarriers(s *cluster.Cluster) {
	var load cluster.Load
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Layers = 6*time.Second, 12*time.Second, 2, false
		load = *l
	})
	gatherAt(s, load, 7, 3)
	tearLeases(s)
}

func buildBarriersInPeace(s *cluster.Cluster) {
	var load cluster.Load
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Layers, l.Cancels = 8*time.Second, 10*time.Second, 2, false, 0
		load = *l
	})
	released, timedOut := gatherAt(s, load, 12, 3) // four executors
	s.Complete = true
	s.Verdicts = append(s.Verdicts, func() {
		if jobs := uint64(len(s.Orders)); *released < 12*10*jobs || *timedOut > 12*jobs {
			s.Checker.Violate("P", s.Record(s.Clients[0]), "%d waits of %d jobs were released, and %d timed out", *released, jobs, *timedOut)
		}
	})
}
