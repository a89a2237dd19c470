package node

import (
	"fmt"
	"time"
)

// InputKind tells the cases of the sum type Input apart.
type InputKind uint8

// What can happen to a machine. InputStart is always the first, once an
// incarnation; Env.Store().Load is legal only while it is handled.
const (
	InputNone         InputKind = iota
	InputStart                  // the node starts
	InputMessage                // From, Stream (0 for a datagram), Message
	InputStreamOpened           // Stream, From: somebody opened it, or our Open succeeded
	InputStreamBroken           // Stream, Reason: also when our Open did not succeed
	InputTimer                  // Timer
	InputStored                 // Token, Err
	InputCommand                // Command, Message: from the local API, answered by Env.Answer
	InputExec                   // Exec
	InputStop                   // a graceful stop is asked for: finish, then Env.Halt
)

func (k InputKind) String() string {
	names := [...]string{"none", "start", "message", "stream-opened", "stream-broken", "timer", "stored", "command", "exec", "stop"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("input(%d)", uint8(k))
}

// StreamID names a stream within one node's incarnation; zero is no stream.
type StreamID uint64

// CommandID names a local command within one node's incarnation.
type CommandID uint64

// WriteID ties a Put to its completion; the machine chooses it.
type WriteID uint64

// ExecID names one executor run; the worker chooses it and never uses it again
// within its incarnation.
type ExecID uint64

// ExecutorEnd bounds how long an executor outlives the deadline of its last Extend.
const ExecutorEnd = 200 * time.Millisecond

// ExecKind tells what an executor reports.
type ExecKind uint8

// What an executor can report. ExecGone is always the last of an ExecID that
// was started, whatever went before; the core is free (and warm again, or being
// warmed) when it arrives.
const (
	ExecMessage ExecKind = iota // Body: started, progress, or a result
	ExecGone                    // Reason: "" when it ended as asked, else why; Tail: its last lines
)

// ExecEvent is news of one executor run.
type ExecEvent struct {
	ID     ExecID
	Kind   ExecKind
	Body   Message
	Reason string
	Tail   string
	Lapsed bool // with ExecGone: its time was over, see Executor.Extend
}

// Input is one thing that happened. Only the fields named at its kind are set.
type Input struct {
	Kind    InputKind
	From    Peer
	Stream  StreamID
	Message Message
	Timer   TimerKey
	Reason  string
	WriteID WriteID
	Err     error
	Command CommandID
	Exec    ExecEvent

	// Generation is the host's: it tells a live timer or stream from one that was
	// cancelled while its firing waited in the mailbox (NODE-2).
	Generation uint64
}

// Lane says in which lane of the mailbox an input waits: a message by its own
// priority, commands NORMAL, everything else HIGH, a stop CRITICAL.
func (in *Input) Lane() Priority {
	switch in.Kind {
	case InputMessage:
		return in.Message.Priority()
	case InputCommand:
		return Normal
	case InputStart, InputStop:
		return Critical
	}
	return High
}
