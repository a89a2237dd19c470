package gate

import (
	"fmt"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/gate/places"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// onManagerLost goes on with another manager where nobody has taken the subjob up.
// What was taken up is its managers' own to hand on: the gate hears who has it.
func (m *Machine) onManagerLost(env node.Env, j *job, p *subjob) {
	if j.stopping() {
		m.endStopped(env, j)
		m.arm(env, j)
		return
	}
	if p.phase != subjobSent {
		return
	}
	p.refusedBy = append(p.refusedBy, p.manager)
	m.dispatchAgain(env, j, p)
}

// denied: the manager that had the subjob has left it out too often, and no other
// one has listed it.
func (m *Machine) denied(env node.Env, j *job, p *subjob) {
	p.missed = 0
	if j.stopping() {
		return // waited for within its bound
	}
	if p.losses++; p.losses > m.config.RedispatchMax {
		m.endSubjob(env, j, p, message.JobFailed, fmt.Sprintf("its managers lost it %d times, the last was %s", p.losses, p.manager))
		return
	}
	p.asked = nil
	m.assign(env, j, p)
	m.arm(env, j)
}

// expired says that a datacenter which was asked to run a subjob must have stopped
// it by now: no gate has named the subjob there for so long.
func (m *Machine) expired(env node.Env, p *subjob) bool {
	return p.ever && p.phase != subjobDone && env.Now().Sub(p.renewed) >= m.config.datacenterGuard()
}

// mayRun says that a gate may have named the subjob, and that the guard has not passed
// since. A refusal proves nothing: a fellow of the holder refuses what it does not know.
func (m *Machine) mayRun(env node.Env, p *subjob) bool {
	return p.named > 0 && env.Now().Sub(p.named) < m.config.datacenterGuard()
}

// onExpired ends a subjob whose datacenter is silent, or begins it anew in another
// one. What the silent one still tells counts no more: the record says so before
// anything begins.
func (m *Machine) onExpired(env node.Env, j *job, p *subjob) {
	why := fmt.Sprintf("datacenter %s was silent for %v", p.datacenter, m.config.datacenterGuard())
	p.release(m.places)
	if j.stopping() {
		m.endSubjob(env, j, p, stoppedState(j), why)
		return
	}
	j.closed = append(j.closed, p.datacenter)
	d, others := m.places.Best(func(name string) bool { return slices.Contains(j.closed, name) || j.subjob(name) != nil })
	switch {
	case len(j.turn.Named) > 0 || !others:
		m.endSubjob(env, j, p, message.JobFailed, why)
		return
	case d == nil: // until one is well, or the run timeout
		j.closed = j.closed[:len(j.closed)-1]
		return
	}
	now := env.Now()
	next := &subjob{datacenter: d.Name, fence: j.fence(), since: now, sent: now, renewed: now, phase: subjobSaving}
	j.subjobs[slices.Index(j.subjobs, p)] = next
	j.started = now
	m.reserve(j, next)
	m.save(env, &put{what: "fall back to another datacenter", job: j, then: func(env node.Env) { m.sendSaved(env, j, []*subjob{next}) }})
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
		p := j.subjob(mgr.Place.Name)
		if p == nil || p.manager != mgr.ID || p.phase == subjobDone {
			continue
		}
		if p.beats > 0 {
			if p.beats--; p.beats == 0 {
				p.release(m.places)
			}
		}
		if p.phase != subjobRunning || slices.ContainsFunc(listed, func(r message.SubjobRef) bool { return r.Job == j.id }) {
			continue
		}
		if p.missed++; p.missed > m.config.MissedMax && m.holds(env, j) {
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
		seen, ok := m.leases.Seen(env.Now(), ref.Job)
		if ok && m.see(env, ref.Job, seen.Token, seen.Released, seen.Record) != nil {
			m.stopOrphan(env, mgr, ref, m.jobs[ref.Job], "its job has ended")
		}
		return false
	case j.ready && j.shown.Terminal():
		m.stopOrphan(env, mgr, ref, j, "its job has ended")
		return false
	case !j.ready || j.state.Terminal() || !m.holds(env, j):
		return false // who owns it answers
	}
	p := j.subjob(mgr.Place.Name)
	switch {
	case p == nil && m.takeBack(env, j, mgr.Place):
		return false
	case p == nil:
		m.stopOrphan(env, mgr, ref, j, "its job is not to run there any more")
		return false
	case ref.Fence.JobEpoch > j.epoch || p.phase == subjobSaving:
		return false
	case ref.Fence.SubjobEpoch < p.fence.SubjobEpoch:
		m.stale(env, j, p, ref.Fence, "heartbeat")
		return false // its fellow that took over has told it, or will
	}
	p.missed, p.renewed, p.named = 0, max(p.renewed, env.Now()), env.Now()
	if p.phase == subjobDone {
		return true // it sends its result until that is acknowledged
	}
	p.fence.SubjobEpoch = ref.Fence.SubjobEpoch
	p.ever = true
	if ref.Fence.JobEpoch < j.epoch {
		m.reclaim(env, j, p, mgr)
		return true
	}
	if p.phase != subjobRunning || p.manager != mgr.ID {
		p.manager = mgr.ID
		m.takenUp(env, j, p)
		m.sendCancel(env, j, p)
	}
	return true
}

// takeBack dispatches a queued job again where a manager has taken a subjob up after
// all: it refused one copy of a dispatch and obeyed another.
func (m *Machine) takeBack(env node.Env, j *job, d *places.Datacenter) bool {
	if j.state != message.JobQueued || slices.Contains(j.closed, d.Name) {
		return false
	}
	to := []*places.Datacenter{d}
	if len(j.turn.Named) > 0 {
		to = nil
		for _, name := range j.turn.Named {
			if known := m.places.Datacenter(name); known != nil {
				to = append(to, known)
			}
		}
		if len(to) < len(j.turn.Named) || !slices.Contains(to, d) {
			return false
		}
	}
	m.leaveQueue(env, j)
	m.dispatch(env, j, to)
	return true
}

// reclaim tells a manager that goes on under the epoch of a gate that is gone who
// owns the job now.
func (m *Machine) reclaim(env node.Env, j *job, p *subjob, mgr *places.Manager) {
	if p.manager == mgr.ID && p.phase == subjobSent && env.Now().Sub(p.sent) < m.config.DispatchRetry {
		return
	}
	m.sendTo(env, j, p, mgr)
	m.sendCancel(env, j, p)
	m.arm(env, j)
}

func (m *Machine) stopOrphan(env node.Env, mgr *places.Manager, ref message.SubjobRef, j *job, reason string) {
	fence := ref.Fence
	fence.JobEpoch = max(fence.JobEpoch, j.epoch)
	env.Send(mgr.Stream, &message.SubjobCancel{Job: ref.Job, Fence: fence, State: message.JobCancelled, Reason: reason})
}

// refusesSet refuses who is configured with other gates: two sets have two
// majorities.
func (m *Machine) refusesSet(env node.Env, in *node.Input, h *message.ManagerHeartbeat) bool {
	theirs := h.Gates
	if !slices.IsSorted(theirs) {
		theirs = slices.Sorted(slices.Values(theirs))
	}
	if len(theirs) == 0 || slices.EqualFunc(theirs, m.gates, func(a string, b node.Addr) bool { return a == string(b) }) {
		return false
	}
	if h.Sequence == 1 { // told once a stream
		env.Emit(event.GroupRefused{Group: groupName, Peer: in.From.Addr, Ours: list(m.gates), Theirs: list(theirs)})
	}
	return true
}
