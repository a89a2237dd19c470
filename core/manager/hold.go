package manager

import (
	"fmt"
	"slices"

	"hyperscale/core/archive"
	"hyperscale/core/event"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// onGranted begins to act for a part: a fresh one as its gate asked for it, or
// one that somebody held before, from its record.
func (m *Machine) onGranted(env node.Env, o *lease.Outcome) {
	c := m.claims[o.Job]
	delete(m.claims, o.Job)
	if c == nil {
		c = &claim{} // acquired again by itself, after a promise against it
	}
	if old := m.parts[o.Job]; old != nil {
		m.lapse(env, old)
	}
	delete(m.gone, o.Job)
	if o.Fresh && c.gate != "" {
		m.begin(env, o, c)
		return
	}
	if file, ok := spillOf(o.Record); ok {
		m.fetchSpill(env, o, c, file)
		return
	}
	m.takeOver(env, o, c, o.Record)
}

// begin starts a part that nobody had before.
func (m *Machine) begin(env node.Env, o *lease.Outcome, c *claim) {
	p := &part{job: o.Job, gate: c.gate, epoch: c.epoch(), file: c.file, accepted: env.Now()}
	p.fence = message.Fence{Job: p.epoch, Manager: o.Token.Packed()}
	p.deadline = c.began.Add(m.config.hold(m.config.DatacenterLease))
	m.install(env, p)
	p.dispatch = c.dispatch
	if c.dispatch != nil {
		p.runTimeout = c.dispatch.RunTimeout
		m.unfold(p)
		env.Emit(event.Acted{Slice: message.SliceID{Job: p.job}, Part: true, Fence: p.fence, What: "dispatch"})
		m.setRunTimeout(env, p)
	}
	p.state = message.JobQueued
	for _, f := range p.workflows {
		f.state = message.WorkflowPending
	}
	m.announce(env, p)
	if c.cancel != nil {
		m.cancel(env, p, c.cancel)
	}
	m.answer(env, p)
	m.beatAll(env)
	m.place(env)
}

func (m *Machine) setRunTimeout(env node.Env, p *part) {
	left := p.runTimeout - env.Now().Sub(p.accepted)
	env.SetTimer(node.KeyID(node.PartManager, node.ManagerJob, p.job), max(0, left))
}

// install puts a part among those that are held.
func (m *Machine) install(env node.Env, p *part) {
	p.granted = env.Now()
	m.parts[p.job] = p
	m.order = append(m.order, p)
}

// fetchSpill brings a record that is kept as a file. Until it is here nothing can
// be done with the part; without it nobody can.
func (m *Machine) fetchSpill(env node.Env, o *lease.Outcome, c *claim, file message.FileDigest) {
	token := o.Token
	stub := &part{job: o.Job, fence: message.Fence{Manager: token.Packed()}, missing: 1, state: message.JobQueued}
	m.install(env, stub)
	outcome := *o
	m.fetch(env, file, func(env node.Env, bytes []byte, err error) {
		if m.parts[outcome.Job] != stub || !m.holds(env, stub) {
			return
		}
		if err != nil {
			m.handBack(env, stub, err)
			return
		}
		m.lapse(env, stub)
		m.takeOver(env, &outcome, c, bytes)
	})
}

// handBack gives up a register whose files this manager cannot get: another one
// may. Nothing ran here.
func (m *Machine) handBack(env node.Env, p *part, err error) {
	env.Emit(event.StoreFailed{What: "fetch what job " + p.job.String() + " stands on", Err: err.Error()})
	m.lapse(env, p)
	m.leases.Abandon(env, p.job)
}

// takeOver goes on with a part that somebody held before, this manager's former
// incarnation or another one, from its record.
func (m *Machine) takeOver(env node.Env, o *lease.Outcome, c *claim, record []byte) {
	p, err := decodePart(o.Job, record, env.Now())
	if err != nil {
		env.Emit(event.StoreFailed{What: "take over job " + o.Job.String(), Err: err.Error()})
		m.leases.Abandon(env, o.Job)
		return
	}
	p.fence.Manager = o.Token.Packed()
	m.inherit(env, p, o.Record)
	m.install(env, p)
	m.reopen(env, p)
	m.gather(env, p, c)
	if m.parts[p.job] == p {
		m.beatAll(env)
		m.meetAll(env)
	}
}

// reopen sets how the slices stand that may run under a former holder: whoever
// reports one goes on with it; nobody is given it before its worker has stopped
// by itself.
func (m *Machine) reopen(env node.Env, p *part) {
	until := p.granted.Add(m.config.patience())
	for _, f := range p.workflows {
		f.state = message.WorkflowPending
		if f.end == message.WorkflowNone && f.cut {
			f.ready = env.Now()
		}
		for _, s := range f.slices {
			s.state = message.WorkflowPending
			s.notBefore, s.renewed = until, p.granted
			switch {
			case s.kept != nil:
				s.state, s.why, s.written = s.kept.state, s.kept.why, true
			case s.end != message.WorkflowNone:
				s.state = s.end
			default:
				s.open = f.end == message.WorkflowNone
			}
		}
	}
	m.wake(env, until)
}

// gather brings the files that a part's record names; with the last of them it is
// whole.
func (m *Machine) gather(env node.Env, p *part, c *claim) {
	p.missing = 1
	if p.kept != (message.FileDigest{}) {
		m.bring(env, p, c, p.kept, func(b message.Body) bool {
			r, ok := b.(*message.PartResult)
			p.result = r
			return ok
		})
	} else {
		if p.file != (message.FileDigest{}) {
			m.bring(env, p, c, p.file, func(b message.Body) bool {
				d, ok := b.(*message.JobDispatch)
				p.dispatch = d
				return ok && (len(p.workflows) == 0 || len(p.workflows) == len(d.Plan.Workflows))
			})
		}
		for _, f := range p.workflows {
			for _, s := range f.slices {
				if s.kept == nil {
					continue
				}
				m.bring(env, p, c, s.kept.file, func(b message.Body) bool {
					r, ok := b.(*message.SliceResult)
					s.result = r
					return ok
				})
			}
		}
	}
	m.gathered(env, p, c)
}

func (m *Machine) bring(env node.Env, p *part, c *claim, file message.FileDigest, take func(message.Body) bool) {
	use := func(bytes []byte) error {
		body, err := message.Decode(bytes)
		if err == nil && !take(body) {
			err = errRecord
		}
		return err
	}
	if bytes, ok := m.files.Have(file); ok && use(bytes) == nil {
		return
	}
	p.missing++
	m.fetch(env, file, func(env node.Env, bytes []byte, err error) {
		if m.parts[p.job] != p || !m.holds(env, p) {
			return
		}
		if err == nil {
			err = use(bytes)
		}
		if err != nil {
			m.handBack(env, p, fmt.Errorf("file %v: %w", file, err))
			return
		}
		m.gathered(env, p, c)
	})
}

// gathered makes a part that is whole go on.
func (m *Machine) gathered(env node.Env, p *part, c *claim) {
	if p.missing--; p.missing > 0 {
		return
	}
	if p.dispatch != nil {
		if len(p.workflows) == 0 {
			m.unfold(p)
			for _, f := range p.workflows {
				f.state = message.WorkflowPending
			}
		}
		m.bind(p)
	}
	m.derive(env, p)
	m.announce(env, p)
	switch {
	case c.cancel != nil:
		m.cancel(env, p, c.cancel)
	case c.epoch() > p.fence.Job:
		p.gate = c.gate
		m.extend(env, p, c.began)
		m.adoptEpoch(env, p, c.epoch(), "dispatch")
	default:
		m.answer(env, p)
	}
	if p.result == nil {
		m.setRunTimeout(env, p)
		m.resume(env, p)
	}
	m.meetAll(env)
	m.place(env)
}

// derive sets the states that follow from what a record says.
func (m *Machine) derive(env node.Env, p *part) {
	p.state = message.JobQueued
	for _, f := range p.workflows {
		for _, s := range f.slices {
			if s.result != nil && s.kept.why == "" {
				s.why = s.result.Error
			}
			if s.state == message.WorkflowFailed && f.failure == "" && f.end == message.WorkflowNone {
				f.failure = cmpReason(s.why)
			}
			if s.kept != nil {
				f.state, p.state = message.WorkflowRunning, message.JobRunning
			}
		}
		if f.end != message.WorkflowNone {
			if f.end == message.WorkflowCompleted {
				p.state = message.JobRunning
			}
			f.state = f.end
			f.stats, _ = f.total()
		}
	}
	if p.stop == message.JobCancelled {
		p.state = message.JobCancelling
	}
	if p.result != nil {
		p.recorded, p.finished, p.state = true, env.Now(), p.result.Part.State
		m.restamp(p)
	}
}

func cmpReason(why string) string {
	if why == "" {
		return "it failed without a reason"
	}
	return why
}

// resume goes on where the record stops.
func (m *Machine) resume(env node.Env, p *part) {
	if p.dispatch == nil { // its cancellation came first
		m.finish(env, p)
		return
	}
	for _, f := range p.workflows {
		if f.end != message.WorkflowNone {
			continue
		}
		if len(f.slices) > 0 {
			m.endWhenAllEnded(env, f)
		}
		if f.end == message.WorkflowNone && f.stopping() {
			m.stopWorkflow(env, f)
		}
	}
	m.finishWhenEnded(env, p)
}

// announce tells observers how a part stands under its present fence, from the
// beginning: nobody can know what was told of it elsewhere.
func (m *Machine) announce(env node.Env, p *part) {
	from := message.JobNone
	for _, to := range pathOfPart(p.state) {
		env.Emit(event.PartChanged{Job: p.job, Fence: p.fence, From: from, To: to})
		from = to
	}
	for _, f := range p.workflows {
		was := message.WorkflowNone
		for _, to := range pathOfWorkflow(f.state) {
			if to.Terminal() {
				m.announceCounted(env, f)
			}
			env.Emit(event.WorkflowChanged{Job: p.job, Fence: p.fence, Workflow: f.index, From: was, To: to, Reason: f.failure})
			was = to
		}
		if !f.state.Terminal() {
			m.announceCounted(env, f)
		}
	}
	m.touch(env, p)
}

func (m *Machine) announceCounted(env node.Env, f *workflow) {
	for _, s := range f.slices {
		if s.kept != nil && s.state.Terminal() {
			m.tellCounted(env, s)
		}
	}
}

// lapse stops acting for a part that this manager holds no more. What runs goes on
// under whoever holds it next.
func (m *Machine) lapse(env node.Env, p *part) {
	if m.parts[p.job] != p {
		return
	}
	for _, f := range p.workflows {
		for _, s := range f.slices {
			m.detach(s)
		}
	}
	delete(m.parts, p.job)
	m.order = slices.DeleteFunc(m.order, func(o *part) bool { return o == p })
	p.waits = nil
	env.CancelTimer(node.KeyID(node.PartManager, node.ManagerJob, p.job))
}

// onVacant: a part's holder is silent for longer than its lease, or was this
// manager before it restarted, or hands it over.
func (m *Machine) onVacant(env node.Env, o *lease.Outcome) {
	if m.parts[o.Job] != nil || m.claims[o.Job] != nil || m.draining {
		return
	}
	m.claims[o.Job] = &claim{asked: true, began: env.Now()}
	m.leases.Acquire(env, o.Job, nil)
}

// keep stores a file on a majority, then goes on.
func (m *Machine) keep(env node.Env, bytes []byte, then func(node.Env, error)) message.FileDigest {
	m.ticket++
	m.keeps[m.ticket] = then
	return m.files.Keep(env, bytes, m.ticket)
}

func (m *Machine) fetch(env node.Env, file message.FileDigest, then func(node.Env, []byte, error)) {
	m.ticket++
	m.fetches[m.ticket] = func(env node.Env, o *archive.Outcome) { then(env, o.Bytes, o.Err) }
	m.files.Fetch(env, file, m.ticket)
}
