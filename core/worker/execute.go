package worker

import (
	"fmt"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

const tailMax = 2048 // bytes of an executor's last lines that a result carries

// start gives each core its share of the virtual users, the remainder to the
// last, and only then accepts.
func (m *Machine) start(env node.Env, x *execution) {
	d := x.dispatch
	x.become(running)
	x.started = env.Now()
	env.Emit(event.ShardStarted{Shard: x.shard.id, Fence: x.fence, Datacenter: m.config.Datacenter, Cores: append([]int(nil), x.cores...), Total: len(m.cores)})
	share := d.VUs / uint64(len(x.cores))
	for i, core := range x.cores {
		vus := share
		if i == len(x.cores)-1 {
			vus = d.VUs - share*uint64(i)
		}
		m.exec++
		r := &run{id: m.exec, execution: x, core: core}
		m.runs[r.id] = r
		x.runs = append(x.runs, r)
		env.Exec().Start(r.id, core, &message.ExecStart{
			Shard: x.shard.id, Workflow: d.Workflow, Program: d.Program, PlanDigest: d.PlanDigest,
			VUs: vus, FirstVU: d.FirstVU + share*uint64(i), Duration: d.Duration, Timeout: d.Timeout,
			Given: d.Given, Rows: d.Rows,
		})
	}
	m.enforce(env, x)
	if d.RunTimeout > 0 {
		env.SetTimer(node.KeyN(node.PartWorker, node.WorkerShard, x.number), d.RunTimeout)
	}
	if l := m.links.Peer(x.manager); l != nil {
		env.Send(l.Stream, &message.ShardAccepted{Shard: x.shard.id, Fence: x.fence})
	}
	if !m.pushing {
		m.pushing = true
		env.SetTimer(node.Key(node.PartWorker, node.WorkerPush), m.config.ProgressInterval)
	}
}

func (m *Machine) onExec(env node.Env, e *node.ExecEvent) {
	r := m.runs[e.ID]
	if r == nil {
		return // of an executor whose end was told
	}
	if e.Kind == node.ExecGone {
		m.onGone(env, r, e)
		return
	}
	switch body := e.Body.(type) {
	case *message.ExecProgress:
		if body.Sequence > r.sequence && r.result == nil {
			r.sequence = body.Sequence
			r.stats = &body.Stats
			r.execution.dirty = true
		}
	case *message.ExecRows:
		if r.result == nil {
			r.asks = body
			m.askRows(env, r)
		}
	case *message.ExecResult:
		r.result = body
		r.stats = &body.Stats
		r.execution.dirty = true
		m.onExecResult(env, r)
	}
}

// onExecResult: an executor that ends otherwise than well, and unasked, ends the
// whole shard: its share of the load is missing.
func (m *Machine) onExecResult(env node.Env, r *run) {
	if r.result.State == message.WorkflowCompleted || r.execution.phase != running {
		return
	}
	if r.result.State == message.WorkflowCancelled {
		m.giveUp(env, r.execution) // nobody asked it: its time was over
		return
	}
	why := r.result.Error
	if why == "" {
		why = fmt.Sprintf("the executor on core %d ended %v", r.core, r.result.State)
	}
	m.fail(env, r.execution, why)
}

// onGone: the last message of an executor, whatever went before.
func (m *Machine) onGone(env node.Env, r *run, e *node.ExecEvent) {
	x := r.execution
	r.gone = true
	delete(m.runs, r.id)
	if r.result == nil && x.phase == running && (e.Lapsed || env.Now() >= x.until) {
		m.giveUp(env, x)
	}
	if r.result == nil && x.phase == running {
		reason := e.Reason
		if reason == "" {
			reason = "it ended without a result"
		}
		env.Emit(event.ExecutorGone{Shard: x.shard.id, Fence: x.fence, Core: r.core, Reason: reason, Tail: e.Tail})
		why := fmt.Sprintf("the executor on core %d is gone: %s", r.core, reason)
		if tail := lastBytes(e.Tail, tailMax); tail != "" {
			why += "; its last lines: " + tail
		}
		m.fail(env, x, why)
	}
	for _, other := range x.runs {
		if !other.gone {
			return
		}
	}
	m.onAllGone(env, x)
}

func (m *Machine) fail(env node.Env, x *execution, why string) {
	x.failure = why
	m.end(env, x, message.WorkflowNone, "another executor of the shard failed")
}

// end asks the executors of an execution to stop; the first reason stands.
func (m *Machine) end(env node.Env, x *execution, to message.WorkflowState, why string) {
	if x.stop == message.WorkflowNone && x.failure == "" {
		x.stop, x.why = to, why
	}
	if x.phase != running {
		return
	}
	x.become(ending)
	env.CancelTimer(node.KeyN(node.PartWorker, node.WorkerShard, x.number))
	env.SetTimer(node.KeyN(node.PartWorker, node.WorkerKill, x.number), m.config.KillGrace)
	for _, r := range x.runs {
		if !r.gone && r.result == nil {
			env.Exec().Cancel(r.id)
		}
	}
}

func (m *Machine) onRunTimeout(env node.Env, x *execution) {
	if x == nil {
		return
	}
	m.end(env, x, message.WorkflowTimedOut, fmt.Sprintf("it ran longer than its run timeout of %v", x.dispatch.RunTimeout))
}

func (m *Machine) onKill(env node.Env, x *execution) {
	if x == nil {
		return
	}
	for _, r := range x.runs {
		if !r.gone {
			env.Exec().Kill(r.id)
			x.why += fmt.Sprintf("; the executor on core %d did not stop within %v and was killed", r.core, m.config.KillGrace)
		}
	}
}

// onAllGone frees the cores, tells the result and lets the successor start.
func (m *Machine) onAllGone(env node.Env, x *execution) {
	s := x.shard
	state, why := x.outcome()
	env.Emit(event.ShardEnded{Shard: s.id, Fence: x.fence, Cores: append([]int(nil), x.cores...), State: state, Reason: why})
	m.release(env, x)
	if x.silent {
		x.become(closed)
		s.leaving--
		if s.current == x {
			s.current = nil // given up by a drain, not superseded
		}
		m.proceed(env, s)
		m.rest(env, s)
	} else {
		m.finish(env, x)
	}
	m.beatAll(env)
	m.drained(env)
}

func (x *execution) outcome() (message.WorkflowState, string) {
	completed := len(x.runs) > 0
	for _, r := range x.runs {
		completed = completed && r.result != nil && r.result.State == message.WorkflowCompleted
	}
	switch {
	case completed && x.failure == "":
		return message.WorkflowCompleted, ""
	case x.failure != "":
		return message.WorkflowFailed, x.failure
	}
	return x.stop, x.why
}

func lastBytes(s string, n int) string {
	if len(s) > n {
		return s[len(s)-n:]
	}
	return s
}
