package workers

import (
	"fmt"
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

func stopWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "cancel-one-workflow", Virtual: 5 * time.Minute, Build: cluster.On(buildCancelOneWorkflow),
			Doc: "Clients cancel one workflow of a job: in the queue, as it begins, while it runs, after its end. Streams break meanwhile, and in the second half gates and managers are killed. That workflow ends as CANCELLED, or as it had ended; one that depends on it fails; the others complete, and the job goes on. A workflow of a job in the queue never begins. While all nodes live, the workflow sends nothing any more four seconds after the answer."},
	}
}

func buildCancelOneWorkflow(s *cluster.Cluster) {
	quiet := *s.Model
	quiet.Failed, quiet.TimedOut = 0, 0
	s.Model = &quiet
	t := cluster.GroupTopology()
	t.Datacenters, t.Clients, t.Workers = 2, 2, 3
	l := cluster.Load{Vus: 8, Cores: 3, Duration: 8 * time.Second, Datacenters: 2}
	s.Build(t)
	stops := &stopped{s: s, calm: s.Heal / 2, acked: map[message.JobID]time.Duration{}, running: map[message.JobID]int{}, queued: map[message.JobID]bool{}}
	for n, at := 0, 2*time.Second; at < s.Heal; n, at = n+1, at+5*time.Second {
		o := &cluster.Order{Key: fmt.Sprintf("stop-%d", n), Client: s.Clients[n%len(s.Clients)]}
		m := s.Submission(o, l, n)
		m.Plan.Workflows = []message.WorkflowPlan{
			cluster.WorkflowPlan("other", l, nil), cluster.WorkflowPlan("stopped", l, nil), cluster.WorkflowPlan("dependent", l, []uint32{1}),
		}
		*o.Plan = m.Plan
		s.Orders = append(s.Orders, o)
		o.Judge = func(r *message.Result) { stops.judge(o, r) }
		s.World.At(at, func() { s.Submit(o, m, 0) })
		after := s.Rand.Duration(50*time.Millisecond, 12*time.Second)
		s.World.At(at+after, func() { stops.ask(o) })
	}
	s.Witness = append(s.Witness, stops.see)
	s.Often(append(append(s.Gates[:0:0], s.Gates...), s.Managers...), 9*time.Second, sim.FaultBreakStreams, 0, 0)
	s.Slots(30*time.Second, func(i int, at time.Duration) {
		if at < stops.calm {
			return
		}
		ids := s.Gates
		if i%2 == 1 {
			ids = s.Managers
		}
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(time.Second, 8*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(ids, 1))})
	})
}

// stopped follows which cancellations of a workflow were acknowledged, and which shards run.
type stopped struct {
	s       *cluster.Cluster
	calm    time.Duration // until then all nodes live
	acked   map[message.JobID]time.Duration
	running map[message.JobID]int  // shards of the cancelled workflow
	queued  map[message.JobID]bool // the answer came while the job waited in the queue
}

// stopsWithin is how long a cancelled workflow runs on after the answer, at most.
const stopsWithin = 4 * time.Second

func (x *stopped) ask(o *cluster.Order) {
	if !o.Acked || !x.s.World.Alive(o.Client) {
		return
	}
	x.s.World.Command(o.Client, &message.JobCancel{Job: o.Job, Workflows: []string{"stopped"}, Reason: "too loud"}, func(answer node.Message) {
		switch m := answer.(type) {
		case *message.JobCancelAck:
			x.acked[o.Job] = x.s.World.Now()
			x.queued[o.Job] = m.State == message.JobQueued
			x.s.World.At(x.s.World.Now()+stopsWithin, func() {
				if n := x.running[o.Job]; n > 0 && x.s.World.Now() < x.calm {
					x.s.Checker.Violate("K", x.s.Record(o.Client), "job %v: %d shards of a cancelled workflow run %v after the answer", o.Job, n, stopsWithin)
				}
			})
		case *message.Refused:
			if m.Code == message.CodeUnknownWorkflow {
				x.s.Checker.Violate("P", x.s.Record(o.Client), "job %v: its own workflow is unknown: %s", o.Job, m.Detail)
			}
		}
	})
}

func (x *stopped) see(r checker.Record) {
	switch e := r.Event.(type) {
	case event.ShardStarted:
		if e.Shard.Workflow == 1 {
			x.running[e.Shard.Job]++
			if x.queued[e.Shard.Job] {
				x.s.Checker.Violate("K", r, "job %v: a workflow begins that was cancelled while the job was in the queue", e.Shard.Job)
			}
		}
	case event.ShardEnded:
		if e.Shard.Workflow == 1 {
			x.running[e.Shard.Job]--
		}
	}
}

func (x *stopped) judge(o *cluster.Order, r *message.Result) {
	if _, acked := x.acked[o.Job]; len(r.Workflows) != 3 || !acked {
		return
	}
	other, one, after := &r.Workflows[0], &r.Workflows[1], &r.Workflows[2]
	wrong := func(what string) {
		x.s.Checker.Violate("K", x.s.Record(o.Client), "job %v, one of whose workflows was cancelled, ended %v: %s: %v %v %v: %s", o.Job, r.State, what, other.State, one.State, after.State, r.Error)
	}
	switch {
	case other.State != message.WorkflowCompleted:
		wrong("the other workflow did not complete")
	case one.State == message.WorkflowCompleted && (after.State != message.WorkflowCompleted || r.State != message.JobCompleted):
		wrong("it had completed before")
	case one.State == message.WorkflowCompleted:
	case one.State != message.WorkflowCancelled || !strings.Contains(one.Error, "too loud"):
		wrong("the workflow is not cancelled, or does not say why: " + one.Error)
	case after.State != message.WorkflowFailed || r.State != message.JobPartial:
		wrong("what depends on it did not fail, or the job is not partial")
	}
}
