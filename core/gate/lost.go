package gate

import (
	"fmt"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/gate/job"
	"hyperscale/core/gate/places"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// onManagerLost goes on with another manager where nobody has taken the subjob up.
// What was taken up is its managers' own to hand on: the gate hears who has it.
func (m *Machine) onManagerLost(env node.Env, j *entry, p *job.Subjob) {
	if j.Stopping() {
		m.endStopped(env, j)
		m.arm(env, j)
		return
	}
	if p.Phase != job.Sent {
		return
	}
	p.RefusedBy = append(p.RefusedBy, p.Manager)
	m.dispatchAgain(env, j, p)
}

// denied: the manager that had the subjob has left it out too often, and no other
// one has listed it.
func (m *Machine) denied(env node.Env, j *entry, p *job.Subjob) {
	p.Missed = 0
	if j.Stopping() {
		return // waited for within its bound
	}
	if p.Losses++; p.Losses > m.config.RedispatchMax {
		m.endSubjob(env, j, p, message.JobFailed, fmt.Sprintf("its managers lost it %d times, the last was %s", p.Losses, p.Manager))
		return
	}
	p.Asked = nil
	m.assign(env, j, p)
	m.arm(env, j)
}

// onExpired ends a subjob whose datacenter is silent, or begins it anew in another
// one. What the silent one still tells counts no more: the record says so before
// anything begins.
func (m *Machine) onExpired(env node.Env, j *entry, p *job.Subjob) {
	why := fmt.Sprintf("datacenter %s was silent for %v", p.Datacenter, m.config.datacenterGuard())
	p.Release(m.places)
	if j.Stopping() {
		m.endSubjob(env, j, p, j.StoppedState(), why)
		return
	}
	j.Closed = append(j.Closed, p.Datacenter)
	d, others := m.places.Best(func(name string) bool { return slices.Contains(j.Closed, name) || j.Subjob(name) != nil })
	switch {
	case len(j.Turn.Named) > 0 || !others:
		m.endSubjob(env, j, p, message.JobFailed, why)
		return
	case d == nil: // until one is well, or the run timeout
		j.Closed = j.Closed[:len(j.Closed)-1]
		return
	}
	now := env.Now()
	next := &job.Subjob{Datacenter: d.Name, Fence: j.Fence(), Marks: job.Marks{Since: now, Sent: now, Renewed: now}, Phase: job.Saving}
	j.Subjobs[slices.Index(j.Subjobs, p)] = next
	j.Started = now
	m.reserve(j, next)
	m.save(env, &put{job: j, then: tag{act: actSend, send: []*job.Subjob{next}}})
	m.arm(env, j)
}

// compare looks at what a manager says it has against what it should have, and
// returns the subjobs that it may go on with.
func (m *Machine) compare(env node.Env, mgr *places.Manager, listed []message.SubjobRef) []message.SubjobRef {
	var renewed []message.SubjobRef
	for _, ref := range listed {
		if m.onListed(env, mgr, ref) {
			renewed = append(renewed, ref)
		}
	}
	for _, j := range slices.Clone(m.active) {
		p := j.Subjob(mgr.Place.Name)
		if p == nil || p.Manager != mgr.ID || p.Phase == job.Done {
			continue
		}
		if p.Beats > 0 {
			if p.Beats--; p.Beats == 0 {
				p.Release(m.places)
			}
		}
		if p.Phase != job.Running || slices.ContainsFunc(listed, func(r message.SubjobRef) bool { return r.Job == j.ID }) {
			continue
		}
		if p.Missed++; p.Missed > m.config.MissedMax && m.holds(env, j) {
			m.denied(env, j, p)
		}
	}
	return renewed
}

// onListed adopts a subjob that a manager has, and stops what nobody waits for any
// more. It says whether the manager may go on with it.
func (m *Machine) onListed(env node.Env, mgr *places.Manager, ref message.SubjobRef) bool {
	j := m.jobs[ref.Job]
	switch {
	case j == nil:
		seen, ok := m.group.Leases.Seen(env.Now(), ref.Job)
		if ok && m.see(env, ref.Job, seen.Token, seen.Released, seen.Record) != nil {
			stopOrphan(env, mgr, ref, m.jobs[ref.Job], "its job has ended")
		}
		return false
	case j.Ready && j.Shown.Terminal():
		stopOrphan(env, mgr, ref, j, "its job has ended")
		return false
	case !j.Ready || j.State.Terminal() || !m.holds(env, j):
		return false // who owns it answers
	}
	p := j.Subjob(mgr.Place.Name)
	switch {
	case p == nil && m.takeBack(env, j, mgr.Place):
		return false
	case p == nil:
		stopOrphan(env, mgr, ref, j, "its job is not to run there any more")
		return false
	case ref.Fence.JobEpoch > j.Epoch || p.Phase == job.Saving:
		return false
	case ref.Fence.SubjobEpoch < p.Fence.SubjobEpoch:
		stale(env, j, p, ref.Fence, "heartbeat")
		return false // its fellow that took over has told it, or will
	}
	p.Missed, p.Renewed, p.Named = 0, max(p.Renewed, env.Now()), env.Now()
	if p.Phase == job.Done {
		return true // it sends its result until that is acknowledged
	}
	p.Fence.SubjobEpoch = ref.Fence.SubjobEpoch
	p.Ever = true
	if ref.Fence.JobEpoch < j.Epoch {
		m.reclaim(env, j, p, mgr)
		return true
	}
	if p.Phase != job.Running || p.Manager != mgr.ID {
		p.Manager = mgr.ID
		m.takenUp(env, j, p)
		m.sendCancel(env, j, p)
	}
	return true
}

// takeBack dispatches a queued job again where a manager has taken a subjob up after
// all: it refused one copy of a dispatch and obeyed another.
func (m *Machine) takeBack(env node.Env, j *entry, d *places.Datacenter) bool {
	if j.State != message.JobQueued || slices.Contains(j.Closed, d.Name) {
		return false
	}
	to := []*places.Datacenter{d}
	if len(j.Turn.Named) > 0 {
		to = nil
		for _, name := range j.Turn.Named {
			if known := m.places.Datacenter(name); known != nil {
				to = append(to, known)
			}
		}
		if len(to) < len(j.Turn.Named) || !slices.Contains(to, d) {
			return false
		}
	}
	m.leaveQueue(env, j)
	m.dispatch(env, j, to)
	return true
}

// reclaim tells a manager that goes on under the epoch of a gate that is gone who
// owns the job now.
func (m *Machine) reclaim(env node.Env, j *entry, p *job.Subjob, mgr *places.Manager) {
	if p.Manager == mgr.ID && p.Phase == job.Sent && env.Now().Sub(p.Sent) < m.config.DispatchRetry {
		return
	}
	m.sendTo(env, j, p, mgr)
	m.sendCancel(env, j, p)
	m.arm(env, j)
}

func stopOrphan(env node.Env, mgr *places.Manager, ref message.SubjobRef, j *entry, reason string) {
	fence := ref.Fence
	fence.JobEpoch = max(fence.JobEpoch, j.Epoch)
	env.Send(mgr.Stream, &message.SubjobCancel{Job: ref.Job, Fence: fence, State: message.JobCancelled, Reason: reason})
}

// refusesSet refuses who is configured with other gates: two sets have two
// majorities.
func (m *Machine) refusesSet(env node.Env, in *node.Input, h *message.ManagerHeartbeat) bool {
	theirs := h.Gates
	if !slices.IsSorted(theirs) {
		theirs = slices.Sorted(slices.Values(theirs))
	}
	if len(theirs) == 0 || slices.EqualFunc(theirs, m.group.Members(), func(a string, b node.Addr) bool { return a == string(b) }) {
		return false
	}
	if h.Sequence == 1 { // told once a stream
		env.Emit(event.GroupRefused{Group: groupName, Peer: in.From.Addr, Ours: list(m.group.Members()), Theirs: list(theirs)})
	}
	return true
}
