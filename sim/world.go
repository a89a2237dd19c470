package sim

import (
	"maps"
	"slices"
	"time"

	"hyperscale/core/node"
	"hyperscale/netsim"
)

// Config of a world.
type Config struct {
	Seed uint64
	// Wire encodes and decodes every message at its delivery.
	Wire bool
	// Network without faults, for example netsim.Default.
	Network netsim.Config
	// Observer sees everything and changes nothing; it may be nil.
	Observer Observer
	// Beyond allows clocks that drift beyond DriftBound.
	Beyond bool
	// Flooded is called when more than RateMax messages of one kind reach a node in a second,
	// once per second; it may be nil. What waited for the node counts for the second in which it arrived.
	Flooded func(id node.ID, k node.Kind)
	RateMax int
	// Labored is called for each Step whose work on its whole cluster takes a node longer than
	// LaborMax; it may be nil.
	Labored  func(id node.ID, took time.Duration)
	LaborMax time.Duration
}

// eventKind tells what an event of the queue does.
type eventKind uint8

const (
	eventDatagram eventKind = iota
	eventTimer
	eventStream
	eventWake
	eventStart
	eventSynced
	eventExec
	eventCommand
	eventAnswer
	eventScript
)

// World is a simulated cluster. Only one goroutine may use it.
type World struct {
	roster
	config  Config
	queue   *queue
	now     time.Duration
	events  uint64
	net     *netsim.Network
	streams streams
	crashes *node.Rand // what a crash loses
	faults  injector
	courier func(Letter) bool // nil: the network gets all datagrams
	scripts shelf[func()]
	trace   recorder
	names   names
	mixed   bool // nodes of several clusters
	wire    wire
	inputs  inputs
	rates   rates
}

// inputs are reused: only the named fields change.
type inputs struct {
	datagram node.Input // Message, From and Generation
	firing   node.Input // Timer and Generation
	queued   node.Input // all, for what comes out of a mailbox
	other    node.Input // all, for the rest
}

// New returns a world without nodes at time zero.
func New(c Config) *World {
	w := &World{
		roster: roster{byID: map[node.ID]*process{}},
		config: c, queue: newQueue(),
		trace:   recorder{hash: node.Mix(c.Seed, 1), observer: c.Observer, watch: interestOf(c.Observer)},
		net:     netsim.New(c.Network, node.NewRand(c.Seed, worldID, node.PurposeNetwork)),
		crashes: node.NewRand(c.Seed, worldID, node.PurposeFault),
		inputs:  inputs{datagram: node.Input{Kind: node.InputMessage}, firing: node.Input{Kind: node.InputTimer}},
	}
	w.faults.w = w
	w.streams = streams{Streams: netsim.NewStreams(w.net), w: w}
	return w
}

// worldID names the world's own streams of random numbers.
const worldID = node.ID("the world")

// Now is the time since the world began.
func (w *World) Now() time.Duration { return w.now }

// Hash covers all inputs and effects so far.
func (w *World) Hash() uint64 { return w.trace.hash }

// Events is the number of inputs delivered so far.
func (w *World) Events() uint64 { return w.events }

// Alive says whether a node runs; a paused one does.
func (w *World) Alive(id node.ID) bool { return w.find(id).alive() }

// Clock reads the clock of a running node, paused or not, exactly as its step would now. It
// also returns the incarnation, and false if the node is down.
func (w *World) Clock(id node.ID) (now node.Instant, incarnation uint64, running bool) {
	p := w.byID[id]
	if p == nil || !p.alive() {
		return 0, 0, false
	}
	return p.Now(), p.peer.Incarnation, true
}

// Place returns where a node is.
func (w *World) Place(id node.ID) string { return w.find(id).spec.Place }

// Records says how many records a node has on its disk.
func (w *World) Records(id node.ID) int { return len(w.find(id).disk.records) }

// Sizes calls the running machines for their sizes, in the order of Add, and adds those of their
// mailboxes. It changes nothing, and no hash covers it.
func (w *World) Sizes(tell func(id node.ID, what string, n, bound int)) {
	for _, p := range w.nodes {
		own := func(what string, n, bound int) { tell(p.peer.ID, what, n, bound) }
		if m, ok := p.machine.(node.Sizer); ok && p.started() {
			m.Sizes(own)
		}
		p.box.Sizes(own)
	}
}

// RunUntil runs all events that are due up to and including t.
func (w *World) RunUntil(t time.Duration) {
	for w.next(t) {
	}
	w.now = max(w.now, t)
}

// Step runs the next event unless it is due after t, and says whether there was one.
func (w *World) Step(t time.Duration) bool { return w.next(t) }

// next runs one event.
func (w *World) next(limit time.Duration) bool {
	i, p := w.queue.pop(limit)
	if p == nil {
		return false
	}
	e := *p
	w.queue.release(i)
	w.now = e.at
	switch e.kind {
	case eventDatagram:
		w.nodes[e.node].onDatagram(&e)
	case eventTimer:
		w.nodes[e.node].onTimer(&e)
	case eventStream:
		w.streams.onStream(&e)
	case eventWake:
		w.nodes[e.node].onWake(&e)
	case eventStart:
		w.nodes[e.node].onStart(&e)
	case eventSynced:
		w.nodes[e.node].disk.onSynced(&e)
	case eventExec:
		w.nodes[e.node].exec.onExec(&e)
	case eventCommand:
		w.nodes[e.node].calls.onCommand(&e)
	case eventAnswer:
		w.nodes[e.node].calls.onAnswer(&e)
	case eventScript:
		w.scripts.take(e.word)()
	}
	return true
}

// Rests calls the running machines that of selects for their ledgers at rest, in the order of
// Add, and reports what the world itself keeps for each. It changes nothing, and no hash covers
// it.
func (w *World) Rests(of func(node.ID) bool, tell func(id node.ID, what string, n, rest int)) {
	doubles := w.streams.Doubles()
	for i, p := range w.nodes {
		if !p.started() || !of(p.peer.ID) {
			continue
		}
		own := func(what string, n, rest int) { tell(p.peer.ID, what, n, rest) }
		if m, ok := p.machine.(node.Rester); ok {
			m.Rests(own)
		}
		own("mailbox", p.box.Len(), 0)
		own("executors", len(p.exec.runs), 0)
		for to, q := range w.nodes {
			if len(doubles) == 0 {
				break
			}
			if n := doubles[[2]netsim.Host{netsim.Host(i), netsim.Host(to)}]; n > 0 {
				own("further streams to "+string(q.peer.Addr), n, 0)
			}
		}
		timers := p.timers.ending()
		if len(timers) == 0 {
			continue
		}
		for _, part := range slices.Sorted(maps.Keys(timers)) {
			own("timers of "+part, timers[part], 0)
		}
	}
}
