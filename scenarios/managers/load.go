package managers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/netsim"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// loadWorlds bring managers more messages than they can take at once.
func loadWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "paused-manager-of-many", Virtual: 34 * time.Second, Within: 12 * time.Second, Rate: 4 * pausedWorkers, Most: pausedWorkers, Build: cluster.On(buildPausedManagerOfMany),
			Doc: "The only manager of hundreds of workers is paused for one to two seconds, while each of them runs a shard of one job. Its mailbox holds little more than a message of each. Heartbeats and figures that wait replace older ones: no stream breaks, no worker is lost, nothing runs again, and the job completes. Five seconds after the pause there is no more to do than before it."},
		{Name: "overloaded-manager", Virtual: 75 * time.Second, Within: 15 * time.Second, Rate: 4 * overloadedWorkers, Most: overloadedWorkers, Build: cluster.On(buildOverloadedManager),
			Doc: "The only manager of hundreds of workers is so slow for ten seconds that reports of figures wait. Within three seconds workers report as seldom as it asks, and thirty seconds later as often as before. No worker is lost, nothing runs again, and the job completes with the sum of all."},
		{Name: "muted-worker", Virtual: 2 * time.Minute, Within: 30 * time.Second, Build: cluster.On(buildMutedWorkers),
			Doc: "A manager that is overloaded asks all workers for few reports, so that figures of other managers' jobs on these workers stand still for seconds. Then it stops, and its streams stand. Three seconds later the workers report to the others as often as before. Another manager takes the job over, nothing runs twice, and every job completes."},
		{Name: "file-flood", Virtual: 80 * time.Second, Within: 30 * time.Second, Build: cluster.On(buildFileFlood),
			Doc: "Slow managers get hundreds of dispatches with their programs at once, and keep these files on a majority, while shards of another job run. Renewals wait behind none of it: no peer is lost, nothing runs again, and every job ends."},
		{Name: "program-fan-out", Virtual: 70 * time.Second, Within: 30 * time.Second, Network: slowRack, Build: cluster.On(buildProgramFanOut),
			Doc: "A manager that sends 10 MB a second dispatches a program of 400 KiB to each of a hundred workers, which all run shards of another job. It sends a few programs at a time, so renewals wait behind little: no peer is lost, nothing runs again, and both jobs complete."},
		{Name: "everything-at-once", Virtual: 45 * time.Second, Within: 25 * time.Second, Rate: 4 * onceWorkers, Most: onceWorkers, Build: cluster.On(buildEverythingAtOnce),
			Doc: "Hundreds of workers run a job, while clients submit ten times as many jobs with large programs as the queues take, cancel some, and the managers pause one after the other, for less than their leases last. No peer is lost, no lease is lost, nothing runs again, a cancel takes less than two seconds, and every accepted job ends."},
		{Name: "slow-ocean", Virtual: 100 * time.Second, Within: 40 * time.Second, Network: slowOcean, Build: cluster.On(buildSlowOcean),
			Doc: "One of three datacenters is behind links of 100 kB a second, and runs its subjobs of fifty jobs. Its manager sends figures when the last ones have left, so that no superseded one waits in front of a heartbeat or an order. No peer is lost, a cancel takes less than five seconds, and every job ends."},
	}
}

// pausedWorkers is the most that the world has. A mailbox of 4,096 messages is to the 3,400
// workers of a large datacenter what one of 1.2 messages a worker is to these.
const pausedWorkers = 600

func buildPausedManagerOfMany(s *cluster.Cluster) {
	workers := s.Crowd(pausedWorkers)
	s.Build(cluster.Topology{Gates: 1, Datacenters: 1, Managers: 1, Workers: workers, Cores: 1, Clients: 1,
		Boxes: map[node.Role]func(*node.MailboxConfig){node.RoleManager: func(c *node.MailboxConfig) {
			n := workers * 6 / 5
			c.Lanes = [node.Priorities]int{n, n, n, n}
		}}})
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	s.LosesNoPeer(manyRegistered, s.Options.Virtual)
	o := &cluster.Order{Key: "wide", Client: s.Clients[0]}
	s.Orders = append(s.Orders, o)
	submit := s.Submission(o, cluster.Load{Vus: 2 * uint64(workers), Cores: uint32(workers), Duration: pausedRuns}, 1)
	s.World.At(manyRegistered, func() { s.Submit(o, submit, 0) })
	first, ends := manyRegistered+3*time.Second, time.Duration(0)
	for at := first; at < manyRegistered+9*time.Second; at += 4 * time.Second {
		length := s.Rand.Duration(1200*time.Millisecond, 2*time.Second).Truncate(stage.Tick)
		s.Fault(sim.Fault{At: at, For: length, Kind: sim.FaultPause, Nodes: stage.Names(s.Managers)})
		ends = at + length
	}
	quiet(s, first, ends+quietWithin)
}

