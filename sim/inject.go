package sim

import (
	"slices"

	"hyperscale/netsim"
)

// injector starts and ends faults: those in force, and those that wait for their aim.
type injector struct {
	w      *World
	active []*activeFault
	shots  []*shot
	aims   map[*netsim.Rule]*aim // of rules that hold datagrams
	load   func(Fault)           // plays what clients ask for
	harmed bool                  // something but load has begun
}

// activeFault is a fault in force.
type activeFault struct {
	fault Fault
	nodes []*process
	lives []uint32 // incarnations of the nodes when it began
	rule  *netsim.Rule
}

func (f *activeFault) hits(p *process) bool { return slices.Contains(f.nodes, p) }

// inject starts a fault, or makes it wait for its aim.
func (x *injector) inject(f Fault) {
	if f.Aim != "" && f.Kind != FaultLate {
		x.await(f)
		return
	}
	x.befall(f)
}

// befall starts a fault and schedules its end.
func (x *injector) befall(f Fault) {
	w := x.w
	x.harmed = x.harmed || !isRequests(f.Kind)
	if w.trace.watch&WantFaults != 0 {
		w.trace.observer.Fault(w.now, f)
	}
	if f.Kind == FaultHeal {
		w.Heal()
		return
	}
	a := &activeFault{fault: f, nodes: x.pick(f.Nodes)}
	x.begin(a)
	if f.For == 0 && momentary(f.Kind) {
		return
	}
	x.active = append(x.active, a)
	if f.For > 0 {
		w.At(w.now+f.For, func() { x.end(a) })
	}
}

// Harmed says that something but requests has befallen this world: a fault, or a script that ended
// or paused a node, or engaged a courier.
func (w *World) Harmed() bool { return w.faults.harmed }

// isRequests says that a fault is nothing but requests of clients.
func isRequests(kind string) bool {
	switch kind {
	case FaultBurst, FaultPrograms, FaultQueries, FaultHeal:
		return true
	}
	return false
}

// momentary faults need no end: they act only on what exists when they begin.
func momentary(kind string) bool {
	switch kind {
	case FaultHalfOpen, FaultBreakStreams, FaultExecCrash, FaultExecHang:
		return true
	}
	return false
}

// pick returns the named nodes in the world's order, or all nodes if there are no names.
func (x *injector) pick(names []string) []*process {
	w := x.w
	var picked []*process
	for _, p := range w.nodes {
		if len(names) == 0 || slices.Contains(names, string(p.peer.ID)) {
			picked = append(picked, p)
		}
	}
	return picked
}

func (x *injector) begin(a *activeFault) {
	switch a.fault.Kind {
	case FaultPartition, FaultOneWay, FaultFlap, FaultLoss, FaultLossOneWay, FaultDuplicate, FaultReorder, FaultLate, FaultLatency, FaultLatencyOneWay, FaultSlowLink:
		x.impose(a)
	case FaultBurst, FaultPrograms, FaultQueries:
		x.load(a.fault)
	case FaultTight: // the world has built its nodes with it
	case FaultHalfOpen, FaultBreakStreams:
		x.breakStreams(a)
	case FaultSwizzle:
		x.swizzle(a)
	case FaultIsolate:
		x.isolate(a)
	default:
		if a.fault.Kind == FaultSuspend {
			x.impose(a) // its network card is suspended too
		}
		a.lives = a.lives[:0]
		for _, p := range a.nodes {
			a.lives = append(a.lives, p.life)
			x.suffer(p, &a.fault, 1)
		}
	}
}

