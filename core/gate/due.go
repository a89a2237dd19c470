package gate

import (
	"fmt"
	"slices"

	"hyperscale/core/gate/job"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

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
