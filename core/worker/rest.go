package worker

import (
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
	tell("worker/rhythms", len(m.managers.rhythms), len(m.managers.links.All())) // one per configured manager
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
