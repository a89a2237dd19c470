package registers

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/checker"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/ring"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// Worlds returns the worlds of lease registers without any role around them.
func Worlds() []stage.Scenario {
	return append(slices.Concat(leases(), lostLeases(), pageLeases(), archives()), []stage.Scenario{
		{
			Name:    "register",
			Doc:     "Three to seven acceptors and two receivers of orders, and nothing else: jobs are acquired, updated, read, handed over and released at random while datagrams come late by up to three leases, twice, or never, nodes crash between promise and answer, pause for longer than a lease, lose disks, and clocks run at the bound of their drift. Tokens are unique and rise, windows never overlap, updates and reads are linearizable, no receiver obeys an old token; once healed every job has an owner.",
			Virtual: 5 * time.Minute,
			Build:   func(s *stage.Stage) { buildRegister(s, false) },
		},
		{
			Name:    "register-beyond",
			Doc:     "The same with clocks that drift beyond their bound. Windows may overlap then. Tokens stay unique, updates stay linearizable, and receivers reject old tokens nevertheless.",
			Virtual: 5 * time.Minute,
			Beyond:  true,
			Build:   func(s *stage.Stage) { buildRegister(s, true) },
		},
	}...)
}

// registerWorld is a group of registrars, and the obeyers of their orders.
type registerWorld struct {
	config   lease.Config
	jobs     []message.JobID
	members  []node.ID
	obeyers  []node.ID
	machines map[node.ID]*registrar
	order    map[message.JobID][]node.Addr // of the ring, as the first member has it
	script   *leaseStage                   // of a directed world
	recover  node.ID                       // the node that starts with the order to recover the group
	strayed  node.ID                       // the node that starts with a set that lacks the last member
}

// registrars adds and starts a group of them; pace is the interval of each member's actions.
func registrars(s *stage.Stage, members, jobs int, length, pace time.Duration, driftPPM int64) *registerWorld {
	w := &registerWorld{config: lease.Default(), machines: map[node.ID]*registrar{}, order: map[message.JobID][]node.Addr{}}
	w.config.Group, w.config.Lease = "gates", length
	w.config.RetryMin, w.config.RetryMax = length/30, length/12
	w.config.AttemptTimeout, w.config.RankWait = length/6, length/10
	smallPages(&w.config)
	for i := range jobs {
		w.jobs = append(w.jobs, message.JobOf(fmt.Sprintf("job %d", i)))
	}
	var obeyers []node.Addr
	for i := range 2 {
		id := addToy(s, fmt.Sprintf("receiver-%d", i+1), i, driftPPM, func() node.Machine { return newObeyer() })
		w.obeyers = append(w.obeyers, id)
		obeyers = append(obeyers, s.World.Addr(id))
	}
	for i := range members {
		id := node.ID(fmt.Sprintf("acceptor-%d", i+1))
		w.members = append(w.members, addToy(s, string(id), i, driftPPM, func() node.Machine {
			c := w.config
			c.Self, c.Recover = s.World.Addr(id), w.recover == id
			ranks(s, w, &c)
			if w.strayed == id {
				c.Members = c.Members[:len(c.Members)-1]
			}
			m := newRegistrar(c, w.jobs, obeyers, pace)
			m.violate = func(invariant, format string, args ...any) {
				s.Checker.Violate(invariant, checker.Record{At: s.World.Now(), Node: id}, format, args...)
			}
			m.calm, m.script = s.World.Now() >= s.Heal, w.script
			w.machines[id] = m
			return m
		}))
		w.config.Members = append(w.config.Members, s.World.Addr(id))
	}
	s.Groups, s.Bounds = [][]node.ID{w.members}, []time.Duration{length, w.config.Hold(), w.config.Guard()}
	for _, id := range s.Nodes {
		s.World.At(s.Rand.Duration(0, time.Second), func() { s.World.Start(id) })
	}
	return w
}

// ranks makes a member take its turn by the ring of the set, whose order may vary. All members
// agree on it.
func ranks(s *stage.Stage, w *registerWorld, c *lease.Config) {
	set := slices.Clone(c.Members)
	s.Rand.Shuffle(len(set), func(i, j int) { set[i], set[j] = set[j], set[i] })
	r := ring.New(set)
	for _, job := range w.jobs {
		order := r.Order(job)
		if w.order[job] == nil {
			w.order[job] = order
		}
		if !slices.Equal(order, w.order[job]) {
			s.Checker.Violate("P", checker.Record{At: s.World.Now()}, "%s has job %v owned in the order %v, others in %v", c.Self, job, order, w.order[job])
		}
	}
	c.Order = turn{r, c.Self}
}

// turn ranks a member by a ring in which all members count as alive.
type turn struct {
	ring *ring.Ring
	self node.Addr
}

func (t turn) Rank(job message.JobID) int { return t.ring.Rank(job, t.self, nil) }

// Hears implements lease.Order.
func (t turn) Hears(node.Instant, node.Addr) bool { return true }

