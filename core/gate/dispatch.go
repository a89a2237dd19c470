package gate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/gate/job"
	"hyperscale/core/gate/places"
	"hyperscale/core/gate/queue"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// dispatch sends the whole plan to each of the targets, once a majority knows.
func (m *Machine) dispatch(env node.Env, j *entry, targets []*places.Datacenter) {
	now := env.Now()
	j.Subjobs = nil
	if len(j.Turn.Named) == 0 && hasUnique(&j.Spec.Plan) {
		j.Turn.Named = []string{targets[0].Name} // what rows were taken there nobody knows elsewhere
	}
	for _, d := range targets {
		j.Subjobs = append(j.Subjobs, &job.Subjob{Datacenter: d.Name, Fence: j.Fence(), Marks: job.Marks{Since: now, Sent: now, Renewed: now}, Phase: job.Saving})
	}
	if !j.Ran {
		j.Ran, j.Started = true, now
	}
	m.active = append(m.active, j)
	j.Become(message.JobDispatching, "")
	for _, p := range j.Subjobs {
		m.reserve(j, p)
	}
	m.save(env, &put{job: j, then: tag{act: actSend, send: j.Subjobs}})
	m.arm(env, j)
}

// sendSaved sends the subjobs that a majority knows of, unless something has
// overtaken them meanwhile.
func (m *Machine) sendSaved(env node.Env, j *entry, saved []*job.Subjob) {
	for _, p := range saved {
		if p.Phase == job.Saving && !j.Stopping() && !j.State.Terminal() {
			m.assign(env, j, p)
		}
	}
	if j.State == message.JobDispatching && !j.InUse(env.Now(), m.config.datacenterGuard()) {
		m.requeue(env, j, "no manager took it")
		return
	}
	m.arm(env, j)
}

// reserve keeps cores for a dispatch until heartbeats tell of it.
func (m *Machine) reserve(j *entry, p *job.Subjob) {
	p.Release(m.places)
	if d := m.places.Datacenter(p.Datacenter); d != nil {
		p.Reserved, p.Beats = queue.Wants(&j.Spec.Plan, d), 2
		d.Reserve(p.Reserved)
	}
}

// assign sends a subjob to a manager of its datacenter, or has it wait for one. The
// register in the datacenter decides which of those that were asked has it.
func (m *Machine) assign(env node.Env, j *entry, p *job.Subjob) bool {
	mgr := m.choose(env, p)
	if mgr == nil {
		p.Become(env.Now(), job.Waiting)
		p.Sent = env.Now()
		return false
	}
	m.sendTo(env, j, p, mgr)
	return true
}

// sendTo dispatches a subjob to one manager.
func (m *Machine) sendTo(env node.Env, j *entry, p *job.Subjob, mgr *places.Manager) {
	p.Manager, p.Missed = mgr.ID, 0
	p.Become(env.Now(), job.Sent)
	m.reserve(j, p)
	m.send(env, j, p)
}

// choose takes the less laden of two managers drawn from those that can take the
// subjob: power of two choices.
func (m *Machine) choose(env node.Env, p *job.Subjob) *places.Manager {
	d := m.places.Datacenter(p.Datacenter)
	if d == nil {
		return nil
	}
	fit := d.Candidates(p.RefusedBy)
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
		if p := j.Subjob(mgr.Place.Name); p != nil && p.Manager == mgr.ID && p.Phase != job.Done {
			n++
		}
	}
	return n
}

// send tells the manager, for the first time or again. Its fence names no manager
// epoch: who takes the subjob up does.
func (m *Machine) send(env node.Env, j *entry, p *job.Subjob) {
	p.Sent = env.Now()
	mgr := m.places.Manager(p.Manager)
	if mgr == nil || mgr.Stream == 0 || !m.holds(env, j) {
		return
	}
	p.Ever = true
	p.Renewed = max(p.Renewed, env.Now()) // nothing of it starts before a heartbeat is answered with its name
	if !slices.Contains(p.Asked, p.Manager) {
		p.Asked = append(p.Asked, p.Manager)
		env.Emit(event.SubjobDispatched{Job: j.ID, Fence: j.Fence(), Datacenter: p.Datacenter, Manager: p.Manager})
	}
	env.Send(mgr.Stream, &message.JobDispatch{
		Job: j.ID, Fence: j.Fence(), Name: j.Name, Program: j.ProgramOf(p), Plan: j.Spec.Plan,
		RunTimeout: j.Left(env.Now()).Round(time.Microsecond), Rows: j.Share(p),
	})
}

// partOf finds the subjob that an answer is about: that of its sender's
// datacenter, or, before it registers, the one that was its own.
func (m *Machine) subjobOf(j *entry, from node.ID) *job.Subjob {
	if mgr := m.places.Manager(from); mgr != nil {
		return j.Subjob(mgr.Place.Name)
	}
	for _, p := range j.Subjobs {
		if p.Manager == from {
			return p
		}
	}
	return nil
}

// owned finds a job that this gate acts for, and its subjob that a message of a
// manager is about.
func (m *Machine) owned(env node.Env, in *node.Input, id message.JobID) (*entry, *job.Subjob) {
	j := m.jobs[id]
	if j == nil || !j.Ready || j.State.Terminal() || !m.holds(env, j) {
		ignore(env, in, "no such job runs here")
		return nil, nil
	}
	p := m.subjobOf(j, in.From.ID)
	if p == nil {
		ignore(env, in, "the job has no subjob there")
		return nil, nil
	}
	return j, p
}

