package manager

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/manager/roster"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/retry"
)

func (m *workerSide) onShardProgress(env node.Env, in *node.Input, w *roster.Worker, r *message.ShardProgress) {
	m.figures.reports++
	m.figures.gauge.Waited(env.Now(), in.Waited)
	s := m.shardOf(env, r.Shard)
	if s == nil || s.Fence != r.Fence || !s.Live() || s.Worker != w.Peer.ID {
		return // of a given-up attempt: its heartbeat gets it cancelled
	}
	m.becomeAccepted(env, s)
	if s.Progress == nil || r.Sequence > s.Progress.Sequence {
		s.Progress = r
		s.Heard(env.Now(), r.Stats.Elapsed)
		m.touch(env, s.Workflow.Subjob)
	}
}

// onShardResult counts the result of the current attempt, once. It refuses results of all other
// attempts of this manager or of earlier holders.
func (m *workerSide) onShardResult(env node.Env, w *roster.Worker, r *message.ShardResult) {
	p := m.owned(env, r.Shard.Job)
	switch {
	case m.settled(env, r.Shard.Job):
		m.acknowledge(env, w.Stream, r, true)
		return
	case p == nil || p.Missing > 0 || p.Fence.SubjobEpoch < r.Fence.SubjobEpoch:
		return // this manager may neither accept nor refuse it, or not yet
	}
	s := m.shardOf(env, r.Shard)
	switch {
	case s != nil && s.Fence == r.Fence && s.Kept != nil && s.State.Terminal():
		m.acknowledge(env, w.Stream, r, false) // it counts already, but its acknowledgement was lost
	case s != nil && s.Fence == r.Fence && (s.Commit != subjob.Settled):
		// The manager acknowledges it when a majority has it, or refuses it once its loss is
		// recorded.
	case s == nil || p.Result != nil || !r.State.Terminal() || !m.counts(env, w, s, r.Fence):
		m.refuseResult(env, w, s, r)
	case m.another(w, s, r):
		if m.roster.Fail(w, env.Now()) {
			env.Emit(event.Reached{What: "manager/worker-circuit"})
			env.Emit(event.CircuitChanged{Peer: w.Peer.ID, State: "open"})
		}
		m.loseFailed(env, s, r)
	default:
		if (r.State == message.WorkflowCompleted || r.Fault == message.FaultProgram) && m.roster.Serve(w) {
			env.Emit(event.CircuitChanged{Peer: w.Peer.ID, State: "closed"})
		}
		m.count(env, s, r)
	}
}

// another says whether a failed shard gets another attempt, as its worker failed rather than its
// workflow. An executor that died leaves that open: one death is the worker's, a second one
// on another worker is the workflow's own.
func (m *workerSide) another(w *roster.Worker, s *subjob.Shard, r *message.ShardResult) bool {
	if r.State != message.WorkflowFailed || s.Workflow.Stopping() || s.End != message.WorkflowNone {
		return false
	}
	switch r.Fault {
	case message.FaultSpawn, message.FaultMemory:
	case message.FaultExecutor:
		if slices.ContainsFunc(s.Lost, func(l *subjob.Lost) bool { return l.Fault == message.FaultExecutor }) {
			return false
		}
	default:
		return false
	}
	return slices.ContainsFunc(m.roster.All(), func(o *roster.Worker) bool { return o != w && o.Able() })
}

// loseFailed gives up an attempt whose worker has reported its end and its figures.
func (m *workerSide) loseFailed(env node.Env, s *subjob.Shard, r *message.ShardResult) {
	last := &message.ShardProgress{Shard: r.Shard, Fence: r.Fence, Sequence: 1, Stats: r.Stats}
	if s.Progress != nil {
		last.Sequence += s.Progress.Sequence
	}
	s.Progress = last
	s.Heard(env.Now(), r.Stats.Elapsed)
	env.Emit(event.Reached{What: "manager/failed-attempt-lost"})
	s.Fault = r.Fault
	m.lose(env, s, r.Error, true)
}

func (m *workerSide) onShardAccepted(env node.Env, w *roster.Worker, a *message.ShardAccepted) {
	m.meet(env, w, []message.ShardRef{{Shard: a.Shard, Fence: a.Fence}})
}

func (m *workerSide) onShardRefused(env node.Env, w *roster.Worker, r *message.ShardRefused) {
	m.roster.Refused(w, r)
	s := m.shardOf(env, r.Shard)
	if s == nil || s.Fence != r.Fence || s.State != message.WorkflowAssigned || !s.Live() || !s.Written || s.Commit == subjob.Counting || s.Worker != w.Peer.ID {
		return // of an attempt that is over, or of a cancellation
	}
	m.detach(s)
	why := fmt.Sprintf("%s refused it: %v: %s", w.Peer.ID, r.Code, r.Detail)
	if f := s.Workflow; f.Subjob.StopOf(f) != message.JobNone || f.Failure != "" { // its workflow ends, and dispatches nothing again
		m.endShard(env, s, subjob.EndOf(f.Subjob.Stop.Durable), "")
		return
	}
	switch r.Code {
	case message.CodeStaleFence:
		if c := r.Current; c.JobEpoch == s.Fence.JobEpoch && c.SubjobEpoch == s.Fence.SubjobEpoch {
			s.Attempt = max(s.Attempt, c.Attempt)
		}
	case message.CodeNoCores, message.CodeNotRenewed:
		s.Dispatches-- // another manager was faster, or an answer is under way: neither is the shard's fault
	case message.CodeOverloaded:
		s.Dispatches-- // the worker has too much to do: another one may have less
		m.roster.Spare(w, env.Now().Add(min(r.RetryAfter, retryAfterMax)))
	case message.CodeDraining:
		m.roster.Drains(w)
	case message.CodeStoreFull, message.CodeQueueFull:
		s.FailedAt(w.Peer.ID)
	default:
		m.endShard(env, s, message.WorkflowFailed, why)
		return
	}
	if s.Dispatches >= m.config.DispatchMax {
		m.endShard(env, s, message.WorkflowFailed, fmt.Sprintf("dispatched %d times; at last %s", s.Dispatches, why))
		return
	}
	wait := retry.Backoff{Base: refusedWait, Cap: refusedWaitMax, Kind: retry.Equal}
	m.back(env, s, env.Now().Add(wait.Next(env.Rand(node.PurposeJitter), s.Dispatches).Round(time.Millisecond)))
	m.place(env)
}

