package gate

import (
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/gate/job"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// judgeAborts looks whether a workflow is to be ended, once a subjob has told how it
// stands. Whoever took the job over begins its windows anew.
func (m *Machine) judgeAborts(env node.Env, j *entry) {
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

// abort has a workflow end everywhere, once a majority knows: who takes the job over
// must not let it go on in one datacenter and not in another.
func (m *Machine) abort(env node.Env, j *entry, a *job.Abort) {
	j.Aborts = append(j.Aborts, a)
	m.save(env, &put{job: j, then: tag{act: actAbort, abort: a}})
}

func tellAbort(env node.Env, j *entry, a *job.Abort) {
	a.Known = true
	env.Emit(event.WorkflowAborted{Job: j.ID, Epoch: j.Epoch, Workflow: a.Workflow, Reason: a.Reason(&j.Spec.Plan)})
}

// sendAborts tells each subjob that runs of what is to end, until it has.
func (m *Machine) sendAborts(env node.Env, j *entry) {
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
				env.Send(mgr.Stream, &message.SubjobAbort{Job: j.ID, Fence: p.Fence, Workflow: a.Workflow, Reason: a.Reason(&j.Spec.Plan)})
			}
		}
	}
}

// resumeAborts goes on with what the record says, as nobody may have heard of it.
func (m *Machine) resumeAborts(env node.Env, j *entry) {
	j.Aborts = slices.DeleteFunc(j.Aborts, func(a *job.Abort) bool { return a.Bad(&j.Spec.Plan) })
	for _, a := range j.Aborts {
		tellAbort(env, j, a)
	}
}