const (
	pausedRuns  = 18 * time.Second // the job still runs when it must be quiet again
	quietWithin = 5 * time.Second  // of the end of a pause
)

// quiet judges that the world has no more to do in the second after a time than in the second before
// another one: what happens in it, and what waits in mailboxes.
func quiet(s *cluster.Cluster, before, after time.Duration) {
	const look = 50 * time.Millisecond
	type second struct{ events, waiting int }
	of := func(from time.Duration) *second {
		t := &second{}
		s.World.At(from, func() { t.events -= int(s.World.Events()) })
		s.World.At(from+time.Second, func() { t.events += int(s.World.Events()) })
		for at := from; at < from+time.Second; at += look {
			s.World.At(at, func() {
				s.World.Sizes(func(_ node.ID, what string, n, _ int) {
					if strings.HasPrefix(what, "mailbox/") && !strings.HasSuffix(what, "bytes") {
						t.waiting += n
					}
				})
			})
		}
		return t
	}
	was, is := of(before-time.Second), of(after)
	s.Judge(after+time.Second, func() {
		if is.events > 2*was.events || is.waiting > 2*was.waiting+len(s.World.Nodes()) {
			s.Checker.Violate("P", s.Record(s.Managers[0]), "%v after the pause a second has %d events and %d inputs that wait, and the one before it had %d and %d", quietWithin, is.events, is.waiting, was.events, was.waiting)
		}
	})
}

// manyRegistered is when all workers of a crowd have registered.
const manyRegistered = 9 * time.Second

// overloadedWorkers is the most that the world has.
const overloadedWorkers = 240

const (
	overloadedFor = 10 * time.Second
	toldWithin    = 3 * time.Second  // from the begin of the overload until workers obey
	calmWithin    = 30 * time.Second // from its end until they report as often as before
)

func buildOverloadedManager(s *cluster.Cluster) {
	workers := s.Crowd(overloadedWorkers)
	s.Build(cluster.Topology{Gates: 1, Datacenters: 1, Managers: 1, Workers: workers, Cores: 1, Clients: 1})
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	s.LosesNoPeer(manyRegistered, s.Options.Virtual)
	o := &cluster.Order{Key: "wide", Client: s.Clients[0]}
	s.Orders = append(s.Orders, o)
	submit := s.Submission(o, cluster.Load{Vus: 2 * uint64(workers), Cores: uint32(workers), Duration: 48 * time.Second}, 1)
	s.World.At(manyRegistered, func() { s.Submit(o, submit, 0) })
	began := manyRegistered + 4*time.Second
	// A heartbeat and two reports of a worker take 100 us: they fill one core and a half.
	s.Fault(sim.Fault{At: began, For: overloadedFor, Kind: sim.FaultSlowCPU, Nodes: stage.Names(s.Managers), Value: int64(15_000 / workers)})
	paced(s, began, began+overloadedFor)
}

func buildFileFlood(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Managers, t.Cores = 1, 100
	s.Build(t)
	s.Checker.Promise(checker.Promises{Once: true})
	s.LosesNoPeer(manyRegistered, s.Options.Virtual)
	order := func(key string, at time.Duration, l cluster.Load) {
		o := &cluster.Order{Key: key, Client: s.Clients[len(s.Orders)%len(s.Clients)]}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, l, len(s.Orders))
		submit.Program.Files[0].Data = append(submit.Program.Files[0].Data, make([]byte, floodBytes)...)
		s.World.At(at, func() { s.Submit(o, submit, 0) })
	}
	order("long", manyRegistered, cluster.Load{Vus: 40, Cores: 40, Duration: 30 * time.Second})
	began := manyRegistered + 3*time.Second
	for n := range floodJobs {
		order(fmt.Sprintf("flood-%d", n), began, cluster.Load{Vus: 1, Cores: 1, Duration: time.Second})
	}
	s.Fault(sim.Fault{At: began, For: 7 * time.Second, Kind: sim.FaultSlowCPU, Nodes: stage.Names(s.Managers), Value: 100 + int64(s.Rand.Int(20))})
}