func (m *workerSide) onWorkerMessage(env node.Env, in *node.Input, w *roster.Worker) {
	m.roster.Heard(in.Stream, env.Now())
	if msg, ok := in.Message.(*message.WorkerHeartbeat); ok {
		m.onWorkerHeartbeat(env, in, msg)
		return
	}
	if w == nil {
		// A worker without a place keeps the results of its former shards until an answer.
		if r, ok := in.Message.(*message.ShardResult); ok && m.settled(env, r.Shard.Job) {
			m.acknowledge(env, in.Stream, r, true)
			return
		}
		ignored(env, in, "its worker has not registered with a heartbeat")
		return
	}
	m.heard(env, w)
	switch msg := in.Message.(type) {
	case *message.WorkerHeld:
		m.onWorkerHeld(env, w, msg)
	case *message.ShardAccepted:
		m.onShardAccepted(env, w, msg)
	case *message.ShardRefused:
		m.onShardRefused(env, w, msg)
	case *message.ShardRows:
		m.onShardRows(env, w, msg)
	case *message.ShardWaits:
		m.onShardWaits(env, w, msg)
	case *message.ShardProgress:
		m.onShardProgress(env, in, w, msg)
	case *message.ShardResult:
		m.onShardResult(env, w, msg)
	default:
		ignored(env, in, "a manager has no use for it from a worker")
	}
}

// onShardRows leases rows of a unique feed, or values of a counter, to an executor. A later holder
// continues after those in the record, so that none is leased twice. Those of a lost attempt are
// burned.
func (m *workerSide) onShardRows(env node.Env, w *roster.Worker, r *message.ShardRows) {
	s := m.served(env, w, r.Shard, r.Fence)
	if s == nil {
		return // the worker asks again, at the then holder
	}
	to := subjob.Lessee{Of: r.Of, Core: r.Core}
	if !s.Leases(to) {
		env.Emit(event.Ignored{Peer: w.Peer.ID, Message: "ShardRows", Why: "the workflow leases no such rows, or not to so many cores"})
		return
	}
	m.becomeAccepted(env, s)
	old := s.Rows[to]
	switch {
	case old != nil && r.Ask < old.Ask:
		return // the manager has answered it
	case old != nil && r.Ask == old.Ask:
		m.tellRows(env, s, to, old)
		return
	}
	l := s.Lease(to, r.Ask, r.Want)
	m.commit(s.Workflow.Subjob, tag{step: rowsLeased, shard: s, fence: s.Fence, to: to, rows: l})
}

// served returns the shard whose executors ask, while this manager decides about their attempt.
func (m *workerSide) served(env node.Env, w *roster.Worker, id message.ShardID, f message.Fence) *subjob.Shard {
	s := m.shardOf(env, id)
	if s == nil || s.Fence != f || !s.Live() || s.Commit == subjob.Counting || s.Worker != w.Peer.ID || s.Workflow.Subjob.Missing > 0 || s.Workflow.Stopping() {
		return nil
	}
	return s
}

// onShardWaits reads how many users wait at a barrier, and lets them pass once all are there: on a
// majority, before any executor knows.
func (m *workerSide) onShardWaits(env node.Env, w *roster.Worker, r *message.ShardWaits) {
	s := m.served(env, w, r.Shard, r.Fence)
	if s == nil {
		return // the worker reports again, to the then holder
	}
	at := subjob.Lessee{Of: r.Of, Core: r.Core}
	if !s.Waiting(at) {
		env.Emit(event.Ignored{Peer: w.Peer.ID, Message: "ShardWaits", Why: "the plan has no such barrier, or not for so many cores"})
		return
	}
	m.becomeAccepted(env, s)
	waits := s.Hear(at, r.Report, r.Arrived, r.Left)
	p := s.Workflow.Subjob
	if passes := p.Release(r.Of); len(passes) > 0 {
		e := event.BarrierReleased{Job: p.Job, Fence: p.Fence, Datacenter: m.config.Datacenter, Of: r.Of, Users: p.Dispatch.Plan.Barriers[r.Of-1].Users}
		for _, x := range passes {
			e.Passes = append(e.Passes, event.BarrierPass{Shard: x.Shard.ID, Fence: x.Fence, Core: x.At.Core, Count: x.Count, UpTo: x.UpTo})
		}
		env.Emit(e)
		m.commit(p, tag{step: barrierReleased, subjob: p, passes: passes})
	}
	m.tellWaits(env, s, at, waits)
}
