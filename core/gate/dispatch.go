package gate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/gate/places"
	"hyperscale/core/gate/queue"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// dispatch sends the whole plan to each of the targets, once a majority knows.
func (m *Machine) dispatch(env node.Env, j *job, targets []*places.Datacenter) {
	now := env.Now()
	j.subjobs = nil
	if len(j.turn.Named) == 0 && hasUnique(&j.spec.Plan) {
		j.turn.Named = []string{targets[0].Name} // what rows were taken there nobody knows elsewhere
	}
	for _, d := range targets {
		j.subjobs = append(j.subjobs, &subjob{datacenter: d.Name, fence: j.fence(), since: now, sent: now, renewed: now, phase: subjobSaving})
	}
	if !j.ran {
		j.ran, j.started = true, now
	}
	m.active = append(m.active, j)
	j.become(message.JobDispatching, "")
	for _, p := range j.subjobs {
		m.reserve(j, p)
	}
	saved := j.subjobs
	m.save(env, &put{what: "dispatch a job", job: j, then: func(env node.Env) { m.sendSaved(env, j, saved) }})
	m.arm(env, j)
}

// sendSaved sends the subjobs that a majority knows of, unless something has
// overtaken them meanwhile.
func (m *Machine) sendSaved(env node.Env, j *job, saved []*subjob) {
	for _, p := range saved {
		if p.phase == subjobSaving && !j.stopping() && !j.state.Terminal() {
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
func (m *Machine) reserve(j *job, p *subjob) {
	p.release(m.places)
	if d := m.places.Datacenter(p.datacenter); d != nil {
		p.reserved, p.beats = queue.Wants(&j.spec.Plan, d), 2
		d.Reserve(p.reserved)
	}
}

// assign sends a subjob to a manager of its datacenter, or has it wait for one. The
// register in the datacenter decides which of those that were asked has it.
func (m *Machine) assign(env node.Env, j *job, p *subjob) bool {
	mgr := m.choose(env, p)
	if mgr == nil {
		p.become(env.Now(), subjobWaiting)
		p.sent = env.Now()
		return false
	}
	m.sendTo(env, j, p, mgr)
	return true
}

// sendTo dispatches a subjob to one manager.
func (m *Machine) sendTo(env node.Env, j *job, p *subjob, mgr *places.Manager) {
	p.manager, p.missed = mgr.ID, 0
	p.become(env.Now(), subjobSent)
	m.reserve(j, p)
	m.send(env, j, p)
}

// release gives back the cores that were kept for a dispatch.
func (p *subjob) release(in *places.Places) {
	in.Release(p.datacenter, p.reserved)
	p.reserved = 0
}

// choose takes the less laden of two managers drawn from those that can take the
// subjob: power of two choices.
func (m *Machine) choose(env node.Env, p *subjob) *places.Manager {
	d := m.places.Datacenter(p.datacenter)
	if d == nil {
		return nil
	}
	fit := d.Candidates(p.refusedBy)
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
	if cmp.Or(cmp.Compare(m.laden(fit[b]), m.laden(fit[a])), cmp.Compare(fit[b].ID, fit[a].ID)) < 0 {
		return fit[b]
	}
	return fit[a]
}

// laden counts what a manager has of this gate's jobs.
func (m *Machine) laden(mgr *places.Manager) int {
	n := 0
	for _, j := range m.active {
		if p := j.subjob(mgr.Place.Name); p != nil && p.manager == mgr.ID && p.phase != subjobDone {
			n++
		}
	}
	return n
}

// send tells the manager, for the first time or again. Its fence names no manager
// epoch: who takes the subjob up does.
func (m *Machine) send(env node.Env, j *job, p *subjob) {
	p.sent = env.Now()
	mgr := m.places.Manager(p.manager)
	if mgr == nil || mgr.Stream == 0 || !m.holds(env, j) {
		return
	}
	p.ever = true
	p.renewed = max(p.renewed, env.Now()) // nothing of it starts before a heartbeat is answered with its name
	if !slices.Contains(p.asked, p.manager) {
		p.asked = append(p.asked, p.manager)
		env.Emit(event.SubjobDispatched{Job: j.id, Fence: j.fence(), Datacenter: p.datacenter, Manager: p.manager})
	}
	env.Send(mgr.Stream, &message.JobDispatch{
		Job: j.id, Fence: j.fence(), Name: j.name, Program: j.program(p), Plan: j.spec.Plan,
		RunTimeout: j.left(env.Now()).Round(time.Microsecond), Rows: j.share(p),
	})
}

// program is a subjob's. What is drawn by chance, arrivals and what users draw, is drawn
// by each of several datacenters for itself: together they would march in step.
func (j *job) program(p *subjob) message.Program {
	program := j.spec.Program
	if len(j.subjobs) > 1 {
		program.Seed = node.MixString(program.Seed, p.datacenter)
	}
	return program
}

// share is a subjob's share of the rows of feeds: those that name several datacenters
// keep theirs, whoever runs.
func (j *job) share(p *subjob) message.RowShare {
	at := slices.Index(j.turn.Named, p.datacenter)
	if at < 0 || len(j.turn.Named) < 2 {
		return message.RowShare{}
	}
	return message.RowShare{Index: uint32(at), Of: uint32(len(j.turn.Named))}
}

// partOf finds the subjob that an answer is about: that of its sender's
// datacenter, or, before it registers, the one that was its own.
func (m *Machine) subjobOf(j *job, from node.ID) *subjob {
	if mgr := m.places.Manager(from); mgr != nil {
		return j.subjob(mgr.Place.Name)
	}
	for _, p := range j.subjobs {
		if p.manager == from {
			return p
		}
	}
	return nil
}

// owned finds a job that this gate acts for, and its subjob that a message of a
// manager is about.
func (m *Machine) owned(env node.Env, in *node.Input, id message.JobID) (*job, *subjob) {
	j := m.jobs[id]
	if j == nil || !j.ready || j.state.Terminal() || !m.holds(env, j) {
		m.ignore(env, in, "no such job runs here")
		return nil, nil
	}
	p := m.subjobOf(j, in.From.ID)
	if p == nil {
		m.ignore(env, in, "the job has no subjob there")
		return nil, nil
	}
	return j, p
}

func (m *Machine) stale(env node.Env, j *job, p *subjob, got message.Fence, what string) {
	env.Emit(event.FenceRefused{Shard: message.ShardID{Job: j.id}, Subjob: true, Got: got, Current: p.fence, What: what})
}

// follows says whether a fence is the newest that a subjob was heard under, and
// follows it when it is newer: among themselves, managers have chosen.
func (m *Machine) follows(env node.Env, in *node.Input, j *job, p *subjob, f message.Fence) bool {
	switch {
	case f.Less(p.fence):
		m.stale(env, j, p, f, message.Name(in.Message.Kind()))
		return false
	case f.JobEpoch > j.epoch:
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
	if j == nil || p.phase == subjobDone || p.phase == subjobSaving || !m.follows(env, in, j, p, a.Fence) {
		return
	}
	p.renewed = max(p.renewed, env.Now())
	m.takenUp(env, j, p)
	m.sendCancel(env, j, p)
}

// takenUp: a manager has it, and a majority of its fellows knows.
func (m *Machine) takenUp(env node.Env, j *job, p *subjob) {
	if p.phase == subjobRunning || p.phase == subjobDone {
		return
	}
	p.become(env.Now(), subjobRunning)
	p.accepted, p.missed = true, 0
	m.runIfAccepted(env, j)
	m.arm(env, j)
}

// runIfAccepted moves the job to RUNNING once every subjob has been taken up.
func (m *Machine) runIfAccepted(env node.Env, j *job) {
	if j.state != message.JobDispatching {
		return
	}
	for _, p := range j.subjobs {
		if p.phase != subjobRunning && p.phase != subjobDone {
			return
		}
	}
	j.become(message.JobRunning, "")
	m.save(env, &put{what: "run a job", job: j})
}

// onRefused goes to who owns the subjob, or to another manager.
func (m *Machine) onRefused(env node.Env, in *node.Input, r *message.JobRefused) {
	j, p := m.owned(env, in, r.Job)
	switch {
	case j == nil || p.phase != subjobSent && p.phase != subjobAdopting:
		return
	case r.Fence.JobEpoch < j.epoch:
		m.stale(env, j, p, r.Fence, "JobRefused")
		return
	case r.Fence.JobEpoch > j.epoch || r.Code == message.CodeStaleFence:
		return // a gate that came after this one has spoken: the register will tell
	}
	if r.Code == message.CodeNotOwner {
		m.redirected(env, j, p, node.Addr(r.Holder))
		return
	}
	p.release(m.places)
	p.asked = slices.DeleteFunc(p.asked, func(id node.ID) bool { return id == in.From.ID })
	switch {
	case j.stopping():
		if len(p.asked) == 0 {
			m.endSubjob(env, j, p, stoppedState(j), "")
		}
	case !r.Code.Retryable():
		m.endSubjob(env, j, p, message.JobFailed, shortened(fmt.Sprintf("manager %s refused it: %v: %s", in.From.ID, r.Code, r.Detail), detailMax))
	default:
		if mgr := m.places.Manager(in.From.ID); mgr != nil && r.Code == message.CodeNoCores {
			mgr.Spend() // until it tells otherwise
		}
		p.refusedBy = append(p.refusedBy, in.From.ID)
		m.dispatchAgain(env, j, p)
	}
}

// redirected asks the manager that another one named. Two that name each other
// are asked again no faster than any manager is.
func (m *Machine) redirected(env node.Env, j *job, p *subjob, holder node.Addr) {
	d := m.places.Datacenter(p.datacenter)
	if d == nil || j.stopping() {
		return
	}
	for _, mgr := range d.Managers {
		if mgr.At(holder) && mgr.ID != p.manager && !slices.Contains(p.asked, mgr.ID) {
			reached(env, "gate/redirected")
			m.sendTo(env, j, p, mgr)
			m.arm(env, j)
			return
		}
	}
}

// dispatchAgain tries another manager now, else later: the job goes back to the
// queue if no manager can have any part of it.
func (m *Machine) dispatchAgain(env node.Env, j *job, p *subjob) {
	if m.assign(env, j, p) {
		m.arm(env, j)
		return
	}
	p.release(m.places)
	if j.state == message.JobDispatching && !m.inUse(env, j) {
		m.requeue(env, j, "no manager took it")
		return
	}
	m.arm(env, j)
}

// inUse says that some manager may have its subjob. Then the job does not go back
// to the queue, from where another datacenter could be chosen.
func (m *Machine) inUse(env node.Env, j *job) bool {
	return slices.ContainsFunc(j.subjobs, func(p *subjob) bool {
		return p.phase != subjobWaiting || p.accepted || len(p.asked) > 0 || m.mayRun(env, p)
	})
}

func (m *Machine) requeue(env node.Env, j *job, reason string) {
	for _, p := range j.subjobs {
		p.release(m.places)
	}
	m.leaveActive(j)
	j.subjobs, j.ran = nil, false
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
