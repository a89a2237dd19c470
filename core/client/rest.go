package client

import "hyperscale/core/node"

// Rests reports this client's ledgers against their rest: no command waits for an answer. The
// gates, and the gates of the last HomesMax jobs, remain.
func (m *Machine) Rests(tell node.Tell) {
	tell("client/commands", len(m.commands), 0)
	tell("client/requests", len(m.asked), 0)
	tell("client/homes without a key", node.Leak(len(m.gates.homes), len(m.gates.known)), 0)
	tried, listed := 0, 0
	for _, c := range m.commands {
		tried += len(c.tried) + len(c.said)
		if c.list != nil {
			listed += c.list.Len()
		}
	}
	tell("client/jobs of open lists", listed, 0)
	tell("client/gates that commands tried", tried, 0)
}
