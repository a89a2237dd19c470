package manager

import (
	"fmt"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/manager/pace"
	"hyperscale/core/manager/roster"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/plan"
)

// refusedWait bounds how long a shard waits after its first refusal. Each dispatch doubles it, so
// that a disk that is full for a moment does not use up all dispatches.
const (
	refusedWait    = 150 * time.Millisecond
	refusedWaitMax = 64 * refusedWait
)

// retryAfterMax bounds for how long a manager spares a worker that says when to ask again.
const retryAfterMax = 30 * time.Second

// assign begins an attempt. The manager sends it once a majority has the workflow's shards.
func (m *attempts) assign(env node.Env, s *subjob.Shard, w *roster.Worker) {
	s.Burn(0) // rows of an attempt that a former holder dispatched and that no worker reported
	s.Attempt++
	s.Dispatches++
	s.Fence = s.Workflow.Subjob.Fence
	s.Fence.Attempt = s.Attempt
	s.Worker, s.Written, s.Progress, s.Denials = w.Peer.ID, false, nil, 0
	s.Idle = false
	s.Dispatch = subjob.Dispatch{}
	s.Renewed = env.Now()
	m.roster.Give(w, s.ID, w.Takes(s.Fence, s.Cores, s.Tenancy))
	if m.roster.Try(w, env.Now()) {
		env.Emit(event.CircuitChanged{Peer: w.Peer.ID, State: "half-open"})
	}
	m.becomeShard(env, s, message.WorkflowAssigned)
	f := s.Workflow
	if f.Started == 0 {
		f.Started = env.Now()
	}
	if f.Subjob.State == message.JobQueued {
		m.becomeSubjob(env, f.Subjob, message.JobDispatching, "")
	}
}

