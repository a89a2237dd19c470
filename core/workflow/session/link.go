package session

import (
	"time"

	"hyperscale/core/workflow/builtin"
)

// Most is how many sessions a virtual user may have open at once.
const Most = 16

// Link is an open session as its engine has it. Its methods may wait; a timeout of 0 is the
// workflow's.
type Link interface {
	// Send queues a message, and waits while too much is unsent. Not queued: the session is over.
	Send(data []byte, binary bool) (queued bool, err error)
	Receive(timeout time.Duration) (Message, error)
	// CloseSend says that nothing more is sent. The other side's messages still come.
	CloseSend() error
	// Ping waits for the answer to a ping.
	Ping(timeout time.Duration) (Message, error)
	// Settle tells the other side what has become of a message. Not queued: the session is over.
	Settle(m *Message, as Settlement) (queued bool, err error)
	// Goodbye ends the session, and waits until the other side has, too.
	Goodbye(code uint16) error
	Status() int // of the answer that opened it; 0: there was none
	// Over is the kind of the failure that ended it, or of none, and its example.
	Over() (kind, why string)
}

// The errors of a Message.
const (
	Timeout = "timeout" // nothing came in time; the session goes on
	Closed  = "closed"  // the session is over, and all that came is received
)

// Message is what a session received. Its zero value is an empty text.
type Message struct {
	Data    []byte
	Binary  bool
	Type    string // of an event; empty: "message". Of a letter its subject or topic, of a delivery its key
	ID      string // of an event. Of a letter where an answer goes; empty: nowhere
	Channel string // of a subscription. Of a delivery its exchange
	Pattern string // that the channel fits; empty: it was asked for by its name
	Tag     uint64 // names a delivery
	Again   bool   // it was delivered before
	Headers []builtin.Pair
	Retains bool // the server had kept it
	Latency time.Duration
	Error   string // empty: it is a message

	Deliveries, Sequence uint64 // of a consumer's message: how often it was sent, and its number in the stream
}

// Size is what a message counts for where messages are bounded, in bytes.
func (m *Message) Size() int {
	return len(m.Data) + len(m.Type) + len(m.ID) + len(m.Channel) + len(m.Pattern)
}

// Nowhere is a session without a network.
type Nowhere struct{}

var _ Link = Nowhere{}

// Send implements Link, as the methods below do.
func (Nowhere) Send([]byte, bool) (bool, error)           { return true, nil }
func (Nowhere) Receive(time.Duration) (Message, error)    { return Message{}, nil }
func (Nowhere) Settle(*Message, Settlement) (bool, error) { return true, nil }
func (Nowhere) CloseSend() error                          { return nil }
func (Nowhere) Ping(time.Duration) (Message, error)       { return Message{}, nil }
func (Nowhere) Goodbye(uint16) error                      { return nil }
func (Nowhere) Status() int                               { return 0 }
func (Nowhere) Over() (kind, why string)                  { return "", "" }
