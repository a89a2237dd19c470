package cluster

import (
	"fmt"
	"time"

	"hyperscale/checker"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// Load is the stream of jobs that clients submit.
type Load struct {
	Every       time.Duration
	Until       time.Duration
	Vus         uint64
	Cores       uint32
	Duration    time.Duration
	Cancels     uint64 // in parts per million of the jobs
	Datacenters int    // each job names this many; 0: the gate chooses
	Layers      bool   // every third job has a workflow that depends on another
}

// StormLoad leaves a third of the cores free, so that the jobs that wait during the faults
// finish within the bound of liveness.
func StormLoad(until time.Duration) Load {
	return Load{Every: 4 * time.Second, Until: until, Vus: 64, Cores: 6, Duration: 8 * time.Second, Cancels: 100_000, Layers: true}
}

// Order is one job as its client sees it.
type Order struct {
	Key       string
	Client    node.ID
	Job       message.JobID
	Acked     bool
	At        time.Duration // when the client submitted it
	ended     time.Duration // when the client received its result
	Cancel    bool
	results   int
	ends      int              // of workflows, that the client has learned
	watchers  []node.ID        // beside the client
	questions int              // of floods, without an answer
	forgotten bool             // no gate has its result any more, and the client knows
	Shown     message.JobState // the last state that the client received
	Elapsed   time.Duration    // the job's age then
	Plan      *message.Plan
	Submit    *message.JobSubmit // a world may change it until it is sent
	Judge     func(*message.Result)
	Refused   func(*message.Refused) // gets the gates' refusal of the submission; may be nil
}

// Ended says when the client received the result.
func (o *Order) Ended() (at time.Duration, has bool) { return o.ended, o.ended > 0 }

// SubmitAll schedules the whole stream: the i-th job at i times every.
func (s *Cluster) SubmitAll(l Load) {
	n := 0
	for at := 2 * time.Second; at < l.Until; at += l.Every {
		n++
		o := &Order{Key: fmt.Sprintf("job-%d", n), Client: s.Clients[n%len(s.Clients)]}
		o.Cancel = s.Rand.Chance(l.Cancels, 1_000_000)
		submit := s.Submission(o, l, n)
		delay := s.Rand.Duration(0, 2*l.Duration)
		s.Orders = append(s.Orders, o)
		s.World.At(at, func() { s.Submit(o, submit, delay) })
	}
}

// Submission returns the n-th submission of a load, whose plan the order keeps.
func (s *Cluster) Submission(o *Order, l Load, n int) *message.JobSubmit {
	plan := message.Plan{Source: "model.star", Workflows: []message.WorkflowPlan{WorkflowPlan("first", l, nil)}}
	if l.Layers && n%3 == 0 {
		plan.Workflows = append(plan.Workflows, WorkflowPlan("second", l, []uint32{0}))
	}
	o.Plan = &plan
	m := &message.JobSubmit{Key: o.Key, Name: "model", Plan: plan,
		Program: message.Program{Main: "model.star", Files: []message.File{{Name: "model.star", Data: []byte("# " + o.Key)}}}}
	o.Submit = m
	first := s.Rand.Int(s.topology.Datacenters)
	for i := range l.Datacenters {
		m.Datacenters = append(m.Datacenters, stage.Datacenter((first+i)%s.topology.Datacenters))
	}
	return m
}

// WorkflowPlan returns the plan that the model executor runs.
func WorkflowPlan(name string, l Load, depends []uint32) message.WorkflowPlan {
	return message.WorkflowPlan{
		Name: name, Test: true, VUs: l.Vus, Duration: l.Duration, Timeout: time.Second, Cores: l.Cores,
		Depends: depends, Layer: uint32(len(depends)),
		Steps: []message.StepPlan{{Name: "home", Kind: message.StepRequest}},
	}
}

// Submit plays one client: it submits, watches, and perhaps cancels. A client that crashes
// forgets its watch, and no client starts it again.
func (s *Cluster) Submit(o *Order, m *message.JobSubmit, cancelAfter time.Duration) {
	if !s.World.Alive(o.Client) {
		return
	}
	s.Checker.Effort(message.JobOf(m.Key), checker.Effort{Least: int(m.BestEffort.Least), After: m.BestEffort.After})
	s.World.Command(o.Client, m, func(answer node.Message) {
		if r, refused := answer.(*message.Refused); refused && o.Refused != nil {
			o.Refused(r)
		} else if refused && s.Served {
			s.Checker.Violate("P", s.Record(o.Client), "submission %s was refused for good, and gates were there: %v: %s", o.Key, r.Code, r.Detail)
		}
		ack, ok := answer.(*message.JobAck)
		if !ok || o.Acked {
			return
		}
		o.Acked, o.At, o.Job = true, s.World.Now(), ack.Job
		s.Checker.Acknowledged(s.Record(o.Client), ack.Job)
		s.watch(o)
		if o.Cancel {
			s.World.At(s.World.Now()+cancelAfter, func() {
				if s.World.Alive(o.Client) {
					s.World.Command(o.Client, &message.JobCancel{Job: o.Job}, func(node.Message) {})
				}
			})
		}
	})
}

func (s *Cluster) watch(o *Order) {
	if !s.World.Alive(o.Client) {
		return
	}
	s.World.Command(o.Client, &message.JobWatch{Job: o.Job}, func(answer node.Message) {
		switch m := answer.(type) {
		case *message.JobStatus:
			if s.Shown != nil {
				s.Shown(o, m)
			}
			o.Elapsed = m.Elapsed
			s.onStatus(o, m.State)
			s.onSubjobs(o, m.Datacenters)
		case *message.WorkflowEnded:
			o.ends++
		case *message.JobResult:
			s.onStatus(o, m.Result.State)
			s.onResult(o, &m.Result)
		case *message.Refused:
			s.onRefused(o, m)
		}
	})
}

// onStatus judges each status that the client receives: the state never goes back.
func (s *Cluster) onStatus(o *Order, to message.JobState) {
	if Progress(to) < Progress(o.Shown) || o.Shown == message.JobCancelling && to.Terminal() && to != message.JobCancelled {
		s.Checker.Violate("L", s.Record(o.Client), "job %v was shown as %v, then as %v", o.Job, o.Shown, to)
	}
	o.Shown = to
}

// onSubjobs judges what the client sees of each datacenter: a subjob that has started load
// names its workers, because a frame has room for all workers of these worlds.
func (s *Cluster) onSubjobs(o *Order, subjobs []message.DatacenterResult) {
	s.Checker.Told(s.Record(o.Client), o.Job, subjobs)
	for i := range subjobs {
		d := &subjobs[i]
		for k := range d.Workflows {
			if len(d.Workflows[k].Stats.Steps) > 0 && len(d.Workers) == 0 {
				s.Checker.Violate("T8", s.Record(o.Client), "job %v was shown what subjob %s does, %v, and none of its workers", o.Job, d.Name, d.State)
				return
			}
		}
	}
}

// Progress orders states as a client may see them follow each other: until it runs, a job may
// return to the queue.
func Progress(s message.JobState) int {
	switch {
	case s.Terminal():
		return 4
	case s == message.JobCancelling:
		return 3
	case s == message.JobCompleting:
		return 2
	case s == message.JobRunning:
		return 1
	}
	return 0
}

// onResult judges the result: the client receives it once, it is terminal, and its figures add
// up.
func (s *Cluster) onResult(o *Order, r *message.Result) {
	at := s.Record(o.Client)
	o.results++
	o.ended = s.World.Now()
	if o.results > 1 {
		s.Checker.Violate("T8", at, "the result of job %v was delivered %d times to one watch", o.Job, o.results)
	}
	if o.ends < len(r.Workflows) {
		s.Checker.Violate("T8", at, "the result of job %v has %d workflows, and its client learned how %d ended", o.Job, len(r.Workflows), o.ends)
	}
	if !r.State.Terminal() {
		s.Checker.Violate("L", at, "the result of job %v says %v, which is no end", o.Job, r.State)
	}
	if s.Complete && r.State != message.JobCompleted && (s.Excused == nil || !s.Excused(o.Job)) {
		s.Checker.Violate("P", at, "job %v ended %v, and all jobs of this world can complete: %s", o.Job, r.State, r.Error)
	}
	if o.Judge != nil {
		o.Judge(r)
	}
	var started uint64
	for _, w := range r.Workflows {
		for _, p := range w.Stats.Steps {
			started += p.Started
			if sum := p.OK + p.Failed + p.TimedOut + p.Cancelled; p.Started != sum {
				s.Checker.Violate("T8", at, "job %v, step %s: %d started, but %d are accounted for", o.Job, p.Name, p.Started, sum)
			}
		}
	}
	s.onSubjobs(o, r.Datacenters)
	for i := range r.Datacenters {
		s.onOffered(o, &r.Datacenters[i])
	}
	s.Checker.Delivered(at, checker.Delivery{Job: o.Job, State: r.State, Subjobs: len(r.Datacenters) - len(r.Missing), Missing: len(r.Missing), Started: started})
}

// onOffered judges that the iterations of a timed workflow which completed are those that its plan
// asks for: begun, dropped, or due while no attempt of their shard is known to have run. A shard
// whose time was over before a worker was free does not know of the last.
func (s *Cluster) onOffered(o *Order, d *message.DatacenterResult) {
	if o.Plan == nil || len(d.Workflows) != len(o.Plan.Workflows) {
		return
	}
	for i := range d.Workflows {
		w, plan := &d.Workflows[i], &o.Plan.Workflows[i]
		g := &w.Stats.Generator
		asked, want := g.Begun+g.Dropped+g.Missed, plan.VUs*uint64(plan.Duration/sim.ArrivalEvery)
		if w.State != message.WorkflowCompleted || plan.Duration == 0 || asked == want || asked < want && len(w.Lost) > 0 {
			continue
		}
		s.Checker.Violate("T8", s.Record(o.Client), "workflow %d of job %v in %s: %d iterations began, %d were not offered, the plan asks for %d", i, o.Job, d.Name, g.Begun+g.Dropped, g.Missed, want)
	}
}

// onRefused judges a rejection that says that the result is forgotten: only gates with a small
// bound may forget one that a client waits for.
func (s *Cluster) onRefused(o *Order, r *message.Refused) {
	if r.Code != message.CodeResultForgotten {
		return
	}
	o.forgotten, o.ended = true, s.World.Now()
	if !s.Forgets {
		s.Checker.Violate("P", s.Record(o.Client), "the result of job %v was forgotten before it was shown: %s", o.Job, r.Detail)
	}
}
