package workers

import (
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

func abortWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "abort-when", Virtual: 5 * time.Minute, Build: cluster.On(buildAbortWhen),
			Doc: "Six of ten requests fail in one datacenter and none in the other, so three of ten fail overall. Every other job must end once more than two of ten fail for five seconds. It ends as failed in both datacenters, long before its time. The others tolerate four of ten and complete, unless for five seconds only the bad datacenter ends requests, because the other one's subjob is over or has not begun. Gates and managers are killed meanwhile."},
	}
}

func buildAbortWhen(s *cluster.Cluster) {
	well, ill := *s.Model, *s.Model
	well.Failed, well.TimedOut = 0, 0
	ill.Failed, ill.TimedOut = 600_000, 0
	well.ResponseMin, well.ResponseMax = 10*time.Millisecond, 10*time.Millisecond
	ill.ResponseMin, ill.ResponseMax = well.ResponseMin, well.ResponseMax
	s.Models = []*sim.Plain{&well, &ill}
	t := cluster.GroupTopology()
	t.Datacenters, t.Clients = 2, 2
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Vus, l.Datacenters, l.Layers = 8*time.Second, time.Minute, 1, 8, 2, false
	})
	aborted := subjobsAborted(s, stage.Datacenter(0))
	for i, o := range s.Orders {
		bound, text := int64(200_000), "home.errors > 20%"
		if i%2 == 1 {
			bound, text = 400_000, "home.errors > 40%"
		}
		w := &o.Plan.Workflows[0]
		w.AbortWhen = []message.AbortPlan{{For: 5 * time.Second, When: message.Threshold{Expr: text, Step: "home", Of: message.OfErrors, Op: message.OpAbove, Bound: bound}}}
		o.Judge = func(r *message.Result) {
			failed := r.State == message.JobFailed && len(r.Workflows) == 1 && r.Workflows[0].State == message.WorkflowFailed && strings.Contains(r.Error, "abort_when: "+text)
			switch at := s.Record(o.Client); {
			case i%2 == 1 && r.State != message.JobCompleted && aborted[o.Job] < 5*time.Second*99/100:
				s.Checker.Violate("P", at, "job %v ended %v, though of all its requests fewer failed than it may have, and none ran in one datacenter alone for five seconds: %s", o.Job, r.State, r.Error)
			case i%2 == 0 && !failed:
				s.Checker.Violate("P", at, "job %v ended %v, though its condition held all the time: %s", o.Job, r.State, r.Error)
			case i%2 == 0 && s.World.Now()-o.At > 50*time.Second:
				s.Checker.Violate("P", at, "job %v was ended %v after its begin, by a condition that held for five seconds", o.Job, s.World.Now()-o.At)
			}
		}
	}
	s.Often(append(append(s.Gates[:0:0], s.Gates...), s.Managers...), 7*time.Second, sim.FaultBreakStreams, 0, 0)
	s.Slots(30*time.Second, func(i int, at time.Duration) {
		ids := s.Gates
		if i%2 == 1 {
			ids = s.Managers
		}
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(time.Second, 8*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(ids, 1))})
	})
}

// subjobsAborted returns, for each job, how long a datacenter had run nothing of it when the
// gate aborted its workflow: what ended in that time belonged to the other datacenters. The
// gate hears of an end after it has happened, so the gate's own value is at most this.
func subjobsAborted(s *cluster.Cluster, of string) map[message.JobID]time.Duration {
	runs, idle, out := map[message.JobID]int{}, map[message.JobID]time.Duration{}, map[message.JobID]time.Duration{}
	workers := map[node.ID]bool{}
	s.Witness = append(s.Witness, func(r checker.Record) {
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
