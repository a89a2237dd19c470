package manager

import (
	"hyperscale/core/event"
	"hyperscale/core/lifecycle"
	"hyperscale/core/manager/pace"
	"hyperscale/core/manager/roster"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/stats"
)

// becomeSubjob changes the state of a subjob; no other code does.
func (m *attempts) becomeSubjob(env node.Env, p *subjob.Subjob, to message.JobState, why string) {
	if !lifecycle.LegalJob(p.State, to) {
		node.Bug("subjob %v %v: %v cannot follow %v", p.Job, p.Fence, to, p.State)
	}
	env.Emit(event.SubjobChanged{Job: p.Job, Fence: p.Fence, From: p.State, To: to, Reason: why})
	p.State, p.Moved = to, true
	m.touch(env, p)
}

func (m *attempts) becomeWorkflow(env node.Env, f *subjob.Workflow, to message.WorkflowState, why string) {
	if !lifecycle.LegalWorkflow(f.State, to) {
		node.Bug("workflow %v/%d: %v cannot follow %v", f.Subjob.Job, f.Index, to, f.State)
	}
	env.Emit(event.WorkflowChanged{Job: f.Subjob.Job, Fence: f.Subjob.Fence, Workflow: f.Index, From: f.State, To: to, Reason: why})
	f.State, f.Subjob.Moved = to, true
	m.touch(env, f.Subjob)
}

func (m *attempts) becomeShard(env node.Env, s *subjob.Shard, to message.WorkflowState) {
	if !lifecycle.LegalWorkflow(s.State, to) {
		node.Bug("shard %v %v: %v cannot follow %v", s.ID, s.Fence, to, s.State)
	}
	if s.State == message.WorkflowAssigned {
		m.pace.Answered(pace.Dispatch{Shard: s.ID, Fence: s.Fence})
	}
	if s.State = to; to == message.WorkflowPending {
		s.Workflow.Await()
	}
	if !to.Terminal() || s.Result != nil {
		m.follow(env, s.Workflow, to) // endWhenAllEnded handles an end without a result
	}
}

// becomeAccepted marks a shard as running at its worker, at the first message that says so.
func (m *attempts) becomeAccepted(env node.Env, s *subjob.Shard) {
	if s.State != message.WorkflowAssigned || !s.Live() {
		return
	}
	s.Accepted, s.Denials = env.Now(), 0
	m.becomeRunning(env, s)
}

// becomeRunning marks a shard as running, and with it its subjob.
func (m *attempts) becomeRunning(env node.Env, s *subjob.Shard) {
	m.becomeShard(env, s, message.WorkflowRunning)
	p := s.Workflow.Subjob
	if p.State == message.JobQueued { // another manager held it before
		m.becomeSubjob(env, p, message.JobDispatching, "")
	}
	if p.State == message.JobDispatching {
		m.becomeSubjob(env, p, message.JobRunning, "")
	}
}

// announce emits all state changes of a subjob under its current fence, from the start: this
// manager cannot know what another one emitted.
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
	p.Moved = true
	m.touch(env, p)
}

func (m *attempts) announceCounted(env node.Env, f *subjob.Workflow) {
	for _, s := range f.Shards {
		for _, l := range s.Lost {
			m.tellLost(env, s, l)
		}
		if s.Kept != nil && s.State.Terminal() {
			m.tellCounted(env, s)
		}
	}
}

