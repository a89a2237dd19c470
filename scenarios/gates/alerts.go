package gates

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"hyperscale/checker"
	"hyperscale/core/alert"
	"hyperscale/core/event"
	"hyperscale/core/gate"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// alertWorlds are about what nodes report to operators.
func alertWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "alerts", Virtual: 42 * time.Minute, Build: cluster.On(buildAlerts),
			Doc: "All workers of a small cluster are away for a while, twice. Meanwhile jobs wait and die, and a client floods the gate; later the gate lags. Each alert is raised once for each of these, after its time, and cleared once."},
		{Name: "alerts-taken-over", Virtual: 34 * time.Minute, Build: cluster.On(buildAlertsTakenOver),
			Doc: "Groups of three report that no worker is healthy and that many jobs have died, and all their members restart in turn, leaders too. Gates are cut off from each other. No new leader repeats what its predecessor has reported, and none forgets it: each alert is raised once, and cleared once."},
	}
}

// expected is a transition that a world calls for, and when.
type expected struct {
	alert    alert.ID
	change   event.AlertChange
	from, to time.Duration
	any      bool // several nodes may report it, each once
}

// transitions judges that nodes report what a world calls for, each once, and nothing else.
type transitions struct {
	s       *cluster.Cluster
	calls   []expected
	told    []map[node.ID]bool
	ignored map[string]bool
}

// watchAlerts judges all alerts but those that are ignored.
func watchAlerts(s *cluster.Cluster, ignored ...alert.ID) *transitions {
	w := &transitions{s: s, ignored: map[string]bool{}}
	for _, id := range ignored {
		w.ignored[id.String()] = true
	}
	s.Witness = append(s.Witness, w.judge)
	s.Verdicts = append(s.Verdicts, w.end)
	return w
}

// lasts calls for an alert whose condition begins and ends at these times, or a little later.
func (w *transitions) lasts(id alert.ID, from, to, slack time.Duration) {
	w.span(id, from, to, to, slack)
}

// anywhere lets several nodes report what was last called for.
func (w *transitions) anywhere() {
	for i := len(w.calls) - 2; i < len(w.calls); i++ {
		w.calls[i].any = true
	}
}

// span calls for an alert whose condition ends between two times.
func (w *transitions) span(id alert.ID, from, first, last, slack time.Duration) {
	rule := alert.RuleOf(id)
	least := func(d time.Duration) time.Duration { return d - d/1000 } // by a clock that is fast
	w.calls = append(w.calls,
		expected{id, event.AlertRaised, from + least(rule.For), from + rule.For + slack, false},
		expected{id, event.AlertCleared, first + least(rule.Clear), last + rule.Clear + slack, false})
	w.told = append(w.told, map[node.ID]bool{}, map[node.ID]bool{})
}

func (w *transitions) judge(r checker.Record) {
	e, ok := r.Event.(event.Alert)
	if !ok || w.ignored[e.Alert] || e.Change != event.AlertRaised && e.Change != event.AlertCleared {
		return
	}
	for i, c := range w.calls {
		if !w.told[i][r.Node] && (c.any || len(w.told[i]) == 0) && c.alert.String() == e.Alert && c.change == e.Change && r.At >= c.from && r.At <= c.to {
			w.told[i][r.Node] = true
			return
		}
	}
	w.s.Checker.Violate("P", r, "%s reports that %s is %s (%s), and this world calls for none then: %s", r.Node, e.Alert, e.Change, e.Why, w.called(e.Alert))
}

// called lists the transitions of an alert, for people.
func (w *transitions) called(name string) (text string) {
	for i, c := range w.calls {
		if c.alert.String() == name {
			text += fmt.Sprintf("%s from %v to %v, reported by %d nodes; ", c.change, c.from, c.to, len(w.told[i]))
		}
	}
	return cmp.Or(text, "it is not about this alert")
}

func (w *transitions) end() {
	for i, c := range w.calls {
		if len(w.told[i]) == 0 && c.to <= w.s.Options.Virtual {
			w.s.Checker.Violate("P", w.s.Record(w.s.Gates[0]), "%v was to be %s from %v to %v, and no node has reported it", c.alert, c.change, c.from, c.to)
		}
	}
}

// Bounds of the gates of these worlds.
const (
	alertQueue   = 12
	alertLetters = 8
	alertKeeps   = 12 * time.Minute // letters
)

// alertGate sets them; jobs wait so long.
func alertGate(wait time.Duration) func(*gate.Config) {
	return func(c *gate.Config) {
		c.QueueMax, c.LettersMax, c.LetterAge, c.QueueAgeMax = alertQueue, alertLetters, alertKeeps, wait
		c.QueueInterval, c.SweepInterval = time.Second, 10*time.Second
	}
}

