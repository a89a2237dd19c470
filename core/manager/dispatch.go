package manager

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/manager/roster"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// refusedWait is what a shard waits after its first refusal; each dispatch doubles
// it, so that a disk that is full for a moment does not spend them all.
const refusedWait = 150 * time.Millisecond

// assign begins an attempt. It is sent once a majority knows how its workflow is
// cut.
func (m *Machine) assign(env node.Env, s *shard, w *roster.Worker) {
	s.burn() // of one that a former holder dispatched, and nobody reported
	s.attempt++
	s.dispatches++
	s.fence = s.workflow.subjob.fence
	s.fence.Attempt = s.attempt
	s.worker, s.written, s.progress, s.denials = w.Peer.ID, false, nil, 0
	s.renewed = env.Now()
	m.roster.Give(w, s.id, roster.Given{Fence: s.fence, Cores: s.cores})
	m.becomeShard(env, s, message.WorkflowAssigned)
	f := s.workflow
	if f.started == 0 {
		f.started = env.Now()
	}
	if f.subjob.state == message.JobQueued {
		m.becomeSubjob(env, f.subjob, message.JobDispatching, "")
	}
}

// onCut sends an attempt that still stands, now that the cut does not change any
// more.
func (m *Machine) onCut(env node.Env, s *shard) {
	if !s.live() || s.written || !m.stands(s) {
		return
	}
	if s.workflow.stopping() {
		m.detach(s)
		m.endShard(env, s, endOf(s.workflow.subjob.stop), s.workflow.subjob.why)
		return
	}
	s.written = true
	env.Emit(event.ShardDispatched{Shard: s.id, Fence: s.fence, Worker: s.worker, Cores: s.cores, VUs: s.vus})
	m.sendDispatch(env, s)
}

func (m *Machine) sendDispatch(env node.Env, s *shard) {
	w := m.roster.Of(s.worker)
	if !w.Stands() || !fresh(env, s.workflow.subjob) {
		return // onRetry sends it when the worker, or the gate's word, is back
	}
	s.sent, s.renewed = env.Now(), env.Now()
	p, plan := s.workflow.subjob, s.workflow.plan
	left := p.runTimeout - env.Now().Sub(p.accepted)
	env.Send(w.Stream, &message.ShardDispatch{
		Shard: s.id, Fence: s.fence, Workflow: plan.Name,
		Program: p.dispatch.Program, PlanDigest: p.digest,
		VUs: s.vus, FirstVU: s.first, Cores: s.cores,
		Duration: plan.Duration, Timeout: plan.Timeout, RunTimeout: max(left, time.Second),
		Given: s.workflow.given(), Rows: p.dispatch.Rows,
	})
}

// given is what the workflows before one have provided to it. Their results count, so
// that a majority has it: it is the same for each attempt, whoever dispatches. The first
// dispatch collects it for all.
func (f *workflow) given() []message.Provided {
	if f.provided == nil {
		f.provided = f.subjob.provided(f.index)
	}
	return f.provided
}

func (p *subjob) provided(to uint32) []message.Provided {
	all := []message.Provided{}
	for _, f := range p.workflows {
		for _, s := range f.shards {
			if s.result == nil || f.end != message.WorkflowCompleted {
				continue
			}
			for _, v := range s.result.Provided {
				if slices.Contains(v.To, to) && len(all) < message.ProvidedMax {
					all = append(all, v)
				}
			}
		}
	}
	return all
}

// dispatchMax is what a dispatch's program and values may take of a frame.
const dispatchMax = message.FrameMax - 4096

// tooMuch says why a program and what other workflows have given do not go into one
// dispatch; empty: they do. A program of the language's own bounds always does.
func tooMuch(p message.Program, given []message.Provided) string {
	d := message.ShardDispatch{Program: p, Given: given}
	if n := d.Size(); len(given) > 0 && n > dispatchMax {
		return fmt.Sprintf("the program and what other workflows provide have %d bytes together, the bound is %d: provide less, or pass less with --set", n, dispatchMax)
	}
	return ""
}

// back returns a shard to those that wait for cores.
func (m *Machine) back(env node.Env, s *shard, from node.Instant) {
	s.notBefore = max(from, env.Now())
	m.becomeShard(env, s, message.WorkflowPending)
	m.wake(env, s.notBefore)
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
		for _, f := range p.workflows {
			for _, s := range f.shards {
				if s.state == message.WorkflowPending && s.notBefore > env.Now() && (next == 0 || s.notBefore < next) {
					next = s.notBefore
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
	if s == nil || s.fence != r.Fence || s.state != message.WorkflowAssigned || !s.live() || !s.written || s.counting || s.worker != w.Peer.ID {
		return // of an attempt that is over, or of a cancellation
	}
	m.detach(s)
	why := fmt.Sprintf("%s refused it: %v: %s", w.Peer.ID, r.Code, r.Detail)
	if f := s.workflow; f.subjob.stop != message.JobNone || f.failure != "" { // its workflow ends, and dispatches nothing again
		m.endShard(env, s, endOf(f.subjob.stop), "")
		return
	}
	switch r.Code {
	case message.CodeStaleFence:
		if c := r.Current; c.JobEpoch == s.fence.JobEpoch && c.SubjobEpoch == s.fence.SubjobEpoch {
			s.attempt = max(s.attempt, c.Attempt)
		}
	case message.CodeNoCores, message.CodeNotRenewed:
		s.dispatches-- // another manager was faster, or an answer is under way: that says nothing of the shard
	case message.CodeDraining:
		m.roster.Drains(w)
	case message.CodeStoreFull, message.CodeQueueFull:
		s.failedAt(w.Peer.ID)
	default:
		m.endShard(env, s, message.WorkflowFailed, why)
		return
	}
	if s.dispatches >= m.config.DispatchMax {
		m.endShard(env, s, message.WorkflowFailed, fmt.Sprintf("dispatched %d times; at last %s", s.dispatches, why))
		return
	}
	m.back(env, s, env.Now().Add(refusedWait<<min(s.dispatches, 6)))
	m.place(env)
}

// endOf maps how a subjob is made to end to how its workflows end then.
func endOf(s message.JobState) message.WorkflowState {
	if s == message.JobTimedOut {
		return message.WorkflowTimedOut
	}
	return message.WorkflowCancelled
}
