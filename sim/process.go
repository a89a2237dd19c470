package sim

import (
	"math"
	"time"

	"hyperscale/core/node"
	"hyperscale/netsim"
)

// process is one node of the world, running or not. It implements node.Env for
// its machine (env.go).
//
// Each event reads the first fields, which fill one line of the processor's cache, and
// most read the next three, which fill another.
type process struct {
	w       *World
	machine node.Machine  // nil: the node is down
	busy    time.Duration // until when the CPU is taken
	prices  *prices       // nil: handlers take no time
	index   uint32
	life    uint32 // incarnations so far; what belongs to an older one is dropped
	status

	clock  clock
	timers timerTable
	box    *node.Mailbox

	held  *node.Input // a message that waits for its StreamOpened to be seen
	peer  node.Peer
	rands [node.Purposes]*node.Rand
	look  lookout
	disk  disk
	exec  executor
	calls calls
	spec  Spec
	rates rates
}

// status is what decides whether a process handles an input.
type status struct {
	suspended int32  // faults that suspend its host
	refusing  int16  // faults that make it refuse streams
	header    uint16 // bytes that its datagrams carry besides their messages
	bars      bar
	phase     phase
	waking    bool // an eventWake is in the queue
	wanted    bool // a script has started it and has not ended it
}

// bar is a set of reasons why a process cannot handle an input at once.
type bar uint8

const (
	barUnstarted bar = 1 << iota // InputStart was not delivered
	barPaused
	barHeld   // process.held waits
	barQueued // the mailbox is not empty
	barAimed  // no reason: a fault looks out for the node's timers and writes
)

func (b bar) has(c bar) bool { return b&c != 0 }

func (b *bar) set(c bar, on bool) {
	*b &^= c
	if on {
		*b |= c
	}
}

// phase says what a machine does now, a set as well.
type phase uint8

const (
	phaseStep  phase = 1 << iota // it handles an input
	phaseStart                   // that is InputStart
	phaseHalt                    // it has asked for its end
)

// prices are a node's Costs, in a table.
type prices struct {
	cost   time.Duration
	byKind []time.Duration
	slow   int64        // factor on all
	labor  node.Laborer // the machine of this life, if it is one
	paid   uint64       // of its labor
}

// calls are the local commands that a node answers.
type calls struct {
	last    node.CommandID
	answers map[node.CommandID]func(node.Message)
}

func newProcess(w *World, s Spec, index uint32) *process {
	if s.Mailbox == (node.MailboxConfig{}) {
		s.Mailbox = node.DefaultMailbox()
	}
	p := &process{
		w: w, spec: s, index: index, status: status{bars: barUnstarted}, prices: pricesOf(&s.Costs),
		clock: clock{local: node.Instant(ClockStart).Add(s.ClockOffset), ppm: s.DriftPPM},
		box:   node.NewMailbox(s.Mailbox),
		peer:  node.Peer{ID: s.ID, Role: s.Role},
	}
	if s.Role != node.RoleClient {
		p.peer.Addr = w.addresses.of(index)
	}
	p.header = uint16(headerFixed + len(p.peer.ID) + len(p.peer.Addr))
	p.look.p = p
	p.disk = newDisk(p)
	p.exec = executor{p: p, cores: make([]*run, s.Cores), models: node.NewRand(w.config.Seed, s.ID, node.PurposeModel)}
	return p
}

// pricesOf returns nil where handlers take no time.
func pricesOf(c *Costs) *prices {
	if c.Default == 0 && len(c.ByKind) == 0 {
		return nil
	}
	p := &prices{cost: c.Default, slow: 1}
	//lint:orderfree each kind has a place of its own
	for k, d := range c.ByKind {
		for len(p.byKind) <= int(k) {
			p.byKind = append(p.byKind, c.Default)
		}
		p.byKind[k] = d
	}
	return p
}

// of returns what handling an input takes.
func (p *prices) of(in *node.Input) time.Duration {
	cost := p.cost
	if in.Kind == node.InputMessage || in.Kind == node.InputCommand {
		if k := int(in.Message.Kind()); k < len(p.byKind) {
			cost = p.byKind[k]
		}
	}
	return cost * time.Duration(p.slow)
}

// Work that grows with the cluster is charged beside the price of an input, in whole
// units of so many looks: a look compares names that are not in a cache. What a small
// cluster does in a Step is less than one unit.
const (
	laborUnit = 100_000
	laborCost = time.Millisecond
)

