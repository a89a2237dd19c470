package manager

import (
	"fmt"

	"hyperscale/core/event"
	"hyperscale/core/lease"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// fetchSpill brings a record that is kept as a file. Until it is here nothing can
// be done with the subjob; without it nobody can.
func (m *Machine) fetchSpill(env node.Env, o *lease.Outcome, c *subjob.Claim, file message.FileDigest) {
	token := o.Token
	empty := &subjob.Subjob{Job: o.Job, Fence: message.Fence{SubjobEpoch: token.Packed()}, Missing: 1, Orders: c, State: message.JobQueued}
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
func (m *Machine) handBack(env node.Env, p *subjob.Subjob, err error) {
	env.Emit(event.StoreFailed{What: "fetch what job " + p.Job.String() + " stands on", Err: err.Error()})
	m.lapse(env, p)
	m.group.Leases.Abandon(env, p.Job)
}

// takeOver goes on with a subjob that somebody held before, this manager's former
// incarnation or another one, from its record.
func (m *Machine) takeOver(env node.Env, o *lease.Outcome, c *subjob.Claim, record []byte) {
	p, err := subjob.Decode(o.Job, record, env.Now())
	if err != nil {
		env.Emit(event.StoreFailed{What: "take over job " + o.Job.String(), Err: err.Error()})
		m.group.Leases.Abandon(env, o.Job)
		return
	}
	p.Fence.SubjobEpoch = o.Token.Packed()
	m.install(env, p)
	until := p.Granted.Add(m.config.patience())
	p.Reopen(env.Now(), until)
	m.wake(env, until)
	m.gather(env, p, c)
	if m.subjobs[p.Job] == p {
		m.beatAll(env)
		if p.Missing > 0 { // else gathered has done so
			m.meetAll(env)
		}
	}
}

// gather brings the files that a subjob's record names; with the last of them it is
// whole.
func (m *Machine) gather(env node.Env, p *subjob.Subjob, c *subjob.Claim) {
	p.Missing = 1
	if p.Kept != (message.FileDigest{}) {
		m.bring(env, p, c, p.Kept, func(b message.Body) bool {
			r, ok := b.(*message.SubjobResult)
			p.Result = r
			return ok
		})
	} else {
		if p.File != (message.FileDigest{}) {
			m.bring(env, p, c, p.File, func(b message.Body) bool {
				d, ok := b.(*message.JobDispatch)
				p.Dispatch = d
				return ok && (len(p.Workflows) == 0 || len(p.Workflows) == len(d.Plan.Workflows))
			})
		}
		for _, f := range p.Workflows {
			for _, s := range f.Shards {
				if s.Kept == nil {
					continue
				}
				m.bring(env, p, c, s.Kept.File, func(b message.Body) bool {
					r, ok := b.(*message.ShardResult)
					s.Result = r
					return ok
				})
			}
		}
	}
	m.gathered(env, p, c)
}

func (m *Machine) bring(env node.Env, p *subjob.Subjob, c *subjob.Claim, file message.FileDigest, take func(message.Body) bool) {
	use := func(bytes []byte) error {
		body, err := message.Decode(bytes)
		if err == nil && !take(body) {
			err = subjob.ErrRecord
		}
		return err
	}
	if bytes, ok := m.group.Files.Have(file); ok && use(bytes) == nil {
		return
	}
	p.Missing++
	m.fetch(env, file, func(env node.Env, bytes []byte, err error) {
		if m.subjobs[p.Job] != p || !m.holds(env, p) {
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
func (m *Machine) gathered(env node.Env, p *subjob.Subjob, c *subjob.Claim) {
	if p.Missing--; p.Missing > 0 {
		return
	}
	if p.Dispatch != nil {
		if len(p.Workflows) == 0 {
			p.Unfold()
			for _, f := range p.Workflows {
				f.State = message.WorkflowPending
			}
		}
		p.Bind()
	}
	p.Derive(env.Now())
	m.announce(env, p)
	switch {
	case c.Cancel != nil && c.Cancel.Fence.JobEpoch < max(p.Epoch, p.Fence.JobEpoch):
		// Whoever gave it has been passed, as the record says.
		if l := m.gates.To(c.Gate); l != nil && l.Stands {
			m.refuseStale(env, l, p.Job, c.Cancel.Fence, p, "cancel")
		}
		m.answer(env, p)
	case c.Cancel != nil:
		m.cancel(env, p, c.Cancel)
	case c.Epoch() > p.Fence.JobEpoch:
		p.Gate = c.Gate
		m.adoptEpoch(env, p, c.Epoch(), "dispatch")
	default:
		m.answer(env, p)
	}
	if p.Result == nil {
		m.setRunTimeout(env, p)
		m.resume(env, p)
	}
	m.meetAll(env)
	m.place(env)
}

// resume goes on where the record stops.
func (m *Machine) resume(env node.Env, p *subjob.Subjob) {
	if p.Dispatch == nil { // its cancellation came first
		m.finish(env, p)
		return
	}
	for _, f := range p.Workflows {
		if f.End != message.WorkflowNone {
			continue
		}
		if len(f.Shards) > 0 {
			m.endWhenAllEnded(env, f)
		}
		if f.End == message.WorkflowNone && f.Stopping() {
			m.stopWorkflow(env, f)
		}
	}
	m.finishWhenEnded(env, p)
}
