package gate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// epochMax bounds what is adopted from others, far from where counting ends.
const epochMax = 1 << 62

// dispatch sends the whole plan to each of the targets.
func (m *Machine) dispatch(env node.Env, j *job, targets []*datacenter) {
	now := env.Now()
	j.parts, j.waits = nil, ""
	for _, d := range targets {
		j.parts = append(j.parts, &part{datacenter: d.name, since: now, sent: now})
	}
	if !j.ran {
		j.ran, j.started = true, now
	}
	m.active = append(m.active, j)
	j.become(message.JobDispatching, "")
	for _, p := range j.parts {
		m.assign(env, j, p)
	}
	m.saveDispatch(env, j)
}

// saveDispatch writes the epochs of the parts that were assigned, then sends
// those that nothing has overtaken meanwhile.
func (m *Machine) saveDispatch(env node.Env, j *job) {
	var sent []*part
	var fences []message.Fence
	for _, p := range j.parts {
		if p.phase == partSaving {
			sent, fences = append(sent, p), append(fences, p.fence)
		}
	}
	m.save(env, &put{what: "dispatch a part", job: j, then: func(env node.Env) {
		for i, p := range sent {
			if p.phase == partSaving && p.fence == fences[i] && j.state != message.JobCancelling && !j.state.Terminal() {
				p.become(env.Now(), partSent)
				p.ever = true
				m.send(env, j, p)
			}
		}
		m.arm(env, j)
	}})
	m.arm(env, j)
}

// assign gives a part a manager and an epoch that was never used; the caller
// saves it before anything is sent.
func (m *Machine) assign(env node.Env, j *job, p *part) bool {
	mgr := m.choose(env, p)
	if mgr == nil {
		return false
	}
	d := mgr.place
	j.epochs[p.datacenter]++
	p.fence = message.Fence{Job: jobEpoch, Manager: j.epochs[p.datacenter]}
	p.manager, p.missed, p.sequence = mgr.id, 0, 0
	p.become(env.Now(), partSaving)
	m.release(p)
	p.reserved, p.beats = m.wants(j, d), 2
	d.reserved += p.reserved
	return true
}

// release gives back the cores that were kept for a dispatch.
func (m *Machine) release(p *part) {
	if d := m.datacenters[p.datacenter]; d != nil {
		d.reserved -= min(d.reserved, p.reserved)
	}
	p.reserved = 0
}

// choose takes the less laden of two managers drawn from those that can take the
// part: power of two choices.
func (m *Machine) choose(env node.Env, p *part) *manager {
	d := m.datacenters[p.datacenter]
	if d == nil {
		return nil
	}
	var fit, idle []*manager
	for _, mgr := range d.managers {
		if !mgr.live || mgr.draining || mgr.stream == 0 || slices.Contains(p.refusedBy, mgr.id) {
			continue
		}
		fit = append(fit, mgr)
		if mgr.free > 0 {
			idle = append(idle, mgr)
		}
	}
	if len(idle) > 0 {
		fit = idle
	}
	switch len(fit) {
	case 0:
		return nil
	case 1:
		return fit[0]
	}
	r := env.Rand(node.PurposePlacement)
	a, b := r.Int(len(fit)), r.Int(len(fit)-1)
	if b >= a {
		b++
	}
	if cmp.Or(cmp.Compare(m.laden(fit[b]), m.laden(fit[a])), cmp.Compare(fit[b].id, fit[a].id)) < 0 {
		return fit[b]
	}
	return fit[a]
}

// laden counts what a manager has of this gate's jobs.
func (m *Machine) laden(mgr *manager) int {
	n := 0
	for _, j := range m.active {
		if p := j.part(mgr.place.name); p != nil && p.manager == mgr.id && p.phase != partDone {
			n++
		}
	}
	return n
}

// send tells the manager, for the first time or again.
func (m *Machine) send(env node.Env, j *job, p *part) {
	p.sent = env.Now()
	mgr := m.managers[p.manager]
	if mgr == nil || mgr.stream == 0 {
		return
	}
	if p.told != p.fence {
		p.told = p.fence
		env.Emit(event.PartDispatched{Job: j.id, Fence: p.fence, Datacenter: p.datacenter, Manager: p.manager})
	}
	env.Send(mgr.stream, &message.JobDispatch{
		Job: j.id, Fence: p.fence, Name: j.name, Program: j.spec.Program, Plan: j.spec.Plan,
		RunTimeout: j.left(env.Now()).Round(time.Microsecond),
	})
}

// partOf finds the part that an answer is about: that of its sender's
// datacenter, or, before it registers, the one that was its own.
func (m *Machine) partOf(j *job, from node.ID) *part {
	if mgr := m.managers[from]; mgr != nil {
		return j.part(mgr.place.name)
	}
	for _, p := range j.parts {
		if p.manager == from {
			return p
		}
	}
	return nil
}

