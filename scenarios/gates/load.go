package gates

import (
	"fmt"
	"time"

	"hyperscale/checker"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// loadWorlds bring gates more than they can take at once.
func loadWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "fat-lane", Virtual: 90 * time.Second, Within: 40 * time.Second, Build: cluster.On(buildFatLane),
			Doc: "Clients submit large programs to a gate that is paused, three times as many bytes as its mailbox holds. It keeps within its bytes, breaks no stream, and refuses the rest with a time. Who submits again after that time is served: every job completes."},
		{Name: "busy-gates", Virtual: 100 * time.Second, Within: 45 * time.Second, Build: cluster.On(buildBusyGates),
			Doc: "Slow gates get far more submissions and queries than they can answer. Each refuses what would wait too long, with a time, and answers what it takes within six seconds. Cancellations do not wait. Who submits again after the time is served: every job completes."},
	}
}

const (
	busyClients = 10
	busyJobs    = 300
	busyAnswer  = 6 * time.Second // gates learn only as they go what a submission costs with all that follows from it
)

func buildBusyGates(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Clients, t.Cores = busyClients+1, 50
	s.Build(t)
	s.Served = true
	s.Checker.Promise(checker.Promises{Once: true, CancelWithin: 2 * time.Second})
	const began = 10 * time.Second
	for n := range 6 {
		o := &cluster.Order{Key: fmt.Sprintf("long-%d", n), Client: s.Clients[busyClients], Cancel: true}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, cluster.Load{Vus: 4, Cores: 1, Duration: 40 * time.Second}, n+1)
		s.World.At(5*time.Second, func() { s.Submit(o, submit, 6*time.Second+time.Duration(n)*500*time.Millisecond) })
	}
	refused := 0
	for n := range busyJobs {
		o := &cluster.Order{Key: fmt.Sprintf("busy-%d", n), Client: s.Clients[n%busyClients]}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, cluster.Load{Vus: 1, Cores: 1, Duration: 500 * time.Millisecond}, n+1)
		asked := began + s.Rand.Duration(0, time.Second)
		o.Refused = func(r *message.Refused) {
			refused++
			if !r.Code.Retryable() || r.RetryAfter <= 0 {
				s.Checker.Violate("P", s.Record(o.Client), "submission %s was refused for %v, with %v to wait: gates are busy, and say when not", o.Key, r.Code, r.RetryAfter)
				return
			}
			asked = s.World.Now() + r.RetryAfter
			s.World.At(asked, func() { s.Submit(o, submit, 0) })
		}
		s.World.At(asked, func() { s.Submit(o, submit, 0) })
		s.Verdicts = append(s.Verdicts, func() {
			if wait := o.At - asked; o.Acked && wait > busyAnswer {
				s.Checker.Violate("P", s.Record(o.Client), "submission %s was taken after %v", o.Key, wait)
			}
		})
	}
	s.Fault(sim.Fault{At: began - 100*time.Millisecond, For: 12 * time.Second, Kind: sim.FaultSlowCPU, Nodes: stage.Names(s.Gates), Value: 60})
	s.Verdicts = append(s.Verdicts, func() {
		if refused == 0 {
			s.Checker.Violate("P", s.Record(s.Gates[0]), "none of %d submissions was refused: no gate was ever busy", busyJobs)
		}
		for _, o := range s.Orders {
			if !o.Acked {
				s.Checker.Violate("P", s.Record(o.Client), "submission %s was never taken", o.Key)
			}
		}
	})
}

const (
	fatJobs  = 48
	fatBytes = 128 << 10
)

func buildFatLane(s *cluster.Cluster) {
	t := cluster.SmallTopology()
	t.Clients, t.Cores = 3, fatJobs
	t.Boxes = map[node.Role]func(*node.MailboxConfig){node.RoleGate: func(c *node.MailboxConfig) { c.Bytes = fatJobs * fatBytes / 3 }}
	s.Build(t)
	s.Complete = true
	const began = 10600 * time.Millisecond // so that the judge of sizes looks during the pause
	s.LosesNoPeer(began, s.Options.Virtual)
	for n, id := range s.Clients { // a client connects with its first request
		o := &cluster.Order{Key: fmt.Sprintf("thin-%d", n), Client: id}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, cluster.Load{Vus: 1, Cores: 1, Duration: 5 * time.Second}, n+1)
		s.World.At(began-3*time.Second, func() { s.Submit(o, submit, 0) })
	}
	refused := 0
	for n := range fatJobs {
		o := &cluster.Order{Key: fmt.Sprintf("fat-%d", n), Client: s.Clients[n%len(s.Clients)]}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, cluster.Load{Vus: 1, Cores: 1, Duration: time.Second}, n+1)
		submit.Program.Files[0].Data = append(submit.Program.Files[0].Data, make([]byte, fatBytes)...)
		o.Refused = func(r *message.Refused) {
			refused++
			if r.Code != message.CodeOverloaded || r.RetryAfter <= 0 {
				s.Checker.Violate("P", s.Record(o.Client), "submission %s was refused for %v, with %v to wait: it found no room, and should learn so", o.Key, r.Code, r.RetryAfter)
				return
			}
			s.World.At(s.World.Now()+r.RetryAfter, func() { s.Submit(o, submit, 0) })
		}
		s.World.At(began+time.Duration(s.Rand.Int(100))*time.Millisecond, func() { s.Submit(o, submit, 0) })
	}
	s.Fault(sim.Fault{At: began - 100*time.Millisecond, For: s.Rand.Duration(1700*time.Millisecond, 2*time.Second).Truncate(stage.Tick), Kind: sim.FaultPause, Nodes: stage.Names(s.Gates)})
	s.Verdicts = append(s.Verdicts, func() {
		if refused == 0 {
			s.Checker.Violate("P", s.Record(s.Gates[0]), "none of %d submissions of %d bytes was refused: the mailbox was never full", fatJobs, fatBytes)
		}
		for _, o := range s.Orders {
			if !o.Acked {
				s.Checker.Violate("P", s.Record(o.Client), "submission %s was never taken", o.Key)
			}
		}
	})
}
