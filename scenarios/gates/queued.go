package gates

import (
	"fmt"
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// queuedWorlds are about the order in which jobs leave the queues of gates.
func queuedWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "importance", Virtual: 4 * time.Minute, Build: cluster.On(buildImportance),
			Doc: "Jobs of all importances arrive faster than they run, some with a deadline, while gates crash. No job leaves a gate's queue before a more important one that waits there, and each wait makes a job more important, so that none starves. A job that has not begun by its deadline ends, neither earlier nor later."},
		{Name: "greedy-client", Virtual: 3 * time.Minute, Build: cluster.On(buildGreedyClient),
			Doc: "One of four clients submits ten times as many jobs as run. It gets its share of the queues, and times to come back. Every other client's submission is accepted at once, and every accepted job ends."},
	}
}

// importanceStep is the wait that raises a queued job by one class.
const importanceStep = 8 * time.Second

func buildImportance(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Clients = 3
	t.Gate = func(c *gate.Config) { c.QueueInterval, c.QueueStep = time.Second, importanceStep }
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Layers = 1500*time.Millisecond, 4*time.Second, 8, false
	})
	s.Served = true
	ranks := []message.Rank{message.RankBackground, message.RankHigh, message.RankMedium, message.RankCritical, message.RankLow, message.RankHigh}
	q := &queues{s: s, of: map[message.JobID]*message.JobSubmit{}, waits: map[node.ID]map[message.JobID]time.Duration{}, born: map[message.JobID]time.Duration{}}
	for i, o := range s.Orders {
		o.Submit.Rank = ranks[s.Rand.Int(len(ranks))]
		if i%4 == 0 {
			o.Submit.Deadline = s.Rand.Duration(2*time.Second, 40*time.Second).Truncate(time.Second)
		}
		q.of[message.JobOf(o.Key)] = o.Submit
	}
	s.Witness = append(s.Witness, q.judge)
	s.Slots(60*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(time.Second, 8*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(s.Gates, 1))})
	})
}

// queues follows which job waits at which gate.
type queues struct {
	s     *cluster.Cluster
	of    map[message.JobID]*message.JobSubmit
	waits map[node.ID]map[message.JobID]time.Duration // since when the gate has said that it is queued
	born  map[message.JobID]time.Duration             // since when it waits at any gate
}

// importanceSlack is the time in which majorities learn of a decision, and gates look at waits.
const importanceSlack = 4 * time.Second

func (q *queues) judge(r checker.Record) {
	e, ok := r.Event.(event.JobChanged)
	if !ok || q.of[e.Job] == nil {
		return
	}
	here := q.waits[r.Node]
	if here == nil {
		here = map[message.JobID]time.Duration{}
		q.waits[r.Node] = here
	}
	if e.To == message.JobQueued {
		//lint:orderfree the job leaves each
		for _, other := range q.waits {
			delete(other, e.Job)
		}
		here[e.Job] = r.At
		if _, known := q.born[e.Job]; !known {
			q.born[e.Job] = r.At
		}
		return
	}
	deadline, waited := q.of[e.Job].Deadline, r.At-q.born[e.Job]
	late := strings.HasPrefix(e.Reason, "did not begin within its deadline")
	switch since, queued := here[e.Job]; {
	case late && (deadline == 0 || waited < deadline-importanceSlack):
		q.s.Checker.Violate("P", r, "job %v, whose deadline is %v, ended after %v: %s", e.Job, deadline, waited, e.Reason)
	case e.To == message.JobDispatching && queued:
		if deadline > 0 && r.At-since > deadline+importanceSlack {
			q.s.Checker.Violate("P", r, "job %v left the queue after %v, and its deadline was %v", e.Job, r.At-since, deadline)
		}
		q.overtakes(r, e.Job, since)
	}
	delete(here, e.Job)
}

// overtakes judges that no more important job waits at the gate that lets one go. It gives the
// one that waits a shorter wait than it had, and the one that goes a longer one.
func (q *queues) overtakes(r checker.Record, id message.JobID, since time.Duration) {
	class := q.class(id, r.At-since+importanceSlack)
	//lint:orderfree each is judged by itself
	for other, from := range q.waits[r.Node] {
		if waited := r.At - from - importanceSlack; other != id && waited > 0 && q.class(other, waited) < class {
			q.s.Checker.Violate("P", r, "job %v of %v importance left the queue after %v, before job %v of %v importance, which has waited there for %v",
				id, q.of[id].Rank, r.At-since, other, q.of[other].Rank, r.At-from)
			return
		}
	}
}

func (q *queues) class(id message.JobID, waited time.Duration) int {
	return max(0, q.of[id].Rank.Class()-int(waited/importanceStep))
}

// greedyPatience is how long a modest client waits for the acknowledgement of a job. A gate that
// has no place for it refuses it.
const greedyPatience = 1500 * time.Millisecond

func buildGreedyClient(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Clients = 4
	t.Gate = func(c *gate.Config) { c.QueueMax, c.RetryAfter = 12, 2*time.Second }
	s.Build(t)
	l := cluster.Load{Vus: 8, Cores: 4, Duration: 3 * time.Second}
	n := 0
	order := func(who node.ID, at time.Duration) *cluster.Order {
		n++
		o := &cluster.Order{Key: fmt.Sprintf("job-%d", n), Client: who}
		m := s.Submission(o, l, n)
		s.Orders = append(s.Orders, o)
		s.World.At(at, func() { s.Submit(o, m, 0) })
		return o
	}
	for at := 3 * time.Second; at < s.Heal/2; at += 100 * time.Millisecond {
		order(s.Clients[0], at)
	}
	for i, id := range s.Clients[1:] {
		for at := time.Duration(10+i) * time.Second; at < s.Heal/2; at += 20 * time.Second {
			o := order(id, at)
			s.World.At(at+greedyPatience, func() {
				if !o.Acked {
					s.Checker.Violate("P", s.Record(o.Client), "submission %s of a modest client is not acknowledged after %v, beside a greedy one", o.Key, greedyPatience)
				}
			})
		}
	}
}
