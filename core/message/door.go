package message

import "hyperscale/core/node"

// Fits reports whether a node takes a message from a sender of this role: the catalogue names the
// roles that send each kind, and the kinds that travel as datagrams. A machine of a test takes any.
func Fits(k node.Kind, sender, receiver node.Role, s node.StreamID) bool {
	return Senders(k).Has(sender) && (s != 0 || Posted(k)) || receiver == node.RoleToy
}

// Callers returns the roles that open streams to a node. Clients, gates and managers call gates;
// managers and workers call managers. Managers and workers also call workers, to exchange lists of
// members. A machine of a test takes any.
func Callers(receiver node.Role) node.Roles {
	switch receiver {
	case node.RoleGate:
		return 1<<node.RoleClient | 1<<node.RoleGate | 1<<node.RoleManager
	case node.RoleManager, node.RoleWorker:
		return 1<<node.RoleManager | 1<<node.RoleWorker
	case node.RoleToy:
		return ^node.Roles(0)
	}
	return 0
}
