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

// dispatch sends the whole plan to each of the targets, once a majority knows.
func (m *Machine) dispatch(env node.Env, j *job, targets []*datacenter) {
	now := env.Now()
	j.parts, j.waits = nil, ""
	if len(j.named) == 0 && hasUnique(&j.spec.Plan) {
		j.named = []string{targets[0].name} // what rows were taken there nobody knows elsewhere
	}
	for _, d := range targets {
		j.parts = append(j.parts, &part{datacenter: d.name, fence: j.fence(), since: now, sent: now, renewed: now, phase: partSaving})
	}
	if !j.ran {
		j.ran, j.started = true, now
	}
	m.active = append(m.active, j)
	j.become(message.JobDispatching, "")
	for _, p := range j.parts {
		m.reserve(j, p)
	}
	saved := j.parts
	m.save(env, &put{what: "dispatch a job", job: j, then: func(env node.Env) { m.sendSaved(env, j, saved) }})
	m.arm(env, j)
}

// sendSaved sends the parts that a majority knows of, unless something has
// overtaken them meanwhile.
func (m *Machine) sendSaved(env node.Env, j *job, saved []*part) {
	for _, p := range saved {
		if p.phase == partSaving && !j.stopping() && !j.state.Terminal() {
			m.assign(env, j, p)
		}
	}
	if j.state == message.JobDispatching && !m.inUse(env, j) {
		m.requeue(env, j, "no manager took it")
		return
	}
	m.arm(env, j)
}

// reserve keeps cores for a dispatch until heartbeats tell of it.
func (m *Machine) reserve(j *job, p *part) {
	m.release(p)
	if d := m.datacenters[p.datacenter]; d != nil {
		p.reserved, p.beats = m.wants(j, d), 2
		d.reserved += p.reserved
	}
}

// assign sends a part to a manager of its datacenter, or has it wait for one. The
// register in the datacenter decides which of those that were asked has it.
func (m *Machine) assign(env node.Env, j *job, p *part) bool {
	mgr := m.choose(env, p)
	if mgr == nil {
		p.become(env.Now(), partWaiting)
		p.sent = env.Now()
		return false
	}
	m.sendTo(env, j, p, mgr)
	return true
}

