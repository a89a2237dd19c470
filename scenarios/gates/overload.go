package gates

import (
	"fmt"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// overloadWorlds bring gates more than they can take while something else goes wrong.
func overloadWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "overload-then-takeover", Virtual: 2 * time.Minute, Within: 50 * time.Second, Build: cluster.On(buildOverloadThenTakeover),
			Doc: "A gate crashes while all gates refuse submissions for want of room. The others take its jobs over in spite of the load. Each client that submits again is served, no job begins twice, and every job completes."},
		{Name: "retry-storm-after-heal", Virtual: 3 * time.Minute, Within: 80 * time.Second, Build: cluster.On(buildRetryStorm),
			Doc: "Five datacenters are cut off from the gates while a hundred jobs run there and end. All of them report at once when the network heals. The gates shed no result, lose no lease, count each result once, and cancel within five seconds, though managers reconnect meanwhile."},
	}
}

// submitsUntilTaken submits an order, and again whenever a gate refuses it with a time.
func submitsUntilTaken(s *cluster.Cluster, o *cluster.Order, submit *message.JobSubmit, at time.Duration, refused func()) {
	o.Refused = func(r *message.Refused) {
		refused()
		if !r.Code.Retryable() || r.RetryAfter <= 0 {
			s.Checker.Violate("P", s.Record(o.Client), "submission %s was refused for %v, with %v to wait: gates have much to do, and say when not", o.Key, r.Code, r.RetryAfter)
			return
		}
		s.World.At(s.World.Now()+r.RetryAfter, func() { s.Submit(o, submit, 0) })
	}
	s.World.At(at, func() { s.Submit(o, submit, 0) })
	s.Verdicts = append(s.Verdicts, func() {
		if !o.Acked {
			s.Checker.Violate("P", s.Record(o.Client), "submission %s was never taken", o.Key)
		}
	})
}

// keepsLeases judges that no gate loses a lease against its will.
func keepsLeases(s *cluster.Cluster) {
	s.Witness = append(s.Witness, func(r checker.Record) {
		if e, ok := r.Event.(event.LeaseEnded); ok && e.Group == checker.GroupGates && (e.Reason == "expired" || e.Reason == "superseded") {
			s.Checker.Violate("P", r, "the lease of %s on job %v ended as it was %s: load alone takes none", r.Node, e.Job, e.Reason)
		}
	})
}

const shedJobs = 250

func buildOverloadThenTakeover(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Clients, t.Cores = 8, 50
	s.Build(t)
	s.Served = true
	const began = 10 * time.Second
	refused := 0
	for n := range shedJobs {
		o := &cluster.Order{Key: fmt.Sprintf("shed-%d", n), Client: s.Clients[n%len(s.Clients)]}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, cluster.Load{Vus: 1, Cores: 1, Duration: s.Rand.Duration(500*time.Millisecond, 10*time.Second)}, n+1)
		submitsUntilTaken(s, o, submit, began+s.Rand.Duration(0, 2*time.Second), func() { refused++ })
	}
	s.Fault(sim.Fault{At: began - 100*time.Millisecond, For: 12 * time.Second, Kind: sim.FaultSlowCPU, Nodes: stage.Names(s.Gates), Value: 60})
	s.Fault(sim.Fault{At: began + s.Rand.Duration(time.Second, 5*time.Second).Truncate(stage.Tick), For: s.Rand.Duration(2*time.Second, 20*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(s.Gates, 1))})
	s.Verdicts = append(s.Verdicts, func() {
		if refused == 0 {
			s.Checker.Violate("P", s.Record(s.Gates[0]), "none of %d submissions was refused: no gate was ever busy", shedJobs)
		}
	})
}

const (
	stormPlaces = 5
	stormJobs   = 100
)

func buildRetryStorm(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Datacenters, t.Managers, t.Workers, t.Cores, t.Clients = stormPlaces, 2, 2, 64, 4
	s.Build(t)
	s.Complete = true
	s.Excused = func(id message.JobID) bool {
		for _, o := range s.Orders {
			if o.Job == id {
				return o.Cancel
			}
		}
		return false
	}
	keepsLeases(s)
	const began, healed = 12 * time.Second, 32 * time.Second
	s.Checker.Promise(checker.Promises{Once: true, CancelWithin: 5 * time.Second})
	for n := range stormJobs {
		o := &cluster.Order{Key: fmt.Sprintf("storm-%d", n), Client: s.Clients[n%len(s.Clients)]}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, cluster.Load{Vus: 1, Cores: 1, Duration: s.Rand.Duration(14*time.Second, 22*time.Second).Truncate(stage.Tick), Datacenters: stormPlaces}, n+1)
		s.World.At(3*time.Second+time.Duration(n)*50*time.Millisecond, func() { s.Submit(o, submit, 0) })
	}
	for n := range 4 { // they run on while the others report, and their clients cancel them then
		o := &cluster.Order{Key: fmt.Sprintf("long-%d", n), Client: s.Clients[n], Cancel: true}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, cluster.Load{Vus: 1, Cores: 1, Duration: time.Minute, Datacenters: 1}, n+1)
		s.World.At(3*time.Second, func() { s.Submit(o, submit, healed-3*time.Second+time.Duration(n)*300*time.Millisecond) })
	}
	s.Fault(sim.Fault{At: began, For: healed - began, Kind: sim.FaultPartition, Nodes: stage.Names(s.Managers), Peers: stage.Names(s.Gates)})
}
