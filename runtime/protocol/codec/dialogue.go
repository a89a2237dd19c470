package codec

// MessageKind says what a message of a dialogue is.
type MessageKind uint8

// The kinds of messages.
const (
	MessageText MessageKind = iota // UTF-8
	MessageBinary
	MessageOwn // the first kind of those that a protocol gives a meaning of its own
)

// Dialogue is one connection on which either side sends a message when it likes, in its steady
// state: TLS and the protocol's greeting are behind it. It holds to CODEC-1, to CODEC-3 for
// each message, and to these:
//
//	DIALOGUE-1 A message that the peer sent is reported once, whole, and in order. A part of
//	           one is never reported.
//	DIALOGUE-2 Whatever the peer must be answered at once (a ping, a goodbye) is in Output
//	           when Feed returns.
//	DIALOGUE-3 After Leave, after the peer's goodbye and after an error nothing more is sent but
//	           one goodbye.
//	DIALOGUE-4 A length that the peer announces reserves no memory before its bytes have come.
type Dialogue interface {
	// Send queues a message; the payload is copied. The count, if there is one, grows by one when
	// the kernel has the whole message. An error says why the message cannot be sent, and the
	// dialogue goes on.
	Send(kind MessageKind, payload []byte, sent *uint64) error
	// Ping asks whether the other side is there; the answer comes as Pong with the same payload.
	Ping(payload uint64)
	// Leave queues the goodbye. The peer's goodbye is still read.
	Leave(code uint16, reason string)

	// Output returns the bytes to write next, and Sent reports how many of them the kernel took.
	// Unsent counts the bytes that are queued, so that a sender can wait.
	Output() []byte
	Sent(n int)
	Unsent() int

	// Feed takes what was read. Its error is a breach of the protocol, as *http1.Error with a kind;
	// the goodbye that tells the peer why is then in Output.
	Feed(b []byte, on Listener) error
	// End reports that the peer sends no more: err is the error of the read, io.EOF an orderly
	// end. It returns nil if the dialogue was over by its own rules, and else what that end means.
	End(err error) error
	// Rest says that time has passed: frames without content from before it are no flood.
	Rest()
	// Release gives back the memory of messages under way. Nothing is called after it.
	Release()
	// Over reports that both sides have said goodbye: the connection may be closed.
	Over() bool
}

// Unnamed is a dialogue whose answers carry no name: what comes between two operations closes the
// connection, as the next one would take it for its answer.
type Unnamed interface {
	Dialogue
	// Ends reports the message that an orderly end of the connection ends, if one is under way.
	Ends(on Listener)
}

// Named is a dialogue whose answers carry names: an exchange may be given up before its answer has come,
// and the dialogue tells the late one apart.
type Named interface {
	Dialogue
	// Forget gives up the exchange under way. False: only closing the connection does.
	Forget() bool
}

// Lively is a dialogue that says something now and then, as its server takes a silent client for dead.
type Lively interface {
	Dialogue
	// Tick says that an instant has come, and returns the next one; 0: there is none. The clock may have
	// begun anew in between. An error ends the connection.
	Tick(now int64) (next int64, err error)
}

// Refuser is a dialogue that may be over before it begins.
type Refuser interface {
	Dialogue
	Refusal() error // why; nil: it goes on
}

// Lingering is a dialogue whose peer answers a goodbye, and drops what it has not dealt with if it finds the
// connection closed before.
type Lingering interface {
	Dialogue
	// Lingers reports that the goodbye is said, and not answered.
	Lingers() bool
}

// Unconfirmed is a Lingering whose peer confirms nothing of some messages: the answer to the goodbye alone tells that it took them.
type Unconfirmed interface {
	Lingering
	// Unconfirmed reports that it has sent such messages.
	Unconfirmed() bool
}

// Settler is a dialogue whose peer waits to hear what became of the messages that it sent.
type Settler interface {
	Dialogue
	// Settle says so of the message with a tag. An error says why it cannot be said.
	Settle(tag uint64, how Settlement) error
}

// Settlement is what became of a message.
type Settlement uint8

// The settlements.
const (
	SettleAck     Settlement = iota // it is done with
	SettleRequeue                   // it must come again, here or elsewhere
	SettleReject                    // it must not
)

// Transactional is a dialogue whose server tells whether a transaction is open. The goodbye of one that
// is open rolls it back first.
type Transactional interface {
	Dialogue
	InTransaction() bool // as the last answer says
}

// Cancellable is a dialogue whose server ends what is under way when another connection asks for that.
type Cancellable interface {
	Dialogue
	Cancel() Cancel
}

// Cancel is what that other connection says.
type Cancel struct {
	AskTLS  []byte // first, if the dialogue stands in TLS: the server answers with the byte Agrees, and TLS begins; nil: it begins at once
	Agrees  byte
	Request []byte // nil: nothing can be asked for. The server closes the connection, and says nothing
}

// Listener receives the events of a dialogue, in their order. Bytes are valid only during the call.
type Listener interface {
	Message(kind MessageKind, payload []byte)
	Pong(payload uint64)               // the answer to a Ping; an unasked one is dropped
	Leaves(code uint16, reason string) // the peer's goodbye; code 1005: it told none
}

// Fields are the header fields of an answer's head, as http1.Collector has them.
type Fields interface {
	Len() int
	At(i int) (name, value []byte)
}

// Opening is how a new connection becomes a dialogue, behind TLS: one of its fields is set.
type Opening struct {
	Upgrade  Upgrade  // by an HTTP/1.1 request
	Greeting Greeting // by what both sides say first
	Dialogue Dialogue // at once
}

// Upgrade is the greeting that turns an HTTP/1.1 request into a dialogue: 101 Switching Protocols.
type Upgrade interface {
	// AppendFields appends the header fields of the request, each with its CR LF, that no user may
	// set. Random is 16 bytes that no other connection uses.
	AppendFields(dst []byte, random [16]byte) []byte
	// Begin judges the answer's head and returns the dialogue. Mask returns random bits, one call
	// for each frame. An error is *http1.Error with a kind; status is for example 200 of a server
	// that does not upgrade.
	Begin(status int, head Fields, mask func() uint32) (Dialogue, error)
}

// Learner is a Phased dialogue whose operation may be over before it was sent, as it has only learnt where
// to go.
type Learner interface {
	Phased
	// Learnt reports that all of what was asked is written and answered: the connection may carry another
	// operation.
	Learnt() bool
}

// Phased is a dialogue that queues an operation in parts: the next one when the peer has answered the
// last. As long as it owes a part, the operation is not sent.
type Phased interface {
	Dialogue
	Owes() bool
}
