package gates

import (
	"fmt"
	"time"

	"hyperscale/checker"
	"hyperscale/core/client"
	"hyperscale/core/event"
	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// strainedWorlds bring gates to each of their limits, in every run.
func strainedWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "paced-dispatches", Virtual: 110 * time.Second, Within: 70 * time.Second, Build: cluster.On(buildPacedDispatches),
			Doc: "Forty jobs arrive within a fifth of a second at a gate that may dispatch four a second, and the workers have cores for all. The gate dispatches one job whenever its rate allows one: no second has more, and no job waits longer. Every job completes."},
		{Name: "limited-source", Virtual: 100 * time.Second, Within: 40 * time.Second, Build: cluster.On(buildLimitedSource),
			Doc: "One client asks a slow gate a hundred and fifty questions a second. The gate limits that source, and says when it may ask again: its question at that time is answered. Other clients meanwhile ask little, and the gate limits none of them. It acknowledges each of their submissions within a second and a half, and every job completes."},
		{Name: "full-gates-take-over", Virtual: 5 * time.Minute, Build: cluster.On(buildFullGatesTakeOver),
			Doc: "Each gate holds as many jobs as it may, and one gate crashes for good. The others have no room for its jobs, and leave them without an owner. Once jobs have ended, the leader of the gates finds jobs without an owner, and takes them over as far as it has room. No job is left when the gate returns, and every job ends."},
		{Name: "level-oscillation", Virtual: 12 * time.Minute, Within: time.Minute, Build: cluster.On(buildLevelOscillation),
			Doc: "For ten minutes half of what a gate may queue waits there, or one job less: the bound of a level. The level changes six times at most, not with each job. Every job completes."},
	}
}

const (
	pacedJobs = 40
	pacedRate = 4
	pacedLate = 300 * time.Millisecond // a dispatch is reported once the gate's disk has it
)

func buildPacedDispatches(s *cluster.Cluster) {
	t := cluster.SmallTopology()
	t.Clients, t.Cores = 2, pacedJobs
	t.Gate = func(c *gate.Config) { c.DispatchRateMax = pacedRate }
	s.Build(t)
	s.Complete, s.Served = true, true
	s.Reaches("gate/throttled")
	for n := range pacedJobs {
		o := &cluster.Order{Key: fmt.Sprintf("paced-%d", n), Client: s.Clients[n%len(s.Clients)]}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, cluster.Load{Vus: 1, Cores: 1, Duration: s.Rand.Duration(15*time.Second, 20*time.Second).Truncate(stage.Tick)}, n+1)
		s.World.At(5*time.Second+s.Rand.Duration(0, 200*time.Millisecond), func() { s.Submit(o, submit, 0) })
	}
	var sent []time.Duration
	s.Witness = append(s.Witness, func(r checker.Record) {
		e, ok := r.Event.(event.JobChanged)
		if !ok || e.To != message.JobDispatching {
			return
		}
		n := len(sent)
		sent = append(sent, r.At)
		// The gate may have saved a second's worth of dispatches.
		if first := n - 2*pacedRate; first >= 0 && r.At-sent[first] < time.Second-pacedLate {
			s.Checker.Violate("P", r, "%d jobs were dispatched within %v, at a rate of %d a second", 2*pacedRate+1, r.At-sent[first], pacedRate)
		}
		if due := sent[0] + time.Duration(max(0, n+1-pacedRate))*time.Second/pacedRate; r.At > due+pacedLate {
			s.Checker.Violate("P", r, "dispatch %d came at %v, and the rate of %d a second allowed it at %v", n+1, r.At, pacedRate, due)
		}
	})
}

const (
	limitedFrom   = 12 * time.Second
	limitedTo     = 50 * time.Second
	limitedEvery  = time.Second / 150 // questions of the greedy client
	modestEvery   = 250 * time.Millisecond
	limitedAnswer = 1500 * time.Millisecond
)

