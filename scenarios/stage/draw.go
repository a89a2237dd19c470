package stage

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hyperscale/core/node"
	"hyperscale/sim"
)

// FaultKind is a kind of fault that the swarm may draw.
type FaultKind struct {
	Kind       string
	Most       int // in one run
	Longest    time.Duration
	Low, High  int64  // of its value
	roles      string // of the nodes that it hits: letters of gate, manager, worker, client; empty: of all
	Everywhere bool   // it may hit all nodes at once
	Peers      bool   // it is between two sets of nodes
	Aimed      string // what may trigger it: letters of timer, store
}

// StormKinds returns all kinds that a storm may draw. A restarted node has its disk:
// LoseMinorities draws lost disks separately.
func StormKinds(beyond bool) []FaultKind {
	const minute = time.Minute
	drift := int64(sim.DriftBound)
	if beyond {
		drift *= 10
	}
	return []FaultKind{
		{Kind: sim.FaultCrash, Most: 8, Longest: minute, Aimed: "ts"},
		{Kind: sim.FaultStop, Most: 3, Longest: minute},
		{Kind: sim.FaultPause, Most: 5, Longest: 40 * time.Second, Aimed: "ts"},
		{Kind: sim.FaultSuspend, Most: 2, Longest: minute, roles: "gmw", Aimed: "ts"},
		{Kind: sim.FaultPartition, Most: 4, Longest: 40 * time.Second, Peers: true, Aimed: "t"},
		{Kind: sim.FaultOneWay, Most: 4, Longest: 40 * time.Second, Peers: true, Aimed: "t"},
		{Kind: sim.FaultFlap, Most: 2, Longest: 30 * time.Second, Low: 100, High: 3000, Peers: true},
		{Kind: sim.FaultSwizzle, Most: 2, Longest: minute, Low: 1, High: 1 << 20},
		{Kind: sim.FaultIsolate, Most: 1, Longest: minute, roles: "gm"},
		{Kind: sim.FaultLoss, Most: 2, Longest: minute, Low: 1_000, High: 300_000, Everywhere: true},
		{Kind: sim.FaultLossOneWay, Most: 2, Longest: minute, Low: 10_000, High: 900_000, Peers: true},
		{Kind: sim.FaultDuplicate, Most: 1, Longest: minute, Low: 1_000, High: 500_000, Everywhere: true},
		{Kind: sim.FaultReorder, Most: 1, Longest: minute, Low: 1_000, High: 500_000, Everywhere: true},
		{Kind: sim.FaultLate, Most: 3, Longest: minute, Low: 1_000, High: 300_000, Everywhere: true, Aimed: "t"},
		{Kind: sim.FaultLatency, Most: 2, Longest: minute, Low: 10, High: 4_000, Everywhere: true},
		{Kind: sim.FaultLatencyOneWay, Most: 2, Longest: minute, Low: 10, High: 4_000, Peers: true},
		{Kind: sim.FaultHalfOpen, Most: 4, Low: 0, High: 1, Peers: true},
		{Kind: sim.FaultBreakStreams, Most: 8, Everywhere: true},
		{Kind: sim.FaultRefuseAccept, Most: 2, Longest: 20 * time.Second, roles: "gm"},
		{Kind: sim.FaultSlowCPU, Most: 3, Longest: minute, Low: 2, High: 2_000},
		{Kind: sim.FaultClockDrift, Most: 3, Longest: minute, Low: -drift, High: drift},
		{Kind: sim.FaultDiskSlow, Most: 3, Longest: minute, Low: 2, High: 5_000, roles: "gmw"},
		{Kind: sim.FaultDiskFull, Most: 3, Longest: 30 * time.Second, roles: "gmw"},
		{Kind: sim.FaultDiskLostWrites, Most: 2, Longest: minute, Everywhere: true},
		{Kind: sim.FaultDiskTorn, Most: 2, Longest: minute, Everywhere: true},
		{Kind: sim.FaultExecCrash, Most: 4, Longest: 5 * time.Second, roles: "w"},
		{Kind: sim.FaultExecHang, Most: 2, Longest: 5 * time.Second, roles: "w"},
		{Kind: sim.FaultExecSlow, Most: 2, Longest: 30 * time.Second, Low: 2, High: 50, roles: "w"},
	}
}