// follow derives the state of a running workflow from its shards, one of which has changed. The
// furthest shard counts, and a workflow that has run does not return to ASSIGNED.
func (m *attempts) follow(env node.Env, f *subjob.Workflow, moved message.WorkflowState) {
	if f.End != message.WorkflowNone || moved == f.State || moved == message.WorkflowAssigned && f.State == message.WorkflowRunning {
		return // the shard is no further than its workflow, as for most shards of a large cut
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

// lose gives up the current attempt of a shard. Its last report counts, so a majority keeps that
// first, then the loss. The manager dispatches the shard again after its worker has stopped it:
// at once if the worker reports that, otherwise when its last renewal has ended on any clock.
func (m *attempts) lose(env node.Env, s *subjob.Shard, why string, stopped bool) {
	if s.Commit == subjob.Counting || !s.Live() {
		return // its result is here and decides; or it ended with a shard that was lost before it
	}
	from := env.Now()
	if !stopped && s.Written {
		from = max(from, s.Renewed.Add(m.config.patience()))
	}
	s.Losing, s.Commit = s.GiveUp(why, from), subjob.Losing
	m.detach(s)
	m.touch(env, s.Workflow.Subjob)
	t := tag{step: lastReportKept, shard: s, why: why, from: from}
	if s.Losing.Report == nil {
		m.recordLoss(&t)
		return
	}
	m.ledger.Keep(env, s.ID.Job, encode(s.Losing.Report), t)
}

// onLastReportKept records a loss whose attempt's last report is on a majority. A report that no
// majority keeps counts nowhere.
func (m *attempts) onLastReportKept(env node.Env, t *tag, file message.FileDigest, err error) {
	s := t.shard
	if !m.stands(s) || s.Losing == nil {
		return
	}
	if err != nil {
		env.Emit(event.StoreFailed{What: "last report of shard " + s.ID.String(), Err: err.Error()})
		s.Losing.Discard()
	} else {
		s.Losing.File, s.Losing.Counted = file, true
	}
	m.recordLoss(t)
}

// recordLoss puts a loss into the record. From then on the result of the attempt is stale here
// and at any later holder.
func (m *attempts) recordLoss(t *tag) {
	s := t.shard
	l := s.Losing
	s.Lost, s.Losing = append(s.Lost, l), nil
	s.FailedAt(s.Worker)
	s.Reruns++
	s.Burn(l.Rows())
	s.Floor, s.Idle = s.Fence, true
	m.commit(s.Workflow.Subjob, tag{step: shardLost, shard: s, why: t.why, from: t.from})
}

// adopt continues a running attempt. Of two attempts it keeps the higher one.
func (m *attempts) adopt(env node.Env, w *roster.Worker, s *subjob.Shard, f message.Fence) {
	if s.Live() {
		if old := m.detach(s); old.Stands() {
			m.cancelStray(env, old, message.ShardRef{Shard: s.ID, Fence: s.Fence})
		}
		s.Worker, s.Fence = w.Peer.ID, f
		m.roster.Give(w, s.ID, w.Takes(s.Fence, s.Cores, s.Tenancy))
	} else {
		m.take(env, w, s, f)
	}
	s.Accepted, s.Denials, s.Progress, s.Told, s.Dispatch = env.Now(), 0, nil, 0, subjob.Dispatch{Joined: s.Reached()}
	if s.Workflow.Stopping() && s.Workflow.Subjob.Missing == 0 {
		m.sendCancel(env, s)
	}
}

// take assigns an open shard to the worker that reported it.
func (m *attempts) take(env node.Env, w *roster.Worker, s *subjob.Shard, f message.Fence) {
	s.Worker, s.Fence, s.Written = w.Peer.ID, f, true
	s.Dispatches = max(s.Dispatches, 1)
	s.Renewed = max(s.Renewed, s.Workflow.Subjob.Granted)
	m.roster.Give(w, s.ID, w.Takes(s.Fence, s.Cores, s.Tenancy))
	if s.Workflow.Subjob.Missing > 0 {
		s.State = message.WorkflowRunning // announce emits it
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
			current.Attempt++ // a given-up attempt counts as past before the next one begins
		}
	}
	if r.Fence.Less(current) {
		env.Emit(event.FenceRefused{Shard: r.Shard, Got: r.Fence, Current: current, What: "result"})
	}
	m.acknowledge(env, w.Stream, r, true)
}

// counts says whether a result's fence is that of the shard's attempt. For an open shard it is
// any fence above the given-up ones.
func (m *attempts) counts(env node.Env, w *roster.Worker, s *subjob.Shard, f message.Fence) bool {
	if s.Open && s.State == message.WorkflowPending && s.End == message.WorkflowNone && s.Commit != subjob.Counting && s.Floor.Less(f) {
		m.take(env, w, s, f)
	}
	return s.Live() && s.Fence == f && s.Worker == w.Peer.ID
}

// count stores a result on a majority, then its digest in the subjob's record. Only then does
// the result count.
func (m *attempts) count(env node.Env, s *subjob.Shard, r *message.ShardResult) {
	s.Commit = subjob.Counting
	m.ledger.Keep(env, s.ID.Job, encode(r), tag{step: shardKept, shard: s, result: r})
}

// onShardKept records the digest of a result that is on a majority.
func (m *attempts) onShardKept(env node.Env, s *subjob.Shard, r *message.ShardResult, file message.FileDigest, err error) {
	if !m.stands(s) || s.Commit != subjob.Counting || s.Fence != r.Fence {
		return
	}
	if err != nil {
		m.uncount(env, s, err)
		return
	}
	s.Kept = &subjob.Kept{File: file, State: r.State, Started: stats.Started(&r.Stats)}
	m.commit(s.Workflow.Subjob, tag{step: shardCounted, shard: s, result: r})
}

// uncount handles a result that no majority stores. The worker repeats it; if the worker is
// gone, the result is lost.
func (m *attempts) uncount(env node.Env, s *subjob.Shard, err error) {
	s.Commit = subjob.Settled
	env.Emit(event.StoreFailed{What: "result of shard " + s.ID.String(), Err: err.Error()})
	if w := m.roster.Of(s.Worker); w == nil || !w.Has(s.ID, s.Fence) {
		m.lose(env, s, "its worker was lost while its result could not be kept", false)
	}
}

func (m *attempts) acknowledge(env node.Env, to node.StreamID, r *message.ShardResult, stale bool) {
	if to != 0 {
		env.Send(to, &message.ShardResultAck{Shard: r.Shard, Fence: r.Fence, Stale: stale})
	}
}

// tellLost emits what counts of an attempt whose loss is on a majority.
func (m *attempts) tellLost(env node.Env, s *subjob.Shard, l *subjob.Lost) {
	if l.Counted {
		env.Emit(event.SegmentCounted{Shard: s.ID, Fence: l.Fence, Datacenter: m.config.Datacenter, Subjob: s.Workflow.Subjob.Fence, Started: l.Started})
	}
}

// tellCounted emits the result of a shard that is on a majority.
func (m *attempts) tellCounted(env node.Env, s *subjob.Shard) {
	env.Emit(event.ShardCounted{
		Shard: s.ID, Fence: s.Fence, Datacenter: m.config.Datacenter, Subjob: s.Workflow.Subjob.Fence,
		State: s.Kept.State, Started: s.Kept.Started,
	})
}
