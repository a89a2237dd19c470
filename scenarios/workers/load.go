package workers

import (
	"fmt"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/worker"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// loadWorlds have workers that take work and do none.
func loadWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "broken-machine", Virtual: 4 * time.Minute, Within: time.Minute, Build: cluster.On(buildBrokenMachine),
			Doc: "One of four workers kills each executor at once, for more than a minute, and jobs come each second. After three such shards its manager gives it none, but for a trial each half minute, so that it costs few jobs time. Once it is repaired the next trial runs, and it gets shards as before. No job fails."},
		{Name: "black-hole-worker", Virtual: 4 * time.Minute, Build: cluster.On(buildBlackHoleWorker),
			Doc: "One of four workers kills each executor at once, so that its cores are free again and it looks idle. Its shards run elsewhere: no job fails, and none runs on two workers at a time. Later it works again."},
		{Name: "full-outbox", Virtual: 3 * time.Minute, Build: cluster.On(buildFullOutbox),
			Doc: "Workers are cut off from their slow managers while many short shards end, and more wait. A worker whose outbox is full to 80 % starts no shard, having warned once at 70 %. Managers skip it, and its jobs wait. All results arrive, nothing runs twice, and every job completes."},
	}
}

func buildBlackHoleWorker(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores, l.Vus = 3*time.Second, 4*time.Second, 4, 16 })
	s.Complete = true
	broken := stage.Names(s.Choose(s.Workers, 1)) // one alone: a shard that dies on two is the program's own failure
	s.Slots(40*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(15*time.Second, 35*time.Second).Truncate(stage.Tick), Kind: sim.FaultExecCrash, Nodes: broken})
	})
}

// Bounds of full-outbox.
const (
	fullOutbox = 18 // results: a worker refuses from the fifteenth on
	fullCores  = 16
	fullEvery  = 25 * time.Second // between two bursts
)

func buildFullOutbox(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Workers, t.Cores = 2, fullCores
	t.Work = func(c *worker.Config) { c.OutboxMax = fullOutbox }
	f := &outboxes{s: s, left: map[node.ID]map[message.ShardRef]bool{}, late: map[ordered]int{}, near: map[node.ID]bool{}}
	s.Arrives = f.arrives
	s.Build(t)
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	s.Witness = append(s.Witness, f.witness)
	s.Fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultDiskSlow, Nodes: stage.Names(s.Managers), Value: int64(20 + s.Rand.Int(20))})
	s.Slots(fullEvery, func(i int, at time.Duration) {
		for n := range 2*fullCores + 10 { // the last ones wait for cores
			o := &cluster.Order{Key: fmt.Sprintf("short-%d-%d", i, n), Client: s.Clients[n%len(s.Clients)]}
			s.Orders = append(s.Orders, o)
			submit := s.Submission(o, cluster.Load{Vus: 1, Cores: 1, Duration: 4 * time.Second}, len(s.Orders))
			s.World.At(at, func() { s.Submit(o, submit, 0) })
		}
		s.Fault(sim.Fault{At: at + 3500*time.Millisecond, For: s.Rand.Duration(1200*time.Millisecond, 1800*time.Millisecond).Truncate(stage.Tick), Kind: sim.FaultPartition, Nodes: stage.Names(s.Workers), Peers: stage.Names(s.Managers)})
	})
	s.Verdicts = append(s.Verdicts, func() {
		if f.most < fullOutbox*8/10 {
			s.Checker.Violate("P", s.Record(s.Workers[0]), "at most %d results waited at a worker, and this world is about %d", f.most, fullOutbox)
		}
	})
}

// outboxes judges full-outbox: what waits at each worker, at the least.
type outboxes struct {
	s    *cluster.Cluster
	left map[node.ID]map[message.ShardRef]bool // results that ended there, and that no manager has counted
	late map[ordered]int                       // results that waited when a dispatch arrived, if they were too many
	near map[node.ID]bool
	most int
}

