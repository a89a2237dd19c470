package sim

import (
	"errors"
	"fmt"
	"time"

	"hyperscale/core/node"
	"hyperscale/netsim"
)

// Config of a world.
type Config struct {
	Seed uint64
	// Wire encodes and decodes every message when it is handed over.
	Wire bool
	// Network without faults; netsim.Default unless something else is wanted.
	Network netsim.Config
	// Observer sees everything and changes nothing; nil for none.
	Observer Observer
	// Beyond allows clocks that drift beyond DriftBound.
	Beyond bool
	// Flooded is told when a node handles more than RateMax messages of one kind in a
	// second, once each time; nil for nobody.
	Flooded func(id node.ID, k node.Kind)
	RateMax int
	// Labored is called for each Step whose work on its whole cluster takes a node longer
	// than LaborMax; it may be nil.
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

// World is a simulated cluster. It is used from one goroutine.
type World struct {
	config    Config
	queue     *queue
	now       time.Duration
	hash      uint64
	events    uint64
	nodes     []*process
	byID      map[node.ID]*process
	net       *netsim.Network
	streams   *netsim.Streams
	crashes   *node.Rand // what is lost in a crash
	faults    injector
	courier   func(Letter) bool // nil: the network has all datagrams
	scripts   scripts
	addresses addresses
	reasons   reasons
	watch     Interest
	scratch   []byte

	last       node.Message // the message whose digest and size were computed last
	lastDigest uint64
	lastSize   int

	datagram node.Input // reused: only Message, From and Generation change
	firing   node.Input // reused: only Timer and Generation change
	queued   node.Input // reused for what comes out of a mailbox
	other    node.Input // reused for the rest
}

// New returns a world without nodes at time zero.
func New(c Config) *World {
	w := &World{
		config: c, queue: newQueue(), byID: map[node.ID]*process{},
		hash:    node.Mix(c.Seed, 1),
		net:     netsim.New(c.Network, node.NewRand(c.Seed, worldID, node.PurposeNetwork)),
		crashes: node.NewRand(c.Seed, worldID, node.PurposeFault),
	}
	w.faults.w = w
	w.streams = netsim.NewStreams(w.net)
	w.datagram.Kind = node.InputMessage
	w.firing.Kind = node.InputTimer
	w.watch = interestOf(c.Observer)
	return w
}

// worldID names the world's own streams of random numbers.
const worldID = node.ID("the world")

// Now is the time since the world began.
func (w *World) Now() time.Duration { return w.now }

// Hash covers all inputs and effects so far.
func (w *World) Hash() uint64 { return w.hash }

// Events is the number of inputs delivered so far.
func (w *World) Events() uint64 { return w.events }

// Addr returns a node's address, whether it runs or not; empty for a client.
func (w *World) Addr(id node.ID) node.Addr { return w.find(id).peer.Addr }

// Alive says whether a node runs; a paused one does.
func (w *World) Alive(id node.ID) bool { return w.find(id).alive() }

// Clock reads the clock of a node that runs, paused or not, exactly as a step of
// it would now, and names the incarnation that reads it. False: it is down.
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

// Sizes has the machines that run tell what they keep, in the order of Add. It changes
// nothing, and is in no hash.
func (w *World) Sizes(tell func(id node.ID, what string, n, bound int)) {
	for _, p := range w.nodes {
		if m, ok := p.machine.(node.Sizer); ok && p.started() {
			m.Sizes(func(what string, n, bound int) { tell(p.peer.ID, what, n, bound) })
		}
	}
}

// Nodes returns all names in the order of Add.
func (w *World) Nodes() []node.ID {
	all := make([]node.ID, len(w.nodes))
	for i, p := range w.nodes {
		all[i] = p.peer.ID
	}
	return all
}

func (w *World) find(id node.ID) *process {
	p := w.byID[id]
	if p == nil {
		node.Bug("sim: node %q is not in this world: Add it first", id)
	}
	return p
}

// At runs f at a time of the world; a time that has passed means now.
func (w *World) At(t time.Duration, f func()) {
	_, e := w.queue.add(max(t, w.now), eventScript)
	e.word = w.scripts.keep(f)
}

// scripts are functions that wait for their events.
type scripts struct {
	all  []func()
	idle []uint32 // free places
}

func (s *scripts) keep(f func()) uint64 {
	if n := len(s.idle); n > 0 {
		i := s.idle[n-1]
		s.idle = s.idle[:n-1]
		s.all[i] = f
		return uint64(i)
	}
	s.all = append(s.all, f)
	return uint64(len(s.all) - 1)
}

func (s *scripts) take(i uint64) func() {
	f := s.all[i]
	s.all[i] = nil
	s.idle = append(s.idle, uint32(i))
	return f
}

// RunUntil lets everything happen that is due up to t, t included.
func (w *World) RunUntil(t time.Duration) {
	for w.next(t) {
	}
	w.now = max(w.now, t)
}

// Step lets the next event happen unless it is due after t, and says whether
// there was one.
func (w *World) Step(t time.Duration) bool { return w.next(t) }

// next lets one event happen.
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
		w.onDatagram(&e)
	case eventTimer:
		w.onTimer(&e)
	case eventStream:
		w.onStream(&e)
	case eventWake:
		w.onWake(&e)
	case eventStart:
		w.onStart(&e)
	case eventSynced:
		w.onSynced(&e)
	case eventExec:
		w.onExec(&e)
	case eventCommand:
		w.onCommand(&e)
	case eventAnswer:
		w.onAnswer(&e)
	case eventScript:
		w.scripts.take(e.word)()
	}
	return true
}

