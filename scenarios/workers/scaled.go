package workers

import (
	"fmt"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/manager"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/worker"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

func scaledWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "scaled-workers", Virtual: 7 * time.Minute, Build: cluster.On(buildScaledWorkers),
			Doc: "An autoscaler looks each 15 s at the cores that gates report as wanted, starts workers, which take 20 s to come, and stops workers at random. Twice jobs want ten times the cores that there are, and one of them wants more than there ever were. Between these a gate is killed. Each job begins within a minute, and none leaves the queue before its cores are there. No attempt is lost, and no gate counts a job that another one counts."},
	}
}

// What the autoscaler of this world does, as deploy/kubernetes/components has it, but for the time that it waits before it
// takes workers away, which is shorter here.
const (
	scaledEvery  = 15 * time.Second // between two looks
	scaledComing = 20 * time.Second // of a worker, from the look to its start
	scaledCalm   = 45 * time.Second // so long fewer cores were wanted before it takes workers away
	scaledUp     = 10               // workers that it starts at one look, or as many as there are
	scaledLeast  = 2                // workers
	scaledWithin = time.Minute      // from the acceptance of a job to its begin
	scaledLag    = 8 * time.Second  // of what gates report: gate.queue_interval, and the news of an end
)

// scaler starts and stops workers by what gates report, and judges that.
type scaler struct {
	s      *cluster.Cluster
	cores  int
	wanted map[node.ID]uint64 // as each gate has reported last
	wishes []scaledWish       // of its looks, the newest last
	coming map[node.ID]bool
	going  map[node.ID]bool
	most   int
	orders map[message.JobID]*cluster.Order // that have not begun
	late   time.Duration                    // the longest wait
}

type scaledWish struct {
	at      time.Duration
	workers int
}

func buildScaledWorkers(s *cluster.Cluster) {
	t := cluster.Topology{Gates: 3, Datacenters: 1, Managers: 3, Workers: 20, Cores: 4, Clients: 2}
	t.Work = func(c *worker.Config) { c.DrainTimeout = 10 * time.Minute }
	t.Manage = func(c *manager.Config) { c.CoresMax = t.Workers * t.Cores }
	s.Spare = t.Workers - scaledLeast
	s.Build(t)
	s.Complete = true
	x := &scaler{s: s, cores: t.Cores, wanted: map[node.ID]uint64{}, coming: map[node.ID]bool{}, going: map[node.ID]bool{}, orders: map[message.JobID]*cluster.Order{}}
	s.Witness = append(s.Witness, x.see)
	n := 0
	order := func(at time.Duration, cores uint32, length time.Duration) {
		n++
		o := &cluster.Order{Key: fmt.Sprintf("job-%d", n), Client: s.Clients[n%len(s.Clients)]}
		m := s.Submission(o, cluster.Load{Vus: 64, Cores: cores, Duration: length}, n)
		s.Orders = append(s.Orders, o)
		x.orders[message.JobOf(o.Key)] = o
		s.World.At(at, func() { s.Submit(o, m, 0) })
	}
	for at := 3 * time.Second; at < s.Heal; at += 20 * time.Second { // what runs between the bursts
		order(at+s.Rand.Duration(0, 3*time.Second), 4, s.Rand.Duration(8*time.Second, 40*time.Second))
	}
	second := 20*time.Second + (s.Heal-20*time.Second)*2/3
	for _, at := range []time.Duration{20 * time.Second, second} {
		for range 5 {
			order(at+s.Rand.Duration(0, 2*time.Second), 8, s.Rand.Duration(10*time.Second, 30*time.Second))
		}
		order(at+s.Rand.Duration(0, 2*time.Second), 32, s.Rand.Duration(10*time.Second, 30*time.Second)) // more than there were
	}
	killed, who := (second - 40*time.Second).Truncate(stage.Tick), s.Choose(s.Gates, 1)
	s.Fault(sim.Fault{At: killed, For: 5 * time.Second, Kind: sim.FaultCrash, Nodes: stage.Names(who)})
	s.World.At(killed, func() { x.wanted[who[0]] = 0 })
	for at := scaledEvery; at < s.Heal+s.Within; at += scaledEvery {
		s.World.At(at, func() { x.look(at) })
	}
	s.Verdicts = append(s.Verdicts, x.finish)
}