// dispatch sends an attempt that is still current; the cut of its workflow is final now.
func (m *attempts) dispatch(env node.Env, s *subjob.Shard) {
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

// sendDispatch sends an attempt to its worker, if the pace allows. It reports whether the pace
// does: a dispatch that waits goes later, in its turn.
func (m *attempts) sendDispatch(env node.Env, s *subjob.Shard) bool {
	w := m.roster.Of(s.Worker)
	if !w.Stands() || !s.Workflow.Subjob.Fresh(env.Now()) {
		return true // onRetry sends it when the worker is connected, or when a gate has named the subjob, again
	}
	resume := s.Resume(env.Now())
	p, f := s.Workflow.Subjob, s.Workflow.Plan
	d := &message.ShardDispatch{
		Shard: s.ID, Fence: s.Fence, Workflow: f.Name,
		Program: p.Dispatch.Program, PlanDigest: p.Digest,
		VUs: s.VUs, FirstVU: s.First, Cores: s.Cores, Memory: f.Memory,
		Duration: f.Duration, Timeout: f.Timeout, RunTimeout: max(p.TimeLeft(env.Now()), time.Second),
		Given: s.Workflow.Given(), Rows: p.Dispatch.Rows,
		Resume: resume, Tenancy: s.Tenancy, Every: m.figures.every(env), Heard: w.Sequence,
	}
	if !m.pace.Admit(pace.Dispatch{Shard: s.ID, Fence: s.Fence}, d.Size(), env.Now()) {
		return false
	}
	if s.Dispatched == 0 {
		s.Dispatch = subjob.Dispatch{Dispatched: env.Now(), Joined: resume.Elapsed, Anew: resume.Anew}
	}
	s.Sent, s.Renewed = env.Now(), env.Now()
	env.Send(w.Stream, d)
	return true
}

// sendPaced sends the dispatches that waited for room, as far as there is any.
func (m *attempts) sendPaced(env node.Env) {
	for d, ok := m.pace.Next(); ok; d, ok = m.pace.Next() {
		s := m.subjobs[d.Shard.Job].Shard(d.Shard)
		wanted := s != nil && s.Fence == d.Fence && s.State == message.WorkflowAssigned && s.Live() && s.Written && !s.Workflow.Stopping()
		if wanted && (!exclusive(s.Workflow) || m.may(env, s.Workflow)) && !m.sendDispatch(env, s) {
			return
		}
		if next, ok := m.pace.Next(); ok && next == d {
			m.pace.Skip() // onRetry sends it, if it is wanted later
		}
	}
}

// back returns a shard to the shards that wait for cores.
func (m *attempts) back(env node.Env, s *subjob.Shard, from node.Instant) {
	s.NotBefore = max(from, env.Now())
	m.becomeShard(env, s, message.WorkflowPending)
	m.wake(env, s.NotBefore)
}

// stopShards ends shards. One that no worker has ends at once. One that a worker has ends when
// the worker reports it or is lost. One that a worker may have ends when its time is over.
func (m *attempts) stopShards(env node.Env, f *subjob.Workflow, to message.WorkflowState) {
	for _, s := range f.Shards {
		switch {
		case f.End != message.WorkflowNone || s.State.Terminal() || s.End != message.WorkflowNone || s.Commit != subjob.Settled || s.Open:
		case s.Live() && s.Written:
			m.sendCancel(env, s)
		default:
			m.endShard(env, s, to, f.Subjob.Why)
		}
	}
}

// sendCancel asks a worker to end a shard, once the stop or the failure is on a majority:
// another holder must not continue what this one has stopped.
func (m *attempts) sendCancel(env node.Env, s *subjob.Shard) {
	w := m.roster.Of(s.Worker)
	p := s.Workflow.Subjob
	stop := p.StopOf(s.Workflow)
	if !w.Stands() || stop == message.JobNone && s.Workflow.Failure == "" {
		return
	}
	why := p.Why
	switch {
	case stop == message.JobNone && s.Workflow.Client:
		why = s.Workflow.Failure
	case stop == message.JobNone:
		why = "the workflow failed: " + s.Workflow.Failure
	case s.Workflow == p.After() && p.CleanUpLeft(env.Now()) <= 0:
		why = fmt.Sprintf("it had %v after the job was stopped", plan.CleanUp(&p.Dispatch.Plan))
	}
	env.Send(w.Stream, &message.ShardCancel{Shard: s.ID, Fence: s.Fence, State: subjob.EndOf(stop), Reason: why})
}

func (m *attempts) retryShard(env node.Env, s *subjob.Shard) {
	switch {
	case !s.Live() || !s.Written || s.Commit == subjob.Counting:
	case s.Workflow.Stopping():
		m.sendCancel(env, s)
	case s.State == message.WorkflowAssigned && env.Now().Sub(s.Sent) >= m.config.Retry/2 && (!exclusive(s.Workflow) || m.may(env, s.Workflow)):
		m.sendDispatch(env, s)
	}
}

// pass sends an attempt once a majority knows that one is out again, and that all earlier ones are
// given up, also those of former holders. Their workers have stopped, and a later holder must not
// count their results next to this attempt's.
func (m *attempts) pass(s *subjob.Shard) {
	s.Floor = s.Fence
	s.Floor.Attempt--
	m.commit(s.Workflow.Subjob, tag{step: attemptPassed, shard: s})
}

// renew answers a worker's last heartbeat. The worker may continue the shards that the answer
// names for RenewalTimeout from its send. Other shards may belong to other managers. The
// manager renews no shard of a subjob that no gate has named recently.
func (m *attempts) renew(env node.Env, w *roster.Worker) {
	if w.Stream == 0 || w.Sequence == 0 {
		return
	}
	ack := &message.HeartbeatAck{Sequence: w.Sequence, Shards: make([]message.ShardRef, 0, len(w.Running)), Every: m.figures.every(env)}
	ack.Set, ack.SetVersion = m.group.Leases.Set().Told()
	for _, ref := range w.Running {
		s := m.shardOf(env, ref.Shard)
		if s == nil || s.Fence != ref.Fence || s.Worker != w.Peer.ID || !s.Live() || !s.Written || !s.Workflow.Subjob.Fresh(env.Now()) {
			continue
		}
		s.Renewed = env.Now()
		ack.Shards = append(ack.Shards, ref)
	}
	env.Send(w.Stream, ack)
}

func (m *attempts) cancelStray(env node.Env, w *roster.Worker, ref message.ShardRef) {
	if w.Stream != 0 {
		env.Send(w.Stream, &message.ShardCancel{Shard: ref.Shard, Fence: ref.Fence, State: message.WorkflowCancelled, Reason: "this attempt was given up"})
	}
}

// endShard ends a shard without a result, once a majority has the end: no later holder may
// start it again. Its attempt ends now.
func (m *attempts) endShard(env node.Env, s *subjob.Shard, to message.WorkflowState, why string) {
	m.detach(s)
	s.Burn(0)
	s.End, s.Why = to, why
	m.commit(s.Workflow.Subjob, tag{step: shardEnded, shard: s})
}

// onRowsLeased sends rows to a core, unless its attempt was lost or it asked again.
func (m *attempts) onRowsLeased(env node.Env, t *tag) {
	s := t.shard
	t.rows.Known = true
	if m.stands(s) && s.Live() && s.Fence == t.fence && s.Rows[t.to] == t.rows {
		m.tellRows(env, s, t.to, t.rows)
	}
}

func (m *attempts) tellRows(env node.Env, s *subjob.Shard, to subjob.Lessee, l *subjob.Leased) {
	if w := m.roster.Of(s.Worker); w.Stands() && l.Known {
		env.Send(w.Stream, &message.ShardRowsLeased{Shard: s.ID, Fence: s.Fence, Core: to.Core, Ask: l.Ask, First: l.First, Count: l.Count, Of: to.Of})
	}
}

// onReleased tells the executors whose users a barrier lets pass.
func (m *attempts) onReleased(env node.Env, t *tag) {
	for i := range t.passes {
		x := &t.passes[i]
		if x.Passed() && m.stands(x.Shard) && x.Shard.Live() {
			m.tellWaits(env, x.Shard, x.At, x.Waits)
		}
	}
}

// tellWaits answers reports of waits, unless a release that was decided on them is on its way to a
// majority: its outcome belongs to the answer.
func (m *attempts) tellWaits(env node.Env, s *subjob.Shard, at subjob.Lessee, waits *subjob.Waits) {
	if w := m.roster.Of(s.Worker); w.Stands() && waits.Told() {
		env.Send(w.Stream, &message.ShardReleased{Shard: s.ID, Fence: s.Fence, Core: at.Core, Of: at.Of, Report: waits.Report, Released: waits.Released})
	}
}
