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
