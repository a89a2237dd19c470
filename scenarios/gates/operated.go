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

// operatedWorlds are about operators' requests to gates, and what gates reject.
func operatedWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "drain-orders", Virtual: 5 * time.Minute, Build: cluster.On(buildDrainOrders),
			Doc: "An operator drains gates, managers and workers, one at a time, and takes each order back; half of them restart meanwhile. A drained gate owns nothing and gets no grant. A drained manager gets no subjob and dispatches nothing. A drained worker starts nothing. Each gate reports which nodes are drained. Every job completes, and no shard runs twice."},
		{Name: "merged-thresholds", Virtual: 4 * time.Minute, Build: cluster.On(buildMergedThresholds),
			Doc: "Six of ten requests fail in one datacenter and none in the other. A bound of 40 % holds and one of 20 % does not. Gates judge thresholds on the sum, never on one datacenter, whichever gate owns the job at its end."},
		{Name: "crowded-gates", Virtual: 4 * time.Minute, Build: cluster.On(buildCrowdedGates),
			Doc: "Jobs arrive faster than they run, at gates with room for a few jobs, watchers and bytes, and sometimes without any worker. A gate rejects jobs with a time to retry, drops the oldest results and keeps room for later ones. It ends a job that waits too long in its queue, neither earlier nor later."},
		{Name: "mute-managers", Virtual: 4 * time.Minute, Build: cluster.On(buildMuteManagers),
			Doc: "A manager sends heartbeats and does not receive the gates' dispatches: they are lost, or arrive up to twenty seconds late. A gate asks another manager after ten seconds. A late dispatch runs nothing twice, and every job ends in time."},
		{Name: "starved-files", Virtual: 5 * time.Minute, Build: cluster.On(buildStarvedFiles),
			Doc: "The disks of most of five gates are full for a while, others are away or cut off. Programs and results reach no majority, and files that records name are not available. Gates reject new jobs and retry for running ones. Every acknowledged job completes, once."},
	}
}

// drained is one order to drain a node.
type drained struct {
	id       node.ID
	from, to time.Duration // from the acknowledgement of the order until the operator takes it back
}

// during reports whether an instant is within the order, with time for it to arrive.
func (d *drained) during(at time.Duration) bool {
	const arrival = 4 * time.Second
	return d.from > 0 && at > d.from+arrival && at < d.to
}

func buildDrainOrders(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Workers = 5
	s.Standard(t, func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 4*time.Second, 5*time.Second, 3 })
	s.Complete, s.Served = true, true
	s.Checker.Promise(checker.Promises{Once: true})
	var orders []*drained
	const lasts = 14 * time.Second
	kinds := [][]node.ID{s.Gates, s.Workers, s.Managers}
	s.Slots(20*time.Second, func(i int, at time.Duration) {
		id := s.Choose(kinds[i%len(kinds)], 1)[0]
		d := &drained{id: id, to: at + lasts}
		orders = append(orders, d)
		drain(s, d, at)
		gate := i%len(kinds) == 0
		switch restarts := s.Rand.Chance(1, 2); { // the order survives a restart
		case restarts && gate:
			s.Fault(sim.Fault{At: at + 5*time.Second, For: time.Second, Kind: sim.FaultCrash, Nodes: []string{string(id)}})
		case restarts: // when its shards have ended
			s.Fault(sim.Fault{At: at + s.Rand.Duration(7*time.Second, 9*time.Second).Truncate(stage.Tick), For: time.Second, Kind: sim.FaultStop, Nodes: []string{string(id)}})
		case gate:
			ownedBy(s, id, at, at+5*time.Second)
		}
		s.World.At(at+lasts-time.Second, func() { askWhoDrains(s, d) })
	})
	s.Witness = append(s.Witness, func(r checker.Record) {
		for _, d := range orders {
			if d.during(r.At) {
				givesWork(s, d, r)
			}
		}
	})
}

// givesWork judges that a drained node gets no work.
func givesWork(s *cluster.Cluster, d *drained, r checker.Record) {
	switch e := r.Event.(type) {
	case event.LeaseGranted:
		if r.Node == d.id && e.Group == checker.GroupGates {
			s.Checker.Violate("P", r, "%s was granted job %v, and is drained since %v", d.id, e.Job, d.from)
		}
	case event.SubjobDispatched:
		if e.Manager == d.id {
			s.Checker.Violate("P", r, "%s was sent a subjob of job %v, and is drained since %v", d.id, e.Job, d.from)
		}
	case event.ShardDispatched:
		if r.Node == d.id {
			s.Checker.Violate("P", r, "%s dispatched shard %v, and is drained since %v", d.id, e.Shard, d.from)
		}
	case event.ShardStarted:
		if r.Node == d.id {
			s.Checker.Violate("P", r, "%s started shard %v, and is drained since %v", d.id, e.Shard, d.from)
		}
	}
}

