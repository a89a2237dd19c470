package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hyperscale/core/node"
	"hyperscale/sim"
)

// stormKind is a kind of fault that the swarm may draw.
type stormKind struct {
	kind       string
	most       int // of them in one run
	longest    time.Duration
	low, high  int64  // of its value
	roles      string // of the nodes it befalls: letters of gate, manager, worker, client; empty: of all
	everywhere bool   // it may befall all nodes at once
	peers      bool   // it is between two sets of nodes
	aimed      string // what it may be aimed at: letters of timer, store
}

// stormKinds is everything that can be drawn. Who returns has its disk: which ones
// are lost is drawn apart, by loseMinorities.
func stormKinds(beyond bool) []stormKind {
	const minute = time.Minute
	drift := int64(sim.DriftBound)
	if beyond {
		drift *= 10
	}
	return []stormKind{
		{kind: sim.FaultCrash, most: 8, longest: minute, aimed: "ts"},
		{kind: sim.FaultStop, most: 3, longest: minute},
		{kind: sim.FaultPause, most: 5, longest: 40 * time.Second, aimed: "ts"},
		{kind: sim.FaultSuspend, most: 2, longest: minute, roles: "gmw", aimed: "ts"},
		{kind: sim.FaultPartition, most: 4, longest: 40 * time.Second, peers: true, aimed: "t"},
		{kind: sim.FaultOneWay, most: 4, longest: 40 * time.Second, peers: true, aimed: "t"},
		{kind: sim.FaultFlap, most: 2, longest: 30 * time.Second, low: 100, high: 3000, peers: true},
		{kind: sim.FaultSwizzle, most: 2, longest: minute, low: 1, high: 1 << 20},
		{kind: sim.FaultIsolate, most: 1, longest: minute, roles: "gm"},
		{kind: sim.FaultLoss, most: 2, longest: minute, low: 1_000, high: 300_000, everywhere: true},
		{kind: sim.FaultLossOneWay, most: 2, longest: minute, low: 10_000, high: 900_000, peers: true},
		{kind: sim.FaultDuplicate, most: 1, longest: minute, low: 1_000, high: 500_000, everywhere: true},
		{kind: sim.FaultReorder, most: 1, longest: minute, low: 1_000, high: 500_000, everywhere: true},
		{kind: sim.FaultLate, most: 3, longest: minute, low: 1_000, high: 300_000, everywhere: true, aimed: "t"},
		{kind: sim.FaultLatency, most: 2, longest: minute, low: 10, high: 4_000, everywhere: true},
		{kind: sim.FaultLatencyOneWay, most: 2, longest: minute, low: 10, high: 4_000, peers: true},
		{kind: sim.FaultHalfOpen, most: 4, low: 0, high: 1, peers: true},
		{kind: sim.FaultBreakStreams, most: 8, everywhere: true},
		{kind: sim.FaultRefuseAccept, most: 2, longest: 20 * time.Second, roles: "gm"},
		{kind: sim.FaultSlowCPU, most: 3, longest: minute, low: 2, high: 2_000},
		{kind: sim.FaultClockDrift, most: 3, longest: minute, low: -drift, high: drift},
		{kind: sim.FaultDiskSlow, most: 3, longest: minute, low: 2, high: 5_000, roles: "gmw"},
		{kind: sim.FaultDiskFull, most: 3, longest: 30 * time.Second, roles: "gmw"},
		{kind: sim.FaultDiskLostWrites, most: 2, longest: minute, everywhere: true},
		{kind: sim.FaultDiskTorn, most: 2, longest: minute, everywhere: true},
		{kind: sim.FaultExecCrash, most: 4, longest: 5 * time.Second, roles: "w"},
		{kind: sim.FaultExecHang, most: 2, longest: 5 * time.Second, roles: "w"},
		{kind: sim.FaultExecSlow, most: 2, longest: 30 * time.Second, low: 2, high: 50, roles: "w"},
	}
}

