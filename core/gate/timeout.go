package gate

import (
	"math"
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// arm sets the job's one timer to the first thing that is due.
func (m *Machine) arm(env node.Env, j *job) {
	key := node.KeyID(node.PartGate, node.GateJob, j.id)
	if j.state.Terminal() || j.state == message.JobQueued {
		env.CancelTimer(key)
		return
	}
	next := node.Instant(math.MaxInt64)
	if j.stopping() {
		next = j.resend.Add(m.config.CancelRetry)
	} else {
		next = min(next, j.started.Add(j.runTimeout))
		if j.aborting() {
			next = min(next, max(env.Now(), j.resend.Add(m.config.CancelRetry)))
		}
		for _, p := range j.subjobs {
			if p.ever && p.phase != subjobDone {
				next = min(next, max(p.renewed.Add(m.config.datacenterGuard()), env.Now().Add(m.config.DispatchRetry)))
			}
			switch p.phase {
			case subjobSent, subjobWaiting:
				next = min(next, p.sent.Add(m.config.DispatchRetry))
			case subjobAdopting:
				next = min(next, p.since.Add(m.config.ManagerSilence))
			}
		}
	}
	env.SetTimer(key, max(0, next.Sub(env.Now())))
}

// stopping says that nothing of the job starts any more.
func (j *job) stopping() bool { return j.state == message.JobCancelling || j.expired }

func (m *Machine) onJobTimer(env node.Env, id message.JobID) {
	j := m.jobs[id]
	switch {
	case j == nil || j.ready && (j.state.Terminal() || j.state == message.JobQueued):
		return
	case !j.ready:
		m.onKeepTimeout(env, j)
		return
	case !m.holds(env, j):
		env.SetTimer(node.KeyID(node.PartGate, node.GateJob, j.id), m.config.CancelRetry) // until it is told to be lost
		return
	case j.stopping():
		m.resendCancels(env, j)
	case env.Now().Sub(j.started) >= j.runTimeout:
		m.expire(env, j)
	default:
		if j.aborting() && env.Now().Sub(j.resend) >= m.config.CancelRetry {
			m.sendAborts(env, j)
		}
		for _, p := range slices.Clone(j.subjobs) {
			m.nudge(env, j, p)
		}
	}
	m.arm(env, j)
}

// nudge does again what a subjob waits for.
func (m *Machine) nudge(env node.Env, j *job, p *subjob) {
	if m.expired(env, p) {
		m.onExpired(env, j, p)
		return
	}
	now := env.Now()
	switch p.phase {
	case subjobSent:
		if now.Sub(p.since) >= m.config.AnswerTimeout {
			reached(env, "gate/answer-timeout")
			p.refusedBy = append(p.refusedBy, p.manager)
			m.dispatchAgain(env, j, p)
		} else if now.Sub(p.sent) >= m.config.DispatchRetry {
			m.send(env, j, p)
		}
	case subjobWaiting:
		if now.Sub(p.sent) >= m.config.DispatchRetry {
			m.assign(env, j, p)
		}
	case subjobAdopting:
		if now.Sub(p.since) >= m.config.ManagerSilence {
			m.assign(env, j, p)
		}
	}
}

// expire ends a job that took longer than its RunTimeout: subjobs are told, and
// waited for within RunGrace.
func (m *Machine) expire(env node.Env, j *job) {
	j.expired = true
	m.stopSubjobs(env, j)
}
