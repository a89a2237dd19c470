package sim

import (
	"math"
	"time"

	"hyperscale/core/node"
	"hyperscale/netsim"
)

// process is one node of the world, running or not. It implements node.Env for
// its machine (env.go).
type process struct {
	w                           *World
	machine                     node.Machine
	index                       uint32
	life                        uint32 // incarnations so far; what belongs to an older one is dropped
	alive                       bool   // between Start and its end
	started                     bool   // InputStart was delivered
	paused                      bool
	waking                      bool // an eventWake is in the queue
	starting, halting, stepping bool
	queued                      bool // the mailbox is not empty

	// Each event reads what stands up to here and the next fields: they lie together.
	busy      time.Duration // until when the CPU is taken
	suspended int           // faults that suspend its host
	held      *node.Input   // a message that waits for its StreamOpened to be seen
	shots     []*shot       // what waits for a timer or a write of this node
	costs     []time.Duration
	cost      time.Duration
	slow      int64 // factor on all costs
	clock     clock
	timers    timerTable
	box       *node.Mailbox

	peer   node.Peer
	rands  [node.Purposes]*node.Rand
	disk   disk
	cores  []*run
	runs   map[node.ExecID]*run
	models *node.Rand

	command  node.CommandID
	commands map[node.CommandID]func(node.Message)
	spec     Spec
	reason   string  // of Halt
	refusing int     // faults that make it refuse streams
	frozen   []event // of its executors, while its host is suspended
	wanted   bool    // a script has started it and has not ended it
	rates    rates
}

func newProcess(w *World, s Spec, index uint32) *process {
	if s.Mailbox == (node.MailboxConfig{}) {
		s.Mailbox = node.DefaultMailbox()
	}
	p := &process{
		w: w, spec: s, index: index, slow: 1, cost: s.Costs.Default,
		clock:  clock{local: node.Instant(ClockStart).Add(s.ClockOffset), ppm: s.DriftPPM},
		box:    node.NewMailbox(s.Mailbox),
		peer:   node.Peer{ID: s.ID, Role: s.Role},
		disk:   newDisk(s.Disk, w.config.Seed, s.ID),
		cores:  make([]*run, s.Cores),
		models: node.NewRand(w.config.Seed, s.ID, node.PurposeModel),
	}
	if s.Role != node.RoleClient {
		p.peer.Addr = address(index)
	}
	//lint:orderfree each kind has a place of its own
	for k, d := range s.Costs.ByKind {
		for len(p.costs) <= int(k) {
			p.costs = append(p.costs, s.Costs.Default)
		}
		p.costs[k] = d
	}
	return p
}

// Addresses have a fixed width, so that a node is found without a map.
const (
	addressPrefix = "sim-"
	addressDigits = 7
)

func address(index uint32) node.Addr {
	b := []byte(addressPrefix + "0000000")
	for i := len(b) - 1; index > 0; i-- {
		b[i] = byte('0' + index%10)
		index /= 10
	}
	return node.Addr(b)
}

// at returns who listens at an address, or nil.
func (w *World) at(a node.Addr) *process {
	if len(a) != len(addressPrefix)+addressDigits || a[:len(addressPrefix)] != addressPrefix {
		return nil
	}
	n := number(a[len(addressPrefix):])
	if n >= uint64(len(w.nodes)) {
		return nil
	}
	return w.nodes[n]
}

// number reads the digits of an address all at once: each as a byte, then pairs, then
// fours. It returns math.MaxUint64 for what is no number.
func number(a node.Addr) uint64 {
	d := uint64('0') | uint64(a[0])<<8 | uint64(a[1])<<16 | uint64(a[2])<<24 |
		uint64(a[3])<<32 | uint64(a[4])<<40 | uint64(a[5])<<48 | uint64(a[6])<<56
	const each = 0x0101010101010101
	d ^= '0' * each
	if (d|(d+(0x7f-9)*each))&(0x80*each) != 0 { // a byte above 9
		return math.MaxUint64
	}
	d = d * (1 + 10<<8) >> 8 & 0x00ff00ff00ff00ff
	d = d * (1 + 100<<16) >> 16 & 0x0000ffff0000ffff
	return d * (1 + 10000<<32) >> 32
}

// DiskFate says what a restart finds.
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
	if p.alive {
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

// Crash ends a node at once; what it had not synced is lost.
func (w *World) Crash(id node.ID) {
	p := w.find(id)
	p.wanted = false
	p.crash()
}

// Stop asks a node for a graceful end.
func (w *World) Stop(id node.ID) {
	p := w.find(id)
	p.wanted = false
	p.stop()
}

// Pause stops a node in its tracks, as SIGSTOP does: inputs wait, timers do not
// fire, its clock and its executors go on.
func (w *World) Pause(id node.ID) { w.find(id).paused = true }

// Paused says whether a node stands still, though it is alive.
func (w *World) Paused(id node.ID) bool { return w.find(id).paused }

// Resume lets a paused node go on: all that waited comes, late.
func (w *World) Resume(id node.ID) { w.find(id).resume() }

func (p *process) start() {
	p.life++
	p.peer.Incarnation = uint64(p.life)
	p.alive, p.started, p.paused, p.waking = true, false, false, false
	p.machine = p.spec.New()
	p.busy = p.w.now
	for i := range p.rands {
		p.rands[i] = nil
	}
	p.command, p.commands = 0, map[node.CommandID]func(node.Message){}
	p.runs = map[node.ExecID]*run{}
	_, e := p.w.queue.add(p.w.now, eventStart)
	e.node, e.life = p.index, p.life
}

func (w *World) onStart(e *event) {
	p := w.nodes[e.node]
	if p.life != e.life || !p.alive {
		return
	}
	if p.paused { // it comes first when the node goes on
		w.hand(p, node.Input{Kind: node.InputStart})
		return
	}
	w.other = node.Input{Kind: node.InputStart}
	p.step(&w.other)
}

// stop delivers InputStop.
func (p *process) stop() {
	if p.alive {
		p.w.hand(p, node.Input{Kind: node.InputStop})
	}
}

func (p *process) resume() {
	if p.paused {
		p.paused = false
		p.wake()
	}
}

// crash ends the process by force.
func (p *process) crash() {
	if p.alive {
		p.end(false)
	}
}

// end leaves nothing of a process but its disk. A clean end syncs what was
// written and lets what was sent arrive.
func (p *process) end(clean bool) {
	if p.stepping {
		node.Bug("sim: %v is ended from within its own step: use World.At", p.peer)
	}
	w := p.w
	w.fold(uint64(w.now), uint64(p.index)<<8|foldCrash, uint64(p.life))
	p.alive, p.started, p.paused, p.halting = false, false, false, false
	for i := range p.timers.places {
		if t := &p.timers.places[i]; t.digest != 0 && t.event != 0 {
			w.queue.cancel(t.event)
		}
	}
	p.timers.clear()
	p.box.Clear()
	p.queued = false
	p.held = nil
	p.machine = nil
	if !clean {
		p.commands = nil // else what it answered before it ended is still heard
	}
	clear(p.cores)
	p.runs, p.frozen = nil, nil
	p.disk.crash(clean)
	w.streams.Crash(w.now, netsim.Host(p.index), func() bool { return !clean && w.crashes.Chance(1, 2) })
	w.drain()
}
