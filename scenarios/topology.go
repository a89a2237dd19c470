package scenarios

import (
	"time"

	"hyperscale/core/gate"
	"hyperscale/core/manager"
	"hyperscale/core/worker"
)

// topology is how many of each there are.
type topology struct {
	gates       int
	datacenters int
	managers    int // of each datacenter
	workers     int // of each datacenter
	cores       int // of each worker
	clients     int
	retention   time.Duration // of managers, if not the default: how long they know what has ended
	zero        bool          // all start at once, and their clocks begin at nothing
	past        bool          // a gate and a manager that speak of what is over

	gate   func(*gate.Config)    // changes the gates' bounds; nil: they have the default
	manage func(*manager.Config) // changes the managers' bounds; nil: they have the default
	work   func(*worker.Config)  // changes the workers' bounds; nil: they have the default
}

// referenceTopology is the cluster of `steady` and `storm`.
func referenceTopology() topology {
	return topology{gates: 3, datacenters: 3, managers: 3, workers: 4, cores: 4, clients: 3}
}

// groupTopology is one datacenter whose groups survive the loss of one member.
func groupTopology() topology {
	return topology{gates: 3, datacenters: 1, managers: 3, workers: 4, cores: 4, clients: 2}
}

// smallTopology is one gate, one manager and a few workers.
func smallTopology() topology {
	return topology{gates: 1, datacenters: 1, managers: 1, workers: 3, cores: 4, clients: 1}
}

// shortMemory is how long managers remember what has ended, where a world is to see
// what comes after that.
const shortMemory = 20 * time.Second

// ofDatacenter are the managers and workers of the d-th datacenter.
func (s *cluster) ofDatacenter(d int) []string {
	t := s.topology
	return append(names(s.managers[d*t.managers:(d+1)*t.managers]), names(s.workers[d*t.workers:(d+1)*t.workers])...)
}
