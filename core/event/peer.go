package event

import "hyperscale/core/node"

// PeerRegistered: a peer's first heartbeat of an incarnation arrived.
type PeerRegistered struct {
	Peer       node.ID
	Role       node.Role
	Datacenter string
}

// PeerLost: a peer was silent for too long, or its stream broke and did not return.
type PeerLost struct {
	Peer   node.ID
	Role   node.Role
	Reason string
}

// PeerRefused: this node rejects a connected peer, or the peer rejects this node. An operator
// has to change a configuration.
type PeerRefused struct {
	Peer   node.ID
	Role   node.Role
	Reason string // with the remedy
}

// Ignored: a message made no sense in this state, or for this role.
type Ignored struct {
	Peer    node.ID
	Message string // its name in the catalogue
	Why     string
}

// StoreFailed: the disk failed a write; the node rejects new work until one succeeds.
type StoreFailed struct {
	What string
	Err  string
}

// Shed: a node rejected a request because it had no room.
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
