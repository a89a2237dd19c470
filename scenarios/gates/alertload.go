package gates

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/alert"
	"hyperscale/core/client"
	"hyperscale/core/event"
	"hyperscale/core/gate"
	"hyperscale/core/health"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/worker"
	"hyperscale/netsim"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// alertLoadWorlds are about the alerts of which several conditions must come together, or last.
//
// No node that keeps the protocols fills the stream of destination-saturated for a minute: it asks what
// waits there, and sends dispatches, files and figures later. So a worker does not ask, and its streams
// hold less than any transport's. Only clients fill the lane of high-lane, and only a mailbox that no
// configuration allows loses what critical-shed reports.
func alertLoadWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "alerts-emergency", Virtual: 5 * time.Minute, Within: time.Minute, Build: cluster.On(buildAlertsEmergency),
			Doc: "Most of what a gate may queue waits there, and twice all gates are cut off from each other for a while. Either alone is no emergency, both at once are: such a gate raises that alert once each time, and clears it once."},
		{Name: "alerts-of-a-lane", Virtual: 5 * time.Minute, Within: time.Minute, Build: cluster.On(buildAlertsOfALane),
			Doc: "Operators send more orders to a gate than it handles, twice. Its lane of dispatches and files is full all the time. It says so once for each flood, a minute after its begin, and once that there is room again. Every order has an answer."},
		{Name: "alerts-of-losses", Virtual: 24 * time.Minute, Within: time.Minute, Build: cluster.On(buildAlertsOfLosses),
			Doc: "A worker whose mailbox has room for a few critical messages is stopped for seconds, twice, while the membership asks it. It says at once that some have found no room, once each time, and ten minutes later that none was lost since."},
		{Name: "destination-saturated", Virtual: 7 * time.Minute, Within: time.Minute, Network: narrowStreams, Build: cluster.On(buildDestinationSaturated),
			Doc: "Twice, for more than a minute, a worker on a slow link has more to write to its manager than half of what a stream holds. It says so once each time, and once that nothing waits any more. All the while each core runs a test of a target that is slow, and fails nine requests of ten. No other alert, level, rate or choice of a node moves, and every job completes with these failures as its figures: a target is no reason to judge the cluster."},
		{Name: "alerts-of-workers", Virtual: 5 * time.Minute, Within: time.Minute, Build: cluster.On(buildAlertsOfWorkers),
			Doc: "The disk of the manager is full, twice, so that its workers keep their results. They are overloaded then: the manager says so once each time, and once that they are not any more. Every job completes."},
		{Name: "alerts-of-a-machine", Virtual: 7 * time.Minute, Within: time.Minute, Build: cluster.On(buildAlertsOfAMachine),
			Doc: "Twice, the executors of one worker of four crash for more than a minute, while shards run. Its manager says once each time that its circuit is open, and names it, and once that a trial has run. Every job completes."},
		{Name: "alerts-change-hands", Virtual: 7 * time.Minute, Within: time.Minute, Build: cluster.On(buildAlertsChangeHands),
			Doc: "The managers' disks are full for a while, so that workers keep their results, and the managers' leader restarts twice before the alert of it is over. Later all gates lag, and then all managers, and their leaders restart meanwhile. Each alert is raised once, by the leader of that time, and cleared once, by a later one. Every job completes."},
	}
}

func buildAlertsEmergency(s *cluster.Cluster) {
	const queue = 24
	t := cluster.GroupTopology()
	t.Workers, t.Cores = 1, 1
	t.Gate = func(c *gate.Config) { c.QueueMax = queue }
	s.Build(t)
	w := watchAlerts(s)
	submitLoads(s, "runs", 1, 6*time.Second, time.Second, s.Clients, 150*time.Second)
	submitMany(s, "waits", queue*3/2, 10*time.Second, 2*time.Second, s.Clients) // at one gate half of the queue, at least
	for i := range 2 {
		const length = 18 * time.Second // no lease ends meanwhile
		cut := 30*time.Second + time.Duration(i)*90*time.Second + s.Rand.Duration(0, 5*time.Second).Truncate(stage.Tick)
		for _, id := range s.Gates {
			s.Fault(sim.Fault{At: cut, For: length, Kind: sim.FaultPartition, Nodes: []string{string(id)}, Peers: stage.Names(stage.Without(s.Gates, id))})
		}
		submitMany(s, fmt.Sprintf("cut-%d", i), queue*3/4, cut+time.Second, time.Second, s.Clients)
		w.span(alert.CircuitOpen, cut+time.Second, cut+length, cut+length+10*time.Second, 20*time.Second)
		w.anywhere()
		// A gate whose queue was half full of submissions that it then refused is calm before the heal. Clients hold
		// repeats back: they may fill the queue of another one behind the heal, while its circuit is open.
		w.span(alert.Emergency, cut+time.Second, cut+15*time.Second, cut+length+20*time.Second, length+12*time.Second)
		w.anywhere()
	}
}

