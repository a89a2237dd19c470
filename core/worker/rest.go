package worker

import (
	"hyperscale/core/discovery"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// sentRest is how many heartbeats of a link may wait for their answers at rest: those that an
// answer could still renew.
func (m *Machine) sentRest() int { return int(m.config.RenewalTimeout/m.config.Heartbeat) + 2 }

// Rests reports this worker's ledgers at rest. Fences remain until FenceAge, and the last
// FencesMax refusals for good.
func (m *Machine) Rests(tell node.Tell) {
	m.cores.Rests(tell)
	tell("worker/active", max(len(m.active), len(m.ordered)), 0)
	tell("worker/outbox", m.outbox.Len(), 0)
	tell("worker/runs", len(m.runs), 0)
	tell("worker/hold", int(min(m.hold.until, 1)), 0)
	tell("worker/writes", len(m.disk.writes), 0)
	tell("worker/refusals without a fence", m.refusals.Leak(), 0)
	m.restShards(tell)
	tell("worker/rhythms", len(m.managers.rhythms), len(m.managers.links.All())) // one per manager
	//lint:orderfree each is judged by itself
	for l, r := range m.managers.rhythms {
		tell("worker/heartbeats to "+string(l.Addr), len(r.sent), m.sentRest())
	}
	m.group.Rests(tell)
}

// restShards reports that each known shard is one fence that waits for its age.
func (m *Machine) restShards(tell node.Tell) {
	filed := map[message.ShardID]bool{}
	open, runs := 0, 0
	for _, r := range m.resting.All() {
		filed[r.Shard] = true
	}
	//lint:orderfree sums
	for _, s := range m.shards {
		if !s.idle() || !filed[s.id] {
			open++
		}
	}
	//lint:orderfree sums
	for _, x := range m.active {
		runs += len(x.runs)
	}
	tell("worker/shards that are open", open, 0)
	tell("worker/executors of executions", runs, 0)
}

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
	tell("worker/streams", len(m.managers.rhythms), len(m.config.Managers)+discovery.CandidatesMax*len(m.config.Discover))
	//lint:orderfree each is judged by itself
	for _, r := range m.managers.rhythms {
		tell("worker/heartbeats", len(r.sent), beatsMax)
	}
	m.group.Sizes(tell)
}
