package gate

import (
	"fmt"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/gate/result"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/stats"
	"hyperscale/core/verdict"
)

// abort is a workflow that is ended, FAILED, by a condition of its own. The gate
// judges, as thresholds are: over all datacenters, on what they have told.
type abort struct {
	Workflow  uint32 `json:"workflow"`
	Condition uint32 `json:"condition"`
	Value     int64  `json:"value"` // when it had held for its time

	known bool // a majority has it
}

// reason is what the workflow fails with.
func (a *abort) reason(p *message.Plan) string {
	c := &p.Workflows[a.Workflow].AbortWhen[a.Condition]
	return fmt.Sprintf("abort_when: %s for %v: it was %s", c.When.Expr, c.For, verdict.Text(c.When.Of, a.Value))
}

// bad says that a record names what its plan has not.
func (a *abort) bad(p *message.Plan) bool {
	return int(a.Workflow) >= len(p.Workflows) || int(a.Condition) >= len(p.Workflows[a.Workflow].AbortWhen)
}

func (j *job) aborted(workflow int) bool {
	return slices.ContainsFunc(j.aborts, func(a *abort) bool { return a.Workflow == uint32(workflow) })
}

// judgeAborts looks whether a workflow is to be ended, once a subjob has told how it
// stands. Whoever took the job over begins its windows anew.
func (m *Machine) judgeAborts(env node.Env, j *job) {
	if j.spec == nil || j.stopping() || j.state.Terminal() {
		return
	}
	for i := range j.spec.Plan.Workflows {
		w := &j.spec.Plan.Workflows[i]
		if len(w.AbortWhen) == 0 || j.aborted(i) {
			continue
		}
		for k, c := range w.AbortWhen {
			watch := j.watch(i, k, c)
			if !watch.Due(env.Now()) {
				continue
			}
			value, held, err := watch.Observe(env.Now(), j.figures(i), result.Quantile, stats.Since)
			if err != nil {
				env.Emit(event.Ignored{Peer: env.Self().ID, Message: "JobProgress", Why: "judge abort_when: " + shortened(err.Error(), detailMax)})
			}
			if held {
				m.abort(env, j, &abort{Workflow: uint32(i), Condition: uint32(k), Value: value})
				break
			}
		}
	}
}

// watch returns that of a workflow's condition.
func (j *job) watch(workflow, condition int, c message.AbortPlan) *verdict.Watch {
	if j.watches == nil {
		j.watches = make([][]*verdict.Watch, len(j.spec.Plan.Workflows))
	}
	for len(j.watches[workflow]) <= condition {
		j.watches[workflow] = append(j.watches[workflow], nil)
	}
	if j.watches[workflow][condition] == nil {
		j.watches[workflow][condition] = verdict.NewWatch(c)
	}
	return j.watches[workflow][condition]
}

// told is what a subjob has said of a workflow last, or nil.
func (p *subjob) told(workflow int) *message.WorkflowResult {
	from := p.result
	if from == nil {
		from = p.progress
	}
	if from == nil || workflow >= len(from.Workflows) {
		return nil
	}
	return &from.Workflows[workflow]
}

// figures are what the subjobs tell of a workflow that send load, with time to go: what
// is in flight at the end is no measure of it.
func (j *job) figures(workflow int) []verdict.Part {
	var subjobs []verdict.Part
	until := j.spec.Plan.Workflows[workflow].Duration
	for _, p := range j.subjobs {
		w := p.told(workflow)
		if w != nil && w.State == message.WorkflowRunning && len(w.Stats.Steps) > 0 && (until == 0 || w.Stats.Elapsed < until) {
			subjobs = append(subjobs, verdict.Part{Name: p.datacenter, Teller: p.fence.SubjobEpoch, Sequence: p.sequence, Stats: w.Stats})
		}
	}
	return subjobs
}

// abort has a workflow end everywhere, once a majority knows: who takes the job over
// must not let it go on in one datacenter and not in another.
func (m *Machine) abort(env node.Env, j *job, a *abort) {
	j.aborts = append(j.aborts, a)
	m.save(env, &put{what: "abort a workflow", job: j, then: func(env node.Env) {
		m.tellAbort(env, j, a)
		m.sendAborts(env, j)
		m.arm(env, j)
	}})
}

func (m *Machine) tellAbort(env node.Env, j *job, a *abort) {
	a.known = true
	env.Emit(event.WorkflowAborted{Job: j.id, Epoch: j.epoch, Workflow: a.Workflow, Reason: a.reason(&j.spec.Plan)})
}

// aborting says that a subjob may still run what a majority knows to be aborted.
func (p *subjob) aborting(a *abort) bool {
	w := p.told(int(a.Workflow))
	return a.known && p.phase != subjobDone && (w == nil || !w.State.Terminal())
}

func (j *job) aborting() bool {
	return slices.ContainsFunc(j.aborts, func(a *abort) bool {
		return slices.ContainsFunc(j.subjobs, func(p *subjob) bool { return p.aborting(a) })
	})
}

// sendAborts tells each subjob that runs of what is to end, until it has.
func (m *Machine) sendAborts(env node.Env, j *job) {
	if j.stopping() || !m.holds(env, j) {
		return
	}
	j.resend = env.Now()
	for _, p := range j.subjobs {
		mgr := m.places.Manager(p.manager)
		if p.phase != subjobRunning || mgr == nil || mgr.Stream == 0 {
			continue
		}
		for _, a := range j.aborts {
			if p.aborting(a) {
				env.Send(mgr.Stream, &message.SubjobAbort{Job: j.id, Fence: p.fence, Workflow: a.Workflow, Reason: a.reason(&j.spec.Plan)})
			}
		}
	}
}

// resumeAborts goes on with what the record says, as nobody may have heard of it.
func (m *Machine) resumeAborts(env node.Env, j *job) {
	j.aborts = slices.DeleteFunc(j.aborts, func(a *abort) bool { return a.bad(&j.spec.Plan) })
	for _, a := range j.aborts {
		m.tellAbort(env, j, a)
	}
}
