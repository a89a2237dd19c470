package nodetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Config is the node under test.
type Config struct {
	Self node.Peer
	Seed uint64
	New  func() node.Machine // called once an incarnation
}

// Env is the world of one node. It implements node.Env.
type Env struct {
	// Timers makes lines of SetTimer and CancelTimer too.
	Timers bool
	// Hidden names messages and events whose lines are left out.
	Hidden map[string]bool
	// Discard makes no lines at all; Watch still sees everything.
	Discard bool
	// Watch, when set, is handed every event and every sent message, for tests
	// that keep a model.
	WatchEvent func(node.Event)
	WatchSend  func(to node.StreamID, m node.Message)
	// WatchDatagram and WatchOpen let a test be the others.
	WatchDatagram func(to node.Addr, m node.Message)
	WatchOpen     func(s node.StreamID, to node.Addr)
	WatchStart    func(id node.ExecID, core int, m node.Message)
	// WatchExtend, when set, is handed every deadline of an executor run.
	WatchExtend func(id node.ExecID, until node.Instant)
	// WatchKill sees each executor that is killed.
	WatchKill func(id node.ExecID)
	// Held keeps completions of the store back until Complete.
	Held bool
	// Failure, when set, is what every completion from now on says.
	Failure error

	config   Config
	machine  node.Machine
	self     node.Peer
	now      node.Instant
	sequence uint64
	rands    [node.Purposes]*node.Rand
	timers   map[node.TimerKey]firing
	streams  map[node.StreamID]*stream
	stream   node.StreamID
	command  node.CommandID
	disk     map[string][]byte
	puts     []put
	starting bool
	halted   bool
	execs    map[node.ExecID]int // core of each run that is not gone
	lines    []string
	values   []value
	text     Text
	peers    peers
	scratch  []byte
}

type firing struct {
	at       node.Instant
	sequence uint64
}

type stream struct {
	addr   node.Addr // of those that the node opened
	peer   node.Peer // zero until opened
	broken bool      // and the machine has not been told
}

type put struct {
	records []node.Record
	token   node.Token
}

type value struct {
	message node.Message
	digest  uint64
}

var _ node.Env = (*Env)(nil)

// New returns a world whose node has not started.
func New(c Config) *Env {
	if c.New == nil || c.Self.ID == "" || !c.Self.Role.Valid() {
		node.Bug("nodetest: config %+v names no machine or no peer", c)
	}
	e := &Env{config: c, disk: map[string][]byte{}, Hidden: map[string]bool{}}
	e.self = c.Self
	e.self.Incarnation--
	e.now = node.Instant(time.Hour)
	for p := range e.rands {
		e.rands[p] = node.NewRand(c.Seed, c.Self.ID, node.Purpose(p))
	}
	e.forget()
	return e
}

// forget drops what does not survive a crash.
func (e *Env) forget() {
	e.machine = nil
	e.timers = map[node.TimerKey]firing{}
	e.streams = map[node.StreamID]*stream{}
	e.execs = map[node.ExecID]int{}
	e.puts = nil
	e.halted = false
}

func (e *Env) line(format string, args ...any) {
	if !e.Discard {
		e.lines = append(e.lines, fmt.Sprintf(format, args...))
	}
}

// Take returns the lines since the last Take, each ended by a newline.
func (e *Env) Take() string {
	e.verify()
	if len(e.lines) == 0 {
		return ""
	}
	s := strings.Join(e.lines, "\n") + "\n"
	e.lines = e.lines[:0]
	return s
}

// verify holds that no message was changed after it was sent or delivered.
func (e *Env) verify() {
	for _, v := range e.values {
		if got := v.message.Digest(); got != v.digest {
			node.Bug("nodetest: %s was changed after it was handed over: digest %x, was %x", message.NameOf(v.message), got, v.digest)
		}
	}
	e.values = e.values[:0]
}

// keep checks that a message can cross a wire and remembers its digest.
func (e *Env) keep(m node.Message) {
	c, scratch, err := message.Clone(m, e.scratch)
	e.scratch = scratch
	if err != nil {
		node.Bug("nodetest: a message that cannot cross a wire: %v", err)
	}
	if c.Digest() != m.Digest() {
		node.Bug("nodetest: %s has another digest after the wire", message.NameOf(m))
	}
	e.values = append(e.values, value{m, m.Digest()})
}

func (e *Env) show(name string) bool { return !e.Discard && !e.Hidden[name] }

// Self implements node.Env.
func (e *Env) Self() node.Peer { return e.self }

// Now implements node.Env.
func (e *Env) Now() node.Instant { return e.now }

// Rand implements node.Env.
func (e *Env) Rand(p node.Purpose) *node.Rand { return e.rands[p] }

// Store implements node.Env.
func (e *Env) Store() node.Store { return (*store)(e) }

// Exec implements node.Env.
func (e *Env) Exec() node.Executor { return (*executor)(e) }

// Emit implements node.Env.
func (e *Env) Emit(v node.Event) {
	if e.WatchEvent != nil {
		e.WatchEvent(v)
	}
	if e.show(v.EventName()) {
		e.line("! %s%s", v.EventName(), e.text.fields(v))
	}
}