// sendTo dispatches a part to one manager.
func (m *Machine) sendTo(env node.Env, j *job, p *part, mgr *manager) {
	p.manager, p.missed = mgr.id, 0
	p.become(env.Now(), partSent)
	m.reserve(j, p)
	m.send(env, j, p)
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

// send tells the manager, for the first time or again. Its fence names no manager
// epoch: who takes the part up does.
func (m *Machine) send(env node.Env, j *job, p *part) {
	p.sent = env.Now()
	mgr := m.managers[p.manager]
	if mgr == nil || mgr.stream == 0 || !m.holds(env, j) {
		return
	}
	p.ever = true
	p.renewed = max(p.renewed, env.Now()) // nothing of it starts before a heartbeat is answered with its name
	if !slices.Contains(p.asked, p.manager) {
		p.asked = append(p.asked, p.manager)
		env.Emit(event.PartDispatched{Job: j.id, Fence: j.fence(), Datacenter: p.datacenter, Manager: p.manager})
	}
	env.Send(mgr.stream, &message.JobDispatch{
		Job: j.id, Fence: j.fence(), Name: j.name, Program: j.program(p), Plan: j.spec.Plan,
		RunTimeout: j.left(env.Now()).Round(time.Microsecond), Rows: j.share(p),
	})
}

// program is a part's. What is drawn by chance, arrivals and what users draw, is drawn
// by each of several datacenters for itself: together they would march in step.
func (j *job) program(p *part) message.Program {
	program := j.spec.Program
	if len(j.parts) > 1 {
		program.Seed = node.MixString(program.Seed, p.datacenter)
	}
	return program
}

// share is a part's share of the rows of feeds: those that name several datacenters
// keep theirs, whoever runs.
func (j *job) share(p *part) message.RowShare {
	at := slices.Index(j.named, p.datacenter)
	if at < 0 || len(j.named) < 2 {
		return message.RowShare{}
	}
	return message.RowShare{Index: uint32(at), Of: uint32(len(j.named))}
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

// owned finds a job that this gate acts for, and its part that a message of a
// manager is about.
func (m *Machine) owned(env node.Env, in *node.Input, id message.JobID) (*job, *part) {
	j := m.jobs[id]
	if j == nil || !j.ready || j.state.Terminal() || !m.holds(env, j) {
		m.ignore(env, in, "no such job runs here")
		return nil, nil
	}
	p := m.partOf(j, in.From.ID)
	if p == nil {
		m.ignore(env, in, "the job has no part there")
		return nil, nil
	}
	return j, p
}

func (m *Machine) stale(env node.Env, j *job, p *part, got message.Fence, what string) {
	env.Emit(event.FenceRefused{Slice: message.SliceID{Job: j.id}, Part: true, Got: got, Current: p.fence, What: what})
}

// follows says whether a fence is the newest that a part was heard under, and
// follows it when it is newer: among themselves, managers have chosen.
func (m *Machine) follows(env node.Env, in *node.Input, j *job, p *part, f message.Fence) bool {
	switch {
	case f.Less(p.fence):
		m.stale(env, j, p, f, message.Name(in.Message.Kind()))
		return false
	case f.Job > j.epoch:
		m.ignore(env, in, "its fence is above any that was given")
		return false
	}
	if p.fence.Less(f) {
		p.fence, p.sequence = f, 0
	}
	if in.From.Role == node.RoleManager {
		p.manager = in.From.ID
	}
	return true
}

func (m *Machine) onAccepted(env node.Env, in *node.Input, a *message.JobAccepted) {
	j, p := m.owned(env, in, a.Job)
	if j == nil || p.phase == partDone || p.phase == partSaving || !m.follows(env, in, j, p, a.Fence) {
		return
	}
	p.renewed = max(p.renewed, env.Now())
	m.takenUp(env, j, p)
	m.sendCancel(env, j, p)
}

// takenUp: a manager has it, and a majority of its fellows knows.
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

// onRefused goes to who owns the part, or to another manager.
func (m *Machine) onRefused(env node.Env, in *node.Input, r *message.JobRefused) {
	j, p := m.owned(env, in, r.Job)
	switch {
	case j == nil || p.phase != partSent && p.phase != partAdopting:
		return
	case r.Fence.Job < j.epoch:
		m.stale(env, j, p, r.Fence, "JobRefused")
		return
	case r.Fence.Job > j.epoch || r.Code == message.CodeStaleFence:
		return // a gate that came after this one has spoken: the register will tell
	}
	if r.Code == message.CodeNotOwner {
		m.redirected(env, j, p, node.Addr(r.Holder))
		return
	}
	m.release(p)
	p.asked = slices.DeleteFunc(p.asked, func(id node.ID) bool { return id == in.From.ID })
	switch {
	case j.stopping():
		if len(p.asked) == 0 {
			m.endPart(env, j, p, stoppedState(j), "")
		}
	case !r.Code.Retryable():
		m.endPart(env, j, p, message.JobFailed, shortened(fmt.Sprintf("manager %s refused it: %v: %s", in.From.ID, r.Code, r.Detail), detailMax))
	default:
		if mgr := m.managers[in.From.ID]; mgr != nil && r.Code == message.CodeNoCores {
			mgr.free = 0 // until it tells otherwise
		}
		p.refusedBy = append(p.refusedBy, in.From.ID)
		m.dispatchAgain(env, j, p)
	}
}

// redirected asks the manager that another one named. Two that name each other
// are asked again no faster than any manager is.
func (m *Machine) redirected(env node.Env, j *job, p *part, holder node.Addr) {
	d := m.datacenters[p.datacenter]
	if d == nil || j.stopping() {
		return
	}
	for _, mgr := range d.managers {
		if mgr.addr == holder && mgr.live && mgr.stream != 0 && mgr.id != p.manager && !slices.Contains(p.asked, mgr.id) {
			reached(env, "gate/redirected")
			m.sendTo(env, j, p, mgr)
			m.arm(env, j)
			return
		}
	}
}

// dispatchAgain tries another manager now, else later: the job goes back to the
// queue if no manager can have any part of it.
func (m *Machine) dispatchAgain(env node.Env, j *job, p *part) {
	if m.assign(env, j, p) {
		m.arm(env, j)
		return
	}
	m.release(p)
	if j.state == message.JobDispatching && !m.inUse(env, j) {
		m.requeue(env, j, "no manager took it")
		return
	}
	m.arm(env, j)
}

// inUse says that some manager may have a part of the job. Then the job does not go back
// to the queue, from where another datacenter could be chosen.
func (m *Machine) inUse(env node.Env, j *job) bool {
	return slices.ContainsFunc(j.parts, func(p *part) bool {
		return p.phase != partWaiting || p.accepted || len(p.asked) > 0 || m.mayRun(env, p)
	})
}

func (m *Machine) requeue(env node.Env, j *job, reason string) {
	for _, p := range j.parts {
		m.release(p)
	}
	m.leaveActive(j)
	j.parts, j.ran = nil, false
	reached(env, "gate/queued-again")
	j.become(message.JobQueued, reason)
	m.save(env, &put{what: "queue a job again", job: j})
	env.CancelTimer(node.KeyID(node.PartGate, node.GateJob, j.id))
	m.enqueue(env, j)
}

func (m *Machine) leaveActive(j *job) {
	m.active = slices.DeleteFunc(m.active, func(other *job) bool { return other == j })
}

// hasUnique says that a plan has rows that must not be taken twice.
func hasUnique(p *message.Plan) bool {
	return slices.ContainsFunc(p.Workflows, func(w message.WorkflowPlan) bool { return w.Feed.Unique && w.Feed.Rows > 0 })
}
