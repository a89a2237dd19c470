package manager

import (
	"fmt"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/manager/roster"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// refusedWait is what a shard waits after its first refusal; each dispatch doubles
// it, so that a disk that is full for a moment does not spend them all.
const refusedWait = 150 * time.Millisecond

// assign begins an attempt. It is sent once a majority knows how its workflow is
// cut.
func (m *Machine) assign(env node.Env, s *subjob.Shard, w *roster.Worker) {
	s.Burn() // of one that a former holder dispatched, and nobody reported
	s.Attempt++
	s.Dispatches++
	s.Fence = s.Workflow.Subjob.Fence
	s.Fence.Attempt = s.Attempt
	s.Worker, s.Written, s.Progress, s.Denials = w.Peer.ID, false, nil, 0
	s.Renewed = env.Now()
	m.roster.Give(w, s.ID, roster.Given{Fence: s.Fence, Cores: s.Cores})
	m.becomeShard(env, s, message.WorkflowAssigned)
	f := s.Workflow
	if f.Started == 0 {
		f.Started = env.Now()
	}
	if f.Subjob.State == message.JobQueued {
		m.becomeSubjob(env, f.Subjob, message.JobDispatching, "")
	}
}

// dispatch sends an attempt that still stands, now that the cut does not change any
// more.
func (m *Machine) dispatch(env node.Env, s *subjob.Shard) {
	if !s.Live() || s.Written || !m.stands(s) {
		return
	}
	if s.Workflow.Stopping() {
		m.detach(s)
		m.endShard(env, s, subjob.EndOf(s.Workflow.Subjob.Stop.Durable), s.Workflow.Subjob.Why)
		return
	}
	s.Written = true
	env.Emit(event.ShardDispatched{Shard: s.ID, Fence: s.Fence, Worker: s.Worker, Cores: s.Cores, VUs: s.VUs})
	m.sendDispatch(env, s)
}

func (m *Machine) sendDispatch(env node.Env, s *subjob.Shard) {
	w := m.roster.Of(s.Worker)
	if !w.Stands() || !s.Workflow.Subjob.Fresh(env.Now()) {
		return // onRetry sends it when the worker, or the gate's word, is back
	}
	s.Sent, s.Renewed = env.Now(), env.Now()
	p, plan := s.Workflow.Subjob, s.Workflow.Plan
	left := p.RunTimeout - env.Now().Sub(p.Accepted)
	env.Send(w.Stream, &message.ShardDispatch{
		Shard: s.ID, Fence: s.Fence, Workflow: plan.Name,
		Program: p.Dispatch.Program, PlanDigest: p.Digest,
		VUs: s.VUs, FirstVU: s.First, Cores: s.Cores,
		Duration: plan.Duration, Timeout: plan.Timeout, RunTimeout: max(left, time.Second),
		Given: s.Workflow.Given(), Rows: p.Dispatch.Rows,
	})
}

// back returns a shard to those that wait for cores.
func (m *Machine) back(env node.Env, s *subjob.Shard, from node.Instant) {
	s.NotBefore = max(from, env.Now())
	m.becomeShard(env, s, message.WorkflowPending)
	m.wake(env, s.NotBefore)
}

// wake makes place be called at an instant, as nothing else may.
func (m *Machine) wake(env node.Env, at node.Instant) {
	if at <= env.Now() || m.nextTry > env.Now() && m.nextTry <= at {
		return
	}
	m.nextTry = at
	env.SetTimer(node.Key(node.PartManager, node.ManagerDispatch), at.Sub(env.Now()))
}

// onDispatchTimer places what may be placed by now, and waits for the next.
func (m *Machine) onDispatchTimer(env node.Env) {
	m.nextTry = 0
	m.place(env)
	var next node.Instant
	for _, p := range m.order {
		for _, f := range p.Workflows {
			for _, s := range f.Shards {
				if s.State == message.WorkflowPending && s.NotBefore > env.Now() && (next == 0 || s.NotBefore < next) {
					next = s.NotBefore
				}
			}
		}
	}
	m.wake(env, next)
}

func (m *Machine) onShardAccepted(env node.Env, w *roster.Worker, a *message.ShardAccepted) {
	m.meet(env, w, []message.ShardRef{{Shard: a.Shard, Fence: a.Fence}})
}

func (m *Machine) onShardRefused(env node.Env, w *roster.Worker, r *message.ShardRefused) {
	m.roster.Refused(w, r.CoresFree)
	s := m.shardOf(env, r.Shard)
	if s == nil || s.Fence != r.Fence || s.State != message.WorkflowAssigned || !s.Live() || !s.Written || s.Commit == subjob.Counting || s.Worker != w.Peer.ID {
		return // of an attempt that is over, or of a cancellation
	}
	m.detach(s)
	why := fmt.Sprintf("%s refused it: %v: %s", w.Peer.ID, r.Code, r.Detail)
	if f := s.Workflow; f.Subjob.Stop.Durable != message.JobNone || f.Failure != "" { // its workflow ends, and dispatches nothing again
		m.endShard(env, s, subjob.EndOf(f.Subjob.Stop.Durable), "")
		return
	}
	switch r.Code {
	case message.CodeStaleFence:
		if c := r.Current; c.JobEpoch == s.Fence.JobEpoch && c.SubjobEpoch == s.Fence.SubjobEpoch {
			s.Attempt = max(s.Attempt, c.Attempt)
		}
	case message.CodeNoCores, message.CodeNotRenewed:
		s.Dispatches-- // another manager was faster, or an answer is under way: that says nothing of the shard
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
	m.back(env, s, env.Now().Add(refusedWait<<min(s.Dispatches, 6)))
	m.place(env)
}
