package gate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/gate/job"
	"hyperscale/core/gate/places"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// driver takes a job from its dispatch to its end: it sends, counts, cancels and aborts.
type driver struct{ scheduler }

// sendSaved sends the subjobs whose record is on a majority now, unless they have changed since
// the write began.
func (m *driver) sendSaved(env node.Env, j *entry, saved []*job.Subjob) {
	for _, p := range saved {
		if p.Phase == job.Saving && !j.Stopping() && !j.State.Terminal() {
			m.assign(env, j, p, false)
		}
	}
	if j.State == message.JobDispatching && !j.InUse(env.Now(), m.config.datacenterGuard()) {
		m.requeue(env, j, "no manager took it")
		return
	}
	m.arm(env, j)
}

// assign sends a subjob to a manager of its datacenter, or lets it wait for one. If the gate
// asks several managers, the subjob's register in the datacenter decides which one has it. The
// throttle paces a subjob that was dispatched before.
func (m *driver) assign(env node.Env, j *entry, p *job.Subjob, again bool) bool {
	if m.awaits(env, p) {
		return true
	}
	mgr := m.choose(env, p)
	if mgr == nil || again && m.throttle.Take(env.Now()) > 0 {
		p.Become(env.Now(), job.Waiting)
		p.Sent = env.Now()
		return false
	}
	m.sendTo(env, j, p, mgr, m.config.patience())
	return true
}

// awaits lets a subjob wait for the answer of a manager that has the dispatch, if there is one that
// can answer.
func (m *driver) awaits(env node.Env, p *job.Subjob) bool {
	for _, a := range p.Asked {
		mgr := m.places.Manager(a.Manager)
		if mgr == nil || !mgr.Live || mgr.Stream == 0 || mgr.Lacks() || !p.Has(mgr.ID, mgr.Stream, env.Now()) {
			continue
		}
		p.Manager, p.Sent, p.Look = mgr.ID, env.Now(), m.nextLook(env)
		p.Renewed = max(p.Renewed, env.Now())
		p.Become(env.Now(), job.Sent)
		return true
	}
	return false
}

