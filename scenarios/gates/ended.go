package gates

import (
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

// Bounds of gates that hold a tenth of the jobs of their world.
const (
	fewJobs    = 50
	fewResults = 15
	fewFiles   = 150
)

func buildManyEndedJobs(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Workers = 4
	t.Gate = func(c *gate.Config) {
		c.JobsMax, c.QueueMax, c.ResultsMax, c.FilesMax = fewJobs, fewJobs, fewResults, fewFiles
		c.Lease, c.QuorumTimeout, c.SweepInterval, c.RetryAfter = 6*time.Second, time.Second, 20*time.Second, time.Second
	}
	t.Manage = func(c *manager.Config) { c.DatacenterLease = 12 * time.Second }
	s.Served, s.Forgets = true, true
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Vus, l.Layers, l.Cancels = 350*time.Millisecond, 200*time.Millisecond, 1, 4, false, 20_000
	})
	s.Slots(30*time.Second, func(i int, at time.Duration) {
		kinds := []string{sim.FaultCrash, sim.FaultCrash, sim.FaultPause, sim.FaultPartition}
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(time.Second, 9*time.Second).Truncate(stage.Tick), Kind: kinds[s.Rand.Int(len(kinds))], Nodes: stage.Names(s.Choose(s.Gates, 1))})
	})
	s.Often(s.Nodes, 20*time.Second, sim.FaultBreakStreams, 0, 0)
	keysBeginOnce(s)
	for at := 20 * time.Second; at < s.Heal; at += 2 * time.Second {
		s.World.At(at, func() { repeat(s) })
	}
}

// keysBeginOnce judges that no gate accepts a key again that a majority has accepted.
func keysBeginOnce(s *cluster.Cluster) {
	begun := map[message.JobID]time.Duration{}
	s.Witness = append(s.Witness, func(r checker.Record) {
		e, ok := r.Event.(event.JobChanged)
		if !ok || e.To != message.JobSubmitted {
			return
		}
		if at, again := begun[e.Job]; again {
			s.Checker.Violate("P", r, "job %v began at %v, and again", e.Job, at)
		}
		begun[e.Job] = r.At
	})
}

// repeat submits once more a job that a client has seen end: a gate answers that it has it.
func repeat(s *cluster.Cluster) {
	var ended []*cluster.Order
	for _, o := range s.Orders {
		if o.Acked && o.Shown.Terminal() {
			ended = append(ended, o)
		}
	}
	if len(ended) == 0 {
		return
	}
	o, id := ended[s.Rand.Int(len(ended))], s.Clients[s.Rand.Int(len(s.Clients))]
	if !s.World.Alive(id) {
		return
	}
	twin := *o.Submit
	twin.Request = message.RequestID{}
	s.World.Command(id, &twin, func(answer node.Message) {
		if a, ok := answer.(*message.JobAck); ok && (!a.Duplicate || a.Job != o.Job) {
			s.Checker.Violate("P", s.Record(id), "key %s of the ended job %v was accepted once more, as %v", o.Key, o.Job, a.Job)
		}
	})
}
