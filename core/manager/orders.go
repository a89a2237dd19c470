package manager

import (
	"fmt"
	"maps"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/plan"
	"hyperscale/core/uplink"
)

// onSubjobAbort ends one workflow of a subjob, once the abort is on a majority. Gates
// repeat an abort until they hear of an end, at whichever manager holds the subjob then.
func (m *gateSide) onSubjobAbort(env node.Env, l *uplink.Link, a *message.SubjobAbort) {
	p := m.subjobs[a.Job]
	if p == nil {
		if holder, ok := m.elsewhere(env, a.Job); ok {
			m.refuseHolder(env, l, a.Job, a.Fence, holder)
		}
		return
	}
	if !m.holds(env, p) || p.Missing > 0 || p.Dispatch == nil {
		return
	}
	switch {
	case a.Fence.JobEpoch < max(p.Epoch, p.Fence.JobEpoch):
		m.refuseStale(env, l, a.Job, a.Fence, p, "abort")
		return
	case a.Fence.Attempt != 0 || int(a.Workflow) >= len(p.Workflows):
		env.Emit(event.Ignored{Peer: l.Peer.ID, Message: "SubjobAbort", Why: fmt.Sprintf("it has no subjob's fence, or the subjob no workflow %d", a.Workflow)})
		return
	}
	p.Gate = l.Addr
	if a.Fence.JobEpoch > max(p.Epoch, p.Fence.JobEpoch) {
		m.adoptEpoch(env, p, a.Fence.JobEpoch, "abort")
	}
	f := p.Workflows[a.Workflow]
	if p.Result != nil || p.Stop.Decided != message.JobNone || f.End != message.WorkflowNone || f.Failure != "" || f.Abort.Why != "" {
		p.Moved = true
		m.touch(env, p) // the gate gets the workflow's state
		return
	}
	f.Abort = subjob.Abort{Why: a.Reason, Client: a.Client}
	env.Emit(event.Acted{Shard: message.ShardID{Job: p.Job}, Subjob: true, Fence: p.Fence, What: "abort"})
	m.commit(p, tag{step: abortRecorded, workflow: f})
}

// onSubjobCancel ends a subjob. It may arrive before the dispatch that it cancels, since
// cancellations use a faster lane.
func (m *gateSide) onSubjobCancel(env node.Env, l *uplink.Link, c *message.SubjobCancel) {
	if c.State != message.JobCancelled && c.State != message.JobTimedOut || c.Fence.JobEpoch == 0 || c.Fence.Attempt != 0 {
		env.Emit(event.Ignored{Peer: l.Peer.ID, Message: "SubjobCancel", Why: "it has no subjob's fence, or says neither CANCELLED nor TIMED_OUT"})
		return
	}
	if p := m.subjobs[c.Job]; p != nil {
		switch {
		case !m.holds(env, p):
		case p.Orders != nil:
			p.Orders.Cancelled(l.Addr, c)
		case c.Fence.JobEpoch < max(p.Epoch, p.Fence.JobEpoch):
			m.refuseStale(env, l, c.Job, c.Fence, p, "cancel")
		default:
			p.Gate = l.Addr
			m.cancel(env, p, c)
		}
		return
	}
	if k := m.claims[c.Job]; k != nil {
		k.Cancelled(l.Addr, c)
		return
	}
	if holder, ok := m.elsewhere(env, c.Job); ok {
		m.refuseHolder(env, l, c.Job, c.Fence, holder)
		return
	}
	sight, _ := m.group.Leases.Seen(env.Now(), c.Job)
	if _, known := m.ended[c.Job]; known || sight.Released || m.group.Leases.Releasing(c.Job) {
		return // a gate acknowledged its end; a new claim would only report that end again
	}
	m.cancelUnseen(env, l, c)
}

// cancelUnseen records an ended subjob, so that the dispatch, still under way, finds it.
func (m *gateSide) cancelUnseen(env node.Env, l *uplink.Link, c *message.SubjobCancel) {
	if code, why := m.room(); code != message.CodeNone {
		env.Emit(event.ShedOf(c, node.RoleGate, event.ShedFor(code), "cancel of job "+c.Job.String(), why))
		return // the gate repeats it
	}
	k := &subjob.Claim{Gate: l.Addr, Cancel: c, Began: env.Now()}
	m.claims[c.Job] = k
	seed := &subjob.Subjob{Job: c.Job, Epoch: c.Fence.JobEpoch, Gate: l.Addr, Stop: subjob.Pending{Decided: c.State}, Why: c.Reason, Accepted: env.Now()}
	m.acquire(env, c.Job, k, seed.Record(env.Now()))
}

// giveUpResults releases subjobs whose end no gate ever acknowledged.
func (m *gateSide) giveUpResults(env node.Env) {
	for _, p := range m.order {
		if p.Stage >= subjob.Recorded && env.Now().Sub(p.Finished) >= m.config.ResultAge && m.holds(env, p) {
			env.Emit(event.Shed{Reason: event.ShedAge, What: "result of job " + p.Job.String(), Why: "no gate has acknowledged it for " + m.config.ResultAge.String()})
			m.dismiss(env, p)
		}
	}
}

