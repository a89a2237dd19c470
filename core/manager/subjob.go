package manager

import (
	"fmt"

	"hyperscale/core/event"
	"hyperscale/core/lease"
	"hyperscale/core/manager/roster"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/plan"
	"hyperscale/core/uplink"
)

func (m *Machine) onJobDispatch(env node.Env, l *uplink.Link, d *message.JobDispatch) {
	if p := m.subjobs[d.Job]; p != nil {
		m.again(env, l, p, d)
		return
	}
	if c := m.claims[d.Job]; c != nil && c.Gate != "" {
		if c.Epoch() <= d.Fence.JobEpoch {
			c.Gate = l.Addr
			if c.Dispatch != nil {
				c.Dispatch = d
			}
		}
		return // the answer follows with the register
	}
	if holder, ok := m.elsewhere(env, d.Job); ok {
		m.refuseHolder(env, l, d.Job, d.Fence, holder)
		return
	}
	if code, why := m.unfit(d); code != message.CodeNone {
		m.refuse(env, l, d, code, why)
		return
	}
	c := &subjob.Claim{Gate: l.Addr, Dispatch: d, Keeping: true, Began: env.Now()}
	if old := m.claims[d.Job]; old != nil {
		c.Asked = old.Asked
	}
	m.claims[d.Job] = c
	c.File = m.ledger.Keep(env, d.Job, encode(d), tag{step: claimKept, claim: c, dispatch: d})
}

// onClaimKept acquires the register of a subjob whose dispatch a majority has.
func (m *Machine) onClaimKept(env node.Env, c *subjob.Claim, d *message.JobDispatch, err error) {
	if m.claims[d.Job] != c {
		return
	}
	c.Keeping = false
	if err != nil {
		m.dropClaim(env, d.Job, message.CodeStoreFull, "keep the subjob's file: "+err.Error())
		return
	}
	m.acquire(env, d.Job, c, (&subjob.Subjob{
		Job: d.Job, Epoch: d.Fence.JobEpoch, Gate: c.Gate, File: c.File, Accepted: env.Now(), RunTimeout: d.RunTimeout,
	}).Record(env.Now()))
}

func (m *Machine) acquire(env node.Env, job message.JobID, c *subjob.Claim, seed []byte) {
	c.Asked = true
	m.group.Leases.Acquire(env, job, seed)
}

// elsewhere says who holds a subjob's register, as far as this manager's own
// acceptor knows.
func (m *Machine) elsewhere(env node.Env, job message.JobID) (node.Addr, bool) {
	sight, ok := m.group.Leases.Seen(env.Now(), job)
	if !ok || sight.Released || sight.Left <= 0 || sight.Holder == env.Self().Addr || sight.Holder == "" {
		return "", false
	}
	return sight.Holder, true
}

// again answers an order for a subjob that is held here: one of a later epoch of the
// job is adopted once that is recorded.
func (m *Machine) again(env node.Env, l *uplink.Link, p *subjob.Subjob, d *message.JobDispatch) {
	if !m.holds(env, p) {
		return // the gate asks again, whoever holds it by then
	}
	if c := p.Orders; c != nil {
		if c.Epoch() <= d.Fence.JobEpoch {
			c.Gate, c.Dispatch = l.Addr, d
		}
		return
	}
	if d.Fence.JobEpoch < max(p.Epoch, p.Fence.JobEpoch) {
		m.refuseStale(env, l, d.Job, d.Fence, p, "dispatch")
		return
	}
	if d.Fence.Attempt != 0 {
		m.refuse(env, l, d, message.CodeBadPlan, fmt.Sprintf("fence = %v is none of a subjob: its attempt is 0", d.Fence))
		return
	}
	p.Gate = l.Addr
	if d.Fence.JobEpoch == p.Fence.JobEpoch {
		m.answer(env, p)
		return
	}
	m.adoptEpoch(env, p, d.Fence.JobEpoch, "dispatch")
}

// answer tells a subjob's gate that it is here, and its end if it has ended.
func (m *Machine) answer(env node.Env, p *subjob.Subjob) {
	if l := m.gates.To(p.Gate); l != nil && l.Stands {
		env.Send(l.Stream, &message.JobAccepted{Job: p.Job, Fence: p.Fence})
	}
	m.tell(env, p)
}

// adoptEpoch goes on under a later epoch of the job, once a majority has it. What
// runs goes on under the fence that it was dispatched with.
func (m *Machine) adoptEpoch(env node.Env, p *subjob.Subjob, epoch uint64, what string) {
	if epoch <= p.Epoch && p.Epoch > p.Fence.JobEpoch {
		return // it is on its way
	}
	p.Epoch = max(p.Epoch, epoch)
	m.commit(p, tag{step: epochAdopted, subjob: p, epoch: epoch, why: what})
}

