package worker

import (
	"fmt"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

const tailMax = 2048 // bytes of an executor's last lines in a result

func (m *Machine) onExec(env node.Env, e *node.ExecEvent) {
	r := m.runs[e.ID]
	if r == nil {
		return // of an executor that is gone
	}
	if e.Kind == node.ExecGone {
		m.onGone(env, r, e)
		return
	}
	if usage, ok := e.Body.(*message.ExecUsage); ok { // of its host: no word of its loop
		m.measured(env, r, usage)
		return
	}
	if alive, ok := e.Body.(*message.ExecAlive); ok && alive.Asks {
		r.ask(env, alive)
		return
	}
	r.watch.Heard()
	switch body := e.Body.(type) {
	case *message.ExecProgress:
		if body.Sequence > r.sequence && r.result == nil {
			r.sequence = body.Sequence
			r.stats = &body.Stats
			r.execution.dirty = true
		}
	case *message.ExecRows:
		if r.result == nil {
			m.managers.ask(env, r, body)
		}
	case *message.ExecWaits:
		if r.result == nil {
			m.managers.report(env, r, body)
		}
	case *message.ExecResult:
		r.result = body
		r.stats = &body.Stats
		r.execution.dirty = true
		r.judge(env)
	}
}

// onGone handles the last message of an executor, whatever came before.
func (m *Machine) onGone(env node.Env, r *run, e *node.ExecEvent) {
	x := r.execution
	r.gone = true
	r.gauge.End(env.Now())
	delete(m.runs, r.id)
	if r.result == nil && x.phase == running && (e.Lapsed || env.Now() >= x.until) {
		x.giveUp(env)
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
		x.fail(env, faultOf(e.Cause), why)
	}
	if slices.ContainsFunc(x.runs, func(other *run) bool { return !other.gone }) {
		if x.dispatch.Tenancy != message.TenancyMachine { // that one keeps all until it ends
			env.Emit(event.CoreFreed{Shard: x.shard.id, Fence: x.fence, Core: r.core})
			m.cores.Leave(x.holder(), r.core)
		}
		return
	}
	m.onAllGone(env, x)
}

// faultOf says what a host's word about an end means for the shard.
func faultOf(c node.ExecCause) message.Fault {
	switch c {
	case node.ExecUnspawned:
		return message.FaultSpawn
	case node.ExecOverLimit:
		return message.FaultProgram
	}
	return message.FaultExecutor
}

// onAllGone frees the cores, sends the result and starts the successor.
func (m *Machine) onAllGone(env node.Env, x *execution) {
	s := x.shard
	state, why := x.outcome()
	env.Emit(event.ShardEnded{Shard: s.id, Fence: x.fence, Cores: m.cores.Of(x.holder()), State: state, Reason: why})
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

func lastBytes(s string, n int) string {
	if len(s) > n {
		return s[len(s)-n:]
	}
	return s
}
