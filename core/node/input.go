package node

import (
	"fmt"
	"time"
)

// InputKind distinguishes the cases of the sum type Input.
type InputKind uint8

// The kinds of input. InputStart is the first of each incarnation. Env.Store().Load is legal
// only while the machine handles it.
const (
	InputNone         InputKind = iota
	InputStart                  // the node starts
	InputMessage                // From, Stream (0 for a datagram), Message
	InputStreamOpened           // Stream, From: a peer opened a stream, or this node's Open succeeded
	InputStreamBroken           // Stream, Reason, Unfit: also when this node's Open failed
	InputTimer                  // Timer
	InputStored                 // WriteID, Err
	InputCommand                // Command, Message: from the local API; Env.Answer replies
	InputExec                   // Exec
	InputStop                   // an operator wants a graceful stop: finish the work, then call Env.Halt
	InputShed                   // From, Stream, Message: the stub of a request that found its lane full; refuse it
	InputNames                  // Names: what a look-up of Env.Resolve found
	InputDelivered              // Delivered: news of a batch of Env.Outputs
	InputCommandEnd             // Command: nothing reads its answers any more; it may have its last one
)

func (k InputKind) String() string {
	names := [...]string{"none", "start", "message", "stream-opened", "stream-broken", "timer", "stored", "command", "exec", "stop", "shed", "names", "delivered", "command-end"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("input(%d)", uint8(k))
}

// StreamID names a stream within one node's incarnation; zero is no stream.
type StreamID uint64

// CommandID names a local command within one node's incarnation.
type CommandID uint64

// WriteID matches a Put with its completion; the machine chooses it.
type WriteID uint64

// ExecID names one executor run; the worker chooses it and never uses it again
// within its incarnation.
type ExecID uint64

// ExecutorEnd bounds how long an executor outlives the deadline of its last Extend.
const ExecutorEnd = 200 * time.Millisecond

// ExecKind is the kind of an executor's report.
type ExecKind uint8

// The kinds of report. Each started ExecID ends with exactly one ExecGone. When it arrives, the
// core is free and its next executor is warm or starting.
const (
	ExecMessage ExecKind = iota // Body: started, progress, or a result
	ExecGone                    // Reason: "" when it ended as requested, else the cause; Tail: its last lines of output
)

// ExecEvent is one report of an executor.
type ExecEvent struct {
	ID     ExecID
	Kind   ExecKind
	Body   Message
	Reason string
	Tail   string
	Lapsed bool // with ExecGone: its deadline passed, see Executor.Extend
	Cause  ExecCause
}

// ExecCause is, with ExecGone, what the host knows of an end that the machine did not ask for.
type ExecCause uint8

// The causes. ExecDied leaves open whether the program or the machine is at fault.
const (
	ExecDied      ExecCause = iota
	ExecUnspawned           // the host could start no process
	ExecOverLimit           // the host killed it: it was above its own limit
)

// Names is the outcome of one look-up.
type Names struct {
	Name   Addr          // as Env.Resolve was given it
	Addrs  []Addr        // in the order of the answer; empty if there is none
	TTL    time.Duration // how long the answer is valid; zero: no server said
	Absent bool          // a server says that there is no such name, or that it has no address
	Err    string        // why no server has answered
}

// Input is one thing that happened. Only the fields named at its kind are set.
type Input struct {
	Kind      InputKind
	From      Peer
	Stream    StreamID
	Message   Message
	Timer     TimerKey
	Reason    string
	WriteID   WriteID
	Err       error
	Command   CommandID
	Exec      ExecEvent
	Names     *Names
	Delivered *Delivered

	// Unfit says of a stream that never opened that its ends do not belong together: the secret,
	// certificate, cluster, version or role is another one. Time does not mend that.
	Unfit bool

	// Generation belongs to the host. With it the host drops a firing or a stream's message
	// that waited in the mailbox when the machine cancelled its timer or stream (NODE-2).
	Generation uint64

	// Waited is how long the input's place in the mailbox waited: the delay of this node alone,
	// without any round trip. It is zero if the node was idle.
	Waited time.Duration

	// RetryAfter is, with InputShed and the Reason of an entrance, when the sender may come again.
	RetryAfter time.Duration
	Place      int32 // what the entrance notes of an admitted request

	// Mail is the state of the mailbox as the input left it. It is zero for one that did not wait.
	Mail Mail
}

// Mail is what a mailbox tells its machine about itself.
type Mail struct {
	Lost uint32 // critical messages that have found no room, in this incarnation
	High uint8  // how much of lane HIGH is full, in percent
	Load uint8  // level of the entrance, as it counts levels
}

// take gives a slot of a stream what the next message of the stream is.
func (in *Input) take(next *Input) {
	in.Kind, in.Message, in.Generation = next.Kind, next.Message, next.Generation
	in.Reason, in.RetryAfter, in.Place = next.Reason, next.RetryAfter, next.Place
}

// Lane returns the mailbox lane of an input. A message has its own priority, a command is NORMAL.
// What the node itself set in motion is CRITICAL: the node bounds its number, and heartbeats and
// leases hang on it. News of streams are HIGH, and so are stubs of refused requests.
func (in *Input) Lane() Priority {
	switch in.Kind {
	case InputMessage:
		return in.Message.Priority()
	case InputCommand, InputCommandEnd: // an end comes behind its command
		return Normal
	case InputStreamOpened, InputStreamBroken, InputShed:
		return High
	}
	return Critical
}