// addToy adds a node whose clock drifts by the given amount in either direction, or less.
func addToy(s *stage.Stage, id string, place int, driftPPM int64, machine func() node.Machine) node.ID {
	drift := []int64{-driftPPM, driftPPM, int64(s.Rand.N(uint64(2*driftPPM+1))) - driftPPM}[s.Rand.Int(3)]
	spec := sim.Spec{
		ID: node.ID(id), Role: node.RoleToy, Place: stage.Datacenter(place % 3), New: machine,
		Costs: stage.Costs(), ClockOffset: s.Rand.Duration(0, time.Hour), DriftPPM: drift,
	}
	s.World.Add(spec)
	s.Nodes = append(s.Nodes, spec.ID)
	return spec.ID
}

func buildRegister(s *stage.Stage, beyond bool) {
	members := []int{3, 3, 5, 5, 4, 7}[s.Rand.Int(6)]
	length := s.Rand.Duration(2*time.Second, 8*time.Second).Truncate(stage.Tick)
	s.Draw("%d acceptors, leases of %v", members, length)
	w := registrars(s, members, 1+s.Rand.Int(4), length, length/2, sim.DriftBound)
	s.Swarm(registerKinds(length, beyond))
	loseDisks(s, w)
	ownedAtTheEnd(s, w)
}

// registerKinds are the faults of this world; those whose length matters last for fractions of
// a lease.
func registerKinds(length time.Duration, beyond bool) []stage.FaultKind {
	drift := int64(sim.DriftBound)
	if beyond {
		drift *= 10
	}
	return []stage.FaultKind{
		{Kind: sim.FaultCrash, Most: 10, Longest: 3 * length, Aimed: "ts"},
		{Kind: sim.FaultPause, Most: 8, Longest: 3 * length, Aimed: "ts"},
		{Kind: sim.FaultSuspend, Most: 4, Longest: 3 * length, Aimed: "ts"},
		{Kind: sim.FaultPartition, Most: 6, Longest: 4 * length, Peers: true, Aimed: "t"},
		{Kind: sim.FaultOneWay, Most: 6, Longest: 4 * length, Peers: true, Aimed: "t"},
		{Kind: sim.FaultSwizzle, Most: 2, Longest: 4 * length, Low: 1, High: 1 << 20},
		{Kind: sim.FaultIsolate, Most: 1, Longest: time.Minute},
		{Kind: sim.FaultFlap, Most: 2, Longest: 4 * length, Low: 100, High: 3000, Peers: true},
		{Kind: sim.FaultLoss, Most: 2, Longest: time.Minute, Low: 10_000, High: 400_000, Everywhere: true},
		{Kind: sim.FaultDuplicate, Most: 2, Longest: time.Minute, Low: 10_000, High: 500_000, Everywhere: true},
		{Kind: sim.FaultReorder, Most: 2, Longest: time.Minute, Low: 10_000, High: 500_000, Everywhere: true},
		{Kind: sim.FaultLate, Most: 4, Longest: time.Minute, Low: 10_000, High: 300_000, Everywhere: true, Aimed: "t"},
		{Kind: sim.FaultLatency, Most: 3, Longest: time.Minute, Low: 10, High: 2 * length.Milliseconds(), Everywhere: true},
		{Kind: sim.FaultSlowCPU, Most: 2, Longest: time.Minute, Low: 2, High: 2_000},
		{Kind: sim.FaultClockDrift, Most: 4, Longest: time.Minute, Low: -drift, High: drift},
		{Kind: sim.FaultDiskSlow, Most: 3, Longest: time.Minute, Low: 2, High: 5_000},
		{Kind: sim.FaultDiskFull, Most: 2, Longest: 20 * time.Second},
		{Kind: sim.FaultDiskLostWrites, Most: 2, Longest: time.Minute, Everywhere: true},
		{Kind: sim.FaultDiskTorn, Most: 2, Longest: time.Minute, Everywhere: true},
	}
}

// loseDisks loses the disks of a minority, one after the other and far enough apart that the
// earlier one may have rejoined: the protocol survives that, and promises no more.
func loseDisks(s *stage.Stage, w *registerWorld) {
	if !s.Rand.Chance(1, 2) {
		return
	}
	order := slices.Clone(w.members)
	s.Rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	n := 1 + s.Rand.Int((len(order)-1)/2)
	s.Draw("%d lose their disks", n)
	for i, id := range order[:n] {
		at := s.Rand.Duration(s.Heal/10, s.Heal*8/10)
		s.Fault(sim.Fault{At: at + time.Duration(i)*time.Millisecond, For: s.Brief(20 * time.Second), Kind: sim.FaultCrash, Nodes: []string{string(id)}, Value: 1})
	}
}

// ownedAtTheEnd stops everything but what keeps jobs owned once all is healed, and judges that
// each job then has an owner.
func ownedAtTheEnd(s *stage.Stage, w *registerWorld) {
	s.World.At(s.Heal, func() {
		for _, id := range w.members {
			w.machines[id].calm = true
		}
	})
	s.World.At(s.Options.Virtual-time.Millisecond, func() {
		if s.Options.Virtual-s.Heal < s.Within {
			return
		}
		for _, job := range w.jobs {
			owners := 0
			for _, id := range w.members {
				if _, holds := w.machines[id].registers.Holds(s.Local(id), job); holds && s.World.Alive(id) {
					owners++
				}
			}
			if owners != 1 {
				s.Checker.Violate("T11", checker.Record{At: s.World.Now()}, "job %v has %d owners after healing, want 1", job, owners)
			}
		}
	})
}
