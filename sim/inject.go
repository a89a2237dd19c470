package sim

import (
	"slices"

	"hyperscale/core/node"
	"hyperscale/netsim"
)

// injector makes faults begin and end: those in force, and those that wait for what they
// are aimed at.
type injector struct {
	w      *World
	active []*activeFault
	shots  []*shot
	aims   map[*netsim.Rule]*aim // of rules that hold datagrams
}

// activeFault is one that has begun and has not ended.
type activeFault struct {
	fault Fault
	nodes []*process
	lives []uint32 // incarnations of the nodes when it began
	rule  *netsim.Rule
}

func (f *activeFault) hits(p *process) bool { return slices.Contains(f.nodes, p) }

func (w *World) has(id string) bool { return w.byID[node.ID(id)] != nil }

// inject makes a fault begin, or wait for what it is aimed at.
func (x *injector) inject(f Fault) {
	if f.Aim != "" && f.Kind != FaultLate {
		x.await(f)
		return
	}
	x.befall(f)
}

// befall makes a fault begin and schedules its end.
func (x *injector) befall(f Fault) {
	w := x.w
	if w.watch&WantFaults != 0 {
		w.config.Observer.Fault(w.now, f)
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

// momentary faults need no end: they act on what is there when they begin.
func momentary(kind string) bool {
	switch kind {
	case FaultHalfOpen, FaultBreakStreams, FaultExecCrash, FaultExecHang:
		return true
	}
	return false
}

// pick returns the named nodes in the world's order, all for none.
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
	case FaultPartition, FaultOneWay, FaultFlap, FaultLoss, FaultLossOneWay, FaultDuplicate, FaultReorder, FaultLate, FaultLatency, FaultLatencyOneWay:
		x.impose(a)
	case FaultHalfOpen, FaultBreakStreams:
		x.breakStreams(a)
	case FaultSwizzle:
		x.swizzle(a)
	case FaultIsolate:
		x.isolate(a)
	default:
		if a.fault.Kind == FaultSuspend {
			x.impose(a) // its network card sleeps, too
		}
		a.lives = a.lives[:0]
		for _, p := range a.nodes {
			a.lives = append(a.lives, p.life)
			p.suffer(&a.fault, 1)
		}
	}
}

// suffer begins (by 1) or ends (by -1) a fault of one node.
func (p *process) suffer(f *Fault, by int) {
	switch f.Kind {
	case FaultCrash, FaultStop:
		p.down(f, by)
	case FaultPause, FaultSuspend:
		if by > 0 {
			p.bars.set(barPaused, p.alive())
		}
		if f.Kind == FaultSuspend {
			p.suspend(by)
		}
		if by < 0 && !p.w.faults.stopped(p) {
			p.resume()
		}
	case FaultRefuseAccept:
		p.refusing += int16(by)
	case FaultSlowCPU:
		if p.prices != nil {
			p.prices.slow = factor(f, by)
		}
	case FaultClockDrift:
		p.drift(f, by)
	case FaultDiskSlow:
		p.disk.slow = factor(f, by)
	case FaultDiskFull:
		p.disk.full += by
	case FaultDiskLostWrites:
		p.disk.lossy += by
	case FaultDiskTorn:
		p.disk.torn += by
	case FaultExecCrash, FaultExecHang:
		p.hurtRuns(f, by)
	}
}

func factor(f *Fault, by int) int64 {
	if by > 0 {
		return f.Value
	}
	return 1
}

// down ends a node, and brings it back when the fault is over.
func (p *process) down(f *Fault, by int) {
	switch {
	case by > 0 && f.Kind == FaultStop:
		p.stop()
	case by > 0:
		p.crash()
		if f.Value == 1 {
			p.disk.wipe()
		}
	case p.wanted && !p.alive() && !p.w.faults.keptDown(p):
		p.start()
	}
}

// keptDown says that a fault in force wants a node down.
func (x *injector) keptDown(p *process) bool {
	return slices.ContainsFunc(x.active, func(a *activeFault) bool {
		return (a.fault.Kind == FaultCrash || a.fault.Kind == FaultStop) && a.hits(p)
	})
}

// stopped says that a fault in force keeps this incarnation of a node still.
func (x *injector) stopped(p *process) bool {
	return slices.ContainsFunc(x.active, func(a *activeFault) bool {
		i := slices.Index(a.nodes, p)
		return (a.fault.Kind == FaultPause || a.fault.Kind == FaultSuspend) && i >= 0 && a.lives[i] == p.life
	})
}

// suspend stops a host's executors, or lets them go on: what was due meanwhile
// happens then, as they go by clocks that went on.
func (p *process) suspend(by int) {
	p.suspended += int32(by)
	if p.suspended > 0 {
		return
	}
	for i := range p.exec.frozen {
		f := &p.exec.frozen[i]
		_, e := p.w.queue.add(p.w.now, eventExec)
		e.node, e.life, e.word, e.side = f.node, f.life, f.word, f.side
	}
	p.exec.frozen = p.exec.frozen[:0]
}

func (p *process) drift(f *Fault, by int) {
	ppm := p.spec.DriftPPM
	if by > 0 {
		ppm = f.Value
	}
	p.clock.bend(p.w.now, ppm)
	p.rearm()
	for _, r := range p.exec.cores {
		if r != nil && r.until != 0 && !r.over() {
			p.exec.watch(r)
		}
	}
}

// rearm moves the events of all timers to where the clock now puts them, in
// their old order.
func (p *process) rearm() {
	set := p.armed()
	for _, t := range set {
		p.w.queue.cancel(t.event)
		p.arm(t, p.clock.when(t.due, p.w.now))
	}
}

// armed returns the timers that wait in the queue, in the order of their firing.
func (p *process) armed() []*timer {
	var set []*timer
	for i := range p.timers.places {
		if t := &p.timers.places[i]; t.digest != 0 && t.event != 0 {
			set = append(set, t)
		}
	}
	slices.SortFunc(set, func(a, b *timer) int {
		if a.due != b.due {
			return int(max(-1, min(1, a.due-b.due)))
		}
		if a.generation < b.generation {
			return -1
		}
		return 1
	})
	return set
}

// hurtRuns acts on the executors that run when the fault begins.
func (p *process) hurtRuns(f *Fault, by int) {
	if by < 0 || !p.alive() {
		return
	}
	for _, r := range p.exec.cores {
		if r == nil || r.over() {
			continue
		}
		if f.Kind == FaultExecHang {
			r.become(runHung)
		} else {
			p.exec.finish(r, runDead, "signal: killed by a fault", "", reapTime)
		}
	}
}

// end is called when a fault's time is over, or everything is healed.
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
			p.crash() // its time to end is over
		}
		p.suffer(&a.fault, -1)
	}
	for _, o := range x.active { // an older one of its kind goes on
		if o.fault.Kind == a.fault.Kind && (o.fault.Kind == FaultSlowCPU || o.fault.Kind == FaultDiskSlow || o.fault.Kind == FaultClockDrift) {
			x.begin(o)
		}
	}
}

// touches says that a fault is in its nodes, not only on the ways between them.
func (a *activeFault) touches() bool {
	return a.fault.Kind != FaultSwizzle && a.fault.Kind != FaultIsolate && (a.rule == nil || a.fault.Kind == FaultSuspend)
}

// Heal ends every fault that is in force and starts every node that a script
// started and did not end. Faults that are scheduled for later still come.
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