const (
	floodJobs  = 200
	floodBytes = 16 << 10
)

// slowOcean puts the second datacenter behind a link of 100 kB a second to each of the others.
func slowOcean() netsim.Config {
	c := netsim.Default()
	link := c.Far
	link.Latency, link.Bandwidth = 80*time.Millisecond, 100_000
	for _, other := range []int{0, 2} {
		c.Pairs = append(c.Pairs,
			netsim.Pair{From: stage.Datacenter(1), To: stage.Datacenter(other), Link: link},
			netsim.Pair{From: stage.Datacenter(other), To: stage.Datacenter(1), Link: link})
	}
	return c
}

const (
	oceanJobs  = 50
	oceanSteps = 12
)

func buildSlowOcean(s *cluster.Cluster) {
	t := cluster.ReferenceTopology()
	t.Gates, t.Managers, t.Cores = 1, 1, 20
	s.Build(t)
	s.Complete = true
	s.Excused = func(id message.JobID) bool {
		return slices.ContainsFunc(s.Orders, func(o *cluster.Order) bool { return o.Job == id && o.Cancel })
	}
	s.Checker.Promise(checker.Promises{Once: true, CancelWithin: 5 * time.Second})
	s.LosesNoPeer(manyRegistered, s.Options.Virtual)
	s.Shown = freshFigures(s, stage.Datacenter(1), 6*time.Second)
	for n := range oceanJobs {
		o := &cluster.Order{Key: fmt.Sprintf("far-%d", n), Client: s.Clients[n%len(s.Clients)]}
		o.Cancel = n%10 == 9
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, cluster.Load{Vus: 4, Cores: 1, Duration: 30 * time.Second, Datacenters: 3}, n+1)
		w := &submit.Plan.Workflows[0]
		for k := len(w.Steps); k < oceanSteps; k++ {
			step := w.Steps[0]
			step.Name = fmt.Sprintf("step-%d", k)
			w.Steps = append(w.Steps, step)
		}
		s.World.At(manyRegistered+time.Duration(n)*100*time.Millisecond, func() { s.Submit(o, submit, 15*time.Second) })
	}
}

// freshFigures judges that the figures of a datacenter that clients are shown stand still for no
// longer than a bound while it runs.
func freshFigures(s *cluster.Cluster, datacenter string, bound time.Duration) func(*cluster.Order, *message.JobStatus) {
	type seen struct{ elapsed, at time.Duration }
	last := map[*cluster.Order]seen{}
	return func(o *cluster.Order, status *message.JobStatus) {
		for _, d := range status.Datacenters {
			if d.Name != datacenter || d.State != message.JobRunning || len(d.Workflows) == 0 {
				continue
			}
			was, now := last[o], s.World.Now()
			if e := d.Workflows[0].Stats.Elapsed; was.at == 0 || e > was.elapsed {
				last[o] = seen{e, now}
			} else if now-was.at > bound {
				s.Checker.Violate("P", s.Record(o.Client), "job %v was shown the figures of %s unchanged for %v", o.Job, datacenter, now-was.at)
			}
		}
	}
}

// slowRack is a datacenter in which each node sends 10 MB a second.
func slowRack() netsim.Config {
	c := netsim.Default()
	c.Near.Bandwidth = 10_000_000
	return c
}

const (
	fanWorkers = 120
	fanBytes   = 400 << 10
)

func buildProgramFanOut(s *cluster.Cluster) {
	s.Build(cluster.Topology{Gates: 1, Datacenters: 1, Managers: 1, Workers: fanWorkers, Cores: 2, Clients: 1})
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	s.LosesNoPeer(manyRegistered, s.Options.Virtual)
	order := func(key string, at time.Duration, bytes int, length time.Duration) {
		o := &cluster.Order{Key: key, Client: s.Clients[0]}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, cluster.Load{Vus: 2 * fanWorkers, Cores: fanWorkers, Duration: length}, len(s.Orders))
		submit.Program.Files[0].Data = append(submit.Program.Files[0].Data, make([]byte, bytes)...)
		s.World.At(at, func() { s.Submit(o, submit, 0) })
	}
	order("long", manyRegistered, 0, 25*time.Second)
	order("wide", manyRegistered+s.Rand.Duration(3*time.Second, 5*time.Second).Truncate(stage.Tick), fanBytes, 5*time.Second)
}

