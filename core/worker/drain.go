package worker

import (
	"fmt"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// onDrain handles an operator's order to take nothing new, or its undo. Running shards continue
// to their end. The order survives a restart.
func (m *Machine) onDrain(env node.Env, in *node.Input, d *message.Drain) {
	if node.ID(d.Node) != env.Self().ID {
		ignored(env, in, "it is for "+d.Node+", and a worker passes nothing on")
		return
	}
	if m.drain.ordered == d.Undo {
		m.drain.ordered = !d.Undo
		m.writeDraining(env)
		m.beatAll(env)
	}
}

// writeDraining stores the order, so that it survives a restart.
func (m *Machine) writeDraining(env node.Env) {
	m.drain.unwritten = false
	m.disk.writeDraining(env, m.drain.ordered)
}

// onStop takes nothing new. Running shards may end, and their results reach a manager, within a
// bound; a second stop ends the wait.
func (m *Machine) onStop(env node.Env) {
	if m.stopping {
		m.onDrained(env)
		return
	}
	m.stopping = true
	m.beatAll(env)
	env.SetTimer(node.Key(node.PartWorker, node.WorkerDrain), m.config.DrainTimeout)
	m.drained(env)
}

func (m *Machine) onResultAck(env node.Env, ack *message.ShardResultAck) {
	if m.acknowledged(env, ack) {
		m.drained(env)
	}
}

// drained halts a stopping worker that has nothing left to do.
func (m *Machine) drained(env node.Env) {
	if m.stopping && len(m.active) == 0 && m.outbox.Len() == 0 {
		m.halt(env, "")
	}
}

// onDrained ends the wait: the worker gives up what still runs. Managers see that its heartbeat
// no longer lists these shards, and dispatch them elsewhere. Unacknowledged results are on
// disk.
func (m *Machine) onDrained(env node.Env) {
	if m.givenUp || len(m.active) == 0 {
		for _, x := range m.ordered {
			for _, r := range x.runs {
				if !r.gone {
					env.Exec().Kill(r.id)
				}
			}
		}
		reason := ""
		if n := len(m.active); n > 0 {
			reason = fmt.Sprintf("%d shards did not stop within %v and were killed", n, m.config.KillGrace)
		}
		m.halt(env, reason)
		return
	}
	m.givenUp = true
	for _, x := range m.ordered {
		if x.silent {
			continue
		}
		if x.phase == storing || x.phase == waiting {
			m.abandon(env, x.shard, x.fence)
			continue
		}
		x.hush()
		x.end(env, message.WorkflowCancelled, "its worker was stopped")
	}
	m.outbox.Clear() // on disk, for the next incarnation
	m.beatAll(env)
	env.SetTimer(node.Key(node.PartWorker, node.WorkerDrain), m.config.KillGrace+m.config.Heartbeat)
	m.drained(env)
}