// buildLimitedSource keeps the gate slow until the greedy client has waited: an idle gate limits
// no client.
func buildLimitedSource(s *cluster.Cluster) {
	t := cluster.SmallTopology()
	t.Clients, t.Cores = 4, 20
	t.Ask = func(c *client.Config) { c.AskTimeout, c.ReachTimeout = 2*time.Second, 2*time.Second }
	s.Build(t)
	s.Complete, s.Served = true, true
	s.Reaches("gate/source-limited")
	s.Fault(sim.Fault{At: limitedFrom - time.Second, For: limitedTo - limitedFrom, Kind: sim.FaultSlowCPU, Nodes: stage.Names(s.Gates), Value: 60})
	ask := func(id node.ID, answered func(node.Message)) { s.World.Command(id, &message.StatusQuery{}, answered) }
	tooMany := func(m node.Message) *message.Refused {
		if r, ok := m.(*message.Refused); ok && r.Code == message.CodeRateLimited {
			return r
		}
		return nil
	}
	greedy, modest := s.Clients[0], s.Clients[1:]
	limited, served := false, false
	again := func() { // it has waited as long as the gate said
		ask(greedy, func(m node.Message) { _, served = m.(*message.StatusList) })
	}
	for at := limitedFrom; at < limitedTo; at += limitedEvery {
		s.World.At(at, func() {
			if limited {
				return
			}
			ask(greedy, func(m node.Message) {
				if r := tooMany(m); r != nil && !limited {
					limited = true
					s.World.At(s.World.Now()+r.RetryAfter, again)
				}
			})
		})
	}
	s.Verdicts = append(s.Verdicts, func() {
		if !served && s.Options.Faults == nil {
			s.Checker.Violate("P", s.Record(greedy), "the gate has limited %s (%v), and does not answer its next question, which came no earlier than the gate said", greedy, limited)
		}
	})
	for n, at := 0, 4*time.Second; at < limitedTo; n, at = n+1, at+modestEvery { // the gate learns what they cost while it is fast
		id := modest[n%len(modest)]
		s.World.At(at+s.Rand.Duration(0, modestEvery), func() {
			ask(id, func(m node.Message) {
				if r := tooMany(m); r != nil {
					s.Checker.Violate("P", s.Record(id), "a question of %s, which asks little, is refused: %s", id, r.Detail)
				}
			})
		})
	}
	for n := range 12 {
		o := &cluster.Order{Key: fmt.Sprintf("modest-%d", n), Client: modest[n%len(modest)]}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, cluster.Load{Vus: 1, Cores: 1, Duration: 2 * time.Second}, n+1)
		at := limitedFrom + time.Duration(n)*time.Second + s.Rand.Duration(0, 500*time.Millisecond)
		s.World.At(at, func() { s.Submit(o, submit, 0) })
		s.World.At(at+limitedAnswer, func() {
			if !o.Acked {
				s.Checker.Violate("P", s.Record(o.Client), "submission %s is not acknowledged after %v, beside a client that asks too much", o.Key, limitedAnswer)
			}
		})
	}
}

const (
	fullJobs  = 6 // that a gate may hold
	fullCrash = 15 * time.Second
	fullRuns  = 90 * time.Second // longer than each gate has been offered the jobs of one that has crashed
	fullGrant = time.Second
	fullFound = 145 * time.Second // the leader looks again after a lease and three seconds, at its next sweep
)

