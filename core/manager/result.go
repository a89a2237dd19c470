package manager

import (
	"hyperscale/core/event"
	"hyperscale/core/manager/roster"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

func (m *Machine) onShardProgress(env node.Env, w *roster.Worker, r *message.ShardProgress) {
	s := m.shardOf(env, r.Shard)
	if s == nil || s.fence != r.Fence || !s.live() || s.worker != w.Peer.ID {
		return // of an attempt that was given up: its heartbeat gets it cancelled
	}
	m.becomeAccepted(env, s)
	if s.progress == nil || r.Sequence > s.progress.Sequence {
		s.progress = r
		m.touch(env, s.workflow.subjob)
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
	case p == nil || p.missing > 0 || p.fence.SubjobEpoch < r.Fence.SubjobEpoch:
		return // it is not ours to take or refuse, or not yet
	}
	s := m.shardOf(env, r.Shard)
	switch {
	case s != nil && s.fence == r.Fence && s.kept != nil && s.state.Terminal():
		m.acknowledge(env, w, r, false) // it was counted, the acknowledgement was lost
	case s != nil && s.fence == r.Fence && (s.counting || s.losing):
		// Acknowledged when a majority has it, or refused when its loss is recorded.
	case s == nil || p.result != nil || !r.State.Terminal() || !m.counts(env, w, s, r.Fence):
		m.refuseResult(env, w, s, r)
	default:
		m.count(env, s, r)
	}
}

func (m *Machine) refuseResult(env node.Env, w *roster.Worker, s *shard, r *message.ShardResult) {
	current := m.subjobs[r.Shard.Job].fence
	if s != nil {
		current = s.fence
		if !s.live() && s.result == nil {
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
func (m *Machine) counts(env node.Env, w *roster.Worker, s *shard, f message.Fence) bool {
	if s.open && s.state == message.WorkflowPending && s.end == message.WorkflowNone && !s.counting && s.floor.Less(f) {
		m.take(env, w, s, f)
	}
	return s.live() && s.fence == f && s.worker == w.Peer.ID
}

// count keeps a result on a majority, then its digest in the subjob's record, and
// only then tells that it counts.
func (m *Machine) count(env node.Env, s *shard, r *message.ShardResult) {
	s.counting = true
	k := &kept{state: r.State, started: starts(&r.Stats)}
	k.file = m.keep(env, encode(r), func(env node.Env, err error) {
		if !m.stands(s) || !s.counting || s.fence != r.Fence {
			return
		}
		if err != nil {
			m.uncount(env, s, err)
			return
		}
		s.kept = k
		m.commit(env, s.workflow.subjob, func(env node.Env) { m.onCounted(env, s, r) })
	})
}

// uncount: no majority keeps it. The worker tells it again. If it is gone by now,
// so is the result.
func (m *Machine) uncount(env node.Env, s *shard, err error) {
	s.counting = false
	env.Emit(event.StoreFailed{What: "result of shard " + s.id.String(), Err: err.Error()})
	if w := m.roster.Of(s.worker); w == nil || !w.Has(s.id, s.fence) {
		m.lose(env, s, "its worker was lost while its result could not be kept", false)
	}
}

func (m *Machine) acknowledge(env node.Env, w *roster.Worker, r *message.ShardResult, stale bool) {
	if w.Stream != 0 {
		env.Send(w.Stream, &message.ShardResultAck{Shard: r.Shard, Fence: r.Fence, Stale: stale})
	}
}

// onCounted: a majority has the result and the record that names it.
func (m *Machine) onCounted(env node.Env, s *shard, r *message.ShardResult) {
	s.counting, s.open = false, false
	m.becomeAccepted(env, s)
	s.result = r
	s.progress = nil
	m.detach(s)
	m.tellCounted(env, s)
	if w := m.roster.Of(s.worker); w != nil {
		m.acknowledge(env, w, r, false)
	}
	s.why = r.Error
	m.becomeShard(env, s, r.State)
	m.onShardEnded(env, s)
	m.touch(env, s.workflow.subjob)
	m.place(env)
}

// tellCounted tells of a shard's result that a majority has.
func (m *Machine) tellCounted(env node.Env, s *shard) {
	env.Emit(event.ShardCounted{
		Shard: s.id, Fence: s.fence, Datacenter: m.config.Datacenter, Subjob: s.workflow.subjob.fence,
		State: s.kept.state, Started: s.kept.started,
	})
}

// starts is what a result counts for: the starts of all its steps.
func starts(s *message.Stats) uint64 {
	var n uint64
	for i := range s.Steps {
		n += s.Steps[i].Started
	}
	return n
}

// endSlice ends a shard that has no result, once a majority knows: nobody must
// revive what was told to have ended. Its attempt is over from here on.
func (m *Machine) endShard(env node.Env, s *shard, to message.WorkflowState, why string) {
	m.detach(s)
	s.burn()
	s.end, s.why = to, why
	m.commit(env, s.workflow.subjob, func(env node.Env) {
		if !s.state.Terminal() {
			m.becomeShard(env, s, s.end)
			m.onShardEnded(env, s)
		}
	})
}

// onSliceEnded: the first failure ends the whole workflow, as a share of its
// load is missing; the last end ends it in any case.
func (m *Machine) onShardEnded(env node.Env, s *shard) {
	f := s.workflow
	if f.end != message.WorkflowNone {
		return
	}
	if s.state == message.WorkflowFailed && f.failure == "" {
		f.failure = cmpReason(s.why)
		if f.subjob.asked == message.JobNone {
			m.stopShards(env, f, message.WorkflowCancelled)
		}
	}
	if f.end == message.WorkflowNone {
		m.endWhenAllEnded(env, f)
	}
}

func (m *Machine) endWhenAllEnded(env node.Env, f *workflow) {
	completed := true
	end, why := message.WorkflowFailed, f.failure
	for _, s := range f.shards {
		if !s.state.Terminal() {
			return
		}
		if s.state != message.WorkflowCompleted {
			completed = false
			if f.failure == "" {
				end = s.state
				why = joinReason(why, s.why)
			}
		}
	}
	if completed {
		end, why = message.WorkflowCompleted, ""
	}
	m.endWorkflow(env, f, end, why)
}

func joinReason(a, b string) string {
	if a == "" || a == b {
		return b
	}
	if b == "" || len(a) > 1000 {
		return a
	}
	return a + "; " + b
}