// arrives notes the dispatches that find too many results.
func (f *outboxes) arrives(id node.ID, in *node.Input) time.Duration {
	if d, ok := in.Message.(*message.ShardDispatch); ok && 10*len(f.left[id]) >= 8*fullOutbox {
		f.late[ordered{id, d.Shard, d.Fence}] = len(f.left[id])
	}
	return 0
}

func (f *outboxes) witness(r checker.Record) {
	switch e := r.Event.(type) {
	case event.ShardEnded:
		if f.left[r.Node] == nil {
			f.left[r.Node] = map[message.ShardRef]bool{}
		}
		f.left[r.Node][message.ShardRef{Shard: e.Shard, Fence: e.Fence}] = true
		f.most = max(f.most, len(f.left[r.Node]))
	case event.ShardCounted:
		//lint:orderfree one of them has it
		for _, left := range f.left {
			delete(left, message.ShardRef{Shard: e.Shard, Fence: e.Fence})
		}
	case event.ShardStarted:
		if n := f.late[ordered{r.Node, e.Shard, e.Fence}]; n > 0 {
			f.s.Checker.Violate("P", r, "%s starts shard %v under %v, and %d of %d results waited when it was dispatched", r.Node, e.Shard, e.Fence, n, fullOutbox)
		}
	case event.BoundNear:
		if e.Near == f.near[r.Node] || e.Near && 10*e.Used < 7*e.Bound {
			f.s.Checker.Violate("P", r, "%s reports %+v, and was near before: %v", r.Node, e, f.near[r.Node])
		}
		f.near[r.Node] = e.Near
	case event.Shed:
		if e.Reason == event.ShedSlots && !f.near[r.Node] {
			f.s.Checker.Violate("P", r, "%s refuses a shard for its slots, and has not warned", r.Node)
		}
	}
}

// Bounds of broken-machine.
const (
	brokenFrom = 20 * time.Second
	brokenFor  = 75 * time.Second
	brokenMost = 3 + 3 + 2        // shards: those that open the circuit, a trial each half minute, and what was on its way
	brokenBack = 80 * time.Second // a trial fails as the machine is repaired; half a minute later each job takes the worker with a chance of 1 in 4
)

func buildBrokenMachine(s *cluster.Cluster) {
	t := cluster.SmallTopology()
	t.Workers = 4
	s.Build(t)
	s.Complete = true
	broken := s.Choose(s.Workers, 1)
	s.Fault(sim.Fault{At: brokenFrom, For: brokenFor, Kind: sim.FaultExecCrash, Nodes: stage.Names(broken)})
	for i := range 170 {
		o := &cluster.Order{Key: fmt.Sprint("each-second-", i), Client: s.Clients[0]}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, cluster.Load{Vus: 1, Cores: 1, Duration: 2 * time.Second}, i+1)
		s.World.At(5*time.Second+time.Duration(i)*time.Second, func() { s.Submit(o, submit, 0) })
	}
	lost, served := 0, false
	s.Witness = append(s.Witness, func(r checker.Record) {
		switch e := r.Event.(type) {
		case event.ShardLost:
			if lost++; e.Worker == broken[0] && lost > brokenMost {
				s.Checker.Violate("P", r, "%s, whose machine is broken, has failed %d shards in %v: its manager goes on choosing it", e.Worker, lost, r.At-brokenFrom)
			}
		case event.ShardEnded:
			served = served || r.Node == broken[0] && e.State == message.WorkflowCompleted && r.At > brokenFrom+brokenFor
		}
	})
	s.World.At(brokenFrom+brokenFor+brokenBack, func() {
		if !served {
			s.Checker.Violate("P", s.Record(s.Managers[0]), "%s was repaired %v ago, and has run no shard since", broken[0], brokenBack)
		}
	})
	s.Verdicts = append(s.Verdicts, func() {
		if lost < 4 {
			s.Checker.Violate("P", s.Record(s.Managers[0]), "%d shards were lost: this world is about a circuit that opens, and trials", lost)
		}
	})
}
