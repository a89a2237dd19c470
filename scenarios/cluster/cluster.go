package cluster

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/client"
	"hyperscale/core/event"
	"hyperscale/core/gate"
	"hyperscale/core/manager"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/swim"
	"hyperscale/core/worker"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// Cluster is a world of clients, gates, managers and workers, and the promises to its clients.
type Cluster struct {
	*stage.Stage
	topology Topology
	Model    *sim.Plain
	Models   []*sim.Plain     // of each datacenter; nil: model in all
	Recovers map[node.ID]bool // nodes that start with the order to recover their groups
	Late     late             // orders that arrive again; idle without Topology.Past
	arrivals

	Heirs                             map[node.Addr]node.Addr // of the seats that were given away, by the address before
	Gates, Managers, Workers, Clients []node.ID

	Orders   []*Order
	extras   int                              // orders that faults have brought
	Replays  int                              // jobs that operators ask for beside the orders
	Complete bool                             // no fault here prevents a job from completing
	Excused  func(message.JobID) bool         // jobs of a complete world that may fail; nil: none
	Served   bool                             // no gate rejects a submission for good
	Forgets  bool                             // gates may forget results that clients wait for
	Shown    func(*Order, *message.JobStatus) // judges each status that a client receives; may be nil
}

// arrivals delay messages and workers, and take rows.
type arrivals struct {
	Spare   int       // of the workers of each datacenter, the last ones, which the world starts
	Sinks   sim.Sinks // to which gates deliver rows; nil: none is configured
	Arrives arrival   // when messages arrive at managers and workers; nil: at once
	Meets   arrival   // likewise at gates
}

// Impostor begins the names of nodes that send what their roles do not send.
const Impostor = "impostor-"

// On returns the build function of a world whose cluster starts empty.
func On(build func(*Cluster)) func(*stage.Stage) {
	return func(s *stage.Stage) { build(newCluster(s)) }
}

func newCluster(s *stage.Stage) *Cluster {
	c := &Cluster{Stage: s, Model: sim.DefaultModel(), Recovers: map[node.ID]bool{}}
	s.Witness = append(s.Witness, func(r checker.Record) { losesNothing(c, r) })
	s.Ends = append(s.Ends, c.finishOrders)
	s.Witness = append(s.Witness, func(r checker.Record) {
		if e, ok := r.Event.(event.Ignored); ok && e.Misplaced() && !strings.HasPrefix(string(e.Peer), Impostor) {
			s.Checker.Violate("P", r, "%s sent a %s: %s", e.Peer, e.Message, e.Why)
		}
	})
	s.Verdicts = append(s.Verdicts, c.finishClients)
	return c
}

// Build adds and starts all nodes of a topology, within the first second.
func (s *Cluster) Build(t Topology) {
	s.topology = t
	var gates []node.Addr
	g := gate.Default()
	if t.Gate != nil {
		t.Gate(&g)
	}
	for i := range t.Gates {
		id := node.ID(fmt.Sprintf("gate-%d", i+1))
		s.Gates = append(s.Gates, s.addNode(sim.Spec{ID: id, Role: node.RoleGate, Place: stage.Datacenter(i % t.Datacenters), New: func() node.Machine {
			own := g
			own.Recover = s.Recovers[id]
			if s.topology.Lies.by(id) {
				return newLiar(s, node.RoleGate, gate.New(own))
			}
			if s.topology.Open {
				return openWrapper{gate.New(own)}
			}
			return s.delay(id, gate.New(own), s.Meets)
		}}))
		gates = append(gates, s.World.Addr(s.Gates[i]))
	}
	g.Gates = gates
	var past []node.Addr // not in the configured set
	if t.Past {
		past = append(past, s.World.Addr(s.addPast("gate-of-old", node.RoleGate)))
		s.fromThePast("gate-of-old", "manager-of-old")
	}
	for d := range t.Datacenters {
		s.datacenterNodes(d, gates, past)
	}
	for i := range t.Clients {
		c := client.Default()
		if t.Ask != nil {
			t.Ask(&c)
		}
		// Each client prefers another gate, and knows all.
		for k := range gates {
			if at := (i + k) % len(gates); !t.Lies.by(s.Gates[at]) {
				c.Gates = append(c.Gates, gates[at])
			}
		}
		if len(c.Discover) > 0 {
			c.Gates = nil // it knows a name alone
		}
		spec := sim.Spec{ID: node.ID(fmt.Sprintf("client-%d", i+1)), Role: node.RoleClient, Place: stage.Datacenter(i % t.Datacenters), New: func() node.Machine {
			return client.New(c)
		}}
		if t.Grant != nil {
			spec.Grant = t.Grant(i)
		}
		s.Clients = append(s.Clients, s.addNode(spec))
	}
	s.Groups = append(s.Groups, s.Gates)
	for i := 0; i < len(s.Managers); i += t.Managers {
		s.Groups = append(s.Groups, s.Managers[i:i+t.Managers])
	}
	for _, id := range s.Nodes {
		if s.spares(slices.Index(s.Workers, id), t.Workers) {
			continue
		}
		at := s.Rand.Duration(0, time.Second)
		if t.Zero {
			at = 0
		}
		s.World.At(at, func() { s.World.Start(id) })
	}
}

