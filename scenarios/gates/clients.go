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

func clientWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "same-key-two-gates", Virtual: 5 * time.Minute, Build: cluster.On(buildSameKey),
			Doc: "Clients submit the same key at two gates within two milliseconds, every third time with another payload, and gates die while it is pending. There is one job. The other submission gets its name, or is rejected for its payload, and a gate that waits starts none."},
		{Name: "submit-storm", Virtual: 4 * time.Minute, Build: cluster.On(buildSubmitStorm), Rate: 20_000,
			Doc: "Ten thousand submissions in ten seconds at three gates, each key twice, at different gates. No key makes two jobs. Gates reject what exceeds their queues, with a time to retry, and every accepted job ends."},
		{Name: "submits-at-once", Virtual: 4 * time.Minute, Build: cluster.On(buildSubmitsAtOnce), Rate: 20_000,
			Doc: "Thirty clients make ten thousand submissions within fifty milliseconds at three gates. A submission is accepted once, or rejected by a gate with a reason within two seconds. No lease is lost, no node loses another, and every accepted job ends."},
		{Name: "old-progress", Virtual: 4 * time.Minute, Build: cluster.On(buildOldProgress),
			Doc: "Clients watch jobs over slow links while gates die and streams break. A client never shows a status that is older than its last one, neither from the same gate nor from the gate that took the job over."},
		{Name: "reconnecting-clients", Virtual: 5 * time.Minute, Build: cluster.On(buildReconnectingClients),
			Doc: "Clients lose their gates again and again: streams break, gates stop and die, links are cut. Each client reconnects, to whichever gate owns its job, and gets exactly one result."},
	}
}

// twins submits each order at two gates, and judges the answers.
func twins(s *cluster.Cluster, o *cluster.Order, at time.Duration, other bool) {
	twin := *o.Submit
	if other {
		twin.Name = "another payload"
	}
	second := s.Clients[(indexOf(s.Clients, o.Client)+1)%len(s.Clients)]
	swap, gap := s.Rand.Chance(1, 2), s.Rand.Duration(0, 2*time.Millisecond)
	told := map[bool]message.JobID{}
	answers := func(mine bool) func(node.Message) {
		return func(answer node.Message) {
			if ack, ok := answer.(*message.JobAck); ok {
				told[mine] = ack.Job
				if other && len(told) == 2 {
					s.Checker.Violate("T8", s.Record(o.Client), "key %s was acknowledged with two payloads, as job %v", o.Key, ack.Job)
				}
			}
		}
	}
	send := func(client node.ID, m *message.JobSubmit, mine bool) {
		if !s.World.Alive(client) {
			return
		}
		if mine && !other {
			s.Submit(o, m, 0)
			return
		}
		s.World.Command(client, m, answers(mine))
	}
	first, last := o.Submit, &twin
	if swap {
		s.World.At(at, func() { send(second, last, false) })
		s.World.At(at+gap, func() { send(o.Client, first, true) })
		return
	}
	s.World.At(at, func() { send(o.Client, first, true) })
	s.World.At(at+gap, func() { send(second, last, false) })
}

func indexOf(ids []node.ID, id node.ID) int {
	for i := range ids {
		if ids[i] == id {
			return i
		}
	}
	return -1
}

func buildSameKey(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Clients = 3
	s.Build(t)
	l := cluster.Load{Vus: 8, Cores: 2, Duration: 4 * time.Second}
	n := 0
	for at := 4 * time.Second; at < s.Heal; at += 1500 * time.Millisecond {
		n++
		o := &cluster.Order{Key: fmt.Sprintf("twin-%d", n), Client: s.Clients[n%len(s.Clients)]}
		s.Orders = append(s.Orders, o)
		s.Submission(o, l, n)
		twins(s, o, at, n%3 == 0)
	}
	s.Slots(40*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(2*time.Second, 35*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(s.Gates, 1)), Aim: "storing:lease/"})
	})
	s.Often(s.Gates, 15*time.Second, sim.FaultBreakStreams, 0, 0)
}

func buildSubmitStorm(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Clients, t.Workers = 6, 6
	s.Build(t)
	l := cluster.Load{Vus: 8, Cores: 4, Duration: time.Second}
	for n := range 5000 {
		o := &cluster.Order{Key: fmt.Sprintf("storm-%d", n), Client: s.Clients[n%len(s.Clients)]}
		s.Submission(o, l, n+1)
		s.Orders = append(s.Orders, o)
		twins(s, o, 3*time.Second+time.Duration(n)*2*time.Millisecond, false)
		o.Cancel = n%20 != 0
		s.World.At(20*time.Second+time.Duration(n)*4*time.Millisecond, func() {
			if o.Acked && o.Cancel {
				s.World.Command(o.Client, &message.JobCancel{Job: o.Job}, func(node.Message) {})
			}
		})
	}
}

