package gate

import (
	"fmt"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/job"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/plan"
)

// cancel answers once CANCELLING is on a majority, or with the job's terminal state if the job
// has ended. If the gate is already writing the job's end, that end stands.
func (m *driver) cancel(env node.Env, j *entry, a *audience.Ask) {
	if len(a.Workflows) > 0 && j.State != message.JobCancelling && !j.State.Terminal() {
		m.cancelWorkflows(env, j, a)
		return
	}
	if !j.waiting.Cancel(a, m.config.WaitersMax) {
		env.Emit(event.Shed{Reason: event.ShedBound, Kind: message.KindJobCancel, Role: node.RoleClient, What: "cancel", Why: "too many wait for one job"})
		m.refuseForRoom(env, a.Stream, a.Request, message.CodeOverloaded, fmt.Sprintf("%d cancellations of this job wait", j.waiting.Cancels()))
		return
	}
	if j.State == message.JobCancelling || j.State.Terminal() {
		if a.Now && !j.Now && !j.State.Terminal() {
			j.Now = true
			m.save(env, j, tag{act: actCancel})
		}
		answerCancels(env, j)
		return
	}
	j.Now = a.Now
	m.leaveQueue(env, j)
	j.Become(message.JobCancelling, job.CancelReason(shortened(string(a.From), detailMax), shortened(a.Reason, detailMax)))
	if m.stopSubjobs(env, j); !j.State.Terminal() {
		m.save(env, j, tag{act: actCancel})
	}
	m.arm(env, j)
}

// cancelWorkflows ends some workflows of a job, and the job goes on. A majority knows of each before
// a manager does, or the client.
func (m *driver) cancelWorkflows(env node.Env, j *entry, a *audience.Ask) {
	stops, unknown := j.Named(a.Workflows)
	switch {
	case unknown != "":
		refuse(env, a.Stream, a.Request, message.CodeUnknownWorkflow, unknown)
		return
	case !j.waiting.Cancel(a, m.config.WaitersMax):
		env.Emit(event.Shed{Reason: event.ShedBound, Kind: message.KindJobCancel, Role: node.RoleClient, What: "cancel", Why: "too many wait for one job"})
		m.refuseForRoom(env, a.Stream, a.Request, message.CodeOverloaded, fmt.Sprintf("%d cancellations of this job wait", j.waiting.Cancels()))
		return
	}
	for _, at := range stops {
		if j.AbortOf(at) == nil && !j.EndedEverywhere(at) {
			m.abort(env, j, &job.Abort{Workflow: uint32(at), By: shortened(string(a.From), detailMax), Why: shortened(a.Reason, detailMax)})
		}
	}
	answerStops(env, j)
}

// answerStops answers the cancellations of workflows that are on a majority.
func answerStops(env node.Env, j *entry) {
	for _, a := range j.waiting.TakeCancelsIf(func(a *audience.Ask) bool { return len(a.Workflows) > 0 && j.Stopped(a.Workflows) }) {
		env.Send(a.Stream, &message.JobCancelAck{Request: a.Request, Job: j.ID, State: j.Shown})
	}
}

func answerCancels(env node.Env, j *entry) {
	if j.Shown != message.JobCancelling && !j.Shown.Terminal() {
		return
	}
	for _, a := range j.waiting.TakeCancels() {
		env.Send(a.Stream, &message.JobCancelAck{Request: a.Request, Job: j.ID, State: j.Shown})
	}
}

// stopSubjobs cancels all subjobs. A subjob that the gate never sent to a manager ends at once.
func (m *driver) stopSubjobs(env node.Env, j *entry) {
	j.Cancelled, j.Resend = env.Now(), env.Now()
	for _, p := range j.Subjobs {
		switch {
		case p.Phase == job.Done:
			continue
		case p.Phase == job.Saving:
			p.Release(m.places)
			p.Manager = ""
			p.Become(env.Now(), job.Waiting)
		}
		if !p.Ever {
			p.Release(m.places)
			m.giveUpSubjob(env, j, p, j.StoppedState(), "")
			continue
		}
		m.sendCancel(env, j, p)
	}
	m.endIfDone(env, j)
}