func (x *scaler) see(r checker.Record) {
	switch e := r.Event.(type) {
	case event.CoresWanted:
		x.wanted[r.Node] = e.Cores
	case event.ShardLost:
		x.s.Checker.Violate("P", r, "an attempt of job %v was lost on %s, and workers of this world only leave when they have ended what they run: %s", e.Shard.Job, e.Worker, e.Reason)
	case event.JobChanged:
		o := x.orders[e.Job]
		if e.To == message.JobDispatching && o != nil {
			x.leaves(r, o)
		}
		if e.To != message.JobRunning || o == nil || !o.Acked {
			return
		}
		delete(x.orders, e.Job)
		x.late = max(x.late, r.At-o.At)
		if r.At-o.At > scaledWithin {
			x.s.Checker.Violate("P", r, "job %v, of %d cores, began %v after its acceptance: want %v", e.Job, o.Plan.Workflows[0].Cores, r.At-o.At, scaledWithin)
		}
	}
}

// look is one look of the autoscaler.
func (x *scaler) look(at time.Duration) {
	sum := 0
	for _, id := range x.s.Gates {
		if x.s.World.Alive(id) {
			sum += int(x.wanted[id])
		}
	}
	x.judge(sum)
	wish := max(scaledLeast, min((sum+x.cores-1)/x.cores, len(x.s.Workers)))
	x.wishes = append(x.wishes, scaledWish{at, wish})
	var live, off []node.ID
	for _, id := range x.s.Workers {
		alive := x.s.World.Alive(id)
		if !alive {
			delete(x.going, id)
		}
		switch {
		case x.coming[id], alive && !x.going[id]:
			live = append(live, id)
		case !alive:
			off = append(off, id)
		}
	}
	x.most = max(x.most, len(live))
	for _, id := range off[:max(0, min(wish-len(live), len(off), max(scaledUp, len(live))))] {
		x.coming[id] = true
		x.s.World.At(at+scaledComing, func() {
			delete(x.coming, id)
			x.s.World.Start(id)
		})
	}
	for _, w := range x.wishes {
		if at-w.at < scaledCalm {
			wish = max(wish, w.workers)
		}
	}
	for n := len(live) - wish; n > 0; n-- {
		id := live[x.s.Rand.Int(len(live))]
		if x.s.World.Alive(id) && !x.going[id] {
			x.going[id] = true
			x.s.World.Stop(id)
		}
	}
}

// judge compares what gates report with the jobs that have not ended.
func (x *scaler) judge(sum int) {
	now, most := x.s.World.Now(), 0
	for _, o := range x.s.Orders {
		if since, ended := o.Ended(); !ended || now-since < scaledLag {
			most += int(o.Plan.Workflows[0].Cores)
		}
	}
	if sum > most {
		x.s.Checker.Violate("P", x.s.Record(x.s.Gates[0]), "gates report %d wanted cores together, and the jobs that have not ended want %d", sum, most)
	}
}

// leaves judges that a job waits in its gate's queue until its workers have come: its run timeout begins behind it.
func (x *scaler) leaves(r checker.Record, o *cluster.Order) {
	there := 0
	for _, id := range x.s.Workers {
		if x.s.World.Alive(id) {
			there += x.cores
		}
	}
	if want := int(o.Plan.Workflows[0].Cores); there < want {
		x.s.Checker.Violate("P", r, "job %v left the queue for %d cores, and names %d that scaling can reach", o.Job, there, want)
	}
}

func (x *scaler) finish() {
	x.s.Draw("the autoscaler had %d of %d workers at most, and a job waited for %v", x.most, len(x.s.Workers), x.late)
	if x.most < 5*scaledLeast {
		x.s.Checker.Violate("P", x.s.Record(x.s.Gates[0]), "jobs wanted ten times the cores of %d workers, and the autoscaler never had more than %d", scaledLeast, x.most)
	}
}