// Swarm draws a subset of the kinds, how many of each, and each fault: a run with all kinds has
// too much of each to show the effect of one.
func (s *Stage) Swarm(kinds []FaultKind) {
	for _, k := range kinds {
		if !s.Rand.Chance(1, 2) {
			continue
		}
		n := 1 + s.Rand.Int(k.Most)
		s.Draw("%d x %s", n, k.Kind)
		for range n {
			s.Fault(s.DrawFault(k))
		}
	}
}

// DrawFault draws one fault of a kind: its time, length, nodes and trigger.
func (s *Stage) DrawFault(k FaultKind) sim.Fault {
	f := sim.Fault{Kind: k.Kind, At: s.DrawTime()}
	if k.Longest > 0 {
		f.For = s.DrawLength(k.Longest)
	}
	if k.High != k.Low {
		f.Value = s.drawValue(k)
	}
	f.Beyond = k.Kind == sim.FaultClockDrift && max(f.Value, -f.Value) > sim.DriftBound
	if k.Kind == sim.FaultLate {
		f.Hold = s.Bounds[s.Rand.Int(len(s.Bounds))]
	}
	if k.Aimed != "" && s.Rand.Chance(1, 3) {
		f.Aim = s.drawAim(k)
	}
	switch {
	case k.Kind == sim.FaultIsolate:
		f.Nodes = s.oneGroup()
		return f
	case k.Everywhere && s.Rand.Chance(1, 2):
		return f
	}
	f.Nodes = s.someNodes(k.roles)
	if k.Peers && s.Rand.Chance(1, 2) {
		f.Peers = s.someOthers(f.Nodes)
	}
	return f
}

// timeBounds returns the spans after which a node acts by its own clock: the lease of a subjob,
// a silence, leases of gates and of datacenters. A world with other settings sets its own
// bounds.
func timeBounds() []time.Duration {
	return []time.Duration{2 * time.Second, 5 * time.Second, 30 * time.Second, 60 * time.Second}
}

// Tick is the granularity that protocols add to their margins.
const Tick = time.Millisecond

// nearBound draws one of the bounds, or that bound on a clock at the drift bound, at most a
// tick away.
func (s *Stage) nearBound() time.Duration {
	d := s.Bounds[s.Rand.Int(len(s.Bounds))]
	d += d / Million * sim.DriftBound * time.Duration(s.Rand.Int(3)-1)
	return d + Tick*time.Duration(s.Rand.Int(3)-1)
}

// Million is the unit of chances and of drift.
const Million = 1_000_000

// DrawTime draws any time before the healing. For a quarter of the faults it is the end of
// another one, or a bound after its beginning.
func (s *Stage) DrawTime() time.Duration {
	first, last := 3*time.Second, max(s.Heal-time.Second, 4*time.Second)
	at := s.Rand.Duration(first, last)
	if n := len(s.Faults); n > 0 && s.Rand.Chance(1, 4) {
		f := &s.Faults[s.Rand.Int(n)]
		at = f.At + s.nearBound()
		if s.Rand.Chance(1, 2) {
			at = f.At + f.For + Tick*time.Duration(s.Rand.Int(3)-1)
		}
		at = min(max(at, first), last)
	}
	return at.Truncate(Tick)
}

// DrawLength draws a length that is short, about the timeouts of 5 s, long, or at a bound, each
// for a quarter of the faults: bugs are at the edges of timeouts.
func (s *Stage) DrawLength(longest time.Duration) time.Duration {
	low, high := Tick, time.Second
	switch s.Rand.Int(4) {
	case 1:
		low, high = 4*time.Second, 8*time.Second
	case 2:
		low, high = 8*time.Second, 60*time.Second
	case 3:
		return min(s.nearBound(), longest)
	}
	return s.Rand.Duration(min(low, longest), min(high, longest)).Truncate(Tick)
}