// Costs are the CPU times that handlers take: by the kind of a message, the
// default for everything else. All zero: handlers take no time.
type Costs struct {
	Default time.Duration
	ByKind  map[node.Kind]time.Duration
}

// Spec is a node of the world.
type Spec struct {
	ID          node.ID
	Role        node.Role
	Place       string
	New         func() node.Machine // called once an incarnation
	Costs       Costs
	Cores       int                // that executors can run on
	Model       Model              // what executors do; nil only without cores
	Disk        Disk               // the zero Disk means DefaultDisk
	ClockOffset time.Duration      // from ClockStart
	DriftPPM    int64              // of its clock, at most a tenth of a million either way
	Mailbox     node.MailboxConfig // the zero value means node.DefaultMailbox
}

func (s *Spec) validate(known bool) error {
	var faults []error
	if s.ID == "" || known {
		faults = append(faults, fmt.Errorf("spec.id = %q is empty or taken: name each node once", s.ID))
	}
	if !s.Role.Valid() || s.New == nil {
		faults = append(faults, fmt.Errorf("spec of %q: role %v and New must be set", s.ID, s.Role))
	}
	if s.Cores < 0 || s.Cores > 0 && s.Model == nil {
		faults = append(faults, fmt.Errorf("spec of %q: %d cores need a model: use sim.DefaultModel()", s.ID, s.Cores))
	}
	if s.DriftPPM < -driftBound || s.DriftPPM > driftBound {
		faults = append(faults, fmt.Errorf("spec of %q: drift %d is beyond %d parts per million", s.ID, s.DriftPPM, driftBound))
	}
	if s.Disk.LostPPM > million || s.Disk.Latency < 0 || s.Disk.Jitter < 0 {
		faults = append(faults, fmt.Errorf("spec of %q: disk %+v has a chance above a million or a negative time: start from sim.DefaultDisk()", s.ID, s.Disk))
	}
	return errors.Join(faults...)
}

// Add puts a node into the world. It does not start it.
func (w *World) Add(s Spec) {
	if err := s.validate(w.byID[s.ID] != nil); err != nil {
		node.Bug("sim: %v", err)
	}
	host := w.net.Add(s.Place)
	p := newProcess(w, s, uint32(host))
	w.nodes = append(w.nodes, p)
	w.byID[s.ID] = p
}
