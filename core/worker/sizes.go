package worker

import (
	"hyperscale/core/node"
)

// occupied bounds the executions that dispatches alone can make. Each holds a core, waits for
// the cores of one that it supersedes, or waits for a write.
func (m *holdings) occupied() int { return 3 * m.cores.Total() }

// crowded says that too much waits for the disk or for managers.
func (m *holdings) crowded() bool {
	return m.outbox.Full() || m.outbox.Len()+len(m.active) >= m.config.OutboxMax+m.occupied()
}

// Sizes reports what this worker holds, next to its bounds.
func (m *Machine) Sizes(tell node.Tell) {
	executions := m.config.OutboxMax + 2*m.occupied()
	shards := m.config.FencesMax + executions
	tell("worker/executions", len(m.active)+m.outbox.Len(), executions)
	tell("worker/shards", len(m.shards), shards)
	tell("worker/fences", m.resting.Len(), m.config.FencesMax)
	tell("worker/refused", m.refusals.Len(), m.config.FencesMax)
	tell("worker/runs", len(m.runs), executions*m.cores.Total())
	tell("worker/writes", len(m.disk.writes), 2*shards)
	tell("worker/streams", len(m.managers.rhythms), len(m.config.Managers))
	//lint:orderfree each is judged by itself
	for _, r := range m.managers.rhythms {
		tell("worker/heartbeats", len(r.sent), beatsMax)
	}
	m.group.Sizes(tell)
}