const (
	onceWorkers = 400 // at most
	onceBytes   = 48 << 10
	onceFlood   = 9 * time.Second // of submissions

	// oncePause is below two thirds of a subjob's lease: a manager renews after one third. After a
	// longer pause another manager takes over, and a cancel waits until no worker can run on.
	oncePause = 1250 * time.Millisecond
)

func buildEverythingAtOnce(s *cluster.Cluster) {
	workers := s.Crowd(onceWorkers)
	s.Build(cluster.Topology{Gates: 3, Datacenters: 1, Managers: 3, Workers: workers, Cores: 1, Clients: 4,
		Gate: func(c *gate.Config) { c.QueueMax = 20 }})
	s.Checker.Promise(checker.Promises{Once: true, CancelWithin: 2 * time.Second})
	s.LosesNoPeer(manyRegistered, s.Options.Virtual)
	s.Witness = append(s.Witness, func(r checker.Record) {
		if e, ok := r.Event.(event.LeaseEnded); ok && e.Reason != "released" {
			s.Checker.Violate("P", r, "a lease of %s on job %v ended as it was %s", e.Group, e.Job, e.Reason)
		}
	})
	n := 0
	order := func(at time.Duration, bytes int, cancel bool, l cluster.Load) {
		n++
		o := &cluster.Order{Key: fmt.Sprintf("job-%d", n), Client: s.Clients[n%len(s.Clients)], Cancel: cancel}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, l, n)
		submit.Program.Files[0].Data = append(submit.Program.Files[0].Data, make([]byte, bytes)...)
		s.World.At(at, func() { s.Submit(o, submit, 300*time.Millisecond) })
	}
	order(manyRegistered, 0, false, cluster.Load{Vus: uint64(workers), Cores: uint32(workers * 3 / 4), Duration: 20 * time.Second})
	began := manyRegistered + 3*time.Second
	for at := began; at < began+onceFlood; at += 40 * time.Millisecond {
		order(at, onceBytes, s.Rand.Chance(1, 20), cluster.Load{Vus: 8, Cores: 8, Duration: time.Second})
	}
	for i, id := range s.Managers {
		at := began + time.Duration(1+3*i)*time.Second
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(800*time.Millisecond, oncePause).Truncate(stage.Tick), Kind: sim.FaultPause, Nodes: stage.Names([]node.ID{id})})
	}
}

// paced judges how often workers report to a manager that is overloaded from one time to another.
func paced(s *cluster.Cluster, began, relieved time.Duration) {
	var slow, normal bool
	var last, before time.Duration // what it asked for a second ago, when all workers knew it, and two seconds ago: those reports may have waited
	fell := time.Duration(0)       // when it last asked for more reports: some are due at once then
	s.Witness = append(s.Witness, func(r checker.Record) {
		e, ok := r.Event.(event.ReportsPaced)
		if !ok {
			return
		}
		if r.At < began && e.Behind {
			s.Checker.Violate("P", r, "%s is behind before anything is slow", r.Node)
		}
		slow = slow || e.Behind && r.At < began+toldWithin
		if e.Least < last {
			fell = r.At
		}
		told := min(before, last, e.Least)
		if told > 0 && r.At > began+toldWithin && r.At > fell+toldWithin && e.Reports > e.Shards*1000/int(told/time.Millisecond)*3/2+10 { // workers report at times of their own: of 14 a second, now and then 23 come
			s.Checker.Violate("P", r, "%d shards were to report each %v, and %d reports came in a second", e.Shards, told, e.Reports)
		}
		if before, last = last, e.Every; r.At > relieved+calmWithin && e.Behind {
			s.Checker.Violate("P", r, "%s asks for a report each %v long after its overload", r.Node, e.Every)
		}
		normal = e.Every == 0
	})
	s.Verdicts = append(s.Verdicts, func() {
		if !slow || !normal {
			s.Checker.Violate("P", s.Record(s.Managers[0]), "the manager asked for fewer reports within %v of its overload: %v; for as many as before at the end: %v", toldWithin, slow, normal)
		}
	})
}
