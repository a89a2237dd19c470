package scenarios

import (
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/node"
	"hyperscale/sim"
)

// reference are the worlds that figures are quoted of.
func reference() []Scenario {
	return []Scenario{
		{
			Name:    "steady",
			Doc:     "The reference cluster without faults: 3 gates, 3 datacenters of 3 managers and 4 workers each, a job of 64 virtual users and 10 s every 2 s. Every job completes.",
			Virtual: 5 * time.Minute,
			build:   buildSteady,
		},
		{
			Name:    "storm",
			Doc:     "The reference cluster under every fault that the seed draws: crashes, pauses, partitions of all sorts, broken and half-open streams, slow and full and torn disks, drifting clocks, slow processors, executors that crash and hang; some jobs are cancelled. Nothing is counted twice, no fence is passed, no core is given twice; once everything is healed every accepted job ends.",
			Virtual: 5 * time.Minute,
			build:   buildStorm,
		},
	}
}

// steadyLoad is what kernel figures speak of.
func steadyLoad(until time.Duration) load {
	return load{every: 2 * time.Second, until: until, vus: 64, cores: 4, duration: 10 * time.Second}
}

func buildSteady(s *stage) {
	s.cluster(referenceTopology())
	s.complete = true
	s.checker.Promise(checker.Promises{Once: true})
	s.submitAll(steadyLoad(s.options.Virtual))
}

// stormLoad leaves a third of the cores free, so that what piles up during the
// faults is worked off within the bound of liveness.
func stormLoad(until time.Duration) load {
	return load{every: 4 * time.Second, until: until, vus: 64, cores: 6, duration: 8 * time.Second, cancels: 100_000, layers: true}
}

func buildStorm(s *stage) {
	s.cluster(referenceTopology())
	s.model.Failed, s.model.TimedOut = 10_000, 1_000
	l := stormLoad(s.heal)
	l.datacenters = s.rand.Int(4)
	s.draw("jobs name %d datacenters", l.datacenters)
	s.submitAll(l)
	for _, k := range stormKinds() {
		if !s.rand.Chance(1, 2) {
			continue
		}
		n := 1 + s.rand.Int(k.most)
		s.draw("%d x %s", n, k.kind)
		for range n {
			s.fault(s.drawFault(k))
		}
	}
}

// stormKind is a kind of fault that the swarm may draw.
type stormKind struct {
	kind       string
	most       int // of them in one run
	longest    time.Duration
	low, high  int64  // of its value
	roles      string // of the nodes it befalls: letters of gate, manager, worker, client; empty: of all
	everywhere bool   // it may befall all nodes at once
	peers      bool   // it is between two sets of nodes
}