// spares says that a world starts a worker itself, by its place among all workers, of so many in each datacenter.
func (a *arrivals) spares(at, workers int) bool {
	return a.Spare > 0 && at >= 0 && at%workers >= workers-a.Spare
}

func (s *Cluster) datacenterNodes(d int, gates, past []node.Addr) {
	name := stage.Datacenter(d)
	m := manager.Default()
	m.Datacenter, m.Gates, m.Seeds = name, gates, past
	if s.topology.Retention > 0 {
		m.Retention, m.SweepInterval = s.topology.Retention, s.topology.Retention/4
	}
	if s.topology.Manage != nil {
		s.topology.Manage(&m)
	}
	var managers []node.Addr
	for i := range s.topology.Managers {
		id := node.ID(fmt.Sprintf("manager-%s-%d", name, i+1))
		s.addNode(sim.Spec{ID: id, Role: node.RoleManager, Place: name, New: func() node.Machine {
			own := m
			own.Recover, own.Gates = s.Recovers[id], s.current(m.Gates)
			if s.topology.Lies.by(id) {
				return newLiar(s, node.RoleManager, manager.New(own))
			}
			return s.wrap(id, manager.New(own))
		}})
		s.Managers = append(s.Managers, id)
		managers = append(managers, s.World.Addr(id))
	}
	m.Managers = slices.Clone(managers)
	if s.topology.Past {
		managers = append(managers, s.World.Addr(s.addPast("manager-of-old", node.RoleManager)))
	}
	w := worker.Default()
	w.Datacenter, w.Managers, w.Cores, w.Names = name, managers, s.topology.Cores, swim.NewNames()
	if s.topology.Work != nil {
		s.topology.Work(&w)
	}
	model := s.Model
	if s.Models != nil {
		model = s.Models[d]
	}
	for i := range s.topology.Workers {
		id := node.ID(fmt.Sprintf("worker-%s-%d", name, i+1))
		s.Workers = append(s.Workers, s.addNode(sim.Spec{ID: id, Role: node.RoleWorker, Place: name, Cores: w.Cores, Model: model, New: func() node.Machine {
			if s.topology.Lies.by(id) {
				return newLiar(s, node.RoleWorker, worker.New(w))
			}
			own := w
			own.Managers = s.current(w.Managers)
			return s.wrap(id, worker.New(own))
		}}))
	}
}

// wrap delays a machine's messages, and records its orders so that they can arrive again, if
// the world wants that.
func (s *Cluster) wrap(id node.ID, m node.Machine) node.Machine {
	m = s.delay(id, m, s.Arrives)
	if c := s.topology.Chats; c != nil && c.Of == id {
		m = &chattyWrapper{wrapper: wrapper{m}, chats: c}
	}
	if !s.topology.Past {
		return m
	}
	return recordWrapper{wrapper{m}, &s.Late, id}
}

func (s *Cluster) delay(id node.ID, m node.Machine, arrives arrival) node.Machine {
	if arrives == nil {
		return m
	}
	return &delayWrapper{wrapper: wrapper{m}, stage: s, arrives: arrives, id: id, kept: map[node.Message]node.Input{}}
}

func (s *Cluster) addPast(id node.ID, role node.Role) node.ID {
	return s.addNode(sim.Spec{ID: id, Role: role, Place: stage.Datacenter(0), New: func() node.Machine {
		return &past{late: &s.Late, streams: map[node.ID]node.StreamID{}}
	}})
}

// addNode adds a node. Its clock begins at zero, and its mailbox is small, if the world wants that.
func (s *Cluster) addNode(spec sim.Spec) node.ID {
	if s.topology.Zero {
		spec.ClockOffset = -sim.ClockStart
	}
	if change := s.topology.Boxes[spec.Role]; change != nil {
		spec.Mailbox = node.DefaultMailbox()
		change(&spec.Mailbox)
	}
	spec.Costs = s.topology.Costs[spec.Role]
	if spec.Role == node.RoleGate {
		spec.Sinks = s.Sinks
	}
	if ages := s.topology.Ages; ages != nil {
		id, machine := spec.ID, spec.New
		spec.Minor = func() uint16 { return ages[id] }
		spec.New = func() node.Machine { return aged(machine(), ages[id]) }
	}
	return s.Add(spec)
}
