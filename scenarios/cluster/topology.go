package cluster

import (
	"time"

	"hyperscale/core/gate"
	"hyperscale/core/manager"
	"hyperscale/core/worker"
	"hyperscale/scenarios/stage"
)

// Topology is how many of each there are.
type Topology struct {
	Gates       int
	Datacenters int
	Managers    int // of each datacenter
	Workers     int // of each datacenter
	Cores       int // of each worker
	Clients     int
	Retention   time.Duration // of managers, if not the default: how long they know what has ended
	Zero        bool          // all start at once, and their clocks begin at nothing
	Past        bool          // a gate and a manager that speak of what is over

	Gate   func(*gate.Config)    // changes the gates' bounds; nil: they have the default
	Manage func(*manager.Config) // changes the managers' bounds; nil: they have the default
	Work   func(*worker.Config)  // changes the workers' bounds; nil: they have the default
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

// ShortMemory is how long managers remember what has ended, where a world is to see
// what comes after that.
const ShortMemory = 20 * time.Second

// OfDatacenter are the managers and workers of the d-th datacenter.
func (s *Cluster) OfDatacenter(d int) []string {
	t := s.topology
	return append(stage.Names(s.Managers[d*t.Managers:(d+1)*t.Managers]), stage.Names(s.Workers[d*t.Workers:(d+1)*t.Workers])...)
}
