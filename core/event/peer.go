package event

import "hyperscale/core/node"

// PeerRegistered: a peer's first heartbeat of an incarnation arrived.
type PeerRegistered struct {
	Peer       node.ID
	Role       node.Role
	Datacenter string
}

// PeerLost: a peer was silent for too long, or its stream broke and stayed away.
type PeerLost struct {
	Peer   node.ID
	Role   node.Role
	Reason string
}

// PeerRefused: a peer stands on a stream and is not taken in, or takes this node
// not in. Somebody has to change a configuration.
type PeerRefused struct {
	Peer   node.ID
	Role   node.Role
	Reason string // with the remedy
}

// Ignored: a message made no sense in this state, or to this role.
type Ignored struct {
	Peer    node.ID
	Message string // its name in the catalogue
	Why     string
}

// StoreFailed: the disk refused a write; new work is refused until one succeeds.
type StoreFailed struct {
	What string
	Err  string
}

// Shed: a request was refused for want of room.
type Shed struct {
	What string
	Why  string
}

// EventName implements node.Event.
func (PeerRegistered) EventName() string { return "peer-registered" }

// EventName implements node.Event.
func (PeerLost) EventName() string { return "peer-lost" }

// EventName implements node.Event.
func (PeerRefused) EventName() string { return "peer-refused" }

// EventName implements node.Event.
func (Ignored) EventName() string { return "ignored" }

// EventName implements node.Event.
func (StoreFailed) EventName() string { return "store-failed" }

// EventName implements node.Event.
func (Shed) EventName() string { return "shed" }
