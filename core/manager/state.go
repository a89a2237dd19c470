package manager

import (
	"hyperscale/core/event"
	"hyperscale/core/lifecycle"
	"hyperscale/core/manager/roster"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// becomePart moves a subjob on; nothing else writes its state.
func (m *attempts) becomeSubjob(env node.Env, p *subjob.Subjob, to message.JobState, why string) {
	if !lifecycle.LegalJob(p.State, to) {
		node.Bug("subjob %v %v: %v cannot follow %v", p.Job, p.Fence, to, p.State)
	}
	env.Emit(event.SubjobChanged{Job: p.Job, Fence: p.Fence, From: p.State, To: to, Reason: why})
	p.State = to
	m.touch(env, p)
}

func (m *attempts) becomeWorkflow(env node.Env, f *subjob.Workflow, to message.WorkflowState, why string) {
	if !lifecycle.LegalWorkflow(f.State, to) {
		node.Bug("workflow %v/%d: %v cannot follow %v", f.Subjob.Job, f.Index, to, f.State)
	}
	env.Emit(event.WorkflowChanged{Job: f.Subjob.Job, Fence: f.Subjob.Fence, Workflow: f.Index, From: f.State, To: to, Reason: why})
	f.State = to
	m.touch(env, f.Subjob)
}

func (m *attempts) becomeShard(env node.Env, s *subjob.Shard, to message.WorkflowState) {
	if !lifecycle.LegalWorkflow(s.State, to) {
		node.Bug("shard %v %v: %v cannot follow %v", s.ID, s.Fence, to, s.State)
	}
	s.State = to
	if !to.Terminal() || s.Result != nil {
		m.follow(env, s.Workflow, to) // of an end without a result endWhenAllEnded judges
	}
}

// becomeAccepted: its worker runs it, whichever message said so first.
func (m *attempts) becomeAccepted(env node.Env, s *subjob.Shard) {
	if s.State != message.WorkflowAssigned || !s.Live() {
		return
	}
	s.Accepted, s.Denials = env.Now(), 0
	m.becomeShard(env, s, message.WorkflowRunning)
	p := s.Workflow.Subjob
	if p.State == message.JobQueued { // taken over
		m.becomeSubjob(env, p, message.JobDispatching, "")
	}
	if p.State == message.JobDispatching {
		m.becomeSubjob(env, p, message.JobRunning, "")
	}
}

// announce tells observers how a subjob stands under its present fence, from the
// beginning: nobody can know what was told of it elsewhere.
func (m *attempts) announce(env node.Env, p *subjob.Subjob) {
	from := message.JobNone
	for _, to := range subjob.PathOfSubjob(p.State) {
		env.Emit(event.SubjobChanged{Job: p.Job, Fence: p.Fence, From: from, To: to})
		from = to
	}
	for _, f := range p.Workflows {
		was := message.WorkflowNone
		for _, to := range subjob.PathOfWorkflow(f.State) {
			if to.Terminal() {
				m.announceCounted(env, f)
			}
			env.Emit(event.WorkflowChanged{Job: p.Job, Fence: p.Fence, Workflow: f.Index, From: was, To: to, Reason: f.Failure})
			was = to
		}
		if !f.State.Terminal() {
			m.announceCounted(env, f)
		}
	}
	m.touch(env, p)
}

func (m *attempts) announceCounted(env node.Env, f *subjob.Workflow) {
	for _, s := range f.Shards {
		if s.Kept != nil && s.State.Terminal() {
			m.tellCounted(env, s)
		}
	}
}

// follow derives the state of a workflow that has not ended from its shards, one of which
// has moved on: the furthest of them counts, and one that has run does not fall back to
// ASSIGNED.
func (m *attempts) follow(env node.Env, f *subjob.Workflow, moved message.WorkflowState) {
	if f.End != message.WorkflowNone || moved == f.State || moved == message.WorkflowAssigned && f.State == message.WorkflowRunning {
		return // it stands no further than its workflow does: most of a large cut do not
	}
	furthest := f.Furthest()
	switch {
	case furthest == f.State || furthest == message.WorkflowAssigned && f.State == message.WorkflowRunning:
	case furthest == message.WorkflowRunning && f.State == message.WorkflowPending:
		m.becomeWorkflow(env, f, message.WorkflowAssigned, "")
		m.becomeWorkflow(env, f, message.WorkflowRunning, "")
	default:
		m.becomeWorkflow(env, f, furthest, "")
	}
}

// lose gives up the current attempt of a shard, once a majority knows: from then
// on its result is stale here and at whoever takes the subjob over. What it last
// told is reported as lost and counted nowhere else. It is dispatched again when
// its worker has stopped it: at once if the worker itself says so, else when the
// last renewal has run out on any clock.
func (m *attempts) lose(env node.Env, s *subjob.Shard, why string, stopped bool) {
	if s.Commit == subjob.Counting || !s.Live() {
		return // its result is here and decides; or it ended with a shard that was lost before it
	}
	started, ok := subjob.Measured(s.Progress)
	s.Lost = append(s.Lost, message.LostAttempt{
		Shard: s.ID, Attempt: s.Fence.Attempt, Worker: string(s.Worker), Reason: why, Started: started, OK: ok,
	})
	s.FailedAt(s.Worker)
	s.Reruns++
	s.Burn()
	s.Floor, s.Commit = s.Fence, subjob.Losing
	m.detach(s)
	from := env.Now()
	if !stopped && s.Written {
		from = max(from, s.Renewed.Add(m.config.patience()))
	}
	m.touch(env, s.Workflow.Subjob)
	m.commit(s.Workflow.Subjob, tag{step: shardLost, shard: s, why: why, from: from})
}

// adopt goes on with an attempt that runs. Of two the higher one stays.
func (m *attempts) adopt(env node.Env, w *roster.Worker, s *subjob.Shard, f message.Fence) {
	if s.Live() {
		if old := m.detach(s); old.Stands() {
			m.cancelStray(env, old, message.ShardRef{Shard: s.ID, Fence: s.Fence})
		}
		s.Worker, s.Fence = w.Peer.ID, f
		m.roster.Give(w, s.ID, roster.Given{Fence: s.Fence, Cores: s.Cores})
	} else {
		m.take(env, w, s, f)
	}
	s.Accepted, s.Denials, s.Progress, s.Told = env.Now(), 0, nil, 0
	if s.Workflow.Stopping() && s.Workflow.Subjob.Missing == 0 {
		m.sendCancel(env, s)
	}
}

// take makes a shard that was waited for one that a worker has.
func (m *attempts) take(env node.Env, w *roster.Worker, s *subjob.Shard, f message.Fence) {
	s.Worker, s.Fence, s.Written = w.Peer.ID, f, true
	s.Dispatches = max(s.Dispatches, 1)
	s.Renewed = max(s.Renewed, s.Workflow.Subjob.Granted)
	m.roster.Give(w, s.ID, roster.Given{Fence: s.Fence, Cores: s.Cores})
	if s.Workflow.Subjob.Missing > 0 {
		s.State = message.WorkflowRunning // announce tells it
		return
	}
	m.becomeShard(env, s, message.WorkflowAssigned)
	m.becomeAccepted(env, s)
	if s.Workflow.Started == 0 {
		s.Workflow.Started = env.Now()
	}
}

func (m *attempts) refuseResult(env node.Env, w *roster.Worker, s *subjob.Shard, r *message.ShardResult) {
	current := m.subjobs[r.Shard.Job].Fence
	if s != nil {
		current = s.Fence
		if !s.Live() && s.Result == nil {
			current.Attempt++ // one that was given up counts as past even before the next
		}
	}
	if r.Fence.Less(current) {
		env.Emit(event.FenceRefused{Shard: r.Shard, Got: r.Fence, Current: current, What: "result"})
	}
	m.acknowledge(env, w, r, true)
}

// counts says whether the result under a fence is the one that a shard waits for.
// Of one that a former holder dispatched it is any that was not given up.
func (m *attempts) counts(env node.Env, w *roster.Worker, s *subjob.Shard, f message.Fence) bool {
	if s.Open && s.State == message.WorkflowPending && s.End == message.WorkflowNone && s.Commit != subjob.Counting && s.Floor.Less(f) {
		m.take(env, w, s, f)
	}
	return s.Live() && s.Fence == f && s.Worker == w.Peer.ID
}

// count keeps a result on a majority, then its digest in the subjob's record, and
// only then tells that it counts.
func (m *attempts) count(env node.Env, s *subjob.Shard, r *message.ShardResult) {
	s.Commit = subjob.Counting
	m.ledger.Keep(env, s.ID.Job, encode(r), tag{step: shardKept, shard: s, result: r})
}

// onShardKept records the digest of a result that a majority has.
func (m *attempts) onShardKept(env node.Env, s *subjob.Shard, r *message.ShardResult, file message.FileDigest, err error) {
	if !m.stands(s) || s.Commit != subjob.Counting || s.Fence != r.Fence {
		return
	}
	if err != nil {
		m.uncount(env, s, err)
		return
	}
	s.Kept = &subjob.Kept{File: file, State: r.State, Started: subjob.Starts(&r.Stats)}
	m.commit(s.Workflow.Subjob, tag{step: shardCounted, shard: s, result: r})
}

// uncount: no majority keeps it. The worker tells it again. If it is gone by now,
// so is the result.
func (m *attempts) uncount(env node.Env, s *subjob.Shard, err error) {
	s.Commit = subjob.Settled
	env.Emit(event.StoreFailed{What: "result of shard " + s.ID.String(), Err: err.Error()})
	if w := m.roster.Of(s.Worker); w == nil || !w.Has(s.ID, s.Fence) {
		m.lose(env, s, "its worker was lost while its result could not be kept", false)
	}
}

func (m *attempts) acknowledge(env node.Env, w *roster.Worker, r *message.ShardResult, stale bool) {
	if w.Stream != 0 {
		env.Send(w.Stream, &message.ShardResultAck{Shard: r.Shard, Fence: r.Fence, Stale: stale})
	}
}

// tellCounted tells of a shard's result that a majority has.
func (m *attempts) tellCounted(env node.Env, s *subjob.Shard) {
	env.Emit(event.ShardCounted{
		Shard: s.ID, Fence: s.Fence, Datacenter: m.config.Datacenter, Subjob: s.Workflow.Subjob.Fence,
		State: s.Kept.State, Started: s.Kept.Started,
	})
}