// stormKinds is everything that can be drawn. A client, gate, manager or worker
// that returns has its disk: losing it is a scenario of its own.
func stormKinds() []stormKind {
	const minute = time.Minute
	return []stormKind{
		{kind: sim.FaultCrash, most: 8, longest: minute},
		{kind: sim.FaultStop, most: 3, longest: minute},
		{kind: sim.FaultPause, most: 5, longest: 40 * time.Second},
		{kind: sim.FaultPartition, most: 4, longest: 40 * time.Second, peers: true},
		{kind: sim.FaultOneWay, most: 4, longest: 40 * time.Second, peers: true},
		{kind: sim.FaultFlap, most: 2, longest: 30 * time.Second, low: 100, high: 3000, peers: true},
		{kind: sim.FaultLoss, most: 2, longest: minute, low: 1_000, high: 300_000, everywhere: true},
		{kind: sim.FaultDuplicate, most: 1, longest: minute, low: 1_000, high: 500_000, everywhere: true},
		{kind: sim.FaultReorder, most: 1, longest: minute, low: 1_000, high: 500_000, everywhere: true},
		{kind: sim.FaultLate, most: 1, longest: minute, low: 1_000, high: 100_000, everywhere: true},
		{kind: sim.FaultLatency, most: 3, longest: minute, low: 10, high: 4_000, everywhere: true},
		{kind: sim.FaultHalfOpen, most: 4, low: 0, high: 1, peers: true},
		{kind: sim.FaultBreakStreams, most: 8, everywhere: true},
		{kind: sim.FaultRefuseAccept, most: 2, longest: 20 * time.Second, roles: "gm"},
		{kind: sim.FaultSlowCPU, most: 3, longest: minute, low: 2, high: 2_000},
		{kind: sim.FaultClockDrift, most: 3, longest: minute, low: -20_000, high: 20_000},
		{kind: sim.FaultDiskSlow, most: 3, longest: minute, low: 2, high: 5_000, roles: "gmw"},
		{kind: sim.FaultDiskFull, most: 3, longest: 30 * time.Second, roles: "gmw"},
		{kind: sim.FaultDiskLostWrites, most: 2, longest: minute, everywhere: true},
		{kind: sim.FaultDiskTorn, most: 2, longest: minute, everywhere: true},
		{kind: sim.FaultExecCrash, most: 4, longest: 5 * time.Second, roles: "w"},
		{kind: sim.FaultExecHang, most: 2, longest: 5 * time.Second, roles: "w"},
		{kind: sim.FaultExecSlow, most: 2, longest: 30 * time.Second, low: 2, high: 50, roles: "w"},
	}
}

// drawFault draws one fault of a kind: when, how long, whom.
func (s *stage) drawFault(k stormKind) sim.Fault {
	f := sim.Fault{Kind: k.kind, At: s.rand.Duration(3*time.Second, max(s.heal-time.Second, 4*time.Second)).Truncate(time.Millisecond)}
	if k.longest > 0 {
		f.For = s.drawLength(k.longest)
	}
	if k.high != k.low {
		f.Value = k.low + int64(s.rand.N(uint64(k.high-k.low)+1))
	}
	if k.everywhere && s.rand.Chance(1, 2) {
		return f
	}
	f.Nodes = s.someNodes(k.roles)
	if k.peers && s.rand.Chance(1, 2) {
		f.Peers = s.someOthers(f.Nodes)
	}
	return f
}

// drawLength is short, about the timeouts of 5 s, or long, each a third of the
// time: where bugs live is at the edges of timeouts.
func (s *stage) drawLength(longest time.Duration) time.Duration {
	low, high := time.Millisecond, time.Second
	switch s.rand.Int(3) {
	case 1:
		low, high = 4*time.Second, 8*time.Second
	case 2:
		low, high = 8*time.Second, 60*time.Second
	}
	return s.rand.Duration(min(low, longest), min(high, longest)).Truncate(time.Millisecond)
}

// someNodes draws a place, or one to four nodes, of some roles.
func (s *stage) someNodes(roles string) []string {
	var fit []string
	for _, id := range s.nodes {
		if roles == "" || strings.Contains(roles, string(id)[:1]) {
			fit = append(fit, string(id))
		}
	}
	if s.rand.Chance(1, 8) {
		place := s.world.Place(node.ID(fit[s.rand.Int(len(fit))]))
		var there []string
		for _, id := range fit {
			if s.world.Place(node.ID(id)) == place {
				there = append(there, id)
			}
		}
		return there
	}
	s.rand.Shuffle(len(fit), func(i, j int) { fit[i], fit[j] = fit[j], fit[i] })
	n := 1
	for n < 4 && s.rand.Chance(1, 3) {
		n++
	}
	return fit[:min(n, len(fit))]
}

// someOthers draws a few nodes that are not among those given.
func (s *stage) someOthers(not []string) []string {
	var others []string
	for _, id := range s.someNodes("") {
		taken := false
		for _, n := range not {
			taken = taken || n == id
		}
		if !taken {
			others = append(others, id)
		}
	}
	return others
}