// drain plays the operator, who orders a drain at one time and takes it back at another.
func drain(s *cluster.Cluster, d *drained, at time.Duration) {
	who := s.Clients[s.Rand.Int(len(s.Clients))]
	order := func(undo bool) {
		s.World.Command(who, &message.DrainRequest{Node: string(d.id), Undo: undo}, func(answer node.Message) {
			if _, ok := answer.(*message.DrainAck); !ok {
				s.Checker.Violate("P", s.Record(who), "the order to drain %s, taken back: %v, was answered with %+v", d.id, undo, answer)
			} else if !undo {
				d.from = s.World.Now()
			}
		})
	}
	s.World.At(at, func() { order(false) })
	s.World.At(d.to, func() { order(true) })
}

// askWhoDrains judges that gates report which nodes are drained.
func askWhoDrains(s *cluster.Cluster, d *drained) {
	who := s.Clients[s.Rand.Int(len(s.Clients))]
	says := func(found, draining bool) {
		if d.from > 0 && found && !draining {
			s.Checker.Violate("P", s.Record(who), "%s is drained since %v, and a gate tells people that it is not", d.id, d.from)
		}
	}
	s.World.Command(who, &message.ClusterQuery{}, func(answer node.Message) {
		if c, ok := answer.(*message.ClusterStatus); ok {
			for i := range c.Members {
				says(c.Members[i].Node == string(d.id), c.Members[i].Draining)
			}
		}
	})
	s.World.Command(who, &message.StatusQuery{}, func(answer node.Message) {
		if c, ok := answer.(*message.StatusList); ok {
			for i := range c.Nodes {
				says(c.Nodes[i].Node == string(d.id), c.Nodes[i].Draining)
			}
		}
	})
	s.World.Command(who, &message.DatacenterQuery{}, func(node.Message) {})
}

func buildMergedThresholds(s *cluster.Cluster) {
	well, ill := *s.Model, *s.Model
	well.Failed, well.TimedOut = 0, 0
	ill.Failed, ill.TimedOut = 600_000, 0
	well.ResponseMin, well.ResponseMax = 10*time.Millisecond, 10*time.Millisecond
	ill.ResponseMin, ill.ResponseMax = well.ResponseMin, well.ResponseMax
	s.Models = []*sim.Plain{&well, &ill}
	t := cluster.GroupTopology()
	t.Datacenters = 2
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Vus, l.Datacenters, l.Layers = 6*time.Second, 6*time.Second, 2, 8, 2, false
	})
	s.Complete = true
	for _, o := range s.Orders {
		o.Plan.Workflows[0].Thresholds = []message.Threshold{
			{Expr: "home.errors < 40%", Step: "home", Of: message.OfErrors, Op: message.OpBelow, Bound: 400_000},
			{Expr: "home.errors < 20%", Step: "home", Of: message.OfErrors, Op: message.OpBelow, Bound: 200_000},
		}
		o.Judge = func(r *message.Result) {
			if len(r.Thresholds) != 2 || !r.Thresholds[0].OK || r.Thresholds[1].OK {
				s.Checker.Violate("P", s.Record(o.Client), "job %v: of all its requests three in ten failed, and its thresholds are judged %+v", o.Job, r.Thresholds)
			}
		}
	}
	s.Slots(20*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(time.Second, 8*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(s.Gates, 1))})
	})
}

// crowded are bounds that many clients reach within seconds.
const (
	crowdedNowhere = 12 * time.Second
	crowdedAge     = 25 * time.Second
)

func buildCrowdedGates(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Managers, t.Workers, t.Clients = 2, 3, 4
	bytes, files := 600+s.Rand.Int(3000), 30+s.Rand.Int(30)
	t.Gate = func(c *gate.Config) {
		c.QueueMax, c.WaitersMax, c.LookupsMax, c.WatchersMax = 4, 2, 2, 6
		c.SpecBytesMax, c.ResultBytesMax = 4096, bytes
		c.ResultsMax, c.FilesMax, c.FileAge, c.SweepInterval = 4, files, 45*time.Second, 5*time.Second
		c.Lease, c.QuorumTimeout = 6*time.Second, time.Second // a file's age leaves a record time to reach a majority
		c.QueueInterval, c.QueueTimeout, c.QueueAgeMax, c.RetryAfter = time.Second, crowdedNowhere, crowdedAge, 2*time.Second
	}
	t.Manage = func(c *manager.Config) { c.DatacenterLease = 12 * time.Second }
	s.Draw("results take %d bytes, a gate keeps %d files", bytes, files)
	s.Forgets = true
	s.Build(t)
	l := cluster.Load{Vus: 8, Cores: 4, Duration: 3 * time.Second}
	n := 0
	for at := 3 * time.Second; at < s.Heal; at += 700 * time.Millisecond {
		n++
		o := &cluster.Order{Key: fmt.Sprintf("crowd-%d", n), Client: s.Clients[n%len(s.Clients)]}
		s.Submission(o, l, n)
		s.Orders = append(s.Orders, o)
		s.World.At(at, func() { s.Submit(o, o.Submit, 0) })
		for _, id := range s.Clients { // all submit the same, and watch it
			s.World.At(at+time.Millisecond, func() { beset(s, id, o) })
		}
	}
	s.Slots(50*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(10*time.Second, 30*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash, Nodes: stage.Names(s.Workers)})
	})
	waitsInQueue(s)
}

