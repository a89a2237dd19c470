package worker

import (
	"fmt"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// onDrain: an operator wants this worker empty, or has changed her mind. What runs
// goes on to its end. A restart changes nothing of it.
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

// writeDraining keeps the order over a restart.
func (m *Machine) writeDraining(env node.Env) {
	m.drain.unwritten = false
	m.disk.writeDraining(env, m.drain.ordered)
}

// onStop: the worker takes nothing new. What runs may end, and reach a manager, for a
// while; a second stop does not wait.
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

// drained halts a worker that was asked to stop and has nothing left to do.
func (m *Machine) drained(env node.Env) {
	if m.stopping && len(m.active) == 0 && m.outbox.Len() == 0 {
		m.halt(env, "")
	}
}

// onDrained: the wait is over. The worker gives up what still runs: managers see that
// it is not listed any more and dispatch it elsewhere. Results that no manager has
// acknowledged are on disk.
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
