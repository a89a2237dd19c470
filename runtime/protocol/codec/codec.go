package codec

import "hyperscale/runtime/protocol/http1"

// Operation is one request, compiled before the clock runs. It refers to no connection, so one
// Operation serves any number of them at once. It must not change while it is open.
type Operation struct {
	Head   []byte // its first bytes, without those that the connection adds
	Body   []byte // the rest, as far as the peer accepts it
	NoBody bool   // its answer has no body, whatever the answer's head says
	Open   bool   // more of the body follows: see Bodies

	Inserts []http1.Insert // in the Body
}

// BodyLen returns the length of the body, with its inserts.
func (o *Operation) BodyLen() int { return len(o.Body) + http1.Inserted(o.Inserts) }

// AppendBody appends n bytes of the body behind so many that are gone.
func (o *Operation) AppendBody(dst []byte, gone, n int) []byte {
	m := http1.Message{Bytes: o.Body, Inserts: o.Inserts}
	for n > 0 {
		some := m.From(gone)
		some = some[:min(n, len(some))]
		dst = append(dst, some...)
		gone, n = gone+len(some), n-len(some)
	}
	return dst
}

// Protocol is a protocol whose connections carry several requests.
type Protocol interface {
	// Compile makes an operation of a request, in the operation's memory.
	Compile(op *Operation, from *http1.Call)
	// Begin returns a new connection's state, in the memory of one that has ended; nil: there
	// is none. Common takes the cookies of every answer, and bounds bodies.
	Begin(ended Conn, common *http1.Common) Conn
}

// Conn is one connection in its steady state, on which several operations may be open.
type Conn interface {
	// Open queues an operation and returns the number by which the connection knows it; 0: there
	// is no room. The count grows when Taken finds that the kernel has all of it.
	Open(op *Operation, tag uint64, sent *uint64) (id uint32)
	CanOpen() bool
	// Output returns the bytes to write next. Sent reports how many of them are written, and
	// Taken that the kernel has them.
	Output() []byte
	Sent(n int)
	Taken()
	// Sending reports whether some of an open operation is not written.
	Sending(id uint32) bool
	Feed(b []byte, on Handler) error
	// Cancel gives up an operation, and reports whether it was open. If a late answer could
	// then be mistaken for another's, the connection becomes unusable.
	Cancel(id uint32) bool
	// Ping asks whether the other side is there.
	Ping(payload uint64)
	// Close fails the open operations: err is the error of a read or write, io.EOF an orderly
	// end.
	Close(err error, on Handler)
	// Ready reports that the peer speaks the protocol, Usable that the caller may open
	// operations now or later.
	Ready() bool
	Usable() bool
	AppendTags(dst []Tagged) []Tagged // the open operations, in no order
	Count() int                       // of them
	// Bytes returns the bytes in and out of the operation that ended last, without those that
	// Body got.
	Bytes() (in, out uint64)
}

// Bodies is a Conn whose operations may grow while they are open.
type Bodies interface {
	// Append queues more of the body of an operation that is Open, and returns how much of it waits. The
	// count grows when the kernel has all of b. Not taken: the operation is over, or its body is.
	Append(id uint32, b []byte, count *uint64) (waiting int, taken bool)
	// End says that the body is whole.
	End(id uint32)
}

// Tagged is an open operation with its tag.
type Tagged struct {
	ID  uint32
	Tag uint64
}

// Handler receives the events of a connection's bytes, in their order. Tags are those of Open.
// Bytes are valid only during the call.
type Handler interface {
	// Begins says that an answer begins to come, and returns what keeps its head and body; nil:
	// nothing does.
	Begins(tag uint64) *http1.Collector
	Head(tag uint64, status int)  // the final status is known
	Body(tag uint64, b []byte)    // a piece of the body
	Done(tag uint64)              // the answer is whole
	Failed(tag uint64, err error) // it will never be answered; http1.KindOf tells why
}
