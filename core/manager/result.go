package manager

import (
	"hyperscale/core/event"
	"hyperscale/core/manager/roster"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

func (m *Machine) onShardProgress(env node.Env, w *roster.Worker, r *message.ShardProgress) {
	s := m.shardOf(env, r.Shard)
	if s == nil || s.Fence != r.Fence || !s.Live() || s.Worker != w.Peer.ID {
		return // of an attempt that was given up: its heartbeat gets it cancelled
	}
	m.becomeAccepted(env, s)
	if s.Progress == nil || r.Sequence > s.Progress.Sequence {
		s.Progress = r
		m.touch(env, s.Workflow.Subjob)
	}
}

// onSliceResult counts the result of the current attempt, once, and refuses
// every other one of this manager's or of those before it.
func (m *Machine) onShardResult(env node.Env, w *roster.Worker, r *message.ShardResult) {
	p := m.owned(env, r.Shard.Job)
	switch {
	case p == nil && m.subjobs[r.Shard.Job] == nil && m.over(env, r.Shard.Job):
		m.acknowledge(env, w, r, true) // its subjob has ended, or was on disks that are lost
		return
	case p == nil || p.Missing > 0 || p.Fence.SubjobEpoch < r.Fence.SubjobEpoch:
		return // it is not ours to take or refuse, or not yet
	}
	s := m.shardOf(env, r.Shard)
	switch {
	case s != nil && s.Fence == r.Fence && s.Kept != nil && s.State.Terminal():
		m.acknowledge(env, w, r, false) // it was counted, the acknowledgement was lost
	case s != nil && s.Fence == r.Fence && (s.Commit != subjob.Settled):
		// Acknowledged when a majority has it, or refused when its loss is recorded.
	case s == nil || p.Result != nil || !r.State.Terminal() || !m.counts(env, w, s, r.Fence):
		m.refuseResult(env, w, s, r)
	default:
		m.count(env, s, r)
	}
}

func (m *Machine) refuseResult(env node.Env, w *roster.Worker, s *subjob.Shard, r *message.ShardResult) {
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
func (m *Machine) counts(env node.Env, w *roster.Worker, s *subjob.Shard, f message.Fence) bool {
	if s.Open && s.State == message.WorkflowPending && s.End == message.WorkflowNone && s.Commit != subjob.Counting && s.Floor.Less(f) {
		m.take(env, w, s, f)
	}
	return s.Live() && s.Fence == f && s.Worker == w.Peer.ID
}

// count keeps a result on a majority, then its digest in the subjob's record, and
// only then tells that it counts.
func (m *Machine) count(env node.Env, s *subjob.Shard, r *message.ShardResult) {
	s.Commit = subjob.Counting
	m.ledger.Keep(env, s.ID.Job, encode(r), tag{step: shardKept, shard: s, result: r})
}

// onShardKept records the digest of a result that a majority has.
func (m *Machine) onShardKept(env node.Env, s *subjob.Shard, r *message.ShardResult, file message.FileDigest, err error) {
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
func (m *Machine) uncount(env node.Env, s *subjob.Shard, err error) {
	s.Commit = subjob.Settled
	env.Emit(event.StoreFailed{What: "result of shard " + s.ID.String(), Err: err.Error()})
	if w := m.roster.Of(s.Worker); w == nil || !w.Has(s.ID, s.Fence) {
		m.lose(env, s, "its worker was lost while its result could not be kept", false)
	}
}

func (m *Machine) acknowledge(env node.Env, w *roster.Worker, r *message.ShardResult, stale bool) {
	if w.Stream != 0 {
		env.Send(w.Stream, &message.ShardResultAck{Shard: r.Shard, Fence: r.Fence, Stale: stale})
	}
}

// onCounted: a majority has the result and the record that names it.
func (m *Machine) onCounted(env node.Env, s *subjob.Shard, r *message.ShardResult) {
	s.Commit, s.Open = subjob.Settled, false
	m.becomeAccepted(env, s)
	s.Result = r
	s.Progress = nil
	m.detach(s)
	m.tellCounted(env, s)
	if w := m.roster.Of(s.Worker); w != nil {
		m.acknowledge(env, w, r, false)
	}
	s.Why = r.Error
	m.becomeShard(env, s, r.State)
	m.onShardEnded(env, s)
	m.touch(env, s.Workflow.Subjob)
	m.place(env)
}

// tellCounted tells of a shard's result that a majority has.
func (m *Machine) tellCounted(env node.Env, s *subjob.Shard) {
	env.Emit(event.ShardCounted{
		Shard: s.ID, Fence: s.Fence, Datacenter: m.config.Datacenter, Subjob: s.Workflow.Subjob.Fence,
		State: s.Kept.State, Started: s.Kept.Started,
	})
}

// endSlice ends a shard that has no result, once a majority knows: nobody must
// revive what was told to have ended. Its attempt is over from here on.
func (m *Machine) endShard(env node.Env, s *subjob.Shard, to message.WorkflowState, why string) {
	m.detach(s)
	s.Burn()
	s.End, s.Why = to, why
	m.commit(s.Workflow.Subjob, tag{step: shardEnded, shard: s})
}

// onEnded: a majority has the end of a shard without a result.
func (m *Machine) onEnded(env node.Env, s *subjob.Shard) {
	if !s.State.Terminal() {
		m.becomeShard(env, s, s.End)
		m.onShardEnded(env, s)
	}
}

// onSliceEnded: the first failure ends the whole workflow, as a share of its
// load is missing; the last end ends it in any case.
func (m *Machine) onShardEnded(env node.Env, s *subjob.Shard) {
	f := s.Workflow
	if f.End != message.WorkflowNone {
		return
	}
	if s.State == message.WorkflowFailed && f.Failure == "" {
		f.Failure = subjob.Reason(s.Why)
		if f.Subjob.Stop.Decided == message.JobNone {
			m.stopShards(env, f, message.WorkflowCancelled)
		}
	}
	if f.End == message.WorkflowNone {
		m.endWhenAllEnded(env, f)
	}
}

func (m *Machine) endWhenAllEnded(env node.Env, f *subjob.Workflow) {
	if end, why, all := f.Outcome(); all {
		m.endWorkflow(env, f, end, why)
	}
}
