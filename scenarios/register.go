package scenarios

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/checker"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/ring"
	"hyperscale/sim"
)

// registers are the worlds of lease registers without any role around them.
func registers() []Scenario {
	return append(slices.Concat(leases(), lostLeases(), pageLeases(), archives()), []Scenario{
		{
			Name:    "register",
			Doc:     "Three to seven acceptors and two receivers of orders, and nothing else: jobs are acquired, updated, read, handed over and released at random while datagrams come late by up to three leases, twice, or never, nodes crash between promise and answer, pause for longer than a lease, lose disks, and clocks run at the bound of their drift. Tokens are unique and rise, windows never overlap, updates and reads are linearizable, no receiver obeys an old token; once healed every job has an owner.",
			Virtual: 5 * time.Minute,
			build:   func(s *stage) { buildRegister(s, false) },
		},
		{
			Name:    "register-beyond",
			Doc:     "The same with clocks that drift beyond their bound. Windows may overlap then; tokens stay unique, updates stay linearizable, and receivers refuse what is old all the same.",
			Virtual: 5 * time.Minute,
			Beyond:  true,
			build:   func(s *stage) { buildRegister(s, true) },
		},
	}...)
}

// registerWorld is a group of registrars and those who obey them.
type registerWorld struct {
	config   lease.Config
	jobs     []message.JobID
	members  []node.ID
	obeyers  []node.ID
	machines map[node.ID]*registrar
	order    map[message.JobID][]node.Addr // of the ring, as the first member has it
	script   *leaseStage                   // of a directed world
	recover  node.ID                       // who is started to recover the group
	strayed  node.ID                       // who is started with a set that lacks the last member
}

// registrars adds and starts a group of them; pace is how often each member does something.
func (s *stage) registrars(members, jobs int, length, pace time.Duration, driftPPM int64) *registerWorld {
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
		id := s.toy(fmt.Sprintf("receiver-%d", i+1), i, driftPPM, func() node.Machine { return newObeyer() })
		w.obeyers = append(w.obeyers, id)
		obeyers = append(obeyers, s.world.Addr(id))
	}
	for i := range members {
		id := node.ID(fmt.Sprintf("acceptor-%d", i+1))
		w.members = append(w.members, s.toy(string(id), i, driftPPM, func() node.Machine {
			c := w.config
			c.Self, c.Recover = s.world.Addr(id), w.recover == id
			s.ranks(w, &c)
			if w.strayed == id {
				c.Members = c.Members[:len(c.Members)-1]
			}
			m := newRegistrar(c, w.jobs, obeyers, pace)
			m.violate = func(invariant, format string, args ...any) {
				s.checker.Violate(invariant, checker.Record{At: s.world.Now(), Node: id}, format, args...)
			}
			m.calm, m.script = s.world.Now() >= s.heal, w.script
			w.machines[id] = m
			return m
		}))
		w.config.Members = append(w.config.Members, s.world.Addr(id))
	}
	s.groups, s.bounds = [][]node.ID{w.members}, []time.Duration{length, w.config.Hold(), w.config.Guard()}
	for _, id := range s.nodes {
		s.world.At(s.rand.Duration(0, time.Second), func() { s.world.Start(id) })
	}
	return w
}

// ranks has a member take its turn by the ring of the set, which it may be told in
// any order. All members agree on it.
func (s *stage) ranks(w *registerWorld, c *lease.Config) {
	set := slices.Clone(c.Members)
	s.rand.Shuffle(len(set), func(i, j int) { set[i], set[j] = set[j], set[i] })
	r := ring.New(set)
	for _, job := range w.jobs {
		order := r.Order(job)
		if w.order[job] == nil {
			w.order[job] = order
		}
		if !slices.Equal(order, w.order[job]) {
			s.checker.Violate("P", checker.Record{At: s.world.Now()}, "%s has job %v owned in the order %v, others in %v", c.Self, job, order, w.order[job])
		}
	}
	c.Order = turn{r, c.Self}
}

// turn ranks a member by a ring of members that all count as alive.
type turn struct {
	ring *ring.Ring
	self node.Addr
}

func (t turn) Rank(job message.JobID) int { return t.ring.Rank(job, t.self, nil) }

// toy adds a node whose clock drifts by as much as is given, one way or the
// other or somewhere between.
func (s *stage) toy(id string, place int, driftPPM int64, machine func() node.Machine) node.ID {
	drift := []int64{-driftPPM, driftPPM, int64(s.rand.N(uint64(2*driftPPM+1))) - driftPPM}[s.rand.Int(3)]
	spec := sim.Spec{
		ID: node.ID(id), Role: node.RoleToy, Place: datacenter(place % 3), New: machine,
		Costs: costs(), ClockOffset: s.rand.Duration(0, time.Hour), DriftPPM: drift,
	}
	s.world.Add(spec)
	s.nodes = append(s.nodes, spec.ID)
	return spec.ID
}

