package manager

import (
	"fmt"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// endWorkflow ends a workflow once the end is on a majority. Only then do its dependents start
// or fail. The subjob ends with its last workflow.
func (m *workflows) endWorkflow(env node.Env, f *subjob.Workflow, to message.WorkflowState, why string) {
	if f.End != message.WorkflowNone {
		return
	}
	if f.Adding == nil { // it has no shard
		f.Adding = &subjob.Sum{}
	}
	sum, err := f.Adding.Stats()
	f.Adding = nil
	switch {
	case err != nil:
		to, why = message.WorkflowFailed, fmt.Sprintf("add up the shards' figures: %v", err)
	case to == message.WorkflowCompleted && f.Plan.Test:
		if broken := subjob.Broken(&sum); broken != "" {
			to, why = message.WorkflowFailed, broken
		}
	}
	f.End, f.Ended, f.Stats, f.Failure = to, env.Now(), sum, why
	m.commit(f.Subjob, tag{step: workflowEnded, workflow: f})
}

// onWorkflowEnded acts on a workflow's end: it is on a majority.
func (m *workflows) onWorkflowEnded(env node.Env, f *subjob.Workflow) {
	m.becomeWorkflow(env, f, f.End, f.Failure)
	if m.lone.workflow == f {
		m.followLone(env)
	}
	p := f.Subjob
	if p.Stop.Decided == message.JobNone {
		for _, other := range p.Workflows {
			m.isReady(env, other)
		}
		m.place(env)
	}
	m.cleanUp(env, p)
	m.finishWhenEnded(env, p)
}

// finishWhenEnded ends a subjob whose last workflow has ended.
func (m *workflows) finishWhenEnded(env node.Env, p *subjob.Subjob) {
	if p.Missing > 0 || p.Stop.Writing || p.Stop.Decided != p.Stop.Durable {
		return
	}
	for _, f := range p.Workflows {
		if !f.State.Terminal() {
			return
		}
	}
	m.finish(env, p)
}

// finish makes the result of a subjob whose workflows have ended. The subjob ends once a
// majority has the result.
func (m *workflows) finish(env node.Env, p *subjob.Subjob) {
	if p.Result != nil || p.State.Terminal() {
		return
	}
	env.CancelTimer(node.KeyID(node.PartManager, node.ManagerJob, p.Job))
	state, why := p.Outcome()
	if p.State == message.JobRunning {
		to := message.JobCompleting
		if state == message.JobCancelled { // a client cancelled each of its workflows
			to = message.JobCancelling
		}
		m.becomeSubjob(env, p, to, "")
	}
	r := &message.SubjobResult{Job: p.Job, Fence: p.Fence, Subjob: m.snapshot(env, p)}
	r.Subjob.State, r.Subjob.Error = state, why
	if state == message.JobFailed {
		r.Fault = p.Fault(m.config.spent)
	}
	subjob.Fit(&r.Subjob, r.Size)
	if size := message.HeaderSize + r.Size(); size > message.FrameMax {
		subjob.Slim(&r.Subjob, r.Size)
		r.Subjob.Error = subjob.JoinReason(r.Subjob.Error, fmt.Sprintf("the figures take %d bytes, %d is the bound: latencies are left out; use fewer steps", size, message.FrameMax))
	}
	p.Result = r
	m.keepResult(env, p)
}

// keepResult stores a subjob's result on a majority; its digest in the record follows.
func (m *workflows) keepResult(env node.Env, p *subjob.Subjob) {
	p.Stage = subjob.Recording
	m.ledger.Keep(env, p.Job, encode(p.Result), tag{step: resultKept, subjob: p})
}

// onResultKept records the result's digest.
func (m *workflows) onResultKept(env node.Env, p *subjob.Subjob, file message.FileDigest, err error) {
	if m.subjobs[p.Job] != p {
		return
	}
	if err != nil {
		p.Stage = subjob.Unrecorded // onRetry stores it again
		env.Emit(event.StoreFailed{What: "result of job " + p.Job.String(), Err: err.Error()})
		return
	}
	p.Kept = file
	m.commit(p, tag{step: resultRecorded, subjob: p})
}

// onLost handles a shard whose loss is on a majority. What follows needs the plan and all
// figures: it waits for the files of the subjob.
func (m *workflows) onLost(env node.Env, s *subjob.Shard, why string, from node.Instant) {
	if s.Workflow.Subjob.Missing > 0 {
		s.Deferred = &subjob.Deferred{Why: why, From: from}
		return
	}
	s.Commit = subjob.Settled
	if !m.stands(s) || !s.Live() {
		return
	}
	env.Emit(event.ShardLost{Shard: s.ID, Fence: s.Fence, Worker: s.Worker, Reason: why})
	m.tellLost(env, s, s.Lost[len(s.Lost)-1])
	f := s.Workflow
	if f != f.Subjob.After() {
		f.Subjob.Stop.Clear = max(f.Subjob.Stop.Clear, from)
	}
	budget, lost, most := m.config.budgets().Spent(s)
	switch {
	case f.Subjob.Stops(f):
		m.endShard(env, s, subjob.EndOf(f.Subjob.Stop.Decided), fmt.Sprintf("%s did not confirm that shard %d stopped: %s", s.Worker, s.ID.Ordinal, why))
	case f.Failure != "":
		m.endShard(env, s, message.WorkflowCancelled, why)
	case budget != subjob.BudgetNone:
		env.Emit(event.BudgetSpent{Job: f.Subjob.Job, Fence: f.Subjob.Fence, Workflow: f.Index, Scope: budget.String(), Lost: uint64(lost), Most: uint64(most)})
		m.endShard(env, s, message.WorkflowFailed, m.config.spentReason(s, budget, lost, most)+fmt.Sprintf("; at last on %s: %s", s.Worker, why))
	default:
		m.back(env, s, from)
		m.place(env)
	}
}

// spent says that a shard gets no further attempt.
func (c *Config) spent(s *subjob.Shard) bool {
	budget, _, _ := c.budgets().Spent(s)
	return budget != subjob.BudgetNone
}

func (c *Config) budgets() *subjob.Budgets {
	return &subjob.Budgets{Shard: c.RerunMax, Workflow: c.WorkflowRerunMax, Job: c.JobRerunMax, Dispatches: c.DispatchMax}
}

// spentReason names the budget that a loss has spent, and the setting that raises it.
func (c *Config) spentReason(s *subjob.Shard, of subjob.Budget, lost, most int) string {
	switch of {
	case subjob.BudgetWorkflow:
		return fmt.Sprintf("the workflow's budget is spent: workers lost its shards %d times, manager.workflow_rerun_max = %d lets %d of them run again", lost, c.WorkflowRerunMax, most)
	case subjob.BudgetJob:
		return fmt.Sprintf("the job's budget is spent: workers lost its shards %d times, manager.job_rerun_max = %d lets %d of them run again", lost, c.JobRerunMax, most)
	case subjob.BudgetShard, subjob.BudgetNone:
	}
	return fmt.Sprintf("shard %d was lost %d times, dispatched %d times, and manager.rerun_max = %d, manager.dispatch_max = %d", s.ID.Ordinal, s.Reruns, s.Dispatches, c.RerunMax, c.DispatchMax)
}

// settleLosses handles the losses that waited for the files of a subjob.
func (m *workflows) settleLosses(env node.Env, p *subjob.Subjob) {
	for _, f := range p.Workflows {
		for _, s := range f.Shards {
			if late := s.Deferred; late != nil {
				s.Deferred = nil
				m.onLost(env, s, late.Why, late.From)
			}
		}
	}
}

func (m *workflows) retryResult(env node.Env, p *subjob.Subjob) {
	switch {
	case p.Stage == subjob.Unrecorded:
		m.keepResult(env, p)
	case p.Stage == subjob.Recorded && env.Now().Sub(p.Told) >= m.config.Retry/2:
		m.tell(env, p)
	}
}

// onCounted counts a result: it and the record that names it are on a majority.
func (m *workflows) onCounted(env node.Env, s *subjob.Shard, r *message.ShardResult) {
	s.Commit, s.Open = subjob.Settled, false
	m.becomeAccepted(env, s)
	s.Result = r
	s.Progress = nil
	m.detach(s)
	m.tellCounted(env, s)
	if w := m.roster.Of(s.Worker); w != nil {
		m.acknowledge(env, w.Stream, r, false)
	}
	s.Why = r.Error
	m.becomeShard(env, s, r.State)
	m.onShardEnded(env, s)
	m.touch(env, s.Workflow.Subjob)
	m.place(env)
}

// onEnded ends a shard without a result: the end is on a majority.
func (m *workflows) onEnded(env node.Env, s *subjob.Shard) {
	if !s.State.Terminal() {
		if s.End == message.WorkflowCompleted && s.State == message.WorkflowPending { // lost, and its time was over
			m.becomeShard(env, s, message.WorkflowAssigned)
			m.becomeRunning(env, s)
		}
		m.becomeShard(env, s, s.End)
		m.onShardEnded(env, s)
	}
}

// onShardEnded handles a shard's end. The first failure ends the whole workflow, since a share
// of its load is missing. Otherwise the last end does.
func (m *workflows) onShardEnded(env node.Env, s *subjob.Shard) {
	f := s.Workflow
	if f.End != message.WorkflowNone {
		return
	}
	if s.State == message.WorkflowFailed && f.Failure == "" {
		f.Failure = subjob.Reason(s.Why)
		if !f.Subjob.Stops(f) {
			m.stopShards(env, f, message.WorkflowCancelled)
		}
	}
	if f.End == message.WorkflowNone {
		m.endWhenAllEnded(env, f)
	}
}

// endWhenAllEnded ends a workflow whose shards have ended. To add up the figures of many takes several steps: no
// shard changes any more, but why the workflow ends may.
func (m *workflows) endWhenAllEnded(env node.Env, f *subjob.Workflow) {
	end, why, all := f.Outcome()
	if !all || f.End != message.WorkflowNone {
		return
	}
	if f.Adding == nil {
		f.Adding = &subjob.Sum{}
		if f.Adding.Add(f, sumBytes); !f.Adding.Done(f) {
			m.sums.ends = append(m.sums.ends, f)
			m.addLater(env)
		}
	}
	if f.Adding.Done(f) {
		m.endWorkflow(env, f, end, why)
	}
}

// addEnds goes on with the sums of workflows that end, and ends them.
func (m *workflows) addEnds(env node.Env, room int) (left int) {
	for room > 0 && len(m.sums.ends) > 0 {
		f := m.sums.ends[0]
		if m.subjobs[f.Subjob.Job] == f.Subjob {
			if room = f.Adding.Add(f, room); !f.Adding.Done(f) {
				return 0
			}
		}
		m.sums.ends = slices.Delete(m.sums.ends, 0, 1)
		if m.subjobs[f.Subjob.Job] == f.Subjob {
			m.endWhenAllEnded(env, f)
		}
	}
	return room
}
