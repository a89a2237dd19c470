package manager

import (
	"errors"
	"fmt"

	"hyperscale/core/event"
	"hyperscale/core/lease"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// onGranted starts to act for a subjob: a new one from its gate's order, or one that a manager
// held before, from its record.
func (m *tenure) onGranted(env node.Env, o *lease.Outcome) {
	c := m.claims[o.Job]
	delete(m.claims, o.Job)
	if c == nil {
		c = &subjob.Claim{} // the lease acquired it again, after a promise against it
	}
	if old := m.subjobs[o.Job]; old != nil {
		m.lapse(env, old)
	}
	delete(m.gone, o.Job)
	delete(m.ended, o.Job)
	if o.Fresh && len(o.Record) == 0 {
		// This manager wanted to take it over, but a majority has forgotten it: it ended long
		// ago. A gate that wants to start it again asks again.
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
	m.takeOver(env, o.Job, o.Token.Packed(), c, o.Record, m.group.Leases.Written(env.Now(), o.Job, o.Record))
}

// begin starts a new subjob.
func (m *tenure) begin(env node.Env, o *lease.Outcome, c *subjob.Claim) {
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
		m.adoptEpoch(env, p, c.Epoch(), "dispatch") // a later order arrived meanwhile
	}
	if c.Cancel != nil {
		m.cancel(env, p, c.Cancel)
	}
	m.answer(env, p)
	m.beatAll(env)
	m.place(env)
}

// onVacant takes over a subjob without a holder: the holder is silent for longer than its
// lease, was this manager before its restart, or hands the subjob over.
func (m *tenure) onVacant(env node.Env, o *lease.Outcome) {
	if m.subjobs[o.Job] != nil || m.claims[o.Job] != nil || m.draining && len(m.successors()) > 0 {
		return
	}
	if len(m.subjobs)+len(m.claims) >= m.heldMax() {
		env.Emit(event.Shed{Reason: event.ShedBound, What: "takeover of job " + o.Job.String(), Why: fmt.Sprintf("%d subjobs are held here, which is the bound", len(m.subjobs))})
		return
	}
	m.claims[o.Job] = &subjob.Claim{Asked: true, Began: env.Now()}
	m.group.Leases.Acquire(env, o.Job, nil)
}

// onSweep forgets what has ended. Some time after its release a register becomes a tombstone, one
// that tells of no subjob at once, and the manager deletes files that no register names.
func (m *tenure) onSweep(env node.Env) {
	env.SetTimer(node.Key(node.PartManager, node.ManagerSweep), m.config.SweepInterval)
	m.giveUpResults(env)
	m.rewriteOrder(env)
	used, unknown := map[message.FileDigest]bool{}, !m.group.Leases.Speaks()
	for _, job := range m.group.Leases.Known() {
		sight, ok := m.group.Leases.Seen(env.Now(), job)
		if !ok {
			continue
		}
		if sight.Released && len(sight.Record) == 0 {
			m.group.Leases.Forget(env, job)
			delete(m.ended, job)
			continue
		}
		if !sight.Released {
			if sight.Holder != env.Self().Addr { // otherwise its release is not on this manager's own disk yet
				delete(m.ended, job)
			}
		} else if since, known := m.ended[job]; !known {
			m.remember(env, job)
		} else if env.Now().Sub(since) >= m.config.Retention {
			m.group.Leases.Forget(env, job)
			delete(m.ended, job)
			continue
		}
		if !m.use(env, used, sight.Record) {
			unknown = true
		}
	}
	for len(m.ended) > m.config.FinishedMax {
		m.forgetOldest(env)
	}
	for _, p := range m.order {
		for _, f := range p.Files() {
			used[f] = true
		}
	}
	//lint:orderfree each entry goes or stays by itself
	for job, since := range m.gone {
		if env.Now().Sub(since) >= m.config.Retention {
			delete(m.gone, job)
		}
	}
	if m.group.Leases.Speaks() {
		m.group.Files.Mend(env, used)
	}
	if !unknown {
		m.group.Files.Sweep(env, used)
	}
	m.sweepStrays(env)
}

// mend fetches the files that this manager's registers name and that it lacks. An early sweep
// fetches those behind a record that is itself a file.
func (m *tenure) mend(env node.Env) {
	used := map[message.FileDigest]bool{}
	for _, job := range m.group.Leases.Known() {
		if sight, ok := m.group.Leases.Seen(env.Now(), job); ok && !m.use(env, used, sight.Record) {
			env.SetTimer(node.Key(node.PartManager, node.ManagerSweep), m.config.Retry)
		}
	}
	m.group.Files.Mend(env, used)
}

// onWaiting handles a majority that has not answered in time. The manager rejects a gate's
// order, and the gate asks again or asks another manager. For a vacancy it keeps trying.
func (m *tenure) onWaiting(env node.Env, o *lease.Outcome) {
	c := m.claims[o.Job]
	if c == nil || c.Gate == "" {
		return
	}
	code := message.CodeQuorumUnavailable
	switch {
	case errors.Is(o.Err, lease.ErrQuorumTimeout):
		code = message.CodeQuorumTimeout
	case errors.Is(o.Err, lease.ErrNotMember):
		code = message.CodeNotMember
	}
	m.dropClaim(env, o.Job, code, "acquire the subjob: "+o.Err.Error())
}

// onDenied handles a register that another manager holds. A vacancy needs no answer.
func (m *tenure) onDenied(env node.Env, o *lease.Outcome) {
	c := m.claims[o.Job]
	if c == nil {
		return
	}
	delete(m.claims, o.Job)
	m.group.Leases.Abandon(env, o.Job)
	l := m.gates.To(c.Gate)
	if l == nil || !l.Stands {
		return
	}
	fence := message.Fence{JobEpoch: c.Epoch()}
	if o.Holder != "" && o.Holder != env.Self().Addr {
		m.refuseHolder(env, l, o.Job, fence, o.Holder)
	}
}