func buildRegister(s *stage, beyond bool) {
	members := []int{3, 3, 5, 5, 4, 7}[s.rand.Int(6)]
	length := s.rand.Duration(2*time.Second, 8*time.Second).Truncate(tick)
	s.draw("%d acceptors, leases of %v", members, length)
	w := s.registrars(members, 1+s.rand.Int(4), length, length/2, sim.DriftBound)
	s.swarm(registerKinds(length, beyond))
	s.loseDisks(w)
	s.ownedAtTheEnd(w)
}

// registerKinds are the faults of this world; those whose length matters are
// measured in leases.
func registerKinds(length time.Duration, beyond bool) []stormKind {
	drift := int64(sim.DriftBound)
	if beyond {
		drift *= 10
	}
	return []stormKind{
		{kind: sim.FaultCrash, most: 10, longest: 3 * length, aimed: "ts"},
		{kind: sim.FaultPause, most: 8, longest: 3 * length, aimed: "ts"},
		{kind: sim.FaultSuspend, most: 4, longest: 3 * length, aimed: "ts"},
		{kind: sim.FaultPartition, most: 6, longest: 4 * length, peers: true, aimed: "t"},
		{kind: sim.FaultOneWay, most: 6, longest: 4 * length, peers: true, aimed: "t"},
		{kind: sim.FaultSwizzle, most: 2, longest: 4 * length, low: 1, high: 1 << 20},
		{kind: sim.FaultIsolate, most: 1, longest: time.Minute},
		{kind: sim.FaultFlap, most: 2, longest: 4 * length, low: 100, high: 3000, peers: true},
		{kind: sim.FaultLoss, most: 2, longest: time.Minute, low: 10_000, high: 400_000, everywhere: true},
		{kind: sim.FaultDuplicate, most: 2, longest: time.Minute, low: 10_000, high: 500_000, everywhere: true},
		{kind: sim.FaultReorder, most: 2, longest: time.Minute, low: 10_000, high: 500_000, everywhere: true},
		{kind: sim.FaultLate, most: 4, longest: time.Minute, low: 10_000, high: 300_000, everywhere: true, aimed: "t"},
		{kind: sim.FaultLatency, most: 3, longest: time.Minute, low: 10, high: 2 * length.Milliseconds(), everywhere: true},
		{kind: sim.FaultSlowCPU, most: 2, longest: time.Minute, low: 2, high: 2_000},
		{kind: sim.FaultClockDrift, most: 4, longest: time.Minute, low: -drift, high: drift},
		{kind: sim.FaultDiskSlow, most: 3, longest: time.Minute, low: 2, high: 5_000},
		{kind: sim.FaultDiskFull, most: 2, longest: 20 * time.Second},
		{kind: sim.FaultDiskLostWrites, most: 2, longest: time.Minute, everywhere: true},
		{kind: sim.FaultDiskTorn, most: 2, longest: time.Minute, everywhere: true},
	}
}

// loseDisks takes the disks of a minority, one after the other and far enough
// apart that the one before may have come back: the protocol survives that, and
// claims no more.
func (s *stage) loseDisks(w *registerWorld) {
	if !s.rand.Chance(1, 2) {
		return
	}
	order := slices.Clone(w.members)
	s.rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	n := 1 + s.rand.Int((len(order)-1)/2)
	s.draw("%d lose their disks", n)
	for i, id := range order[:n] {
		at := s.rand.Duration(s.heal/10, s.heal*8/10)
		s.fault(sim.Fault{At: at + time.Duration(i)*time.Millisecond, For: s.brief(20 * time.Second), Kind: sim.FaultCrash, Nodes: []string{string(id)}, Value: 1})
	}
}

// ownedAtTheEnd stops everything but what keeps jobs owned once all is healed,
// and judges that each of them is in the end.
func (s *stage) ownedAtTheEnd(w *registerWorld) {
	s.world.At(s.heal, func() {
		for _, id := range w.members {
			w.machines[id].calm = true
		}
	})
	s.world.At(s.options.Virtual-time.Millisecond, func() {
		if s.options.Virtual-s.heal < s.within {
			return
		}
		for _, job := range w.jobs {
			owners := 0
			for _, id := range w.members {
				if _, holds := w.machines[id].registers.Holds(s.local(id), job); holds && s.world.Alive(id) {
					owners++
				}
			}
			if owners != 1 {
				s.checker.Violate("T11", checker.Record{At: s.world.Now()}, "job %v has %d owners after healing, want 1", job, owners)
			}
		}
	})
}
