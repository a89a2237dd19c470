package scenarios

import (
	"fmt"
	"time"

	"hyperscale/checker"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/sim"
)

func clientWorlds() []Scenario {
	return []Scenario{
		{Name: "same-key-two-gates", Virtual: 5 * time.Minute, build: onCluster(buildSameKey),
			Doc: "The same key is submitted at two gates within two milliseconds, every third time with another payload, and gates die while it is pending. There is one job: the other submission is told of it, or refused for its payload, and whoever waits starts none."},
		{Name: "submit-storm", Virtual: 4 * time.Minute, build: onCluster(buildSubmitStorm), rate: 20_000,
			Doc: "Ten thousand submissions in ten seconds at three gates, each key twice, at different gates. No key makes two jobs; what exceeds the queues is refused with the time to come back, and what was accepted ends."},
		{Name: "old-progress", Virtual: 4 * time.Minute, build: onCluster(buildOldProgress),
			Doc: "Clients watch jobs over slow links while gates die and streams break. A status that is older than what a client was shown is never shown: neither from the same gate nor from the one that took the job over."},
		{Name: "reconnecting-clients", Virtual: 5 * time.Minute, build: onCluster(buildReconnectingClients),
			Doc: "Clients lose their gates again and again: streams break, gates stop and die, links are cut. Each comes back, to whichever gate owns its job, and has exactly one result."},
	}
}

// twins submits each order at two gates, and judges what is answered.
func (s *cluster) twins(o *order, at time.Duration, other bool) {
	twin := *o.submit
	if other {
		twin.Name = "another payload"
	}
	second := s.clients[(indexOf(s.clients, o.client)+1)%len(s.clients)]
	swap, gap := s.rand.Chance(1, 2), s.rand.Duration(0, 2*time.Millisecond)
	told := map[bool]message.JobID{}
	answers := func(mine bool) func(node.Message) {
		return func(answer node.Message) {
			if ack, ok := answer.(*message.JobAck); ok {
				told[mine] = ack.Job
				if other && len(told) == 2 {
					s.checker.Violate("T8", s.record(o.client), "key %s was acknowledged with two payloads, as job %v", o.key, ack.Job)
				}
			}
		}
	}
	send := func(client node.ID, m *message.JobSubmit, mine bool) {
		if !s.world.Alive(client) {
			return
		}
		if mine && !other {
			s.submit(o, m, 0)
			return
		}
		s.world.Command(client, m, answers(mine))
	}
	first, last := o.submit, &twin
	if swap {
		s.world.At(at, func() { send(second, last, false) })
		s.world.At(at+gap, func() { send(o.client, first, true) })
		return
	}
	s.world.At(at, func() { send(o.client, first, true) })
	s.world.At(at+gap, func() { send(second, last, false) })
}

func indexOf(ids []node.ID, id node.ID) int {
	for i := range ids {
		if ids[i] == id {
			return i
		}
	}
	return -1
}

func buildSameKey(s *cluster) {
	t := groupTopology()
	t.clients = 3
	s.build(t)
	l := load{vus: 8, cores: 2, duration: 4 * time.Second}
	n := 0
	for at := 4 * time.Second; at < s.heal; at += 1500 * time.Millisecond {
		n++
		o := &order{key: fmt.Sprintf("twin-%d", n), client: s.clients[n%len(s.clients)]}
		s.orders = append(s.orders, o)
		s.submission(o, l, n)
		s.twins(o, at, n%3 == 0)
	}
	s.slots(40*time.Second, func(i int, at time.Duration) {
		s.fault(sim.Fault{At: at, For: s.rand.Duration(2*time.Second, 35*time.Second).Truncate(tick), Kind: sim.FaultCrash, Nodes: names(s.choose(s.gates, 1)), Aim: "storing:lease/"})
	})
	s.often(s.gates, 15*time.Second, sim.FaultBreakStreams, 0, 0)
}

func buildSubmitStorm(s *cluster) {
	t := groupTopology()
	t.clients, t.workers = 6, 6
	s.build(t)
	l := load{vus: 8, cores: 4, duration: time.Second}
	for n := range 5000 {
		o := &order{key: fmt.Sprintf("storm-%d", n), client: s.clients[n%len(s.clients)]}
		s.submission(o, l, n+1)
		s.orders = append(s.orders, o)
		s.twins(o, 3*time.Second+time.Duration(n)*2*time.Millisecond, false)
		o.cancel = n%20 != 0
		s.world.At(20*time.Second+time.Duration(n)*4*time.Millisecond, func() {
			if o.acked && o.cancel {
				s.world.Command(o.client, &message.JobCancel{Job: o.job}, func(node.Message) {})
			}
		})
	}
}

// neverYounger judges that a job's age never goes back: no gate takes a job up twice.
func (s *cluster) neverYounger(o *order, m *message.JobStatus) {
	if progress(m.State) == progress(o.shown) && m.Elapsed < o.elapsed {
		s.checker.Violate("L", s.record(o.client), "job %v was shown %v old, then %v old, both times %v", o.job, o.elapsed, m.Elapsed, m.State)
	}
}

func buildOldProgress(s *cluster) {
	s.shown = s.neverYounger
	s.standard(groupTopology(), func(l *load) { l.every, l.duration, l.cores = 5*time.Second, 12*time.Second, 3 })
	for _, id := range s.gates { // each at another distance
		s.fault(sim.Fault{At: time.Second, Kind: sim.FaultLatencyOneWay, Nodes: []string{string(id)}, Peers: names(s.clients), Value: int64(s.rand.Int(1500))})
	}
	s.often(s.gates, 8*time.Second, sim.FaultBreakStreams, 0, 0)
	s.slots(40*time.Second, func(i int, at time.Duration) {
		kind := sim.FaultStop
		if s.rand.Chance(1, 3) {
			kind = sim.FaultCrash
		}
		s.fault(sim.Fault{At: at, For: 8 * time.Second, Kind: kind, Nodes: names(s.choose(s.gates, 1))})
	})
}

func buildReconnectingClients(s *cluster) {
	t := groupTopology()
	t.clients = 4
	s.standard(t, func(l *load) { l.every, l.duration, l.cores = 3*time.Second, 6*time.Second, 2 })
	s.complete = true
	s.checker.Promise(checker.Promises{Once: true})
	s.often(s.clients, 4*time.Second, sim.FaultBreakStreams, 0, 0)
	s.often(s.clients, 15*time.Second, sim.FaultPause, 9*time.Second, 0)
	s.slots(20*time.Second, func(i int, at time.Duration) {
		f := sim.Fault{At: at, For: s.rand.Duration(3*time.Second, 15*time.Second).Truncate(tick), Nodes: names(s.choose(s.clients, 2)), Peers: names(s.choose(s.gates, 2)), Kind: sim.FaultPartition}
		s.fault(f)
	})
	s.slots(60*time.Second, func(i int, at time.Duration) {
		s.fault(sim.Fault{At: at, For: 10 * time.Second, Kind: sim.FaultStop, Nodes: names(s.choose(s.gates, 1))})
	})
}
