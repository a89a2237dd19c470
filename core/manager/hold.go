package manager

import (
	"fmt"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/lease"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// onGranted begins to act for a subjob: a fresh one as its gate asked for it, or
// one that somebody held before, from its record.
func (m *Machine) onGranted(env node.Env, o *lease.Outcome) {
	c := m.claims[o.Job]
	delete(m.claims, o.Job)
	if c == nil {
		c = &subjob.Claim{} // acquired again by itself, after a promise against it
	}
	if old := m.subjobs[o.Job]; old != nil {
		m.lapse(env, old)
	}
	delete(m.gone, o.Job)
	delete(m.ended, o.Job)
	if o.Fresh && len(o.Record) == 0 {
		// It was to be taken over, but a majority has forgotten it: it ended long ago. A
		// gate that wants it begun anew asks again.
		m.group.Leases.Release(env, o.Job)
		return
	}
	if o.Fresh {
		m.begin(env, o, c)
		return
	}
	if file, ok := subjob.SpillOf(o.Record); ok {
		m.fetchSpill(env, o, c, file)
		return
	}
	m.takeOver(env, o.Job, o.Token.Packed(), c, o.Record)
}

// begin starts a subjob that nobody had before.
func (m *Machine) begin(env node.Env, o *lease.Outcome, c *subjob.Claim) {
	seed, err := subjob.Decode(o.Job, o.Record, env.Now())
	if err != nil {
		node.Bug("manager: the seed of job %v: %v", o.Job, err)
	}
	p := &subjob.Subjob{Job: o.Job, Gate: c.Gate, Epoch: seed.Epoch, File: c.File, Accepted: env.Now()}
	p.Fence = message.Fence{JobEpoch: p.Epoch, SubjobEpoch: o.Token.Packed()}
	m.install(env, p)
	p.Dispatch = c.Dispatch
	if c.Dispatch != nil {
		p.RunTimeout = c.Dispatch.RunTimeout
		p.Unfold()
		env.Emit(event.Acted{Shard: message.ShardID{Job: p.Job}, Subjob: true, Fence: p.Fence, What: "dispatch"})
		m.setRunTimeout(env, p)
	}
	p.State = message.JobQueued
	for _, f := range p.Workflows {
		f.State = message.WorkflowPending
	}
	m.announce(env, p)
	if c.Epoch() > p.Epoch {
		m.adoptEpoch(env, p, c.Epoch(), "dispatch") // it came meanwhile
	}
	if c.Cancel != nil {
		m.cancel(env, p, c.Cancel)
	}
	m.answer(env, p)
	m.beatAll(env)
	m.place(env)
}

func (m *Machine) setRunTimeout(env node.Env, p *subjob.Subjob) {
	left := p.RunTimeout - env.Now().Sub(p.Accepted)
	env.SetTimer(node.KeyID(node.PartManager, node.ManagerJob, p.Job), max(0, left))
}

// install puts a subjob among those that are held.
func (m *Machine) install(env node.Env, p *subjob.Subjob) {
	p.Granted = env.Now()
	m.subjobs[p.Job] = p
	m.ledger.Open(p.Job)
	m.order = append(m.order, p)
}

// lapse stops acting for a subjob that this manager holds no more. What runs goes on
// under whoever holds it next.
func (m *Machine) lapse(env node.Env, p *subjob.Subjob) {
	if m.subjobs[p.Job] != p {
		return
	}
	for _, f := range p.Workflows {
		for _, s := range f.Shards {
			m.detach(s)
		}
	}
	delete(m.subjobs, p.Job)
	m.order = slices.DeleteFunc(m.order, func(o *subjob.Subjob) bool { return o == p })
	m.ledger.Close(p.Job)
	env.CancelTimer(node.KeyID(node.PartManager, node.ManagerJob, p.Job))
}

// onVacant: a subjob's holder is silent for longer than its lease, or was this
// manager before it restarted, or hands it over.
func (m *Machine) onVacant(env node.Env, o *lease.Outcome) {
	if m.subjobs[o.Job] != nil || m.claims[o.Job] != nil || m.draining && len(m.successors()) > 0 {
		return
	}
	if len(m.subjobs)+len(m.claims) >= m.heldMax() {
		env.Emit(event.Shed{What: "takeover of job " + o.Job.String(), Why: fmt.Sprintf("%d subjobs are held here, which is the bound", len(m.subjobs))})
		return
	}
	m.claims[o.Job] = &subjob.Claim{Asked: true, Began: env.Now()}
	m.group.Leases.Acquire(env, o.Job, nil)
}
