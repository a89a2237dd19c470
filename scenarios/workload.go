package scenarios

import (
	"fmt"
	"time"

	"hyperscale/checker"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// load is the stream of jobs that clients submit.
type load struct {
	every       time.Duration
	until       time.Duration
	vus         uint64
	cores       uint32
	duration    time.Duration
	cancels     uint64 // in parts per million of the jobs
	datacenters int    // each job names this many; 0: the gate chooses
	layers      bool   // every third job has a workflow that depends on another
}

// order is one job as its client sees it.
type order struct {
	key       string
	client    node.ID
	job       message.JobID
	acked     bool
	at        time.Duration // when it was
	ended     time.Duration // when its result was shown
	cancel    bool
	results   int
	forgotten bool             // no gate has its result any more, and it was told so
	shown     message.JobState // the last that it was told
	elapsed   time.Duration    // and how old the job was then
	plan      *message.Plan
	submit    *message.JobSubmit // until it is sent a world may change it
	judge     func(*message.Result)
}

// submitAll schedules the whole stream: the i-th job at i times every.
func (s *cluster) submitAll(l load) {
	n := 0
	for at := 2 * time.Second; at < l.until; at += l.every {
		n++
		o := &order{key: fmt.Sprintf("job-%d", n), client: s.clients[n%len(s.clients)]}
		o.cancel = s.rand.Chance(l.cancels, 1_000_000)
		submit := s.submission(o, l, n)
		delay := s.rand.Duration(0, 2*l.duration)
		s.orders = append(s.orders, o)
		s.world.At(at, func() { s.submit(o, submit, delay) })
	}
}

func (s *cluster) submission(o *order, l load, n int) *message.JobSubmit {
	plan := message.Plan{Source: "model.star", Workflows: []message.WorkflowPlan{workflowPlan("first", l, nil)}}
	if l.layers && n%3 == 0 {
		plan.Workflows = append(plan.Workflows, workflowPlan("second", l, []uint32{0}))
	}
	o.plan = &plan
	m := &message.JobSubmit{Key: o.key, Name: "model", Plan: plan,
		Program: message.Program{Main: "model.star", Files: []message.File{{Name: "model.star", Data: []byte("# " + o.key)}}}}
	o.submit = m
	first := s.rand.Int(s.topology.datacenters)
	for i := range l.datacenters {
		m.Datacenters = append(m.Datacenters, datacenter((first+i)%s.topology.datacenters))
	}
	return m
}

// workflowPlan is what the model executor runs.
func workflowPlan(name string, l load, depends []uint32) message.WorkflowPlan {
	return message.WorkflowPlan{
		Name: name, Test: true, VUs: l.vus, Duration: l.duration, Timeout: time.Second, Cores: l.cores,
		Depends: depends, Layer: uint32(len(depends)),
		Steps: []message.StepPlan{{Name: "home", Kind: message.StepRequest}},
	}
}

// submit plays one client: it submits, watches, and perhaps cancels. A client
// that crashed meanwhile has forgotten its watch; nobody asks again for it.
func (s *cluster) submit(o *order, m *message.JobSubmit, cancelAfter time.Duration) {
	if !s.world.Alive(o.client) {
		return
	}
	s.world.Command(o.client, m, func(answer node.Message) {
		if r, refused := answer.(*message.Refused); refused && s.served {
			s.checker.Violate("P", s.record(o.client), "submission %s was refused for good, and gates were there: %v: %s", o.key, r.Code, r.Detail)
		}
		ack, ok := answer.(*message.JobAck)
		if !ok || o.acked {
			return
		}
		o.acked, o.at, o.job = true, s.world.Now(), ack.Job
		s.checker.Acknowledged(s.record(o.client), ack.Job)
		s.watch(o)
		if o.cancel {
			s.world.At(s.world.Now()+cancelAfter, func() {
				if s.world.Alive(o.client) {
					s.world.Command(o.client, &message.JobCancel{Job: o.job}, func(node.Message) {})
				}
			})
		}
	})
}

func (s *cluster) watch(o *order) {
	if !s.world.Alive(o.client) {
		return
	}
	s.world.Command(o.client, &message.JobWatch{Job: o.job}, func(answer node.Message) {
		switch m := answer.(type) {
		case *message.JobStatus:
			if s.shown != nil {
				s.shown(o, m)
			}
			o.elapsed = m.Elapsed
			s.onStatus(o, m.State)
			s.onSubjobs(o, m.Datacenters)
		case *message.JobResult:
			s.onStatus(o, m.Result.State)
			s.onResult(o, &m.Result)
		case *message.Refused:
			s.onRefused(o, m)
		}
	})
}

// onStatus is what a person sees meanwhile: nothing that they saw is taken back.
func (s *cluster) onStatus(o *order, to message.JobState) {
	if progress(to) < progress(o.shown) || o.shown == message.JobCancelling && to.Terminal() && to != message.JobCancelled {
		s.checker.Violate("L", s.record(o.client), "job %v was shown as %v, then as %v", o.job, o.shown, to)
	}
	o.shown = to
}

// onParts is what a person sees of each datacenter: a subjob that has begun something
// names who did it, as a frame has room for all that these worlds run.
func (s *cluster) onSubjobs(o *order, subjobs []message.DatacenterResult) {
	s.checker.Told(s.record(o.client), o.job, subjobs)
	for i := range subjobs {
		d := &subjobs[i]
		for k := range d.Workflows {
			if len(d.Workflows[k].Stats.Steps) > 0 && len(d.Workers) == 0 {
				s.checker.Violate("T8", s.record(o.client), "job %v was shown what subjob %s does, %v, and none of its workers", o.job, d.Name, d.State)
				return
			}
		}
	}
}

// progress orders states as a person may see them follow each other: until it
// runs, a job may go back to the queue.
func progress(s message.JobState) int {
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

// onResult is what a person sees at the end: it comes once, is terminal, and
// its figures add up.
func (s *cluster) onResult(o *order, r *message.Result) {
	at := s.record(o.client)
	o.results++
	o.ended = s.world.Now()
	if o.results > 1 {
		s.checker.Violate("T8", at, "the result of job %v was delivered %d times to one watch", o.job, o.results)
	}
	if !r.State.Terminal() {
		s.checker.Violate("L", at, "the result of job %v says %v, which is no end", o.job, r.State)
	}
	if s.complete && r.State != message.JobCompleted && (s.excused == nil || !s.excused(o.job)) {
		s.checker.Violate("P", at, "job %v ended %v, and all jobs of this world can complete: %s", o.job, r.State, r.Error)
	}
	if o.judge != nil {
		o.judge(r)
	}
	var started uint64
	for _, w := range r.Workflows {
		for _, p := range w.Stats.Steps {
			started += p.Started
			if sum := p.OK + p.Failed + p.TimedOut + p.Cancelled; p.Started != sum {
				s.checker.Violate("T8", at, "job %v, step %s: %d started, but %d are accounted for", o.job, p.Name, p.Started, sum)
			}
		}
	}
	s.onSubjobs(o, r.Datacenters)
	s.checker.Delivered(at, checker.Delivery{Job: o.job, State: r.State, Subjobs: len(r.Datacenters), Started: started})
}

// onRefused is all that is left to say of a result that was forgotten: only gates that
// may keep no more than a few forget one that somebody waits for.
func (s *cluster) onRefused(o *order, r *message.Refused) {
	if r.Code != message.CodeResultForgotten {
		return
	}
	o.forgotten, o.ended = true, s.world.Now()
	if !s.forgets {
		s.checker.Violate("P", s.record(o.client), "the result of job %v was forgotten before it was told: %s", o.job, r.Detail)
	}
}
