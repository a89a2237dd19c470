package managers

import (
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/health"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// ableWorlds are about managers that live and cannot take subjobs.
func ableWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "manager-without-quorum", Virtual: 5 * time.Minute, Build: cluster.On(buildManagerWithoutQuorum),
			Doc: "A manager is cut off from the other two of its datacenter and hears the gates, or the other two crash. It says so, and from a few seconds later on no gate dispatches a subjob to it. What it has not taken up goes to another one at once: no job waits for an answer that cannot come. A manager that has a majority is never put on hold, and each one gets subjobs again after its cut."},
		{Name: "unready-gates", Virtual: 5 * time.Minute, Build: cluster.On(buildUnreadyGates),
			Doc: "One gate after the other is cut off from all managers, for a minute, while clients submit at all gates. Another gate crashes meanwhile, for longer than its leases last. The one that is cut off gives its jobs to gates that hear managers, and takes none over. Every job ends within 62 s of its acknowledgement: none waits for the end of a cut, and what ran goes on."},
	}
}

const (
	ableGap   = 45 * time.Second
	toldAfter = 5 * time.Second  // three beats, a heartbeat, and its way
	ableAfter = 16 * time.Second // from the end of a cut: streams fall silent, are opened again, and fall silent once more
	takenUpIn = 7 * time.Second  // toldAfter, and the way of a second dispatch
)

func buildManagerWithoutQuorum(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Datacenters = 2
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Layers = 700*time.Millisecond, time.Second, 1, false
	})
	s.Complete = true
	a := able{stage: s, lone: spans{}, back: spans{}, down: spans{}}
	s.Slots(ableGap, func(i int, at time.Duration) {
		d := s.Rand.Int(t.Datacenters)
		own := s.Managers[d*t.Managers : (d+1)*t.Managers]
		lone := s.Choose(own, 1)[0]
		cut := span{at, at + s.Rand.Duration(9*time.Second, 18*time.Second).Truncate(stage.Tick)}
		a.lone.add(string(lone), cut)
		a.back.add(string(lone), cut.until(ableAfter))
		others := stage.Without(own, lone)
		f := sim.Fault{At: at, For: cut.to - cut.from, Kind: sim.FaultPartition, Nodes: stage.Names([]node.ID{lone}), Peers: stage.Names(others)}
		if i%2 == 1 {
			f.Kind, f.Nodes, f.Peers = sim.FaultCrash, stage.Names(others), nil
			for _, id := range others { // after their start they have to hear each other
				a.back.add(string(id), cut.until(ableAfter))
			}
			a.down.add(stage.Datacenter(d), cut.until(ableAfter))
		}
		s.Fault(f)
	})
	a.judge()
}

// span is a time of a cut.
type span struct{ from, to time.Duration }

func (c span) until(more time.Duration) span { return span{c.from, c.to + more} }

type spans map[string][]span

func (c spans) add(of string, s span) { c[of] = append(c[of], s) }

// has says whether a time is in a span, but for the first part of that.
func (c spans) has(of string, at, after time.Duration) bool {
	for _, s := range c[of] {
		if at >= s.from+after && at < s.to {
			return true
		}
	}
	return false
}

// able judges which managers get subjobs while some have no majority.
type able struct {
	stage *cluster.Cluster
	lone  spans // of managers that have none and hear the gates
	back  spans // of managers that may have none
	down  spans // of datacenters without a majority: a gate waits there for what one manager may have taken up
}

func (a *able) judge() {
	s := a.stage
	held, moved := map[[2]node.ID]bool{}, map[message.JobID]time.Duration{}
	holds := 0
	s.Witness = append(s.Witness, func(r checker.Record) {
		switch e := r.Event.(type) {
		case event.SubjobDispatched:
			if a.lone.has(string(e.Manager), r.At, toldAfter) {
				s.Checker.Violate("P", r, "job %v was dispatched to %s, which has had no majority for %v", e.Job, e.Manager, toldAfter)
			}
			if _, known := moved[e.Job]; !known && !a.down.has(e.Datacenter, r.At+takenUpIn, 0) {
				moved[e.Job] = r.At
			}
		case event.JobChanged:
			at, known := moved[e.Job]
			if known && e.To == message.JobRunning && r.At-at > takenUpIn {
				s.Checker.Violate("P", r, "job %v was dispatched at %v, and no manager took it up for %v", e.Job, at, r.At-at)
			}
			if e.To == message.JobRunning || e.To == message.JobQueued {
				delete(moved, e.Job)
			}
		case event.ManagerJudged:
			hold := e.To == health.Hold.String()
			if hold && r.At > 10*time.Second && !a.back.has(string(e.Peer), r.At, 0) {
				s.Checker.Violate("P", r, "%s puts %s on hold, which has a majority: %s", r.Node, e.Peer, e.Why)
			}
			if held[[2]node.ID{r.Node, e.Peer}] = hold; hold {
				holds++
			}
		}
	})
	s.Verdicts = append(s.Verdicts, func() {
		for _, g := range s.Gates {
			for _, m := range s.Managers {
				if held[[2]node.ID{g, m}] {
					s.Checker.Violate("P", s.Record(g), "%s keeps %s on hold long after its cut", g, m)
				}
			}
		}
		if holds == 0 {
			s.Checker.Violate("P", s.Record(s.Gates[0]), "managers had no majority, and no gate put any on hold")
		}
	})
}

const (
	deafAfter = 14 * time.Second // managers are lost, as long again, a look, and the news of it
	endWithin = 62 * time.Second // deafAfter, the lease of a gate that crashes then, its turn, and the adoption of what runs
)

// buildUnreadyGates cuts gates off from all managers, one at a time, and crashes another one.
func buildUnreadyGates(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Datacenters, t.Clients = 2, 3
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Layers = 1500*time.Millisecond, 2*time.Second, 1, false
	})
	s.Complete = true
	s.EndsWithin(endWithin)
	cuts := spans{}
	s.Slots(100*time.Second, func(i int, at time.Duration) {
		lone := s.Choose(s.Gates, 1)[0]
		cut := span{at, at + s.Rand.Duration(70*time.Second, 85*time.Second).Truncate(stage.Tick)}
		cuts.add(string(lone), cut)
		s.Fault(sim.Fault{At: at, For: cut.to - at, Kind: sim.FaultPartition, Nodes: stage.Names([]node.ID{lone}), Peers: stage.Names(s.Managers)})
		s.Fault(sim.Fault{At: at + s.Rand.Duration(16*time.Second, 20*time.Second).Truncate(stage.Tick), For: 36 * time.Second, Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(stage.Without(s.Gates, lone), 1))})
	})
	adopted, owner := 0, map[message.JobID]node.ID{} // the first grant is a submission, under whatever epoch
	s.Witness = append(s.Witness, func(r checker.Record) {
		e, ok := r.Event.(event.LeaseGranted)
		if !ok || e.Group != "gates" {
			return
		}
		was := owner[e.Job]
		if owner[e.Job] = r.Node; was == "" || was == r.Node {
			return
		}
		if adopted++; cuts.has(string(r.Node), r.At, deafAfter) {
			s.Checker.Violate("P", r, "%s takes job %v over, and has heard no manager for %v", r.Node, e.Job, deafAfter)
		}
	})
	s.Verdicts = append(s.Verdicts, func() {
		if adopted == 0 {
			s.Checker.Violate("P", s.Record(s.Gates[0]), "gates heard no manager, and handed no job over")
		}
	})
}