// choose draws two of the managers that can take the subjob, and returns the one with fewer
// subjobs (power of two choices). It chooses none that has the dispatch.
func (m *driver) choose(env node.Env, p *job.Subjob) *places.Manager {
	d := m.places.Datacenter(p.Datacenter)
	if d == nil {
		return nil
	}
	fit := m.fit(env, d, p)
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

// fit lists the managers that can take a subjob, did not refuse it, and do not have its dispatch.
func (m *driver) fit(env node.Env, d *places.Datacenter, p *job.Subjob) []*places.Manager {
	now := env.Now()
	return d.Candidates(func(mgr *places.Manager) bool {
		return slices.Contains(p.RefusedBy, mgr.ID) || p.Has(mgr.ID, mgr.Stream, now)
	})
}

// laden counts the subjobs of this gate that a manager has.
func (m *driver) laden(mgr *places.Manager) int {
	n := 0
	for _, j := range m.active {
		if p := j.Subjob(mgr.Place.Name); p != nil && p.Manager == mgr.ID && p.Phase != job.Done {
			n++
		}
	}
	return n
}

// sendTo dispatches a subjob to one manager, which has the patience to answer.
func (m *driver) sendTo(env node.Env, j *entry, p *job.Subjob, mgr *places.Manager, patience time.Duration) {
	p.Manager, p.Missed = mgr.ID, 0
	p.Become(env.Now(), job.Sent)
	p.Look = m.nextLook(env)
	m.reserve(j, p)
	m.send(env, j, p, patience)
}

// nextLook is when the gate looks for another manager in place of one that does not answer.
func (m *driver) nextLook(env node.Env) node.Instant {
	wait := m.config.AnswerTimeout
	return env.Now().Add(env.Rand(node.PurposeJitter).Duration(wait, wait+wait/8))
}

// replace dispatches to another manager, as the one that was asked does not answer. If there is no
// other one, the gate keeps waiting: the manager has the dispatch.
func (m *driver) replace(env node.Env, j *entry, p *job.Subjob) {
	p.Look = m.nextLook(env)
	mgr := m.choose(env, p)
	if mgr == nil || mgr.ID == p.Manager || m.throttle.Take(env.Now()) > 0 {
		return
	}
	reached(env, "gate/answer-timeout")
	p.RefusedBy = append(p.RefusedBy, p.Manager)
	m.sendTo(env, j, p, mgr, m.config.patience())
}

// resend dispatches to the same manager again if the stream that carried the dispatch is gone, or
// after a long silence, as fast as the throttle allows.
func (m *driver) resend(env node.Env, j *entry, p *job.Subjob) {
	p.Sent = env.Now()
	mgr := m.places.Manager(p.Manager)
	if mgr == nil || mgr.Stream == 0 || !m.holds(env, j) {
		return
	}
	if p.Has(mgr.ID, mgr.Stream, env.Now()) {
		p.Renewed = max(p.Renewed, env.Now()) // its manager is not silent, and may take it up yet
		return
	}
	if m.throttle.Take(env.Now()) > 0 {
		return
	}
	reached(env, "gate/dispatched-again")
	m.send(env, j, p, m.config.patience())
}

// send dispatches the subjob to its manager, for the first time or again. The fence leaves the
// subjob epoch open: the manager that takes the subjob up sets it.
func (m *driver) send(env node.Env, j *entry, p *job.Subjob, patience time.Duration) {
	p.Sent = env.Now()
	mgr := m.places.Manager(p.Manager)
	if mgr == nil || mgr.Stream == 0 || !m.holds(env, j) {
		return
	}
	p.Ever = true
	mgr.Ask(env.Now())
	p.Renewed = max(p.Renewed, env.Now()) // a manager starts nothing before the gate has answered a heartbeat that names the subjob
	if p.Note(mgr.ID, mgr.Stream, env.Now(), patience, env.Rand(node.PurposeJitter).Duration) {
		env.Emit(event.SubjobDispatched{Job: j.ID, Fence: j.Fence(), Datacenter: p.Datacenter, Manager: p.Manager})
	}
	env.Send(mgr.Stream, &message.JobDispatch{
		Job: j.ID, Fence: j.Fence(), Name: j.Name, Program: j.ProgramOf(p), Plan: j.Spec.Plan,
		RunTimeout: j.Left(env.Now()).Round(time.Microsecond), Rows: j.Share(p), Ran: j.RunTimeout - j.Left(env.Now()).Round(time.Microsecond),
		Stops: j.Stops(),
	})
}

// takenUp marks a subjob as running: a manager has it, and a majority of managers has its
// record.
func (m *driver) takenUp(env node.Env, j *entry, p *job.Subjob) {
	if p.Phase == job.Running || p.Phase == job.Done {
		return
	}
	p.Become(env.Now(), job.Running)
	p.Accepted, p.Missed = true, 0
	m.runIfAccepted(env, j)
	m.arm(env, j)
}

// runIfAccepted moves the job to RUNNING once managers have taken up every subjob.
func (m *driver) runIfAccepted(env node.Env, j *entry) {
	if j.State != message.JobDispatching {
		return
	}
	for _, p := range j.Subjobs {
		if p.Phase != job.Running && p.Phase != job.Done {
			return
		}
	}
	j.Become(message.JobRunning, "")
	if j.dispatched != 0 {
		took := env.Now().Sub(j.dispatched)
		m.throttle.Observe(took)
		env.Emit(event.JobBegan{Job: j.ID, Waited: j.dispatched.Sub(j.Turn.Since), Took: took})
	}
	m.save(env, j, tag{})
}

// redirected dispatches to the manager that another manager named as the owner. It asks no
// manager twice, so two that name each other cause no loop.
func (m *driver) redirected(env node.Env, j *entry, p *job.Subjob, holder node.Addr) {
	d := m.places.Datacenter(p.Datacenter)
	if d == nil || j.Stopping() {
		return
	}
	for _, mgr := range d.Managers {
		if mgr.At(holder) && mgr.ID != p.Manager && !p.Was(mgr.ID) {
			reached(env, "gate/redirected")
			m.sendTo(env, j, p, mgr, m.config.DispatchRetry)
			m.arm(env, j)
			return
		}
	}
}

// dispatchAgain tries another manager now, or later if there is none. If no manager can have
// any subjob of the job, the job returns to the queue.
func (m *driver) dispatchAgain(env node.Env, j *entry, p *job.Subjob) {
	if m.assign(env, j, p, true) {
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

// nudge performs the act that is due for a subjob.
func (m *driver) nudge(env node.Env, j *entry, p *job.Subjob) {
	switch p.Duty(env.Now(), m.config.timing()) {
	case job.Move:
		m.onExpired(env, j, p)
	case job.Replace:
		m.replace(env, j, p)
	case job.Resend:
		m.resend(env, j, p)
	case job.Assign:
		m.assign(env, j, p, true)
	}
}

// expire ends a job that ran longer than its RunTimeout: it cancels the subjobs and waits
// RunGrace for them.
func (m *driver) expire(env node.Env, j *entry) {
	j.Expired = true
	m.stopSubjobs(env, j)
}

// onExpired ends a subjob whose datacenter is silent, or starts it again in another datacenter.
// Before anything starts there, the record says that reports of the silent one do not count.
func (m *driver) onExpired(env node.Env, j *entry, p *job.Subjob) {
	why := fmt.Sprintf("datacenter %s was silent for %v", p.Datacenter, m.config.datacenterGuard())
	p.Release(m.places)
	if j.Stopping() {
		m.endSubjob(env, j, p, j.StoppedState(), why)
		return
	}
	to, ends := j.Leave(env.Now(), p, m.places)
	switch {
	case ends:
		m.endSubjob(env, j, p, message.JobFailed, why)
		return
	case to == nil: // until a datacenter is healthy, or the job's run timeout
		return
	}
	j.Moves(p, why, env.Now())
	next := j.Begin(to.Name, env.Now())
	j.Subjobs[slices.Index(j.Subjobs, p)] = next
	j.Started = env.Now()
	m.reserve(j, next)
	m.save(env, j, tag{act: actSend, send: []*job.Subjob{next}})
	m.arm(env, j)
}

// onManagerLost dispatches a subjob that no manager has accepted to another manager. If one has
// accepted it, the managers hand it over themselves, and the gate hears from the new owner.
func (m *driver) onManagerLost(env node.Env, j *entry, p *job.Subjob) {
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

// denied dispatches a subjob again: its manager has left it out of too many heartbeats, and no
// other manager has listed it.
func (m *driver) denied(env node.Env, j *entry, p *job.Subjob) {
	p.Missed = 0
	if j.Stopping() {
		return // endStopped waits for it within a bound
	}
	m.note(env, p, true)
	if p.Losses++; p.Losses > m.config.RedispatchMax {
		m.endSubjob(env, j, p, message.JobFailed, fmt.Sprintf("its managers lost it %d times, the last was %s", p.Losses, p.Manager))
		return
	}
	p.Asked = nil
	m.assign(env, j, p, true)
	m.arm(env, j)
}
