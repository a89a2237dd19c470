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

// cluster is a world of clients, gates, managers and workers, and what it must show to
// its clients.
type cluster struct {
	*stage
	topology topology
	model    *sim.Plain
	models   []*sim.Plain     // of each datacenter; nil: model in all
	recovers map[node.ID]bool // nodes that start to recover their groups
	late     late             // orders that come again; idle without topology.past
	arrives  arrival          // when messages arrive; nil: at once

	gates, managers, workers, clients []node.ID

	orders   []*order
	complete bool                             // nothing here keeps a job from completing
	excused  func(message.JobID) bool         // jobs of a complete world that may fail; nil: none
	served   bool                             // no gate rejects a submission for good
	forgets  bool                             // gates may forget results that clients wait for
	shown    func(*order, *message.JobStatus) // judges each status that a client is shown; may be nil
}

// onCluster has a world built of a cluster that is empty yet.
func onCluster(build func(*cluster)) func(*stage) {
	return func(s *stage) { build(newCluster(s)) }
}

func newCluster(s *stage) *cluster {
	c := &cluster{stage: s, model: sim.DefaultModel(), recovers: map[node.ID]bool{}}
	s.ends = append(s.ends, c.finishOrders)
	s.verdicts = append(s.verdicts, c.finishClients)
	return c
}

// build adds and starts all nodes of a topology, within the first second.
func (s *cluster) build(t topology) {
	s.topology = t
	var gates []node.Addr
	g := gate.Default()
	if t.gate != nil {
		t.gate(&g)
	}
	for i := range t.gates {
		id := node.ID(fmt.Sprintf("gate-%d", i+1))
		s.gates = append(s.gates, s.addNode(sim.Spec{ID: id, Role: node.RoleGate, Place: datacenter(i % t.datacenters), New: func() node.Machine {
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
		s.clients = append(s.clients, s.addNode(sim.Spec{ID: node.ID(fmt.Sprintf("client-%d", i+1)), Role: node.RoleClient, Place: datacenter(i % t.datacenters), New: func() node.Machine {
			return client.New(c)
		}}))
	}
	s.groups = append(s.groups, s.gates)
	for i := 0; i < len(s.managers); i += t.managers {
		s.groups = append(s.groups, s.managers[i:i+t.managers])
	}
	for _, id := range s.nodes {
		at := s.rand.Duration(0, time.Second)
		if t.zero {
			at = 0
		}
		s.world.At(at, func() { s.world.Start(id) })
	}
}

func (s *cluster) datacenterNodes(d int, gates, past []node.Addr) {
	name := datacenter(d)
	m := manager.Default()
	m.Datacenter, m.Gates, m.Seeds = name, gates, past
	if s.topology.retention > 0 {
		m.Retention, m.SweepInterval = s.topology.retention, s.topology.retention/4
	}
	if s.topology.manage != nil {
		s.topology.manage(&m)
	}
	var managers []node.Addr
	for i := range s.topology.managers {
		id := node.ID(fmt.Sprintf("manager-%s-%d", name, i+1))
		s.addNode(sim.Spec{ID: id, Role: node.RoleManager, Place: name, New: func() node.Machine {
			own := m
			own.Recover = s.recovers[id]
			return s.wrap(id, manager.New(own))
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
	if s.topology.work != nil {
		s.topology.work(&w)
	}
	model := s.model
	if s.models != nil {
		model = s.models[d]
	}
	for i := range s.topology.workers {
		id := node.ID(fmt.Sprintf("worker-%s-%d", name, i+1))
		s.workers = append(s.workers, s.addNode(sim.Spec{ID: id, Role: node.RoleWorker, Place: name, Cores: w.Cores, Model: model, New: func() node.Machine {
			return s.wrap(id, worker.New(w))
		}}))
	}
}

// wrap lets a machine's orders be told again, or what comes to it wait, where the
// world wants that.
func (s *cluster) wrap(id node.ID, m node.Machine) node.Machine {
	if s.arrives != nil {
		m = &delayWrapper{wrapper: wrapper{m}, stage: s, id: id, kept: map[node.Message]node.Input{}}
	}
	if !s.topology.past {
		return m
	}
	return recordWrapper{wrapper{m}, &s.late, id}
}

func (s *cluster) addPast(id node.ID, role node.Role) node.ID {
	return s.addNode(sim.Spec{ID: id, Role: role, Place: datacenter(0), New: func() node.Machine {
		return &past{late: &s.late, streams: map[node.ID]node.StreamID{}}
	}})
}

// addNode adds a node whose clock begins at nothing, where the world wants that.
func (s *cluster) addNode(spec sim.Spec) node.ID {
	if s.topology.zero {
		spec.ClockOffset = -sim.ClockStart
	}
	return s.add(spec)
}
