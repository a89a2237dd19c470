package worker

import "hyperscale/core/node"

// sentRest is how many heartbeats of a link may wait for their answers at rest: those
// that an answer could still renew.
func (m *Machine) sentRest() int { return int(m.config.RenewalTimeout/m.config.Heartbeat) + 2 }

// Rests tells this worker's ledgers against their rest. Fences remain until FenceAge,
// and the last FencesMax refusals for good.
func (m *Machine) Rests(tell node.Tell) {
	tell("worker/cores that are taken", len(m.cores)-m.free(), 0)
	tell("worker/active", len(m.active), 0)
	tell("worker/outbox", len(m.outbox), 0)
	tell("worker/runs", len(m.runs), 0)
	tell("worker/writes", len(m.writes), 0)
	tell("worker/refusals without a fence", node.Leak(len(m.refusals), len(m.refused)), 0)
	m.restShards(tell)
	tell("worker/rhythms", len(m.rhythms), len(m.links.All())) // one per configured manager
	//lint:orderfree each is judged by itself
	for l, r := range m.rhythms {
		tell("worker/heartbeats to "+string(l.Addr), len(r.sent), m.sentRest())
	}
	m.group.Rests(tell)
}

// restSlices tells that each known shard is one fence that waits for its age.
func (m *Machine) restShards(tell node.Tell) {
	closed := map[*shard]bool{}
	open, cores, runs := 0, 0, 0
	for _, c := range m.closed {
		closed[c.shard] = true
	}
	//lint:orderfree sums
	for _, s := range m.shards {
		if s.current != nil || s.storing != nil || s.leaving > 0 || !closed[s] {
			open++
		}
	}
	//lint:orderfree sums
	for _, x := range m.active {
		cores, runs = cores+len(x.cores)+x.owed, runs+len(x.runs)
	}
	tell("worker/shards that are open", open, 0)
	tell("worker/cores of executions", cores, 0)
	tell("worker/executors of executions", runs, 0)
}