// swarm draws which kinds there are, how many of each, and each of them: a run
// that has all kinds has too much of each to show what one does.
func (s *stage) swarm(kinds []stormKind) {
	for _, k := range kinds {
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

// drawFault draws one fault of a kind: when, how long, whom, aimed at what.
func (s *stage) drawFault(k stormKind) sim.Fault {
	f := sim.Fault{Kind: k.kind, At: s.drawTime()}
	if k.longest > 0 {
		f.For = s.drawLength(k.longest)
	}
	if k.high != k.low {
		f.Value = s.drawValue(k)
	}
	f.Beyond = k.kind == sim.FaultClockDrift && max(f.Value, -f.Value) > sim.DriftBound
	if k.kind == sim.FaultLate {
		f.Hold = s.bounds[s.rand.Int(len(s.bounds))]
	}
	if k.aimed != "" && s.rand.Chance(1, 3) {
		f.Aim = s.drawAim(k)
	}
	switch {
	case k.kind == sim.FaultIsolate:
		f.Nodes = s.oneGroup()
		return f
	case k.everywhere && s.rand.Chance(1, 2):
		return f
	}
	f.Nodes = s.someNodes(k.roles)
	if k.peers && s.rand.Chance(1, 2) {
		f.Peers = s.someOthers(f.Nodes)
	}
	return f
}

// timeBounds are the spans after which somebody acts by its own clock: the lease
// of a subjob, a silence, leases of gates and of datacenters. A world with other ones
// sets its bounds.
func timeBounds() []time.Duration {
	return []time.Duration{2 * time.Second, 5 * time.Second, 30 * time.Second, 60 * time.Second}
}

// tick is the granularity that protocols add to their margins.
const tick = time.Millisecond

// nearBound is one of the bounds, or that on a clock at the bound of drift, and
// at most a tick away.
func (s *stage) nearBound() time.Duration {
	d := s.bounds[s.rand.Int(len(s.bounds))]
	d += d / million * sim.DriftBound * time.Duration(s.rand.Int(3)-1)
	return d + tick*time.Duration(s.rand.Int(3)-1)
}

const million = 1_000_000

// drawTime is anywhere before the healing, or for a quarter of the faults where
// another one ends, or a bound after another one began.
func (s *stage) drawTime() time.Duration {
	first, last := 3*time.Second, max(s.heal-time.Second, 4*time.Second)
	at := s.rand.Duration(first, last)
	if n := len(s.faults); n > 0 && s.rand.Chance(1, 4) {
		f := &s.faults[s.rand.Int(n)]
		at = f.At + s.nearBound()
		if s.rand.Chance(1, 2) {
			at = f.At + f.For + tick*time.Duration(s.rand.Int(3)-1)
		}
		at = min(max(at, first), last)
	}
	return at.Truncate(tick)
}

// drawLength is short, about the timeouts of 5 s, long, or at a bound, each a
// quarter of the time: where bugs live is at the edges of timeouts.
func (s *stage) drawLength(longest time.Duration) time.Duration {
	low, high := tick, time.Second
	switch s.rand.Int(4) {
	case 1:
		low, high = 4*time.Second, 8*time.Second
	case 2:
		low, high = 8*time.Second, 60*time.Second
	case 3:
		return min(s.nearBound(), longest)
	}
	return s.rand.Duration(min(low, longest), min(high, longest)).Truncate(tick)
}

// drawValue is evenly drawn, but clocks run at the bound every third time.
func (s *stage) drawValue(k stormKind) int64 {
	v := k.low + int64(s.rand.N(uint64(k.high-k.low)+1))
	if k.kind == sim.FaultClockDrift {
		switch s.rand.Int(6) {
		case 0:
			return -sim.DriftBound
		case 1:
			return sim.DriftBound
		}
	}
	return v
}

// drawAim is a deadline of some part, a tick around it, or a write.
func (s *stage) drawAim(k stormKind) string {
	if strings.Contains(k.aimed, "s") && s.rand.Chance(1, 2) {
		writes := []string{"stored", "storing", "stored:lease/", "storing:lease/", "stored:election/", "stored:file/"}
		return writes[s.rand.Int(len(writes))]
	}
	timers := []node.TimerKey{
		node.Key(node.PartLease, node.LeaseFlush), node.Key(node.PartLease, node.LeaseExpire), node.Key(node.PartLease, node.LeaseRenew),
		node.Key(node.PartLease, node.LeaseRead), node.Key(node.PartSwim, node.SwimSuspect), node.Key(node.PartElection, node.ElectionTimeout),
	}
	subjobs := []node.Part{node.PartGate, node.PartManager, node.PartWorker, node.PartUplink, node.PartElection}
	target := ""
	if i := s.rand.Int(len(timers) + len(subjobs)); i < len(timers) {
		target = timerAim(timers[i].Part, timers[i].Kind)
	} else {
		target = fmt.Sprintf("timer:%d.*", subjobs[i-len(timers)])
	}
	offsets := []string{"", "-1ms", "-1ns", "+1ns", "+1ms"}
	return target + offsets[s.rand.Int(len(offsets))]
}

// choose draws n of these nodes.
func (s *stage) choose(ids []node.ID, n int) []node.ID {
	drawn := append([]node.ID(nil), ids...)
	s.rand.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	return drawn[:min(n, len(drawn))]
}

// oneGroup is a group of more than one node.
func (s *stage) oneGroup() []string {
	some := slices.DeleteFunc(slices.Clone(s.groups), func(g []node.ID) bool { return len(g) < 2 })
	return names(some[s.rand.Int(len(some))])
}

func names(ids []node.ID) []string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = string(id)
	}
	return all
}

// without returns those nodes of ids that are not among others.
func without(ids []node.ID, not ...node.ID) []node.ID {
	var rest []node.ID
next:
	for _, id := range ids {
		for _, n := range not {
			if n == id {
				continue next
			}
		}
		rest = append(rest, id)
	}
	return rest
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
		return slices.DeleteFunc(fit, func(id string) bool { return s.world.Place(node.ID(id)) != place })
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
	return slices.DeleteFunc(s.someNodes(""), func(id string) bool { return slices.Contains(not, id) })
}

// timerAim aims at a timer of a subjob, whoever's it is.
func timerAim(p node.Part, kind uint8) string { return fmt.Sprintf("timer:%d.%d", p, kind) }