func (m *gateSide) onSubjobResultAck(env node.Env, l *uplink.Link, a *message.SubjobResultAck) {
	p := m.owned(env, a.Job)
	if p == nil || p.Stage != subjob.Recorded {
		return
	}
	switch {
	case a.Holder != "":
		p.Gate = node.Addr(a.Holder)
		if p.Gate != l.Addr && !p.Redirected { // if two gates name each other, onRetry decides the pace
			m.tell(env, p)
			p.Redirected = true
		}
	case a.Stale && a.Current.JobEpoch > max(p.Fence.JobEpoch, p.Epoch):
		p.Gate = l.Addr
		m.adoptEpoch(env, p, a.Current.JobEpoch, "result")
	case a.Stale && p.Epoch > p.Fence.JobEpoch:
		// The epoch that the gate wants is being stored: the result goes again under it.
	case a.Fence.JobEpoch != p.Fence.JobEpoch || a.Fence.SubjobEpoch != p.Fence.SubjobEpoch:
		// For a result under an earlier epoch: the gate answers the current one too.
	default:
		m.dismiss(env, p)
	}
}

// dismiss releases a subjob whose end its gate has.
func (m *gateSide) dismiss(env node.Env, p *subjob.Subjob) {
	p.Stage = subjob.Acknowledged
	m.lapse(env, p)
	m.group.Leases.Release(env, p.Job)
	m.drained(env)
}

// retryClaims rejects dispatches whose files no majority stores in time: a full disk takes no
// new job. A vacancy may acquire the register meanwhile: that has no bound.
func (m *gateSide) retryClaims(env node.Env) {
	for _, job := range slices.SortedFunc(maps.Keys(m.claims), message.JobID.Compare) {
		c := m.claims[job]
		if !c.Keeping || env.Now().Sub(c.Began) < 2*m.config.QuorumTimeout {
			continue
		}
		if _, here := m.group.Files.Have(c.File); here {
			m.dropClaim(env, job, message.CodeQuorumUnavailable, "no majority of the managers keeps the subjob's file")
		} else {
			m.dropClaim(env, job, message.CodeStoreFull, "this manager's disk does not take the subjob's file")
		}
	}
}

func (m *gateSide) onGateMessage(env node.Env, l *uplink.Link, in *node.Input) {
	switch msg := in.Message.(type) {
	case *message.HeartbeatAck:
		m.onHeartbeatAck(env, l, msg)
	case *message.JobDispatch:
		m.onJobDispatch(env, l, msg)
	case *message.SubjobCancel:
		m.onSubjobCancel(env, l, msg)
	case *message.SubjobAbort:
		m.onSubjobAbort(env, l, msg)
	case *message.SubjobResultAck:
		m.onSubjobResultAck(env, l, msg)
	case *message.SeatOrder:
		m.onSeatOrder(env, in, msg)
	default:
		ignored(env, in, "a manager has no use for it from a gate")
	}
}

func (m *gateSide) onJobDispatch(env node.Env, l *uplink.Link, d *message.JobDispatch) {
	if p := m.subjobs[d.Job]; p != nil {
		m.again(env, l, p, d)
		return
	}
	if c := m.claims[d.Job]; c != nil && c.Gate != "" {
		d = c.Renewed(d)
		if why := badPlan(d); why != "" { // nothing below checks it again
			m.refuse(env, l, d, message.CodeBadPlan, why)
			return
		}
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

// onClaimKept acquires the register of a subjob whose dispatch is on a majority.
func (m *gateSide) onClaimKept(env node.Env, c *subjob.Claim, d *message.JobDispatch, err error) {
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

// again answers a dispatch of a subjob that this manager holds. It adopts a later epoch of the
// job once that is recorded.
func (m *gateSide) again(env node.Env, l *uplink.Link, p *subjob.Subjob, d *message.JobDispatch) {
	if !m.holds(env, p) {
		return // the gate asks again, at the then holder
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

func (m *gateSide) unfit(d *message.JobDispatch) (message.Code, string) {
	if code, why := m.room(); code != message.CodeNone {
		return code, why
	}
	if why := badPlan(d); why != "" {
		return message.CodeBadPlan, why
	}
	if n := len(d.Program.Secrets); n > 0 && m.config.Exposed {
		return message.CodeBadPlan, plan.Text([]plan.Fault{{Key: "program.secrets", Value: fmt.Sprint(n), Bound: "be 0 while the managers listen beyond this machine without a cluster secret, as frames are not encrypted", Remedy: "start all nodes with --cluster-secret, or use `hyperscale run`, or a cluster that listens on 127.0.0.1"}})
	}
	return message.CodeNone, ""
}

// badPlan names all faults of a dispatch, so that no layer below must check again. The gate may
// be of another version, or the bytes of another program.
func badPlan(d *message.JobDispatch) string {
	var faults []plan.Fault
	if d.Fence.JobEpoch == 0 || d.Fence.Attempt != 0 {
		faults = append(faults, plan.Fault{Key: "fence", Value: d.Fence.String(), Bound: "have a job's epoch of at least 1 and no attempt", Remedy: "dispatch under the fence of the job's subjob"})
	}
	if d.RunTimeout <= 0 {
		faults = append(faults, plan.Fault{Key: "run_timeout", Value: d.RunTimeout.String(), Bound: "be above 0s", Remedy: "dispatch a job before its time is over"})
	}
	for i, stop := range d.Stops {
		if int(stop.Workflow) >= len(d.Plan.Workflows) {
			faults = append(faults, plan.Fault{Key: fmt.Sprintf("stops[%d].workflow", i), Value: fmt.Sprint(stop.Workflow), Bound: fmt.Sprintf("be below %d, the number of workflows", len(d.Plan.Workflows)), Remedy: "stop a workflow of the plan"})
		}
	}
	return plan.Text(append(faults, plan.Check(&d.Plan)...))
}
