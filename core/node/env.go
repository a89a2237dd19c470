package node

import "time"

// Env is all that a machine may ask of its world. It is valid only inside Step.
type Env interface {
	Network
	Timers
	Self() Peer
	Now() Instant
	Rand(Purpose) *Rand
	Store() Store
	Exec() Executor
	// Emit tells observers (metrics, log, trace, history) what was decided. It
	// must not change behaviour, and nothing can be read back.
	Emit(Event)
	// Answer replies to a local command; a command may be answered many times
	// (a watch), the message says which answer is the last.
	Answer(CommandID, Message)
	// Halt ends this node once Step returns. The reason is for people; empty
	// means that all went as asked.
	Halt(reason string)
}

// Network carries messages to other nodes.
type Network interface {
	// Datagram may be lost, doubled, reordered, or arrive long after.
	Datagram(to Addr, m Message)
	// Open begins a stream; InputStreamOpened or InputStreamBroken follows.
	// Sends before that are kept in order. Nothing reconnects by itself.
	Open(to Addr) StreamID
	// Send works from either side. After a break it drops until the machine has
	// been told.
	Send(s StreamID, m Message)
	// Close ends a stream on purpose; no StreamBroken follows on this side.
	Close(s StreamID)
}

// Timers are keyed: setting one again replaces it.
type Timers interface {
	SetTimer(k TimerKey, d time.Duration)
	CancelTimer(k TimerKey)
}

// WriteIDOf is the n-th write of a part, so that several parts of one machine share its
// store. A role's own writes have part 0.
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
	// Put writes all records or none; InputStored with the id follows, in
	// the order of the Puts, after they are on disk or with the error that
	// prevented it. The shards belong to the store from here on.
	Put(records []Record, t WriteID)
	// Load returns the records whose key begins with prefix, sorted by key. Only
	// while InputStart is handled.
	Load(prefix string) []Record
}

// Executor runs workflows on cores. Results come as InputExec.
type Executor interface {
	// Start gives the executor of a free core its work.
	Start(id ExecID, core int, m Message)
	// Cancel asks for an end; the executor reports a result, then ExecGone.
	Cancel(id ExecID)
	// Extend says that it may go on until the node's clock reads until; without
	// another Extend it ends by itself within ExecutorEnd of then, also while the node
	// is suspended, and ExecGone follows. A run has no such deadline before its first Extend; a later
	// call replaces an earlier one.
	Extend(id ExecID, until Instant)
	// Tell hands it an answer to what it asked. One that is over hears nothing.
	Tell(id ExecID, m Message)
	// Kill ends it for good; ExecGone follows.
	Kill(id ExecID)
}

// Event is something a machine decided that somebody may want to have seen.
// core/event holds the catalogue.
type Event interface {
	EventName() string
}