// answered finds the part that an answer to a dispatch is about, if it still
// matters.
func (m *Machine) answered(env node.Env, in *node.Input, id message.JobID, f message.Fence) (*job, *part) {
	j := m.jobs[id]
	if j == nil {
		m.ignore(env, in, "no such job")
		return nil, nil
	}
	p := m.partOf(j, in.From.ID)
	switch {
	case p == nil:
		m.ignore(env, in, "the job has no part there")
	case f.Less(p.fence):
		m.stale(env, j, p, f, message.Name(in.Message.Kind()))
	case p.fence.Less(f):
		m.ignore(env, in, "its fence is above any that was given")
	case p.manager != in.From.ID:
		m.ignore(env, in, "the part is another manager's")
	default:
		return j, p
	}
	return nil, nil
}

func (m *Machine) stale(env node.Env, j *job, p *part, got message.Fence, what string) {
	env.Emit(event.FenceRefused{Slice: message.SliceID{Job: j.id}, Part: true, Got: got, Current: p.fence, What: what})
}

func (m *Machine) onAccepted(env node.Env, in *node.Input, a *message.JobAccepted) {
	if j, p := m.answered(env, in, a.Job, a.Fence); j != nil {
		m.takenUp(env, j, p)
	}
}

// takenUp: the part's manager has it on disk.
func (m *Machine) takenUp(env node.Env, j *job, p *part) {
	if p.phase == partRunning || p.phase == partDone {
		return
	}
	p.become(env.Now(), partRunning)
	p.accepted, p.missed = true, 0
	m.runIfAccepted(env, j)
	m.arm(env, j)
}

// runIfAccepted moves the job to RUNNING once every part has been taken up.
func (m *Machine) runIfAccepted(env node.Env, j *job) {
	if j.state != message.JobDispatching {
		return
	}
	for _, p := range j.parts {
		if p.phase != partRunning && p.phase != partDone {
			return
		}
	}
	j.become(message.JobRunning, "")
	m.save(env, &put{what: "run a job", job: j})
}

// onRefused looks for another manager. The fence is not used again: an answer to
// a dispatch that was sent twice may still come.
func (m *Machine) onRefused(env node.Env, in *node.Input, r *message.JobRefused) {
	j, p := m.answered(env, in, r.Job, r.Fence)
	if j == nil || p.phase != partSent && p.phase != partAdopting {
		return
	}
	m.release(p)
	if r.Code == message.CodeStaleFence && r.Current.Job == jobEpoch && r.Current.Manager < epochMax {
		j.epochs[p.datacenter] = max(j.epochs[p.datacenter], r.Current.Manager)
	}
	switch {
	case j.state == message.JobCancelling || j.expired:
		m.endPart(env, j, p, stoppedState(j), "")
	case r.Code != message.CodeStaleFence && !r.Code.Retryable():
		m.endPart(env, j, p, message.JobFailed, fmt.Sprintf("manager %s refused it: %v: %s", p.manager, r.Code, r.Detail))
	default:
		if mgr := m.managers[in.From.ID]; mgr != nil && r.Code == message.CodeNoCores {
			mgr.free = 0 // until it tells otherwise
		}
		if r.Code != message.CodeStaleFence {
			p.refusedBy = append(p.refusedBy, in.From.ID)
		}
		m.dispatchAgain(env, j, p)
	}
}

// dispatchAgain tries another manager now, else later: the job goes back to the
// queue if no part of it was taken up.
func (m *Machine) dispatchAgain(env node.Env, j *job, p *part) {
	if m.assign(env, j, p) {
		m.saveDispatch(env, j)
		return
	}
	p.manager = ""
	p.become(env.Now(), partWaiting)
	if j.state == message.JobDispatching && !slices.ContainsFunc(j.parts, inUse) {
		m.requeue(env, j)
		return
	}
	m.arm(env, j)
}

// inUse says that some manager may be at work on the part.
func inUse(p *part) bool { return p.phase != partWaiting || p.accepted }

func (m *Machine) requeue(env node.Env, j *job) {
	for _, p := range j.parts {
		m.release(p)
	}
	m.leaveActive(j)
	j.parts, j.ran = nil, false
	j.become(message.JobQueued, "no manager took it")
	m.save(env, &put{what: "queue a job again", job: j})
	env.CancelTimer(node.KeyID(node.PartGate, node.GateJob, j.id))
	m.enqueue(env, j)
}

func (m *Machine) leaveActive(j *job) {
	m.active = slices.DeleteFunc(m.active, func(other *job) bool { return other == j })
}
