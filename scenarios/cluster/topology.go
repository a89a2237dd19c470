package cluster

import (
	"time"

	"hyperscale/core/client"
	"hyperscale/core/gate"
	"hyperscale/core/manager"
	"hyperscale/core/node"
	"hyperscale/core/worker"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// Topology is the number of nodes of each kind, and their settings.
type Topology struct {
	Gates       int
	Datacenters int
	Managers    int // of each datacenter
	Workers     int // of each datacenter
	Cores       int // of each worker
	Clients     int
	Retention   time.Duration // how long managers remember ended jobs, if not the default
	Zero        bool          // all start at once, and their clocks begin at zero
	Past        bool          // a gate and a manager that repeat old orders

	Boxes  map[node.Role]func(*node.MailboxConfig) // change the bounds of their mailboxes; nil: they have the default
	Gate   func(*gate.Config)                      // changes the gates' bounds; nil: they have the default
	Manage func(*manager.Config)                   // changes the managers' bounds; nil: they have the default
	Work   func(*worker.Config)                    // changes the workers' bounds; nil: they have the default
	Ask    func(*client.Config)                    // changes the clients' waits; nil: they have the default
	Costs  map[node.Role]sim.Costs                 // of handlers; a role without any has those of a slow machine
	Grant  func(client int) node.Grant             // of each client's certificate; nil: they have none
	Ages   map[node.ID]uint16                      // minor version of each node's next start; nil: all are of this one
	Lies   *Lying                                  // one of them lies; nil: none
	Chats  *Chatting                               // a worker sends without end; nil: none does
	Open   bool                                    // gates have no entrance: they take what their mailboxes hold
}

// ReferenceTopology is the cluster of `steady` and `storm`.
func ReferenceTopology() Topology {
	return Topology{Gates: 3, Datacenters: 3, Managers: 3, Workers: 4, Cores: 4, Clients: 3}
}

// GroupTopology is one datacenter whose groups survive the loss of one member.
func GroupTopology() Topology {
	return Topology{Gates: 3, Datacenters: 1, Managers: 3, Workers: 4, Cores: 4, Clients: 2}
}

// SmallTopology is one gate, one manager and a few workers.
func SmallTopology() Topology {
	return Topology{Gates: 1, Datacenters: 1, Managers: 1, Workers: 3, Cores: 4, Clients: 1}
}

// ShortMemory is a short Retention of managers, for worlds that test what follows it.
const ShortMemory = 20 * time.Second

// OfDatacenter returns the managers and workers of the d-th datacenter.
func (s *Cluster) OfDatacenter(d int) []string {
	t := s.topology
	return append(stage.Names(s.Managers[d*t.Managers:(d+1)*t.Managers]), stage.Names(s.Workers[d*t.Workers:(d+1)*t.Workers])...)
}
