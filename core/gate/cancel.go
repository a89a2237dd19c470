package gate

import (
	"fmt"

	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// cancel answers once CANCELLING is on a majority, or with how the job had ended.
// A result that is on its way there has come first.
func (m *Machine) cancel(env node.Env, j *job, a *audience.Ask) {
	if !j.waiting.Cancel(a, m.config.WaitersMax) {
		env.Emit(event.Shed{What: "cancel", Why: "too many wait for one job"})
		m.refuseForRoom(env, a.Stream, a.Request, message.CodeQueueFull, fmt.Sprintf("%d cancellations of this job wait", j.waiting.Cancels()))
		return
	}
	if j.state == message.JobCancelling || j.state.Terminal() {
		m.answerCancels(env, j)
		return
	}
	m.leaveQueue(env, j)
	j.become(message.JobCancelling, "cancelled by "+shortened(string(a.From), detailMax))
	if m.stopSubjobs(env, j); !j.state.Terminal() {
		m.save(env, &put{what: "cancel a job", job: j, then: func(env node.Env) {
			for _, p := range j.subjobs {
				m.sendCancel(env, j, p)
			}
		}})
	}
	m.arm(env, j)
}

func (m *Machine) answerCancels(env node.Env, j *job) {
	if j.shown != message.JobCancelling && !j.shown.Terminal() {
		return
	}
	for _, a := range j.waiting.TakeCancels() {
		env.Send(a.Stream, &message.JobCancelAck{Request: a.Request, Job: j.id, State: j.shown})
	}
}

// stoppedState is what a subjob becomes that is stopped.
func stoppedState(j *job) message.JobState {
	if j.state == message.JobCancelling {
		return message.JobCancelled
	}
	return message.JobTimedOut
}

// stopParts asks for the end of all subjobs. Those that no manager can have end at
// once.
func (m *Machine) stopSubjobs(env node.Env, j *job) {
	j.cancelled, j.resend = env.Now(), env.Now()
	for _, p := range j.subjobs {
		switch {
		case p.phase == subjobDone:
			continue
		case p.phase == subjobSaving:
			p.release(m.places)
			p.manager = ""
			p.become(env.Now(), subjobWaiting)
		}
		if !p.ever {
			m.markEnded(env, j, p, stoppedState(j), "")
			continue
		}
		m.sendCancel(env, j, p)
	}
	m.endIfDone(env, j)
}

// sendCancel tells who has the subjob, or all who were asked to take it, while
// nobody has said that it did. Nobody is told before a majority knows that the
// job is being cancelled.
func (m *Machine) sendCancel(env node.Env, j *job, p *subjob) {
	if !j.stopping() || p.phase == subjobDone || j.state != j.shown && j.state == message.JobCancelling || !m.holds(env, j) {
		return
	}
	to := p.asked
	if p.phase == subjobRunning || len(to) == 0 {
		to = []node.ID{p.manager}
	}
	reason := j.reason
	if j.expired {
		reason = fmt.Sprintf("the job ran longer than its timeout of %v", j.runTimeout)
	}
	for _, id := range to {
		if mgr := m.places.Manager(id); mgr != nil && mgr.Stream != 0 {
			env.Send(mgr.Stream, &message.SubjobCancel{Job: j.id, Fence: p.fence, State: stoppedState(j), Reason: reason})
		}
	}
}

func (m *Machine) resendCancels(env node.Env, j *job) {
	j.resend = env.Now()
	for _, p := range j.subjobs {
		m.sendCancel(env, j, p)
	}
	m.endStopped(env, j)
}

// endStopped gives up the subjobs whose managers did not confirm within their
// bound, and names them.
func (m *Machine) endStopped(env node.Env, j *job) {
	waited := env.Now().Sub(j.cancelled)
	for _, p := range j.subjobs {
		if p.phase == subjobDone {
			continue
		}
		mgr := m.places.Manager(p.manager)
		bound := m.config.CancelTimeout
		switch {
		case j.state != message.JobCancelling:
			bound = m.config.RunGrace
		case mgr != nil && mgr.Live:
			bound = m.config.CancelAgeMax
		}
		if waited >= bound {
			who := "no manager"
			if p.manager != "" {
				who = "manager " + string(p.manager)
			}
			m.markEnded(env, j, p, stoppedState(j), fmt.Sprintf("%s did not confirm within %v", who, bound))
		}
	}
	m.endIfDone(env, j)
}