func buildAlertsOfWorkers(s *cluster.Cluster) {
	const outbox, cores = 5, 8
	t := cluster.SmallTopology()
	t.Cores, t.Work = cores, func(c *worker.Config) { c.OutboxMax = outbox }
	s.Build(t)
	s.Complete = true
	w := watchAlerts(s)
	for i := range 2 {
		full := 20*time.Second + time.Duration(i)*100*time.Second
		submitLoads(s, fmt.Sprintf("kept-%d", i), t.Workers*cores, full-3*time.Second, time.Second, s.Clients, 5*time.Second)
		s.Fault(sim.Fault{At: full, For: 50 * time.Second, Kind: sim.FaultDiskFull, Nodes: stage.Names(s.Managers)})
		w.lasts(alert.WorkersOverloaded, full+time.Second, full+50*time.Second, 15*time.Second)
	}
}

func buildAlertsOfAMachine(s *cluster.Cluster) {
	t := cluster.SmallTopology()
	t.Workers = 4
	s.Build(t)
	s.Complete = true
	w := watchAlerts(s)
	submitLoads(s, "runs", 400, 10*time.Second, 6*time.Minute, s.Clients, 3*time.Second)
	for i := range 2 {
		at := 30*time.Second + time.Duration(i)*3*time.Minute + s.Rand.Duration(0, 5*time.Second).Truncate(stage.Tick)
		length := s.Rand.Duration(70*time.Second, 80*time.Second).Truncate(stage.Tick)
		s.Fault(sim.Fault{At: at, For: length, Kind: sim.FaultExecCrash, Nodes: stage.Names(s.Workers[:1])})
		// Three shards fail soon, and the next trial after the crashes runs.
		w.lasts(alert.WorkerCircuit, at, at+length, 45*time.Second)
	}
	s.Witness = append(s.Witness, func(r checker.Record) {
		if e, ok := r.Event.(event.Alert); ok && e.Change == event.AlertRaised && !strings.Contains(e.Why, string(s.Workers[0])) {
			s.Checker.Violate("P", r, "%s reports that a circuit is open, and does not name %s: %s", r.Node, s.Workers[0], e.Why)
		}
	})
}

