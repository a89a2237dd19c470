package client

import "hyperscale/core/node"

// Sizes reports what this client holds, against its bounds.
func (m *Machine) Sizes(tell node.Tell) {
	tell("client/gates", len(m.gates.all), m.config.GatesMax)
	tell("client/commands", len(m.commands), m.config.CommandsMax)
	tell("client/requests", len(m.asked), m.config.CommandsMax)
	tell("client/homes", max(len(m.gates.homes), len(m.gates.known)), m.config.HomesMax)
}
