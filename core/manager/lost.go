package manager

import (
	"fmt"
	"maps"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// lose gives up the current attempt of a shard, once a majority knows: from then
// on its result is stale here and at whoever takes the subjob over. What it last
// told is reported as lost and counted nowhere else. It is dispatched again when
// its worker has stopped it: at once if the worker itself says so, else when the
// last renewal has run out on any clock.
func (m *Machine) lose(env node.Env, s *shard, why string, stopped bool) {
	if s.counting || !s.live() {
		return // its result is here and decides; or it ended with a shard that was lost before it
	}
	started, ok := measured(s.progress)
	s.lost = append(s.lost, message.LostAttempt{
		Shard: s.id, Attempt: s.fence.Attempt, Worker: string(s.worker), Reason: why, Started: started, OK: ok,
	})
	s.failedAt(s.worker)
	s.reruns++
	s.burn()
	s.floor, s.losing = s.fence, true
	m.detach(s)
	from := env.Now()
	if !stopped && s.written {
		from = max(from, s.renewed.Add(m.config.patience()))
	}
	m.touch(env, s.workflow.subjob)
	m.commit(env, s.workflow.subjob, func(env node.Env) {
		s.losing = false
		if m.stands(s) && s.live() {
			m.lostFor(env, s, why, from)
		}
	})
}

// failedAt lists a worker, once, among those that lost or refused the shard.
func (s *shard) failedAt(id node.ID) {
	if !slices.Contains(s.failed, id) {
		s.failed = append(s.failed, id)
	}
}

// lostFor says what follows a loss that is recorded.
func (m *Machine) lostFor(env node.Env, s *shard, why string, from node.Instant) {
	env.Emit(event.ShardLost{Shard: s.id, Fence: s.fence, Worker: s.worker, Reason: why})
	f := s.workflow
	switch {
	case f.subjob.asked != message.JobNone:
		m.endShard(env, s, endOf(f.subjob.asked), fmt.Sprintf("%s did not confirm that shard %d stopped: %s", s.worker, s.id.Ordinal, why))
	case f.failure != "":
		m.endShard(env, s, message.WorkflowCancelled, why)
	case s.reruns > m.config.RerunMax || s.dispatches >= m.config.DispatchMax:
		m.endShard(env, s, message.WorkflowFailed, fmt.Sprintf("shard %d was lost %d times, dispatched %d times; at last on %s: %s", s.id.Ordinal, s.reruns, s.dispatches, s.worker, why))
	default:
		m.back(env, s, from)
		m.place(env)
	}
}

// measured adds up what a progress tells of requests.
func measured(p *message.ShardProgress) (started, ok uint64) {
	if p == nil {
		return 0, 0
	}
	for i := range p.Stats.Steps {
		if step := &p.Stats.Steps[i]; step.Kind == message.StepRequest || step.Kind == message.StepFunction {
			started += step.Started
			ok += step.OK
		}
	}
	return started, ok
}

// onRetry sends again what was not answered: dispatches, cancellations, results,
// and what no majority took.
func (m *Machine) onRetry(env node.Env) {
	env.SetTimer(node.Key(node.PartManager, node.ManagerRetry), m.config.Retry)
	m.retryClaims(env)
	for _, p := range slices.Clone(m.order) {
		if p.missing > 0 || !m.holds(env, p) {
			continue
		}
		if p.unsent() && !p.changed && !p.spill {
			m.commit(env, p, nil)
		}
		if p.result != nil {
			m.retryResult(env, p)
			continue
		}
		if p.asked != p.stop && !p.stopping {
			m.stopSubjob(env, p)
		}
		m.finishWhenEnded(env, p)
		for _, f := range p.workflows {
			for _, s := range f.shards {
				m.retryShard(env, s)
			}
		}
	}
}

// retryClaims rejects dispatches whose files no majority keeps in time: a disk that is
// full takes no new job. A vacancy may acquire the register meanwhile: that has no bound.
func (m *Machine) retryClaims(env node.Env) {
	for _, job := range slices.SortedFunc(maps.Keys(m.claims), message.JobID.Compare) {
		c := m.claims[job]
		if !c.keeping || env.Now().Sub(c.began) < 2*m.config.QuorumTimeout {
			continue
		}
		if _, here := m.files.Have(c.file); here {
			m.dropClaim(env, job, message.CodeQuorumUnavailable, "no majority of the managers keeps the subjob's file")
		} else {
			m.dropClaim(env, job, message.CodeStoreFull, "this manager's disk does not take the subjob's file")
		}
	}
}

func (m *Machine) retryResult(env node.Env, p *subjob) {
	switch {
	case !p.recorded && !p.writing:
		m.keepResult(env, p)
	case p.recorded && !p.acked && env.Now().Sub(p.told) >= m.config.Retry/2:
		m.tell(env, p)
	}
}

func (m *Machine) retryShard(env node.Env, s *shard) {
	switch {
	case !s.live() || !s.written || s.counting:
	case s.workflow.stopping():
		m.sendCancel(env, s)
	case s.state == message.WorkflowAssigned && env.Now().Sub(s.sent) >= m.config.Retry/2:
		m.sendDispatch(env, s)
	}
}