// Answer implements node.Env.
func (e *Env) Answer(id node.CommandID, m node.Message) {
	e.keep(m)
	e.line("answer %d %s", id, e.text.Message(m))
}

// Halt implements node.Env.
func (e *Env) Halt(reason string) {
	e.halted = true
	e.line("halt %q", reason)
}

// Datagram implements node.Env.
func (e *Env) Datagram(to node.Addr, m node.Message) {
	e.keep(m)
	if e.WatchDatagram != nil {
		e.WatchDatagram(to, m)
	}
	if e.show(message.NameOf(m)) {
		e.line("-> %s (datagram) %s", to, e.text.Message(m))
	}
}

// Open implements node.Env.
func (e *Env) Open(to node.Addr) node.StreamID {
	e.stream++
	e.streams[e.stream] = &stream{addr: to}
	if e.WatchOpen != nil {
		e.WatchOpen(e.stream, to)
	}
	if e.show("open") {
		e.line("open %s", to)
	}
	return e.stream
}

// Send implements node.Env.
func (e *Env) Send(id node.StreamID, m node.Message) {
	s := e.streams[id]
	if s == nil || s.broken {
		if e.show(message.NameOf(m)) {
			e.line("dropped %s", e.text.Message(m))
		}
		return
	}
	e.keep(m)
	if e.WatchSend != nil {
		e.WatchSend(id, m)
	}
	if e.show(message.NameOf(m)) {
		e.line("-> %s %s", s.name(), e.text.Message(m))
	}
}

func (s *stream) name() string {
	if s.peer.ID != "" {
		return string(s.peer.ID)
	}
	return string(s.addr) + " (opening)"
}

// Close implements node.Env.
func (e *Env) Close(id node.StreamID) {
	if s := e.streams[id]; s != nil && e.show("close") {
		e.line("close %s", s.name())
	}
	delete(e.streams, id)
}

// SetTimer implements node.Env.
func (e *Env) SetTimer(k node.TimerKey, d time.Duration) {
	if d < 0 {
		node.Bug("nodetest: %v set to %v", k, d)
	}
	e.sequence++
	e.timers[k] = firing{e.now.Add(d), e.sequence}
	if e.Timers {
		e.line("set %v %v", k, d)
	}
}

// CancelTimer implements node.Env.
func (e *Env) CancelTimer(k node.TimerKey) {
	if _, ok := e.timers[k]; ok && e.Timers {
		e.line("cancel %v", k)
	}
	delete(e.timers, k)
}

// store is the durable half of Env.
type store Env

// Put implements node.Store.
func (s *store) Put(records []node.Record, t node.Token) {
	e := (*Env)(s)
	for _, r := range records {
		if r.Key == "" || len(r.Key) > 256 || len(r.Value) > 1<<20 {
			node.Bug("nodetest: record %q of %d bytes is outside the bounds of a store", r.Key, len(r.Value))
		}
		if e.Hidden["put"] {
			continue
		}
		if r.Value == nil {
			e.line("put %s deleted", e.text.shorten(r.Key))
		} else {
			e.line("put %s", e.text.shorten(r.Key))
		}
	}
	e.puts = append(e.puts, put{records, t})
}

// Load implements node.Store.
func (s *store) Load(prefix string) []node.Record {
	e := (*Env)(s)
	if !e.starting {
		node.Bug("nodetest: load of %q outside InputStart", prefix)
	}
	var found []node.Record
	for _, k := range slices.Sorted(maps.Keys(e.disk)) {
		if strings.HasPrefix(k, prefix) {
			found = append(found, node.Record{Key: k, Value: slices.Clone(e.disk[k])})
		}
	}
	return found
}

// executor is the cores of Env.
type executor Env

// Start implements node.Executor.
func (x *executor) Start(id node.ExecID, core int, m node.Message) {
	e := (*Env)(x)
	e.keep(m)
	if _, ok := e.execs[id]; ok {
		node.Bug("nodetest: executor run %d started twice", id)
	}
	for _, other := range slices.Sorted(maps.Keys(e.execs)) {
		if e.execs[other] == core {
			node.Bug("nodetest: run %d started on core %d, which run %d holds", id, core, other)
		}
	}
	e.execs[id] = core
	if e.WatchStart != nil {
		e.WatchStart(id, core, m)
	}
	e.line("exec %d start core=%d %s", id, core, e.text.Message(m))
}

// Cancel implements node.Executor.
func (x *executor) Cancel(id node.ExecID) { (*Env)(x).line("exec %d cancel", id) }

// Extend implements node.Executor.
func (x *executor) Extend(id node.ExecID, until node.Instant) {
	e := (*Env)(x)
	if e.WatchExtend != nil {
		e.WatchExtend(id, until)
	}
	if e.show("extend") {
		e.line("exec %d extend %v", id, until.Sub(e.now))
	}
}

// Tell implements node.Executor.
func (x *executor) Tell(id node.ExecID, m node.Message) {
	e := (*Env)(x)
	e.keep(m)
	e.line("exec %d told %s", id, e.text.Message(m))
}

// Kill implements node.Executor.
func (x *executor) Kill(id node.ExecID) {
	e := (*Env)(x)
	if e.WatchKill != nil {
		e.WatchKill(id)
	}
	e.line("exec %d kill", id)
}