const (
	submitsAtOnce = 10_000
	submitsWithin = 50 * time.Millisecond
	refusedWithin = 2 * time.Second // a client that has no answer asks again later than that
	// cancelAfter and later, so that gates keep the result of a job until the client whose watch an
	// overloaded gate has put off asks again.
	cancelAfter = 20 * time.Second
)

func buildSubmitsAtOnce(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Clients, t.Workers = 30, 6
	s.Build(t)
	s.Checker.Promise(checker.Promises{Once: true})
	s.LosesNoPeer(manyAt, s.Options.Virtual)
	answered := 0
	for n := range submitsAtOnce {
		o := &cluster.Order{Key: fmt.Sprintf("burst-%d", n), Client: s.Clients[n%len(s.Clients)], Cancel: n%50 != 0}
		s.Submission(o, cluster.Load{Vus: 8, Cores: 4, Duration: time.Second}, n+1)
		s.Orders = append(s.Orders, o)
		at, cancelled := manyAt+s.Rand.Duration(0, submitsWithin), cancelAfter+s.Rand.Duration(0, 100*time.Second)
		o.Refused = func(r *message.Refused) {
			if answered++; s.World.Now() > at+refusedWithin {
				s.Checker.Violate("P", s.Record(o.Client), "submission %s was rejected after %v, and a gate refuses at once: %v (%s)", o.Key, s.World.Now()-at, r.Code, r.Detail)
			}
		}
		s.World.At(at, func() { s.Submit(o, o.Submit, cancelled) })
	}
	s.Verdicts = append(s.Verdicts, func() {
		accepted := 0
		for _, o := range s.Orders {
			if o.Acked {
				accepted++
			}
		}
		if accepted == 0 || accepted+answered != submitsAtOnce {
			s.Checker.Violate("P", s.Record(s.Gates[0]), "of %d submissions %d were accepted and %d rejected", submitsAtOnce, accepted, answered)
		}
	})
}

// manyAt is when all clients have found their gates.
const manyAt = 5 * time.Second

// neverYounger judges that a job's age never goes back: no gate adopts a job twice.
func neverYounger(s *cluster.Cluster, o *cluster.Order, m *message.JobStatus) {
	if cluster.Progress(m.State) == cluster.Progress(o.Shown) && m.Elapsed < o.Elapsed {
		s.Checker.Violate("L", s.Record(o.Client), "job %v was shown %v old, then %v old, both times %v", o.Job, o.Elapsed, m.Elapsed, m.State)
	}
}

func buildOldProgress(s *cluster.Cluster) {
	s.Shown = func(o *cluster.Order, m *message.JobStatus) { neverYounger(s, o, m) }
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 5*time.Second, 12*time.Second, 3 })
	for _, id := range s.Gates { // each at another distance
		s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultLatencyOneWay, Nodes: []string{string(id)}, Peers: stage.Names(s.Clients), Value: int64(max(1, s.Rand.Int(1500)))})
	}
	s.Often(s.Gates, 8*time.Second, sim.FaultBreakStreams, 0, 0)
	s.Slots(40*time.Second, func(i int, at time.Duration) {
		kind := sim.FaultStop
		if s.Rand.Chance(1, 3) {
			kind = sim.FaultCrash
		}
		s.Fault(sim.Fault{At: at, For: 8 * time.Second, Kind: kind, Nodes: stage.Names(s.Choose(s.Gates, 1))})
	})
}

func buildReconnectingClients(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Clients = 4
	s.Standard(t, func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 3*time.Second, 6*time.Second, 2 })
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	s.Often(s.Clients, 4*time.Second, sim.FaultBreakStreams, 0, 0)
	s.Often(s.Clients, 15*time.Second, sim.FaultPause, 9*time.Second, 0)
	s.Slots(20*time.Second, func(i int, at time.Duration) {
		f := sim.Fault{At: at, For: s.Rand.Duration(3*time.Second, 15*time.Second).Truncate(stage.Tick), Nodes: stage.Names(s.Choose(s.Clients, 2)), Peers: stage.Names(s.Choose(s.Gates, 2)), Kind: sim.FaultPartition}
		s.Fault(f)
	})
	s.Slots(60*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: 10 * time.Second, Kind: sim.FaultStop, Nodes: stage.Names(s.Choose(s.Gates, 1))})
	})
}
