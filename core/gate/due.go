package gate

import (
	"fmt"
	"slices"

	"hyperscale/core/gate/job"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// nudge does again what a subjob waits for.
func (m *driver) nudge(env node.Env, j *entry, p *job.Subjob) {
	switch p.Duty(env.Now(), m.config.timing()) {
	case job.Move:
		m.onExpired(env, j, p)
	case job.Replace:
		reached(env, "gate/answer-timeout")
		p.RefusedBy = append(p.RefusedBy, p.Manager)
		m.dispatchAgain(env, j, p)
	case job.Resend:
		m.send(env, j, p)
	case job.Assign:
		m.assign(env, j, p)
	}
}

// expire ends a job that took longer than its RunTimeout: subjobs learn it, and
// waited for within RunGrace.
func (m *driver) expire(env node.Env, j *entry) {
	j.Expired = true
	m.stopSubjobs(env, j)
}

// onExpired ends a subjob whose datacenter is silent, or begins it anew in another
// one. What the silent one still tells counts no more: the record says so before
// anything begins.
func (m *driver) onExpired(env node.Env, j *entry, p *job.Subjob) {
	why := fmt.Sprintf("datacenter %s was silent for %v", p.Datacenter, m.config.datacenterGuard())
	p.Release(m.places)
	if j.Stopping() {
		m.endSubjob(env, j, p, j.StoppedState(), why)
		return
	}
	to, ends := j.Leave(p, m.places)
	switch {
	case ends:
		m.endSubjob(env, j, p, message.JobFailed, why)
		return
	case to == nil: // until one is well, or the run timeout
		return
	}
	next := j.Begin(to.Name, env.Now())
	j.Subjobs[slices.Index(j.Subjobs, p)] = next
	j.Started = env.Now()
	m.reserve(j, next)
	m.save(env, j, tag{act: actSend, send: []*job.Subjob{next}})
	m.arm(env, j)
}

// onManagerLost dispatches to another manager where none has accepted the subjob.
// What was taken up is its managers' own to hand on: the gate hears who has it.
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

// denied: the manager that had the subjob has left it out too often, and no other
// one has listed it.
func (m *driver) denied(env node.Env, j *entry, p *job.Subjob) {
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
