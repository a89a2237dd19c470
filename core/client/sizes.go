package client

import "hyperscale/core/node"

// Sizes tells what this client keeps, against its bounds.
func (m *Machine) Sizes(tell node.Tell) {
	tell("client/gates", len(m.gates), m.config.GatesMax)
	tell("client/commands", len(m.commands), m.config.CommandsMax)
	tell("client/requests", len(m.asked), m.config.CommandsMax)
	tell("client/homes", max(len(m.homes), len(m.known)), m.config.HomesMax)
}
