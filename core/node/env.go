package node

import "time"

// Env is the interface through which a machine acts on its world. It is valid only inside Step.
type Env interface {
	Network
	Timers
	Self() Peer
	Now() Instant
	Rand(Purpose) *Rand
	Store() Store
	Exec() Executor
	Outputs() Outputs
	// Emit reports a decision to observers (metrics, log, trace, history). Observers cannot
	// change what the machine does, and the machine reads nothing back.
	Emit(Event)
	// Answer replies to a local command. A watch gets many answers; the message itself says
	// which one is the last.
	Answer(CommandID, Message)
	// Halt ends this node once Step returns. The reason is a text for operators; an empty one
	// means a stop that was asked for.
	Halt(reason string)
	// Restart ends this node once Step returns, and begins its next incarnation on the same disk. A
	// Halt in the same Step comes first. The reason is a text for operators.
	Restart(reason string)
}

// Network carries messages to other nodes.
type Network interface {
	// Datagram sends a message that the network may lose, duplicate, reorder or delay.
	Datagram(to Addr, m Message)
	// Open begins a stream; InputStreamOpened or InputStreamBroken follows. What is sent before
	// that waits, in order. A broken stream does not reconnect.
	Open(to Addr) StreamID
	// Send works from either side. After a break it drops messages, also before the machine has
	// received InputStreamBroken.
	Send(s StreamID, m Message)
	// Close ends a stream on purpose; no StreamBroken follows on this side.
	Close(s StreamID)
	// Resolve looks up which addresses a name stands for: "dns:host:port" or "srv:name".
	// InputNames follows, unless the node is overloaded. The host keeps no answer.
	Resolve(name Addr)
	// Backlog returns how many bytes wait to be written on a stream, and how many break it. Both
	// are zero if there is no such stream.
	Backlog(s StreamID) (bytes, bound int)
}

// Calm reports whether what was sent on a stream has mostly left. A machine asks before it sends
// figures that newer ones replace: those that would wait are better sent later, and newer.
func Calm(n Network, s StreamID) bool {
	bytes, bound := n.Backlog(s)
	return bytes <= bound/64
}

// Timers are keyed: setting one again replaces it.
type Timers interface {
	SetTimer(k TimerKey, d time.Duration)
	CancelTimer(k TimerKey)
}

// WriteIDOf returns the id of a part's n-th write, so that several parts of one machine share
// its store. A role's own writes have part 0.
func WriteIDOf(p Part, n uint64) WriteID { return WriteID(uint64(p)<<56 | n&(1<<56-1)) }

// Part returns the part that WriteIDOf was given.
func (t WriteID) Part() Part { return Part(t >> 56) }

// Record is one durable value. A nil Value deletes the key.
type Record struct {
	Key   string // at most 256 bytes, never empty
	Value []byte // at most 1 MiB
}

// Store keeps small records across restarts.
type Store interface {
	// Put writes all records or none. InputStored with the id follows in the order of the Puts:
	// after the records are on disk, or with the error that prevented it. The store owns the
	// slice from here on.
	Put(records []Record, t WriteID)
	// Load returns the records whose key begins with prefix, sorted by key. It is legal only
	// while the machine handles InputStart.
	Load(prefix string) []Record
}

// Executor runs workflows on cores. Results come as InputExec.
type Executor interface {
	// Start gives an executor of a core a workflow to run. Executors of several runs may share one.
	Start(id ExecID, core int, m Message)
	// Cancel requests an end. The executor reports a result, and then ExecGone.
	Cancel(id ExecID)
	// Extend lets the execution continue until the node's clock reads until; a later call
	// replaces an earlier one. Without another Extend it ends by itself within ExecutorEnd of
	// that deadline, even if the node is suspended. ExecGone follows. It has no deadline before
	// the first Extend.
	Extend(id ExecID, until Instant)
	// Tell answers a request of the execution. An execution that has ended ignores it.
	Tell(id ExecID, m Message)
	// Kill ends the execution at once; ExecGone follows.
	Kill(id ExecID)
}

// Event is a decision of a machine that observers record. core/event holds the catalogue.
type Event interface {
	EventName() string
}
