package manager

import (
	"fmt"
	"maps"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// lose gives up the current attempt of a shard, once a majority knows: from then
// on its result is stale here and at whoever takes the subjob over. What it last
// told is reported as lost and counted nowhere else. It is dispatched again when
// its worker has stopped it: at once if the worker itself says so, else when the
// last renewal has run out on any clock.
func (m *Machine) lose(env node.Env, s *subjob.Shard, why string, stopped bool) {
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

// onLost goes on with a shard whose loss a majority has.
func (m *Machine) onLost(env node.Env, s *subjob.Shard, why string, from node.Instant) {
	s.Commit = subjob.Settled
	if !m.stands(s) || !s.Live() {
		return
	}
	env.Emit(event.ShardLost{Shard: s.ID, Fence: s.Fence, Worker: s.Worker, Reason: why})
	f := s.Workflow
	switch {
	case f.Subjob.Stop.Decided != message.JobNone:
		m.endShard(env, s, subjob.EndOf(f.Subjob.Stop.Decided), fmt.Sprintf("%s did not confirm that shard %d stopped: %s", s.Worker, s.ID.Ordinal, why))
	case f.Failure != "":
		m.endShard(env, s, message.WorkflowCancelled, why)
	case s.Reruns > m.config.RerunMax || s.Dispatches >= m.config.DispatchMax:
		m.endShard(env, s, message.WorkflowFailed, fmt.Sprintf("shard %d was lost %d times, dispatched %d times; at last on %s: %s", s.ID.Ordinal, s.Reruns, s.Dispatches, s.Worker, why))
	default:
		m.back(env, s, from)
		m.place(env)
	}
}

// onRetry sends again what was not answered: dispatches, cancellations, results,
// and what no majority took.
func (m *Machine) onRetry(env node.Env) {
	env.SetTimer(node.Key(node.PartManager, node.ManagerRetry), m.config.Retry)
	m.retryClaims(env)
	for _, p := range slices.Clone(m.order) {
		if p.Missing > 0 || !m.holds(env, p) {
			continue
		}
		m.ledger.Resend(env, p.Job)
		if p.Result != nil {
			m.retryResult(env, p)
			continue
		}
		if p.Stop.Decided != p.Stop.Durable && !p.Stop.Writing {
			m.stopSubjob(env, p)
		}
		m.finishWhenEnded(env, p)
		for _, f := range p.Workflows {
			for _, s := range f.Shards {
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
		if !c.Keeping || env.Now().Sub(c.Began) < 2*m.config.QuorumTimeout {
			continue
		}
		if _, here := m.group.Files.Have(c.File); here {
			m.dropClaim(env, job, message.CodeQuorumUnavailable, "no majority of the managers keeps the subjob's file")
		} else {
			m.dropClaim(env, job, message.CodeStoreFull, "this manager's disk does not take the subjob's file")
		}
	}
}

func (m *Machine) retryResult(env node.Env, p *subjob.Subjob) {
	switch {
	case p.Stage == subjob.Unrecorded:
		m.keepResult(env, p)
	case p.Stage == subjob.Recorded && env.Now().Sub(p.Told) >= m.config.Retry/2:
		m.tell(env, p)
	}
}

func (m *Machine) retryShard(env node.Env, s *subjob.Shard) {
	switch {
	case !s.Live() || !s.Written || s.Commit == subjob.Counting:
	case s.Workflow.Stopping():
		m.sendCancel(env, s)
	case s.State == message.WorkflowAssigned && env.Now().Sub(s.Sent) >= m.config.Retry/2:
		m.sendDispatch(env, s)
	}
}