// beset makes a client submit a key that another one has submitted, and query it.
func beset(s *cluster.Cluster, id node.ID, o *cluster.Order) {
	if id == o.Client {
		return
	}
	twin := *o.Submit
	s.World.Command(id, &twin, func(answer node.Message) {
		if r, ok := answer.(*message.Refused); ok && (!r.Code.Retryable() || r.RetryAfter <= 0) {
			s.Checker.Violate("P", s.Record(id), "submission %s was refused for want of room with %v, to come back after %v", o.Key, r.Code, r.RetryAfter)
		}
	})
	s.World.Command(id, &message.JobQuery{Job: message.JobOf(o.Key)}, func(node.Message) {})
	s.World.Command(id, &message.JobWatch{Job: message.JobOf(o.Key)}, func(node.Message) {})
}

// waitsInQueue judges that a job waits in the queue no longer than it may, and that no job ends
// for its wait before that. A gate reports an end later while archives are full: it retries the file
// of the end every second until sweeps make room on a majority.
func waitsInQueue(s *cluster.Cluster) {
	const slack = 3 * time.Second
	since := map[message.JobID]time.Duration{}
	var full time.Duration // when a gate last had no room for a file
	s.Witness = append(s.Witness, func(r checker.Record) {
		if e, ok := r.Event.(event.Shed); ok && strings.HasPrefix(e.What, "file ") {
			full = r.At
		}
		e, ok := r.Event.(event.JobChanged)
		if !ok {
			return
		}
		waited := r.At - since[e.Job]
		switch from, queued := since[e.Job]; {
		case !queued:
		case strings.HasPrefix(e.Reason, "waited in the queue") && waited < crowdedAge-slack, strings.HasPrefix(e.Reason, "nowhere to run") && waited < crowdedNowhere-slack:
			s.Checker.Violate("P", r, "job %v, queued since %v, ended %v: %s", e.Job, from, e.To, e.Reason)
		case e.From == message.JobQueued && waited > crowdedAge+slack && r.At > full+slack:
			s.Checker.Violate("P", r, "job %v left the queue after %v, at most %v are allowed", e.Job, waited, crowdedAge)
		}
		if _, queued := since[e.Job]; e.To == message.JobQueued && !queued {
			since[e.Job] = r.At
		}
	})
}

func buildMuteManagers(s *cluster.Cluster) {
	const answer, length = 10 * time.Second, 5 * time.Second
	type deafness struct {
		id       node.ID
		from, to time.Duration
		late     time.Duration // 0: lost
	}
	var deaf []deafness
	s.Arrives = func(to node.ID, in *node.Input) time.Duration {
		if _, ok := in.Message.(*message.JobDispatch); !ok {
			return 0
		}
		for _, d := range deaf {
			if now := s.World.Now(); to == d.id && now >= d.from && now < d.to && d.late > 0 {
				return now + d.late
			} else if to == d.id && now >= d.from && now < d.to {
				return cluster.Lost
			}
		}
		return 0
	}
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 4*time.Second, length, 2 })
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	s.Slots(25*time.Second, func(i int, at time.Duration) {
		d := deafness{id: s.Choose(s.Managers, 1)[0], from: at, to: at + 20*time.Second}
		if s.Rand.Chance(1, 2) {
			d.late = s.Rand.Duration(time.Second, 20*time.Second)
		}
		deaf = append(deaf, d)
	})
	s.Draw("%d times a manager hears no dispatch: %v", len(deaf), deaf)
	s.EndsWithin(answer + length + 15*time.Second)
}

func buildStarvedFiles(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Gates, t.Datacenters, t.Workers = 5, 2, 3
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Datacenters = 4*time.Second, 5*time.Second, 2, 2
	})
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	s.Slots(30*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(3*time.Second, 15*time.Second).Truncate(stage.Tick), Kind: sim.FaultDiskFull, Nodes: stage.Names(s.Choose(s.Gates, 3))})
	})
	s.Slots(8*time.Second, func(i int, at time.Duration) {
		some := s.Choose(s.Gates, 2)
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(time.Second, 7*time.Second).Truncate(stage.Tick), Kind: sim.FaultPartition, Nodes: stage.Names(some), Peers: stage.Names(stage.Without(s.Gates, some...))})
	})
	s.Slots(40*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(5*time.Second, 35*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(s.Gates, 1))})
	})
}
