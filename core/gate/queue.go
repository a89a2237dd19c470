package gate

import (
	"hyperscale/core/gate/queue"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// enqueue inserts a QUEUED job by its age: one that returns from a dispatch keeps its turn.
func (m *Machine) enqueue(env node.Env, j *entry) {
	m.pushMoved(env, m.queue.Enter(&j.Turn, &j.Spec.Plan))
	if m.queue.Len() == 1 {
		env.SetTimer(node.Key(node.PartGate, node.GateQueue), m.config.QueueInterval)
	}
}

func (m *Machine) leaveQueue(env node.Env, j *entry) { m.pushMoved(env, m.queue.Leave(&j.Turn)) }

// pushMoved has watchers learn of new positions with the next push.
func (m *Machine) pushMoved(env node.Env, moved []*queue.Turn) {
	for _, t := range moved {
		m.pushLater(env, m.jobs[t.Job])
	}
}

// schedule dispatches the jobs whose turn has come.
func (m *Machine) schedule(env node.Env) {
	if m.queue.Len() == 0 || m.stopping {
		return
	}
	for _, r := range m.queue.Ready(m.places) {
		j := m.jobs[r.Turn.Job]
		m.leaveQueue(env, j)
		m.dispatch(env, j, r.To)
	}
}

// onQueueTimer ends what waited too long.
func (m *Machine) onQueueTimer(env node.Env) {
	now := env.Now()
	for _, t := range m.queue.All() {
		switch j := m.jobs[t.Job]; m.queue.Judge(t, m.places, now) {
		case queue.TooOld:
			reached(env, "gate/queue-age")
			m.endQueued(env, j, message.JobTimedOut, "waited in the queue for "+now.Sub(t.Since).String())
		case queue.Nowhere:
			reached(env, "gate/queue-nowhere")
			m.endQueued(env, j, message.JobFailed, "nowhere to run: "+t.Reason(m.places))
		}
	}
	m.schedule(env)
	if m.queue.Len() > 0 {
		env.SetTimer(node.Key(node.PartGate, node.GateQueue), m.config.QueueInterval)
	}
}

func (m *Machine) endQueued(env node.Env, j *entry, to message.JobState, reason string) {
	m.leaveQueue(env, j)
	m.end(env, j, to, reason)
}
