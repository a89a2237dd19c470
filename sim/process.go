package sim

import (
	"time"

	"hyperscale/core/node"
	"hyperscale/netsim"
)

// process is one node of the world, running or not. It implements node.Env for its machine
// (env.go).
//
// Each event reads the first fields, which fill one cache line, and most read the next three,
// which fill another.
type process struct {
	w       *World
	machine node.Machine  // nil: the node is down
	busy    time.Duration // until when the CPU is busy
	prices  *prices       // nil: handlers take no time
	index   uint32
	life    uint32 // incarnations so far; events of an older one are dropped
	status

	clock  clock
	timers timerTable
	box    *node.Mailbox

	held   *node.Input // a message that waits for its StreamOpened
	peer   node.Peer
	newest uint16 // version of the protocol that it has had
	drawn  uint16 // the purposes for which this incarnation has drawn, as bits
	rands  [node.Purposes]node.Rand
	look   lookout
	disk   disk
	hosted
	calls calls
	spec  Spec
}

// status decides whether a process handles an input.
type status struct {
	suspended int32  // number of faults that suspend its host
	refusing  int16  // number of faults that make it refuse streams
	header    uint16 // header bytes of its datagrams
	bars      bar
	phase     phase
	waking    bool // an eventWake is in the queue
	wanted    bool // a script has started it and has not ended it
}

// bar is a set of reasons why a process cannot handle an input at once.
type bar uint8

const (
	barUnstarted bar = 1 << iota // InputStart is not delivered yet
	barPaused
	barHeld   // process.held waits
	barQueued // the mailbox is not empty
	barAimed  // no reason: a fault waits for the node's timers or writes
)

func (b bar) has(c bar) bool { return b&c != 0 }

func (b *bar) set(c bar, on bool) {
	*b &^= c
	if on {
		*b |= c
	}
}

// phase says what a machine does now; it is a set, too.
type phase uint8

const (
	phaseStep  phase = 1 << iota // it handles an input
	phaseStart                   // that input is InputStart
	phaseHalt                    // it has asked for its end
	phaseAgain                   // it has asked for its next incarnation
)

// calls are the local commands that a node answers.
type calls struct {
	p       *process
	last    node.CommandID
	answers map[node.CommandID]func(node.Message)
}

// alive holds between Start and the end; started holds from the delivery of InputStart on.
func (p *process) alive() bool   { return p.machine != nil }
func (p *process) started() bool { return !p.bars.has(barUnstarted) }

// DiskFate says what a restart finds on the disk.
type DiskFate uint8

// Fates of a disk.
const (
	KeepDisk DiskFate = iota
	LoseDisk
)

// Start begins a node's next incarnation, now.
func (w *World) Start(id node.ID) {
	p := w.find(id)
	p.wanted = true
	if p.alive() {
		node.Bug("sim: start of %v, which runs", p.peer)
	}
	p.start()
}

// Restart ends a node if it runs, and starts it, with its disk or without.
func (w *World) Restart(id node.ID, fate DiskFate) {
	p := w.find(id)
	p.wanted = true
	p.crash()
	if fate == LoseDisk {
		p.disk.wipe()
	}
	p.start()
}

// Crash ends a node at once; it loses what it had not synced.
func (w *World) Crash(id node.ID) {
	w.faults.harmed = true
	p := w.find(id)
	p.wanted = false
	p.crash()
}

// Stop asks a node for a graceful end.
func (w *World) Stop(id node.ID) {
	w.faults.harmed = true
	p := w.find(id)
	p.wanted = false
	p.stop()
}

// Pause stops a node at once, as SIGSTOP does: inputs wait and timers do not fire, but its
// clock and its executors go on.
func (w *World) Pause(id node.ID) {
	w.faults.harmed = true
	w.find(id).bars.set(barPaused, true)
}

// Paused says whether a node is paused, though it is alive.
func (w *World) Paused(id node.ID) bool { return w.find(id).bars.has(barPaused) }

// Resume continues a paused node: all that waited arrives, late.
func (w *World) Resume(id node.ID) { w.find(id).resume() }

func (p *process) start() {
	p.life++
	p.peer.Incarnation = uint64(p.life)
	if p.spec.Minor != nil {
		p.peer.Minor = p.spec.Minor()
	}
	p.newest = max(p.newest, p.peer.Minor)
	p.waking = false
	p.bars = p.bars&barAimed | barUnstarted
	p.machine = p.spec.New()
	p.box.SetEntrance(p.machine)
	if p.prices != nil {
		p.prices.labor, _ = p.machine.(node.Laborer)
		p.prices.paid = 0
	}
	p.busy = p.w.now
	p.drawn = 0
	p.calls = calls{p: p, answers: map[node.CommandID]func(node.Message){}}
	p.exec.runs = map[node.ExecID]*run{}
	_, e := p.w.queue.add(p.w.now, eventStart)
	e.node, e.life = p.index, p.life
}

func (p *process) onStart(e *event) {
	if p.life != e.life || !p.alive() {
		return
	}
	if p.bars.has(barPaused) { // it comes first when the node resumes
		p.hand(node.Input{Kind: node.InputStart})
		return
	}
	p.w.inputs.other = node.Input{Kind: node.InputStart}
	p.step(&p.w.inputs.other)
}

// stop delivers InputStop.
func (p *process) stop() {
	if p.alive() {
		p.hand(node.Input{Kind: node.InputStop})
	}
}

func (p *process) resume() {
	if p.bars.has(barPaused) {
		p.bars.set(barPaused, false)
		p.wake()
	}
}

// crash ends the process by force.
func (p *process) crash() {
	if p.alive() {
		p.end(false)
	}
}

// end drops everything of a process except its disk. A clean end syncs its writes and lets sent
// messages arrive.
func (p *process) end(clean bool) {
	if p.phase&phaseStep != 0 {
		node.Bug("sim: %v is ended from within its own step: use World.At", p.peer)
	}
	w := p.w
	w.trace.fold(uint64(w.now), uint64(p.index)<<8|foldCrash, uint64(p.life))
	p.phase = 0
	p.bars = p.bars&barAimed | barUnstarted
	for i := range p.timers.places {
		if t := &p.timers.places[i]; t.digest != 0 && t.event != 0 {
			w.queue.cancel(t.event)
		}
	}
	p.timers.clear()
	p.box.Clear()
	p.held = nil
	p.machine = nil
	if p.prices != nil {
		p.prices.labor = nil
	}
	if !clean {
		p.calls.answers = nil // otherwise its client still gets answers from before the end
	}
	p.exec.clear()
	p.outputs.waits = nil
	p.disk.crash(clean)
	w.streams.Crash(w.now, netsim.Host(p.index), func() bool { return !clean && w.crashes.Chance(1, 2) })
	w.streams.drain()
}

// leaves is when the handler's messages leave: at its end.
func (p *process) leaves() time.Duration { return max(p.w.now, p.busy) }