// submitMany lets clients submit jobs, evenly over a time.
func submitMany(s *cluster.Cluster, name string, n int, from, over time.Duration, clients []node.ID) {
	submitLoads(s, name, n, from, over, clients, time.Second)
}

// submitLoads does the same with jobs that run for so long.
func submitLoads(s *cluster.Cluster, name string, n int, from, over time.Duration, clients []node.ID, runs time.Duration) {
	for i := range n {
		o := &cluster.Order{Key: fmt.Sprintf("%s-%d", name, i), Client: clients[i%len(clients)]}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, cluster.Load{Vus: 1, Cores: 1, Duration: runs}, i+1)
		s.World.At(from+over*time.Duration(i)/time.Duration(n), func() { s.Submit(o, submit, 0) })
	}
}

// later is how long after its time an alert may come: it takes the membership seconds to find out.
const later = 30 * time.Second

func buildAlerts(s *cluster.Cluster) {
	const wait = 7 * time.Minute
	t := cluster.SmallTopology()
	t.Clients, t.Gate = 3, alertGate(wait)
	s.Build(t)
	w := watchAlerts(s, alert.Emergency)
	away := 20*time.Second + s.Rand.Duration(0, 5*time.Second).Truncate(stage.Tick)
	back := away + 11*time.Minute
	again := 30*time.Minute + s.Rand.Duration(0, 5*time.Second).Truncate(stage.Tick)
	for _, from := range []time.Duration{away, again} {
		to := back
		if from == again {
			to = again + time.Minute
		}
		s.Fault(sim.Fault{At: from, For: to - from, Kind: sim.FaultCrash, Nodes: stage.Names(s.Workers)})
		w.lasts(alert.NoWorkerHealthy, from, to, later)
		w.lasts(alert.WorkersUnhealthy, from, to, later)
	}
	queued := away + 90*time.Second // managers keep workers for a minute when all fail at once
	submitMany(s, "waits", alertQueue, queued, time.Second, s.Clients)
	w.lasts(alert.QueueHigh, queued, queued+wait, 10*time.Second)
	w.lasts(alert.DeadLetters, queued+wait, queued+wait+alertKeeps, later)
	flood := queued + 10*time.Second
	const floods = 6 * time.Minute
	submitMany(s, "flood", 20*int(floods/time.Second), flood, floods, s.Clients)
	w.lasts(alert.SustainedShedding, flood, flood+floods, later)
	lags := 36 * time.Minute
	for i := range 10 {
		s.Fault(sim.Fault{At: lags + time.Duration(i)*2*time.Second, For: 1500 * time.Millisecond, Kind: sim.FaultPause, Nodes: stage.Names(s.Gates)})
	}
	w.lasts(alert.LeaderOverloaded, lags, lags+20*time.Second, later)
}

func buildAlertsTakenOver(s *cluster.Cluster) {
	const wait = 90 * time.Second
	t := cluster.GroupTopology()
	t.Clients, t.Gate = 3, alertGate(wait)
	s.Build(t)
	w := watchAlerts(s)
	away := 20*time.Second + s.Rand.Duration(0, 5*time.Second).Truncate(stage.Tick)
	back := away + 5*time.Minute
	s.Fault(sim.Fault{At: away, For: back - away, Kind: sim.FaultCrash, Nodes: stage.Names(s.Workers)})
	w.lasts(alert.NoWorkerHealthy, away, back, later)
	w.lasts(alert.WorkersUnhealthy, away, back, later)
	queued := away + 90*time.Second // managers keep workers for a minute when all fail at once
	submitMany(s, "waits", 8, queued, time.Second, s.Clients)
	takeOvers(s, s.Managers, away+time.Minute)
	w.span(alert.DeadLetters, queued+wait, queued+wait+alertKeeps, takeOvers(s, s.Gates, queued+wait+11*time.Minute)+alertKeeps, later)

	cut := 8 * time.Minute
	for _, id := range s.Gates {
		s.Fault(sim.Fault{At: cut, For: time.Minute, Kind: sim.FaultPartition, Nodes: []string{string(id)}, Peers: stage.Names(stage.Without(s.Gates, id))})
	}
	submitMany(s, "cut", 5, cut+2*time.Second, time.Second, s.Clients[:1])
	w.lasts(alert.CircuitOpen, cut+2*time.Second, cut+time.Minute, later)
	w.anywhere()
}

// takeOvers restarts the members of a group in turn, in an order that the seed draws, so that a
// leader restarts while an alert is raised. Each restart lasts until others have elected a leader. It
// returns when the last one is over.
func takeOvers(s *cluster.Cluster, members []node.ID, at time.Duration) (end time.Duration) {
	for _, id := range slices.Concat(s.Choose(members, len(members)), s.Choose(members, 1)) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(6*time.Second, 12*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash, Nodes: []string{string(id)}})
		end, at = at+12*time.Second, at+30*time.Second
	}
	return end
}
