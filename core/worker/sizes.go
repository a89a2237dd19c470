package worker

import (
	"hyperscale/core/node"
)

// occupied is how many executions dispatches alone can make: each holds a core, or
// waits for those of one that it supersedes, or is written.
func (m *Machine) occupied() int { return 3 * len(m.cores) }

// crowded says that too much waits for the disk or for managers.
func (m *Machine) crowded() bool {
	return len(m.outbox) >= m.config.OutboxMax || len(m.outbox)+len(m.active) >= m.config.OutboxMax+m.occupied()
}

// Sizes tells what this worker keeps, against its bounds.
func (m *Machine) Sizes(tell node.Tell) {
	executions := m.config.OutboxMax + 2*m.occupied()
	shards := m.config.FencesMax + executions
	tell("worker/executions", len(m.active)+len(m.outbox), executions)
	tell("worker/shards", len(m.shards), shards)
	tell("worker/fences", len(m.closed), m.config.FencesMax)
	tell("worker/refused", max(len(m.refused), len(m.refusals)), m.config.FencesMax)
	tell("worker/runs", len(m.runs), executions*len(m.cores))
	tell("worker/writes", len(m.writes), 2*shards)
	tell("worker/streams", len(m.rhythms), len(m.config.Managers))
	//lint:orderfree each is judged by itself
	for _, r := range m.rhythms {
		tell("worker/heartbeats", len(r.sent), beatsMax)
	}
	m.group.Sizes(tell)
}