func buildAlertsChangeHands(s *cluster.Cluster) {
	const outbox, cores = 5, 8
	t := cluster.GroupTopology()
	t.Cores, t.Work = cores, func(c *worker.Config) { c.OutboxMax = outbox }
	s.Build(t)
	s.Complete = true
	w := watchAlerts(s)
	gates, managers := watchElections(s, checker.GroupGates, s.Gates), watchElections(s, stage.Datacenter(0), s.Managers)
	// restart ends who leads then, for as long as others need to elect a leader. Two of three are left.
	restart := func(e *electoral, at time.Duration) {
		e.crash(at, s.Rand.Duration(4*time.Second, 6*time.Second).Truncate(stage.Tick), func() node.ID { return e.leads }, false)
	}
	taken := map[string]int{}
	s.Witness = append(s.Witness, func(r checker.Record) {
		if e, ok := r.Event.(event.Alert); ok && e.Change == event.AlertTaken {
			taken[e.Alert+" of "+e.Group]++
		}
	})
	takenOver := func(e *electoral, id alert.ID, by time.Duration) {
		s.Verdicts = append(s.Verdicts, func() {
			if by <= s.Options.Virtual && taken[id.String()+" of "+e.group] == 0 {
				s.Checker.Violate("P", s.Record(e.ids[0]), "no later leader of %s has taken over %v, and its leader restarted while it was raised", e.group, id)
			}
		})
	}
	const full, length = 20 * time.Second, 50 * time.Second
	submitLoads(s, "kept", t.Workers*cores, full-3*time.Second, time.Second, s.Clients, 5*time.Second)
	s.Fault(sim.Fault{At: full, For: length, Kind: sim.FaultDiskFull, Nodes: stage.Names(s.Managers)})
	w.lasts(alert.WorkersOverloaded, full+time.Second, full+length, 25*time.Second)
	takenOver(managers, alert.WorkersOverloaded, full+length+30*time.Second)
	restart(managers, full+length+s.Rand.Duration(0, 3*time.Second).Truncate(stage.Tick))
	restart(managers, full+length+s.Rand.Duration(12*time.Second, 15*time.Second).Truncate(stage.Tick))
	for i, e := range []*electoral{gates, managers} {
		const pulse, pulses = 2 * time.Second, 25
		lags := 3*time.Minute + time.Duration(i)*2*time.Minute + s.Rand.Duration(0, 5*time.Second).Truncate(stage.Tick)
		for n := range pulses {
			s.Fault(sim.Fault{At: lags + time.Duration(n)*pulse, For: 1300 * time.Millisecond, Kind: sim.FaultPause, Nodes: stage.Names(e.ids)})
		}
		restart(e, lags+s.Rand.Duration(14*time.Second, 18*time.Second).Truncate(stage.Tick))
		restart(e, lags+s.Rand.Duration(30*time.Second, 34*time.Second).Truncate(stage.Tick))
		w.lasts(alert.LeaderOverloaded, lags, lags+(pulses-1)*pulse, 30*time.Second)
		takenOver(e, alert.LeaderOverloaded, lags+pulses*pulse+30*time.Second)
	}
}

// buildAlertsOfALane floods a gate that takes 50 ms for an order, and has room for half a second of them.
func buildAlertsOfALane(s *cluster.Cluster) {
	const cost, room = 50 * time.Millisecond, 10
	costs := stage.Costs()
	costs.ByKind[message.KindDrainRequest] = cost
	t := cluster.SmallTopology()
	t.Clients, t.Open = 4, true
	t.Costs = map[node.Role]sim.Costs{node.RoleGate: costs}
	t.Boxes = map[node.Role]func(*node.MailboxConfig){node.RoleGate: func(c *node.MailboxConfig) { c.Lanes[node.High] = room }}
	t.Ask = func(c *client.Config) { c.AskTimeout, c.ReachTimeout = 5*time.Second, 5*time.Second }
	s.Build(t)
	s.Complete = true
	w := watchAlerts(s)
	sent, answers := 0, 0
	flood := func(from, length time.Duration) {
		for at := from; at < from+length; at += cost / 2 {
			id := s.Clients[sent%len(s.Clients)]
			sent++
			s.World.At(at, func() {
				s.World.Command(id, &message.DrainRequest{Request: message.RequestID{Counter: 1}, Node: "none", Undo: true}, func(node.Message) { answers++ })
			})
		}
	}
	for _, from := range []time.Duration{12 * time.Second, 150 * time.Second} {
		from += s.Rand.Duration(0, 2*time.Second).Truncate(stage.Tick)
		length := s.Rand.Duration(66*time.Second, 70*time.Second).Truncate(stage.Tick)
		flood(from, length)
		w.span(alert.HighLane, from, from+length, from+length+6*time.Second, 5*time.Second)
	}
	submitMany(s, "beside", 20, 10*time.Second, 4*time.Minute, s.Clients)
	s.Verdicts = append(s.Verdicts, func() {
		if answers < sent {
			s.Checker.Violate("P", s.Record(s.Gates[0]), "%d orders have %d answers", sent, answers)
		}
	})
}

