package manager

import (
	"fmt"

	"hyperscale/core/event"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// fetchSpill brings a record that is kept as a file. Until it is here nothing can
// be done with the subjob; without it nobody can.
func (m *Machine) fetchSpill(env node.Env, o *lease.Outcome, c *claim, file message.FileDigest) {
	token := o.Token
	empty := &subjob{job: o.Job, fence: message.Fence{SubjobEpoch: token.Packed()}, missing: 1, orders: c, state: message.JobQueued}
	m.install(env, empty)
	outcome := *o
	m.fetch(env, file, func(env node.Env, bytes []byte, err error) {
		if m.subjobs[outcome.Job] != empty || !m.holds(env, empty) {
			return
		}
		if err != nil {
			m.handBack(env, empty, err)
			return
		}
		m.lapse(env, empty)
		m.takeOver(env, &outcome, c, bytes)
	})
}

// handBack gives up a register whose files this manager cannot get: another one
// may. Nothing ran here.
func (m *Machine) handBack(env node.Env, p *subjob, err error) {
	env.Emit(event.StoreFailed{What: "fetch what job " + p.job.String() + " stands on", Err: err.Error()})
	m.lapse(env, p)
	m.leases.Abandon(env, p.job)
}

// takeOver goes on with a subjob that somebody held before, this manager's former
// incarnation or another one, from its record.
func (m *Machine) takeOver(env node.Env, o *lease.Outcome, c *claim, record []byte) {
	p, err := decodeSubjob(o.Job, record, env.Now())
	if err != nil {
		env.Emit(event.StoreFailed{What: "take over job " + o.Job.String(), Err: err.Error()})
		m.leases.Abandon(env, o.Job)
		return
	}
	p.fence.SubjobEpoch = o.Token.Packed()
	m.install(env, p)
	m.reopen(env, p)
	m.gather(env, p, c)
	if m.subjobs[p.job] == p {
		m.beatAll(env)
		if p.missing > 0 { // else gathered has done so
			m.meetAll(env)
		}
	}
}

// reopen sets how the shards stand that may run under a former holder: whoever
// reports one goes on with it; nobody is given it before its worker has stopped
// by itself.
func (m *Machine) reopen(env node.Env, p *subjob) {
	until := p.granted.Add(m.config.patience())
	for _, f := range p.workflows {
		f.state = message.WorkflowPending
		if f.end == message.WorkflowNone && f.cut {
			f.ready = env.Now()
		}
		for _, s := range f.shards {
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

// gather brings the files that a subjob's record names; with the last of them it is
// whole.
func (m *Machine) gather(env node.Env, p *subjob, c *claim) {
	p.missing = 1
	if p.kept != (message.FileDigest{}) {
		m.bring(env, p, c, p.kept, func(b message.Body) bool {
			r, ok := b.(*message.SubjobResult)
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
			for _, s := range f.shards {
				if s.kept == nil {
					continue
				}
				m.bring(env, p, c, s.kept.file, func(b message.Body) bool {
					r, ok := b.(*message.ShardResult)
					s.result = r
					return ok
				})
			}
		}
	}
	m.gathered(env, p, c)
}

func (m *Machine) bring(env node.Env, p *subjob, c *claim, file message.FileDigest, take func(message.Body) bool) {
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
		if m.subjobs[p.job] != p || !m.holds(env, p) {
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

// gathered makes a subjob that is whole go on.
func (m *Machine) gathered(env node.Env, p *subjob, c *claim) {
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
	case c.cancel != nil && c.cancel.Fence.JobEpoch < max(p.epoch, p.fence.JobEpoch):
		// Whoever gave it has been passed, as the record says.
		if l := m.gates.To(c.gate); l != nil && l.Stands {
			m.refuseStale(env, l, p.job, c.cancel.Fence, p, "cancel")
		}
		m.answer(env, p)
	case c.cancel != nil:
		m.cancel(env, p, c.cancel)
	case c.epoch() > p.fence.JobEpoch:
		p.gate = c.gate
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
func (m *Machine) derive(env node.Env, p *subjob) {
	p.state = message.JobQueued
	for _, f := range p.workflows {
		for _, s := range f.shards {
			if s.result != nil && s.kept.why == "" {
				s.why = s.result.Error
			}
			if s.state == message.WorkflowFailed && f.failure == "" && f.end == message.WorkflowNone {
				f.failure = cmpReason(s.why)
			}
			if s.kept != nil || s.state == message.WorkflowRunning { // adopted while the files were on their way
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
		p.recorded, p.finished, p.state = true, env.Now(), p.result.Subjob.State
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
func (m *Machine) resume(env node.Env, p *subjob) {
	if p.dispatch == nil { // its cancellation came first
		m.finish(env, p)
		return
	}
	for _, f := range p.workflows {
		if f.end != message.WorkflowNone {
			continue
		}
		if len(f.shards) > 0 {
			m.endWhenAllEnded(env, f)
		}
		if f.end == message.WorkflowNone && f.stopping() {
			m.stopWorkflow(env, f)
		}
	}
	m.finishWhenEnded(env, p)
}
