package nodetest

import (
	"time"

	"hyperscale/core/node"
)

// Config describes the node under test.
type Config struct {
	Self node.Peer
	Seed uint64
	New  func() node.Machine // called once an incarnation
}

// Env is the world of one node. It implements node.Env.
type Env struct {
	Recorder
	Clock
	Streams
	Storage
	execs executors
	sinks sinks

	// Mail comes with each input: the state of the mailbox.
	Mail node.Mail

	config  Config
	machine node.Machine
	self    node.Peer
	rands   [node.Purposes]*node.Rand
	command node.CommandID
	halted  bool
	peers   peers
}

var _ node.Env = (*Env)(nil)

// New returns a world whose node has not started.
func New(c Config) *Env {
	if c.New == nil || c.Self.ID == "" || !c.Self.Role.Valid() {
		node.Bug("nodetest: config %+v names no machine or no peer", c)
	}
	e := &Env{config: c, Recorder: Recorder{Hidden: map[string]bool{}}}
	e.self = c.Self
	e.self.Incarnation--
	e.Clock = Clock{recorder: &e.Recorder, now: node.Instant(time.Hour)}
	e.Streams.recorder = &e.Recorder
	e.Storage = Storage{recorder: &e.Recorder, disk: map[string][]byte{}}
	for p := range e.rands {
		e.rands[p] = node.NewRand(c.Seed, c.Self.ID, node.Purpose(p))
	}
	e.forget()
	return e
}

// forget drops what a crash loses.
func (e *Env) forget() {
	e.machine = nil
	e.timers = map[node.TimerKey]firing{}
	e.Streams.all = map[node.StreamID]*stream{}
	e.execs = executors{recorder: &e.Recorder, clock: &e.Clock, cores: map[node.ExecID]int{}}
	e.sinks = sinks{recorder: &e.Recorder}
	e.puts = nil
	e.halted = false
}

// Self implements node.Env.
func (e *Env) Self() node.Peer { return e.self }

// Rand implements node.Env.
func (e *Env) Rand(p node.Purpose) *node.Rand { return e.rands[p] }

// Store implements node.Env.
func (e *Env) Store() node.Store { return (*store)(&e.Storage) }

// Exec implements node.Env.
func (e *Env) Exec() node.Executor { return &e.execs }

// Outputs implements node.Env.
func (e *Env) Outputs() node.Outputs { return &e.sinks }

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

// Restart implements node.Env. The test decides when the next incarnation begins.
func (e *Env) Restart(reason string) {
	e.halted = true
	e.line("restart %q", reason)
}