// drawValue draws evenly, but every third clock runs at the bound.
func (s *Stage) drawValue(k FaultKind) int64 {
	v := k.Low + int64(s.Rand.N(uint64(k.High-k.Low)+1))
	if k.Kind == sim.FaultClockDrift {
		switch s.Rand.Int(6) {
		case 0:
			return -sim.DriftBound
		case 1:
			return sim.DriftBound
		}
	}
	return v
}

// drawAim draws a deadline of some part, with a tick around it, or a write.
func (s *Stage) drawAim(k FaultKind) string {
	if strings.Contains(k.Aimed, "s") && s.Rand.Chance(1, 2) {
		writes := []string{"stored", "storing", "stored:lease/", "storing:lease/", "stored:election/", "stored:file/"}
		return writes[s.Rand.Int(len(writes))]
	}
	timers := []node.TimerKey{
		node.Key(node.PartLease, node.LeaseFlush), node.Key(node.PartLease, node.LeaseExpire), node.Key(node.PartLease, node.LeaseRenew),
		node.Key(node.PartLease, node.LeaseRead), node.Key(node.PartSwim, node.SwimSuspect), node.Key(node.PartElection, node.ElectionTimeout),
	}
	subjobs := []node.Part{node.PartGate, node.PartManager, node.PartWorker, node.PartUplink, node.PartElection}
	target := ""
	if i := s.Rand.Int(len(timers) + len(subjobs)); i < len(timers) {
		target = TimerAim(timers[i].Part, timers[i].Kind)
	} else {
		target = fmt.Sprintf("timer:%d.*", subjobs[i-len(timers)])
	}
	offsets := []string{"", "-1ms", "-1ns", "+1ns", "+1ms"}
	return target + offsets[s.Rand.Int(len(offsets))]
}

// Crowd draws how many members a crowded world has. A third of the seeds get most, the others
// between an eighth and a half of it, so that a swarm plays more worlds in its time. It draws
// from the seed, not from Rand: what a world of most members draws next stays the same.
func (s *Stage) Crowd(most int) int {
	if s.Options.Crowd > 0 {
		return s.Options.Crowd
	}
	if s.Options.Seed%3 == 1 {
		return most
	}
	return most/8 + node.NewRand(s.Options.Seed, "crowd", node.PurposeWorkload).Int(most/2-most/8)
}

// Choose draws n of these nodes.
func (s *Stage) Choose(ids []node.ID, n int) []node.ID {
	drawn := append([]node.ID(nil), ids...)
	s.Rand.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	return drawn[:min(n, len(drawn))]
}

// oneGroup draws a group of more than one node.
func (s *Stage) oneGroup() []string {
	some := slices.DeleteFunc(slices.Clone(s.Groups), func(g []node.ID) bool { return len(g) < 2 })
	return Names(some[s.Rand.Int(len(some))])
}

// Names converts ids to the names in faults.
func Names(ids []node.ID) []string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = string(id)
	}
	return all
}

// Without returns those nodes of ids that are not among others.
func Without(ids []node.ID, not ...node.ID) []node.ID {
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
func (s *Stage) someNodes(roles string) []string {
	var fit []string
	for _, id := range s.Nodes {
		if roles == "" || strings.Contains(roles, string(id)[:1]) {
			fit = append(fit, string(id))
		}
	}
	if s.Rand.Chance(1, 8) {
		place := s.World.Place(node.ID(fit[s.Rand.Int(len(fit))]))
		return slices.DeleteFunc(fit, func(id string) bool { return s.World.Place(node.ID(id)) != place })
	}
	s.Rand.Shuffle(len(fit), func(i, j int) { fit[i], fit[j] = fit[j], fit[i] })
	n := 1
	for n < 4 && s.Rand.Chance(1, 3) {
		n++
	}
	return fit[:min(n, len(fit))]
}

// someOthers draws a few nodes that are not among those given.
func (s *Stage) someOthers(not []string) []string {
	return slices.DeleteFunc(s.someNodes(""), func(id string) bool { return slices.Contains(not, id) })
}

// TimerAim returns the trigger for a timer of a part, on any node.
func TimerAim(p node.Part, kind uint8) string { return fmt.Sprintf("timer:%d.%d", p, kind) }
