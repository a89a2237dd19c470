package scenarios

import (
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/sim"
)

func abortWorlds() []Scenario {
	return []Scenario{
		{Name: "abort-when", Virtual: 5 * time.Minute, build: onCluster(buildAbortWhen),
			Doc: "Six of ten requests fail in one datacenter and none in the other, so that three of ten do. Every other job is to end when more than two do for five seconds, and ends so, failed, in both datacenters, long before its time; the others may have four, and complete, unless what comes to an end is the bad datacenter's alone for five seconds, as the other one's subjob is over or has not begun. Gates and managers are killed meanwhile."},
	}
}

func buildAbortWhen(s *cluster) {
	well, ill := *s.model, *s.model
	well.Failed, well.TimedOut = 0, 0
	ill.Failed, ill.TimedOut = 600_000, 0
	well.ResponseMin, well.ResponseMax = 10*time.Millisecond, 10*time.Millisecond
	ill.ResponseMin, ill.ResponseMax = well.ResponseMin, well.ResponseMax
	s.models = []*sim.Plain{&well, &ill}
	t := groupTopology()
	t.datacenters, t.clients = 2, 2
	s.standard(t, func(l *load) {
		l.every, l.duration, l.cores, l.vus, l.datacenters, l.layers = 8*time.Second, time.Minute, 1, 8, 2, false
	})
	aborted := s.subjobsAborted(datacenter(0))
	for i, o := range s.orders {
		bound, text := int64(200_000), "home.errors > 20%"
		if i%2 == 1 {
			bound, text = 400_000, "home.errors > 40%"
		}
		w := &o.plan.Workflows[0]
		w.AbortWhen = []message.AbortPlan{{For: 5 * time.Second, When: message.Threshold{Expr: text, Step: "home", Of: message.OfErrors, Op: message.OpAbove, Bound: bound}}}
		o.judge = func(r *message.Result) {
			failed := r.State == message.JobFailed && len(r.Workflows) == 1 && r.Workflows[0].State == message.WorkflowFailed && strings.Contains(r.Error, "abort_when: "+text)
			switch at := s.record(o.client); {
			case i%2 == 1 && r.State != message.JobCompleted && aborted[o.job] < 5*time.Second*99/100:
				s.checker.Violate("P", at, "job %v ended %v, though of all its requests fewer failed than it may have, and none ran in one datacenter alone for five seconds: %s", o.job, r.State, r.Error)
			case i%2 == 0 && !failed:
				s.checker.Violate("P", at, "job %v ended %v, though its condition held all the time: %s", o.job, r.State, r.Error)
			case i%2 == 0 && s.world.Now()-o.at > 50*time.Second:
				s.checker.Violate("P", at, "job %v was ended %v after its begin, by a condition that held for five seconds", o.job, s.world.Now()-o.at)
			}
		}
	}
	s.often(append(append(s.gates[:0:0], s.gates...), s.managers...), 7*time.Second, sim.FaultBreakStreams, 0, 0)
	s.slots(30*time.Second, func(i int, at time.Duration) {
		ids := s.gates
		if i%2 == 1 {
			ids = s.managers
		}
		s.fault(sim.Fault{At: at, For: s.rand.Duration(time.Second, 8*time.Second).Truncate(tick), Kind: sim.FaultCrash, Nodes: names(s.choose(ids, 1))})
	})
}

// partsAborted tells for how long a datacenter had run nothing of each job when that
// job's workflow was aborted: what came to an end in that time was the others'. The gate
// hears of an end after it has happened, so that this is at least what it judged.
func (s *cluster) subjobsAborted(of string) map[message.JobID]time.Duration {
	runs, idle, out := map[message.JobID]int{}, map[message.JobID]time.Duration{}, map[message.JobID]time.Duration{}
	workers := map[node.ID]bool{}
	s.witness = append(s.witness, func(r checker.Record) {
		switch e := r.Event.(type) {
		case event.ShardStarted:
			if e.Datacenter == of {
				workers[r.Node] = true
				runs[e.Shard.Job]++
			}
		case event.ShardEnded:
			if workers[r.Node] {
				runs[e.Shard.Job]--
				idle[e.Shard.Job] = r.At
			}
		case event.WorkflowAborted:
			if _, again := out[e.Job]; again {
				return
			}
			out[e.Job] = 0
			if runs[e.Job] == 0 {
				out[e.Job] = r.At - idle[e.Job]
			}
		}
	})
	return out
}