// extra returns what the labor of the Step that is over takes, before any slowness.
func (p *prices) extra() time.Duration {
	done := p.labor.Labor()
	units := (done - p.paid) / laborUnit
	p.paid = done
	return time.Duration(units) * laborCost
}

// alive is between Start and the end; started is from the delivery of InputStart on.
func (p *process) alive() bool   { return p.machine != nil }
func (p *process) started() bool { return !p.bars.has(barUnstarted) }

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

// addressBatch is how many addresses share one string: each datagram reads one.
const addressBatch = 64

// addresses makes addresses in batches.
type addresses struct {
	batch uint32 // number of the last one
	text  string
}

// of returns the address of a node.
func (a *addresses) of(index uint32) node.Addr {
	const size = len(addressPrefix) + addressDigits
	if a.text == "" || index/addressBatch != a.batch {
		a.batch = index / addressBatch
		var b []byte
		for i := range uint32(addressBatch) {
			b = append(b, address(a.batch*addressBatch+i)...)
		}
		a.text = string(b)
	}
	from := int(index%addressBatch) * size
	return node.Addr(a.text[from : from+size])
}

// at returns the index of the node that has an address, and whether any has.
func (w *World) at(a node.Addr) (uint32, bool) {
	if len(a) != len(addressPrefix)+addressDigits || a[:len(addressPrefix)] != addressPrefix {
		return 0, false
	}
	n := number(a)
	return uint32(n), n < uint64(len(w.nodes))
}

// number reads the last character of the prefix and the digits behind it all at once:
// each as a byte, then pairs, then fours. It returns math.MaxUint64 for what is no number.
func number(a node.Addr) uint64 {
	_ = a[10]
	d := uint64(a[3]) | uint64(a[4])<<8 | uint64(a[5])<<16 | uint64(a[6])<<24 |
		uint64(a[7])<<32 | uint64(a[8])<<40 | uint64(a[9])<<48 | uint64(a[10])<<56
	const each = 0x0101010101010101
	d ^= '0'*(each-1) | '-'
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
func (w *World) Pause(id node.ID) { w.find(id).bars.set(barPaused, true) }

// Paused says whether a node stands still, though it is alive.
func (w *World) Paused(id node.ID) bool { return w.find(id).bars.has(barPaused) }

// Resume lets a paused node go on: all that waited comes, late.
func (w *World) Resume(id node.ID) { w.find(id).resume() }

func (p *process) start() {
	p.life++
	p.peer.Incarnation = uint64(p.life)
	p.waking = false
	p.bars = p.bars&barAimed | barUnstarted
	p.machine = p.spec.New()
	if p.prices != nil {
		p.prices.labor, _ = p.machine.(node.Laborer)
		p.prices.paid = 0
	}
	p.busy = p.w.now
	for i := range p.rands {
		p.rands[i] = nil
	}
	p.calls = calls{answers: map[node.CommandID]func(node.Message){}}
	p.exec.runs = map[node.ExecID]*run{}
	_, e := p.w.queue.add(p.w.now, eventStart)
	e.node, e.life = p.index, p.life
}

func (w *World) onStart(e *event) {
	p := w.nodes[e.node]
	if p.life != e.life || !p.alive() {
		return
	}
	if p.bars.has(barPaused) { // it comes first when the node goes on
		w.hand(p, node.Input{Kind: node.InputStart})
		return
	}
	w.other = node.Input{Kind: node.InputStart}
	p.step(&w.other)
}

// stop delivers InputStop.
func (p *process) stop() {
	if p.alive() {
		p.w.hand(p, node.Input{Kind: node.InputStop})
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

// end leaves nothing of a process but its disk. A clean end syncs what was
// written and lets what was sent arrive.
func (p *process) end(clean bool) {
	if p.phase&phaseStep != 0 {
		node.Bug("sim: %v is ended from within its own step: use World.At", p.peer)
	}
	w := p.w
	w.fold(uint64(w.now), uint64(p.index)<<8|foldCrash, uint64(p.life))
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
		p.calls.answers = nil // else what it answered before it ended is still heard
	}
	p.exec.clear()
	p.disk.crash(clean)
	w.streams.Crash(w.now, netsim.Host(p.index), func() bool { return !clean && w.crashes.Chance(1, 2) })
	w.drain()
}