// buildAlertsOfLosses stops a worker whose mailbox is too small for what its peers send meanwhile.
func buildAlertsOfLosses(s *cluster.Cluster) {
	const room = 4
	t := cluster.SmallTopology()
	t.Workers = 12
	t.Boxes = map[node.Role]func(*node.MailboxConfig){node.RoleWorker: func(c *node.MailboxConfig) { c.Lanes[node.Critical] = room }}
	s.Build(t)
	s.Checker.Excuse(func(v checker.Violation) bool { return v.Invariant == "T10" }) // its mailbox is smaller than any configuration allows
	w := watchAlerts(s)
	for _, from := range []time.Duration{20 * time.Second, 12 * time.Minute} {
		from += s.Rand.Duration(0, 5*time.Second).Truncate(stage.Tick)
		s.Fault(sim.Fault{At: from, For: 10 * time.Second, Kind: sim.FaultPause, Nodes: stage.Names(s.Workers[:1])})
		w.lasts(alert.CriticalShed, from, from+10*time.Second, 15*time.Second)
	}
}

// narrowStreams has streams that break with little to write.
func narrowStreams() netsim.Config {
	c := netsim.Default()
	c.StreamMax = 8 << 10
	return c
}

// buildDestinationSaturated fills the stream of a worker, beside tests of a target that is red.
func buildDestinationSaturated(s *cluster.Cluster) {
	const (
		slow  = 48 // thousands of bytes a second: what a full stream holds leaves before a member is suspected
		runs  = 10 * time.Second
		again = 120 * time.Second // then all cores are in use, and jobs wait
	)
	t := cluster.SmallTopology()
	t.Chats = &cluster.Chatting{Of: "worker-dc-a-1", Now: func() time.Duration { return s.World.Now() }}
	s.Model.ResponseMin, s.Model.ResponseMax = 2*time.Second, 8*time.Second
	s.Model.Failed, s.Model.TimedOut = 700_000, 200_000
	var spans [][2]time.Duration
	for _, from := range []time.Duration{20 * time.Second, 220 * time.Second} {
		from += s.Rand.Duration(0, 5*time.Second).Truncate(stage.Tick)
		spans = append(spans, [2]time.Duration{from, from + s.Rand.Duration(80*time.Second, 90*time.Second).Truncate(stage.Tick)})
	}
	t.Chats.When = func(now time.Duration) bool {
		return slices.ContainsFunc(spans, func(span [2]time.Duration) bool { return now >= span[0] && now < span[1] })
	}
	s.Build(t)
	s.Complete = true
	w := watchAlerts(s)
	for _, span := range spans {
		s.Fault(sim.Fault{At: span[0] - time.Second, For: span[1] - span[0] + 10*time.Second, Kind: sim.FaultSlowLink, Nodes: []string{"worker-dc-a-1"}, Peers: stage.Names(s.Managers), Value: slow})
		w.lasts(alert.DestinationSaturated, span[0], span[1], 10*time.Second)
	}
	red := 0
	for i := range 2 * t.Workers { // the cores are full for most of the run
		o := &cluster.Order{Key: fmt.Sprint("red-", i), Client: s.Clients[0]}
		o.Judge = func(r *message.Result) {
			if requests, failed := requestsOf(r); requests > 0 && failed*2 > requests {
				red++
			}
		}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, cluster.Load{Vus: 8, Cores: uint32(t.Cores), Duration: 150 * time.Second}, i+1)
		s.World.At(runs+time.Duration(i/t.Workers)*again, func() { s.Submit(o, submit, 0) })
	}
	s.Witness = append(s.Witness, func(r checker.Record) {
		switch e := r.Event.(type) {
		case event.LoadChanged, event.DispatchesPaced, event.ShardLost:
			s.Checker.Violate("P", r, "%s reports %+v: a target that is slow and red, and cores that are in use, are no load of the cluster", r.Node, e)
		case event.ManagerJudged:
			if r.At > runs && e.To != health.Route.String() {
				s.Checker.Violate("P", r, "%s judges its manager %s (%s), and only a target is ill", r.Node, e.To, e.Why)
			}
		}
	})
	s.Verdicts = append(s.Verdicts, func() {
		if red < len(s.Orders) {
			s.Checker.Violate("P", s.Record(s.Gates[0]), "%d of %d jobs report that most requests failed", red, len(s.Orders))
		}
	})
}

// requestsOf adds up what a result says of requests.
func requestsOf(r *message.Result) (requests, failed uint64) {
	for _, w := range r.Workflows {
		for _, step := range w.Stats.Steps {
			requests, failed = requests+step.Started, failed+step.Failed+step.TimedOut
		}
	}
	return requests, failed
}