// sendCancel sends a cancellation to the manager that has the subjob, or, before any has
// accepted it, to all that the gate asked. It sends nothing before a majority has CANCELLING.
func (m *driver) sendCancel(env node.Env, j *entry, p *job.Subjob) {
	if !j.Stopping() || p.Phase == job.Done || j.State != j.Shown && j.State == message.JobCancelling || !m.holds(env, j) {
		return
	}
	reason := j.Reason
	if j.Expired {
		reason = fmt.Sprintf("the job ran longer than its timeout of %v", j.RunTimeout)
	}
	for _, id := range p.Holders() {
		if mgr := m.places.Manager(id); mgr != nil && mgr.Stream != 0 {
			env.Send(mgr.Stream, &message.SubjobCancel{Job: j.ID, Fence: p.Fence, State: j.StoppedState(), Reason: reason, Now: j.Now})
		}
	}
}

func (m *driver) resendCancels(env node.Env, j *entry) {
	j.Resend = env.Now()
	for _, p := range j.Subjobs {
		m.sendCancel(env, j, p)
	}
	m.endStopped(env, j)
}

// endStopped gives up the subjobs whose managers did not confirm the end in time. The reason
// names those managers.
func (m *driver) endStopped(env node.Env, j *entry) {
	waited := env.Now().Sub(j.Cancelled)
	for _, p := range j.Subjobs {
		if p.Phase == job.Done {
			continue
		}
		mgr := m.places.Manager(p.Manager)
		bound := m.config.CancelTimeout
		switch {
		case j.State != message.JobCancelling:
			bound = m.config.RunGrace
		case mgr != nil && mgr.Live:
			bound = m.config.CancelAgeMax
		}
		if p.Accepted && !j.Now {
			bound += plan.CleanUp(&j.Spec.Plan)
		}
		if waited >= bound {
			who := "no manager"
			if p.Manager != "" {
				who = "manager " + string(p.Manager)
			}
			p.Release(m.places)
			m.giveUpSubjob(env, j, p, j.StoppedState(), fmt.Sprintf("%s did not confirm within %v", who, bound))
		}
	}
	m.endIfDone(env, j)
}

// judgeAborts evaluates abort_when of each workflow after a subjob reported progress. A gate
// that adopts the job starts with empty windows.
func (m *driver) judgeAborts(env node.Env, j *entry) {
	if j.Spec == nil || j.Stopping() || j.State.Terminal() {
		return
	}
	for i := range j.Spec.Plan.Workflows {
		held, faults := j.Observe(i, env.Now())
		for _, err := range faults {
			env.Emit(event.Ignored{Peer: env.Self().ID, Message: "JobProgress", Why: "judge abort_when: " + shortened(err.Error(), detailMax)})
		}
		if held != nil {
			m.abort(env, j, held)
		}
	}
}

// abort ends a workflow in all datacenters. It puts the abort on a majority first: a new owner
// must not continue the workflow in some datacenters only.
func (m *driver) abort(env node.Env, j *entry, a *job.Abort) {
	j.Aborts = append(j.Aborts, a)
	m.save(env, j, tag{act: actAbort, abort: a})
}

func tellAbort(env node.Env, j *entry, a *job.Abort) {
	a.Known = true
	env.Emit(event.WorkflowAborted{Job: j.ID, Epoch: j.Epoch, Workflow: a.Workflow, Reason: a.Reason(&j.Spec.Plan)})
}

// sendAborts sends each running subjob the aborts of workflows that it has not ended yet.
func (m *driver) sendAborts(env node.Env, j *entry) {
	if j.Stopping() || !m.holds(env, j) {
		return
	}
	j.Resend = env.Now()
	for _, p := range j.Subjobs {
		mgr := m.places.Manager(p.Manager)
		if p.Phase != job.Running || mgr == nil || mgr.Stream == 0 {
			continue
		}
		for _, a := range j.Aborts {
			if p.Aborting(a) {
				env.Send(mgr.Stream, &message.SubjobAbort{Job: j.ID, Fence: p.Fence, Workflow: a.Workflow, Reason: a.Reason(&j.Spec.Plan), Client: a.By != ""})
			}
		}
	}
}

// resumeAborts sends the aborts of the record again, as no manager may have received them.
func (m *driver) resumeAborts(env node.Env, j *entry) {
	j.Aborts = slices.DeleteFunc(j.Aborts, func(a *job.Abort) bool { return a.Bad(&j.Spec.Plan) })
	for _, a := range j.Aborts {
		tellAbort(env, j, a)
	}
}
