package sim

import (
	"slices"
	"time"

	"hyperscale/core/node"
	"hyperscale/netsim"
)

// sets returns the hosts of a network fault: its nodes, and its peers or all others.
func (x *injector) sets(f *Fault, nodes []*process) (from, to netsim.Set) {
	var a, b []netsim.Host
	for _, p := range nodes {
		a = append(a, netsim.Host(p.index))
	}
	for _, p := range x.pick(f.Peers) {
		if len(f.Peers) > 0 || len(f.Nodes) == 0 || !slices.Contains(nodes, p) {
			b = append(b, netsim.Host(p.index))
		}
	}
	return netsim.SetOf(a...), netsim.SetOf(b...)
}

// lateTwice is how many of the held datagrams arrive twice, in parts per million.
const lateTwice = 250_000

// impose puts a fault's rule in force.
func (x *injector) impose(a *activeFault) {
	w := x.w
	a.rule = x.rule(&a.fault, a.nodes)
	w.net.Impose(a.rule)
	if a.fault.Aim != "" {
		if x.aims == nil {
			x.aims = map[*netsim.Rule]*aim{}
		}
		x.aims[a.rule], _ = parseAim(a.fault.Aim) // already validated
	}
}

func (x *injector) rule(f *Fault, nodes []*process) *netsim.Rule {
	w := x.w
	r := &netsim.Rule{Both: f.Kind != FaultOneWay && f.Kind != FaultLatencyOneWay && f.Kind != FaultLossOneWay, Since: w.now}
	r.From, r.To = x.sets(f, nodes)
	switch f.Kind {
	case FaultPartition, FaultOneWay, FaultSuspend:
		r.Cut = true
	case FaultFlap:
		r.Cut, r.Flap = true, time.Duration(f.Value)*time.Millisecond
	case FaultLoss, FaultLossOneWay:
		r.Loss = uint32(f.Value)
	case FaultDuplicate:
		r.Duplicate = uint32(f.Value)
	case FaultReorder:
		r.Reorder = uint32(f.Value)
	case FaultLate:
		r.Late, r.Twice = uint32(f.Value), lateTwice
		r.LateMin, r.LateMax = f.Hold, 3*f.Hold
	case FaultLatency, FaultLatencyOneWay:
		r.Latency = time.Duration(f.Value) * time.Millisecond
	case FaultSlowLink:
		r.Bandwidth = uint64(f.Value) * 1000
	}
	return r
}

func (x *injector) breakStreams(a *activeFault) {
	w := x.w
	from, to := x.sets(&a.fault, a.nodes)
	conns, sides := w.streams.Between(func(x, y netsim.Host) bool { return from.Has(x) && to.Has(y) })
	for i, c := range conns {
		if a.fault.Kind == FaultHalfOpen {
			w.streams.HalfOpen(w.now, c, sides[i], a.fault.Value == 1, "connection reset")
		} else {
			w.streams.Break(w.now, c, sides[i], "connection reset")
		}
	}
	w.streams.drain()
}

// swizzle cuts nodes off one by one in the first half of the fault's time, and reconnects them
// in another order in the second.
func (x *injector) swizzle(a *activeFault) {
	names := a.fault.Nodes
	if len(names) == 0 {
		for _, p := range a.nodes {
			names = append(names, string(p.peer.ID))
		}
	}
	back := make([]int, len(names))
	for i := range back {
		back[i] = i
	}
	order := node.NewRand(uint64(a.fault.Value), worldID, node.PurposeFault)
	order.Shuffle(len(back), func(i, j int) { back[i], back[j] = back[j], back[i] })
	half := a.fault.For / 2
	step := half / time.Duration(len(names))
	for i, name := range names {
		from, to := time.Duration(i)*step, half+time.Duration(back[i])*step
		x.later(a, from, Fault{Kind: FaultPartition, For: max(1, to-from), Nodes: []string{name}, Peers: a.fault.Peers})
	}
}

// isolate cuts each majority of the nodes off for an equal part of the time.
func (x *injector) isolate(a *activeFault) {
	n := len(a.fault.Nodes)
	var sets [][]string
	for bits := range 1 << n {
		var set []string
		for i, name := range a.fault.Nodes {
			if bits>>i&1 == 1 {
				set = append(set, name)
			}
		}
		if len(set) == n/2+1 {
			sets = append(sets, set)
		}
	}
	step := a.fault.For / time.Duration(len(sets))
	for i, set := range sets {
		x.later(a, time.Duration(i)*step, Fault{Kind: FaultPartition, For: max(1, step), Nodes: set, Peers: a.fault.Peers})
	}
}

// later schedules a part of a fault, which does not begin if the fault has ended before.
func (x *injector) later(a *activeFault, after time.Duration, part Fault) {
	w := x.w
	w.At(w.now+after, func() {
		if slices.Contains(x.active, a) {
			part.At = w.now
			x.befall(part)
		}
	})
}