// suffer begins (by 1) or ends (by -1) a fault of one node.
func (x *injector) suffer(p *process, f *Fault, by int) {
	switch f.Kind {
	case FaultCrash, FaultStop:
		x.down(p, f, by)
	case FaultPause, FaultSuspend:
		if by > 0 {
			p.bars.set(barPaused, p.alive())
		}
		if f.Kind == FaultSuspend {
			if p.suspended += int32(by); p.suspended <= 0 {
				p.exec.thaw()
			}
		}
		if by < 0 && !x.stopped(p) {
			p.resume()
		}
	case FaultRefuseAccept:
		p.refusing += int16(by)
	case FaultSlowCPU:
		if p.prices != nil {
			p.prices.slow = factor(f, by)
		}
	case FaultClockDrift:
		ppm := p.spec.DriftPPM
		if by > 0 {
			ppm = f.Value
		}
		drift(p, ppm)
	case FaultDiskSlow:
		p.disk.slow = factor(f, by)
	case FaultDiskFull:
		p.disk.full += by
	case FaultDiskLostWrites:
		p.disk.lossy += by
	case FaultDiskTorn:
		p.disk.torn += by
	case FaultExecCrash, FaultExecHang:
		if by > 0 && p.alive() {
			p.exec.strike(f.Kind)
		}
	}
}

// drift changes the rate of a node's clock; timers and executors' deadlines follow it.
func drift(p *process, ppm int64) {
	p.clock.bend(p.w.now, ppm)
	p.rearm()
	p.exec.rewatch()
}

func factor(f *Fault, by int) int64 {
	if by > 0 {
		return f.Value
	}
	return 1
}

// down ends a node, and starts it again when the fault is over.
func (x *injector) down(p *process, f *Fault, by int) {
	switch {
	case by > 0 && f.Kind == FaultStop:
		p.stop()
	case by > 0:
		p.crash()
		if f.Value == 1 {
			p.disk.wipe()
		}
	case p.wanted && !p.alive() && !x.keptDown(p):
		p.start()
	}
}

// keptDown says that a fault in force keeps a node down.
func (x *injector) keptDown(p *process) bool {
	return slices.ContainsFunc(x.active, func(a *activeFault) bool {
		return (a.fault.Kind == FaultCrash || a.fault.Kind == FaultStop) && a.hits(p)
	})
}

// stopped says that a fault in force keeps this incarnation of a node paused.
func (x *injector) stopped(p *process) bool {
	return slices.ContainsFunc(x.active, func(a *activeFault) bool {
		i := slices.Index(a.nodes, p)
		return (a.fault.Kind == FaultPause || a.fault.Kind == FaultSuspend) && i >= 0 && a.lives[i] == p.life
	})
}

// end ends a fault, at its time or when the world heals everything.
func (x *injector) end(a *activeFault) {
	w := x.w
	i := slices.Index(x.active, a)
	if i < 0 {
		return
	}
	x.active = slices.Delete(x.active, i, i+1)
	if a.rule != nil {
		w.net.Lift(a.rule)
		delete(x.aims, a.rule)
	}
	if !a.touches() {
		return
	}
	for i, p := range a.nodes {
		if a.fault.Kind == FaultStop && p.life == a.lives[i] {
			p.crash() // its time to end gracefully is over
		}
		x.suffer(p, &a.fault, -1)
	}
	for _, o := range x.active { // an older fault of the same kind goes on
		if o.fault.Kind == a.fault.Kind && (o.fault.Kind == FaultSlowCPU || o.fault.Kind == FaultDiskSlow || o.fault.Kind == FaultClockDrift) {
			x.begin(o)
		}
	}
}

// touches says that a fault acts on its nodes, not only on links.
func (a *activeFault) touches() bool {
	switch a.fault.Kind {
	case FaultSwizzle, FaultIsolate, FaultTight, FaultBurst, FaultPrograms, FaultQueries:
		return false
	}
	return a.rule == nil || a.fault.Kind == FaultSuspend
}

// Heal ends every fault in force and starts every node that a script started and did not end.
// Faults that are scheduled for later still begin.
func (w *World) Heal() {
	x := &w.faults
	for _, s := range x.shots {
		s.over = true
	}
	x.shots = nil
	for len(x.active) > 0 {
		x.end(x.active[0])
	}
	for _, p := range w.nodes {
		p.resume()
		if p.wanted && !p.alive() {
			p.start()
		}
	}
}