// onEpochAdopted: a majority has the later epoch.
func (m *Machine) onEpochAdopted(env node.Env, p *subjob.Subjob, epoch uint64, what string) {
	if epoch <= p.Fence.JobEpoch {
		return
	}
	p.Fence.JobEpoch = epoch
	env.Emit(event.Acted{Shard: message.ShardID{Job: p.Job}, Subjob: true, Fence: p.Fence, What: what})
	if p.Result != nil {
		p.Restamp()
	}
	if what == "result" {
		m.tell(env, p)
	} else {
		m.answer(env, p)
	}
}

func (m *Machine) unfit(d *message.JobDispatch) (message.Code, string) {
	if code, why := m.room(); code != message.CodeNone {
		return code, why
	}
	if why := badPlan(d); why != "" {
		return message.CodeBadPlan, why
	}
	return message.CodeNone, ""
}

// room says why no subjob can be taken, whatever it is.
func (m *Machine) room() (message.Code, string) {
	switch {
	case m.draining:
		return message.CodeDraining, "this manager is being stopped"
	case m.unfinished() >= m.config.SubjobsMax:
		return message.CodeQueueFull, fmt.Sprintf("%d jobs are under way here, which is the bound", m.config.SubjobsMax)
	case m.ledger.Keeping() >= filesMax():
		return message.CodeStoreFull, fmt.Sprintf("%d files wait for a majority of the managers", m.ledger.Keeping())
	}
	return message.CodeNone, ""
}

func (m *Machine) unfinished() int {
	n := len(m.claims)
	for _, p := range m.order {
		if p.Stage != subjob.Acknowledged {
			n++
		}
	}
	return n
}

// badPlan names all that is wrong with a dispatch. Nothing below has to ask again: the
// gate may be of another version, or its bytes of another program.
func badPlan(d *message.JobDispatch) string {
	var faults []plan.Fault
	if d.Fence.JobEpoch == 0 || d.Fence.Attempt != 0 {
		faults = append(faults, plan.Fault{Key: "fence", Value: d.Fence.String(), Bound: "have a job's epoch of at least 1 and no attempt", Remedy: "dispatch under the fence of the job's subjob"})
	}
	if d.RunTimeout <= 0 {
		faults = append(faults, plan.Fault{Key: "run_timeout", Value: d.RunTimeout.String(), Bound: "be above 0s", Remedy: "dispatch a job before its time is over"})
	}
	return plan.Text(append(faults, plan.Check(&d.Plan)...))
}

func (m *Machine) refuse(env node.Env, l *uplink.Link, d *message.JobDispatch, code message.Code, why string) {
	env.Emit(event.Shed{What: "dispatch of job " + d.Job.String(), Why: why})
	env.Send(l.Stream, &message.JobRefused{Job: d.Job, Fence: d.Fence, Code: code, Detail: why})
}

func (m *Machine) refuseStale(env node.Env, l *uplink.Link, id message.JobID, got message.Fence, p *subjob.Subjob, what string) {
	current := p.Fence
	current.JobEpoch = max(current.JobEpoch, p.Epoch)
	env.Emit(event.FenceRefused{Shard: message.ShardID{Job: id}, Subjob: true, Got: got, Current: current, What: what})
	env.Send(l.Stream, &message.JobRefused{Job: id, Fence: got, Code: message.CodeStaleFence, Detail: "a higher fence was seen", Current: current})
}

func (m *Machine) refuseHolder(env node.Env, l *uplink.Link, id message.JobID, got message.Fence, holder node.Addr) {
	env.Send(l.Stream, &message.JobRefused{Job: id, Fence: got, Code: message.CodeNotOwner, Detail: "the manager at " + string(holder) + " owns this subjob", Holder: string(holder)})
}

// dropClaim gives a claim up and tells its gate why.
func (m *Machine) dropClaim(env node.Env, job message.JobID, code message.Code, why string) {
	c := m.claims[job]
	delete(m.claims, job)
	if c.Asked {
		m.group.Leases.Abandon(env, job)
	}
	if l := m.gates.To(c.Gate); l != nil && l.Stands && c.Dispatch != nil {
		m.refuse(env, l, c.Dispatch, code, why)
	}
}

// onDenied: another manager holds the subjob. A vacancy is simply over.
func (m *Machine) onDenied(env node.Env, o *lease.Outcome) {
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

// detach takes a shard off its worker, which it returns, or nil.
func (m *Machine) detach(s *subjob.Shard) *roster.Worker {
	m.roster.Take(s.Worker, s.ID, s.Fence)
	return m.roster.Of(s.Worker)
}
