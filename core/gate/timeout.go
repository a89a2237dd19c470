package gate

import (
	"slices"

	"hyperscale/core/gate/job"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// arm sets the job's one timer to the first thing that is due.
func (m *Machine) arm(env node.Env, j *entry) {
	key := node.KeyID(node.PartGate, node.GateJob, j.ID)
	if next, ok := j.Due(env.Now(), m.config.timing()); ok {
		env.SetTimer(key, max(0, next.Sub(env.Now())))
	} else {
		env.CancelTimer(key)
	}
}

func (m *Machine) onJobTimer(env node.Env, id message.JobID) {
	j := m.jobs[id]
	switch {
	case j == nil || j.Ready && (j.State.Terminal() || j.State == message.JobQueued):
		return
	case !j.Ready:
		m.onKeepTimeout(env, j)
		return
	case !m.holds(env, j):
		env.SetTimer(node.KeyID(node.PartGate, node.GateJob, j.ID), m.config.CancelRetry) // until it is told to be lost
		return
	case j.Stopping():
		m.resendCancels(env, j)
	case env.Now().Sub(j.Started) >= j.RunTimeout:
		m.expire(env, j)
	default:
		if j.Aborting() && env.Now().Sub(j.Resend) >= m.config.CancelRetry {
			m.sendAborts(env, j)
		}
		for _, p := range slices.Clone(j.Subjobs) {
			m.nudge(env, j, p)
		}
	}
	m.arm(env, j)
}

// nudge does again what a subjob waits for.
func (m *Machine) nudge(env node.Env, j *entry, p *job.Subjob) {
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
func (m *Machine) expire(env node.Env, j *entry) {
	j.Expired = true
	m.stopSubjobs(env, j)
}