func stale(env node.Env, j *entry, p *job.Subjob, got message.Fence, what string) {
	env.Emit(event.FenceRefused{Shard: message.ShardID{Job: j.ID}, Subjob: true, Got: got, Current: p.Fence, What: what})
}

// follows says whether a fence is the newest that a subjob was heard under, and
// follows it when it is newer: among themselves, managers have chosen.
func follows(env node.Env, in *node.Input, j *entry, p *job.Subjob, f message.Fence) bool {
	switch {
	case f.Less(p.Fence):
		stale(env, j, p, f, message.Name(in.Message.Kind()))
		return false
	case f.JobEpoch > j.Epoch:
		ignore(env, in, "its fence is above any that was given")
		return false
	}
	if p.Fence.Less(f) {
		p.Fence, p.Sequence = f, 0
	}
	if in.From.Role == node.RoleManager {
		p.Manager = in.From.ID
	}
	return true
}

func (m *Machine) onAccepted(env node.Env, in *node.Input, a *message.JobAccepted) {
	j, p := m.owned(env, in, a.Job)
	if j == nil || p.Phase == job.Done || p.Phase == job.Saving || !follows(env, in, j, p, a.Fence) {
		return
	}
	p.Renewed = max(p.Renewed, env.Now())
	m.takenUp(env, j, p)
	m.sendCancel(env, j, p)
}

// takenUp: a manager has it, and a majority of its fellows knows.
func (m *Machine) takenUp(env node.Env, j *entry, p *job.Subjob) {
	if p.Phase == job.Running || p.Phase == job.Done {
		return
	}
	p.Become(env.Now(), job.Running)
	p.Accepted, p.Missed = true, 0
	m.runIfAccepted(env, j)
	m.arm(env, j)
}

// runIfAccepted moves the job to RUNNING once every subjob has been taken up.
func (m *Machine) runIfAccepted(env node.Env, j *entry) {
	if j.State != message.JobDispatching {
		return
	}
	for _, p := range j.Subjobs {
		if p.Phase != job.Running && p.Phase != job.Done {
			return
		}
	}
	j.Become(message.JobRunning, "")
	m.save(env, &put{job: j})
}

// onRefused goes to who owns the subjob, or to another manager.
func (m *Machine) onRefused(env node.Env, in *node.Input, r *message.JobRefused) {
	j, p := m.owned(env, in, r.Job)
	switch {
	case j == nil || p.Phase != job.Sent && p.Phase != job.Adopting:
		return
	case r.Fence.JobEpoch < j.Epoch:
		stale(env, j, p, r.Fence, "JobRefused")
		return
	case r.Fence.JobEpoch > j.Epoch || r.Code == message.CodeStaleFence:
		return // a gate that came after this one has spoken: the register will tell
	}
	if r.Code == message.CodeNotOwner {
		m.redirected(env, j, p, node.Addr(r.Holder))
		return
	}
	p.Release(m.places)
	p.Asked = slices.DeleteFunc(p.Asked, func(id node.ID) bool { return id == in.From.ID })
	switch {
	case j.Stopping():
		if len(p.Asked) == 0 {
			m.endSubjob(env, j, p, j.StoppedState(), "")
		}
	case !r.Code.Retryable():
		m.endSubjob(env, j, p, message.JobFailed, shortened(fmt.Sprintf("manager %s refused it: %v: %s", in.From.ID, r.Code, r.Detail), detailMax))
	default:
		if mgr := m.places.Manager(in.From.ID); mgr != nil && r.Code == message.CodeNoCores {
			mgr.Spend() // until it tells otherwise
		}
		p.RefusedBy = append(p.RefusedBy, in.From.ID)
		m.dispatchAgain(env, j, p)
	}
}

// redirected asks the manager that another one named. Two that name each other
// are asked again no faster than any manager is.
func (m *Machine) redirected(env node.Env, j *entry, p *job.Subjob, holder node.Addr) {
	d := m.places.Datacenter(p.Datacenter)
	if d == nil || j.Stopping() {
		return
	}
	for _, mgr := range d.Managers {
		if mgr.At(holder) && mgr.ID != p.Manager && !slices.Contains(p.Asked, mgr.ID) {
			reached(env, "gate/redirected")
			m.sendTo(env, j, p, mgr)
			m.arm(env, j)
			return
		}
	}
}

// dispatchAgain tries another manager now, else later: the job goes back to the
// queue if no manager can have any part of it.
func (m *Machine) dispatchAgain(env node.Env, j *entry, p *job.Subjob) {
	if m.assign(env, j, p) {
		m.arm(env, j)
		return
	}
	p.Release(m.places)
	if j.State == message.JobDispatching && !j.InUse(env.Now(), m.config.datacenterGuard()) {
		m.requeue(env, j, "no manager took it")
		return
	}
	m.arm(env, j)
}

func (m *Machine) requeue(env node.Env, j *entry, reason string) {
	for _, p := range j.Subjobs {
		p.Release(m.places)
	}
	m.leaveActive(j)
	j.Subjobs, j.Ran = nil, false
	reached(env, "gate/queued-again")
	j.Become(message.JobQueued, reason)
	m.save(env, &put{job: j})
	env.CancelTimer(node.KeyID(node.PartGate, node.GateJob, j.ID))
	m.enqueue(env, j)
}

func (m *Machine) leaveActive(j *entry) {
	m.active = slices.DeleteFunc(m.active, func(other *entry) bool { return other == j })
}

// hasUnique says that a plan has rows that must not be taken twice.
func hasUnique(p *message.Plan) bool {
	return slices.ContainsFunc(p.Workflows, func(w message.WorkflowPlan) bool { return w.Feed.Unique && w.Feed.Rows > 0 })
}
