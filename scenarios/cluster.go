package scenarios

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/core/client"
	"hyperscale/core/gate"
	"hyperscale/core/manager"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/worker"
	"hyperscale/sim"
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
	brief       bool          // files are spared briefly, and small records are files: world_files.go
	tight       bool          // they may keep little: world_memory.go
	zero        bool          // all start at once, and their clocks begin at nothing
	past        bool          // a gate and a manager that speak of what is over

	manage func(*manager.Config) // changes the managers' bounds; nil: they have the default
	gate   func(*gate.Config)    // changes the gates' bounds; nil: they have their own
}

// referenceTopology is the cluster of `steady` and `storm`.
func referenceTopology() topology {
	return topology{gates: 3, datacenters: 3, managers: 3, workers: 4, cores: 4, clients: 3}
}

// datacenter returns the i-th datacenter's name, from 0.
func datacenter(i int) string { return "dc-" + string(rune('a'+i)) }

// costs are the CPU times of the handlers, from profiles of the roles rounded up
// to a slow machine.
func costs() sim.Costs {
	return sim.Costs{
		Default: 20 * time.Microsecond,
		ByKind: map[node.Kind]time.Duration{
			message.KindJobSubmit:     200 * time.Microsecond,
			message.KindJobDispatch:   200 * time.Microsecond,
			message.KindShardDispatch: 200 * time.Microsecond,
			message.KindShardProgress: 40 * time.Microsecond,
			message.KindJobProgress:   60 * time.Microsecond,
			message.KindShardResult:   100 * time.Microsecond,
			message.KindSubjobResult:  150 * time.Microsecond,
		},
	}
}

// cluster adds and starts all nodes of a topology, within the first second.
func (s *stage) cluster(t topology) {
	s.topology = t
	var gates []node.Addr
	g := gate.Default()
	if t.tight {
		tightGate(&g)
	}
	if t.brief {
		briefGate(&g)
	}
	if t.gate != nil {
		t.gate(&g)
	}
	for i := range t.gates {
		id := node.ID(fmt.Sprintf("gate-%d", i+1))
		s.gates = append(s.gates, s.add(sim.Spec{ID: id, Role: node.RoleGate, Place: datacenter(i % t.datacenters), New: func() node.Machine {
			own := g
			own.Recover = s.recovers[id]
			return gate.New(own)
		}}))
		gates = append(gates, s.world.Addr(s.gates[i]))
	}
	g.Gates = gates
	var past []node.Addr // no member of the set
	if t.past {
		past = append(past, s.world.Addr(s.addPast("gate-of-old", node.RoleGate)))
		s.fromThePast("gate-of-old", "manager-of-old")
	}
	for d := range t.datacenters {
		s.datacenterNodes(d, gates, past)
	}
	for i := range t.clients {
		c := client.Default()
		// Each client prefers another gate, and knows all.
		for k := range gates {
			c.Gates = append(c.Gates, gates[(i+k)%len(gates)])
		}
		s.clients = append(s.clients, s.add(sim.Spec{ID: node.ID(fmt.Sprintf("client-%d", i+1)), Role: node.RoleClient, Place: datacenter(i % t.datacenters), New: func() node.Machine {
			return client.New(c)
		}}))
	}
	for _, id := range s.nodes {
		at := s.rand.Duration(0, time.Second)
		if t.zero {
			at = 0
		}
		s.world.At(at, func() { s.world.Start(id) })
	}
}

func (s *stage) datacenterNodes(d int, gates, past []node.Addr) {
	name := datacenter(d)
	m := manager.Default()
	m.Datacenter, m.Gates, m.Seeds = name, gates, past
	if s.topology.retention > 0 {
		m.Retention, m.SweepInterval = s.topology.retention, s.topology.retention/4
	}
	if s.topology.tight {
		tightManager(&m)
	}
	if s.topology.brief {
		briefManager(&m)
	}
	if s.topology.manage != nil {
		s.topology.manage(&m)
	}
	var managers []node.Addr
	for i := range s.topology.managers {
		id := node.ID(fmt.Sprintf("manager-%s-%d", name, i+1))
		s.add(sim.Spec{ID: id, Role: node.RoleManager, Place: name, New: func() node.Machine {
			own := m
			own.Recover = s.recovers[id]
			return s.overheard(id, manager.New(own))
		}})
		s.managers = append(s.managers, id)
		managers = append(managers, s.world.Addr(id))
	}
	m.Managers = slices.Clone(managers)
	if s.topology.past {
		managers = append(managers, s.world.Addr(s.addPast("manager-of-old", node.RoleManager)))
	}
	w := worker.Default()
	w.Datacenter, w.Managers, w.Cores = name, managers, s.topology.cores
	if s.topology.tight {
		tightWorker(&w)
	}
	model := s.model
	if s.models != nil {
		model = s.models[d]
	}
	for i := range s.topology.workers {
		id := node.ID(fmt.Sprintf("worker-%s-%d", name, i+1))
		s.workers = append(s.workers, s.add(sim.Spec{ID: id, Role: node.RoleWorker, Place: name, Cores: w.Cores, Model: model, New: func() node.Machine {
			return s.overheard(id, worker.New(w))
		}}))
	}
}

// overheard lets a machine's orders be told again, or what comes to it wait, where the
// world wants that.
func (s *stage) overheard(id node.ID, m node.Machine) node.Machine {
	if s.doors != nil {
		m = &door{Machine: m, stage: s, id: id, kept: map[node.Message]node.Input{}}
	}
	if !s.topology.past {
		return m
	}
	return overhear{m, &s.late, id}
}

func (s *stage) addPast(id node.ID, role node.Role) node.ID {
	return s.add(sim.Spec{ID: id, Role: role, Place: datacenter(0), New: func() node.Machine {
		return &past{late: &s.late, streams: map[node.ID]node.StreamID{}}
	}})
}

// add gives a node what all have in common: costs, and a clock that is off and
// drifts within the bound.
func (s *stage) add(spec sim.Spec) node.ID {
	spec.Costs = costs()
	spec.ClockOffset = s.rand.Duration(0, time.Hour)
	if s.topology.zero {
		spec.ClockOffset = -sim.ClockStart
	}
	spec.DriftPPM = int64(s.rand.N(2*driftMax+1)) - driftMax
	s.world.Add(spec)
	s.nodes = append(s.nodes, spec.ID)
	return spec.ID
}

// driftMax is the bound within which clocks of a healthy cluster drift, in parts
// per million: cheap quartz.
const driftMax = 100