func buildFullGatesTakeOver(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Clients, t.Cores = 3, 3*fullJobs
	t.Gate = func(c *gate.Config) { c.QueueMax, c.JobsMax, c.SweepInterval = fullJobs, fullJobs, 10*time.Second }
	s.Build(t)
	s.Forgets = true // an ended job makes room at once
	s.Reaches("gate/takeover-shed", "gate/vacant-swept")
	var next func(n int)
	next = func(n int) { // until each gate has all that it may hold
		held := 0
		for _, o := range s.Orders {
			if o.Acked {
				held++
			}
		}
		if held == len(s.Gates)*fullJobs {
			return
		}
		o := &cluster.Order{Key: fmt.Sprintf("full-%d", n), Client: s.Clients[n%len(s.Clients)]}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, cluster.Load{Vus: 1, Cores: 1, Duration: s.Rand.Duration(fullRuns-10*time.Second, fullRuns).Truncate(stage.Tick)}, n)
		s.Submit(o, submit, 0)
		s.World.At(s.World.Now()+100*time.Millisecond, func() { next(n + 1) })
	}
	s.World.At(4*time.Second, func() { next(1) })
	gone := s.Choose(s.Gates, 1)
	s.Fault(sim.Fault{At: fullCrash, For: s.Heal - fullCrash, Kind: sim.FaultCrash, Nodes: stage.Names(gone)})
	orphans := map[message.JobID]bool{}
	s.Witness = append(s.Witness, func(r checker.Record) {
		switch e := r.Event.(type) {
		case event.LeaseGranted:
			if e.Group == checker.GroupGates && r.At < fullCrash {
				orphans[e.Job] = r.Node == gone[0]
			}
		case event.JobChanged:
			if e.To.Terminal() {
				delete(orphans, e.Job)
			}
		}
	})
	takesWhatItFinds(s)
	s.World.At(fullFound, func() {
		for _, o := range s.Orders {
			if o.Acked && orphans[o.Job] && s.Options.Faults == nil {
				s.Checker.Violate("P", s.Record(gone[0]), "%s crashed at %v, and no other gate has ended job %v at %v, though they had room by then", gone[0], fullCrash, o.Job, fullFound)
			}
		}
	})
}

// takesWhatItFinds judges that the leader of the gates owns what it finds without an owner, as far
// as it has room.
func takesWhatItFinds(s *cluster.Cluster) {
	var sweep checker.Record // the last one
	found, granted := 0, 0
	s.Witness = append(s.Witness, func(r checker.Record) {
		switch e := r.Event.(type) {
		case event.LeaseGranted:
			if e.Group == checker.GroupGates {
				granted++
			}
		case event.Reached:
			switch swept := r.At == sweep.At && r.Node == sweep.Node; {
			case e.What == "gate/takeover-shed" && swept:
				found--
			case e.What == "gate/vacant-swept" && swept:
				found++
			case e.What == "gate/vacant-swept":
				sweep, found, granted = r, 1, 0
				s.World.At(r.At+fullGrant, func() {
					if granted < found && s.Options.Faults == nil {
						s.Checker.Violate("P", s.Record(r.Node), "%s found %d jobs without an owner at %v and had room for them; gates took %d over within %v", r.Node, found, r.At, granted, fullGrant)
					}
				})
			}
		}
	})
}

const (
	levelQueue   = 24
	levelLasts   = 10 * time.Minute
	levelChanges = 6
)

// buildLevelOscillation submits a job whenever fewer wait than the bound of a level.
func buildLevelOscillation(s *cluster.Cluster) {
	const begins, look, runs = 5 * time.Second, 500 * time.Millisecond, 3 * time.Second
	t := cluster.SmallTopology()
	t.Workers, t.Cores = 1, 1
	t.Gate = func(c *gate.Config) { c.QueueMax = levelQueue }
	s.Build(t)
	s.Complete, s.Served = true, true
	waits, changes, below := 0, 0, 0
	s.Witness = append(s.Witness, func(r checker.Record) {
		switch e := r.Event.(type) {
		case event.JobChanged:
			if e.To == message.JobQueued {
				waits++
			} else if e.From == message.JobQueued {
				waits--
			}
		case event.LoadChanged:
			changes++
			if r.At < begins+levelLasts && changes > levelChanges {
				s.Checker.Violate("P", r, "the level of %s has changed %d times in %v, now to %s: its load stays near one bound", r.Node, changes, r.At-begins, e.Level)
			}
		}
	})
	n := 0
	submit := func() {
		n++
		submitLoads(s, fmt.Sprintf("level-%d", n), 1, s.World.Now(), 0, s.Clients, runs)
	}
	for range levelQueue / 2 {
		s.World.At(begins, submit)
	}
	for at := begins + time.Second; at < begins+levelLasts; at += look {
		s.World.At(at, func() {
			if waits < levelQueue/2 {
				below++
				submit()
			}
		})
	}
	s.Verdicts = append(s.Verdicts, func() {
		if least := int(levelLasts/runs) / 4; below < least && s.Options.Faults == nil {
			s.Checker.Violate("P", s.Record(s.Gates[0]), "%d times fewer jobs waited than the bound of a level, want %d: the load was not near it", below, least)
		}
	})
}
