package ssh

import (
	"errors"
	"sync"
	"sync/atomic"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/island"
)

// link is what the goroutines of a connection and the loop share.
type link struct {
	protocol *Protocol
	use      Use
	shore    *island.Shore
	stream   *island.Stream
	tasks    chan task
	stop     chan struct{} // closed: the connection ends
	read     atomic.Bool   // the library has read all of a put's data

	mu     sync.Mutex
	open   bool
	err    error // ends the connection
	result *Outcome
}

// state reports whether the greeting is over.
func (l *link) state() (open bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open, l.err
}

// fail ends the connection with its first error.
func (l *link) fail(err error) {
	l.mu.Lock()
	if l.err == nil {
		l.err = err
	}
	l.mu.Unlock()
	l.shore.Tell()
}

// close ends the goroutines. It is called once, by the loop.
func (l *link) close() {
	close(l.stop)
	_ = l.stream.Close() // it has no error
	l.shore.Crew().Fed()
}

// Conn is a connection that carries operations, one at a time.
type Conn struct {
	link    *link
	task    task
	wrote   uint64 // by the library before the operation
	heard   int64  // bytes since it began
	busy    bool
	over    bool
	unread  bool // the operation has ended, and a put's data was not read
	outcome Outcome
}

var (
	_ codec.IslandDialogue = (*Conn)(nil)
	_ codec.Learner        = (*Conn)(nil)
)

// Operate begins an operation. An error says that its values do not fit.
func (c *Conn) Operate(o *Operation, order Order) error {
	t, err := o.fill(order)
	if err != nil {
		return err
	}
	c.task, c.busy, c.unread, c.heard = t, true, false, 0
	c.wrote, _ = c.link.stream.Wrote()
	c.link.read.Store(false)
	c.link.tasks <- t // it has room: the last one is over
	c.link.shore.Crew().Fed()
	return nil
}

// Outcome is that of the operation that has ended last.
func (c *Conn) Outcome() *Outcome { return &c.outcome }

// Size implements codec.Sized.
func (c *Conn) Size() int64 { return c.outcome.Size }

// Stir implements codec.IslandDialogue.
func (c *Conn) Stir(on codec.Listener) error {
	l := c.link
	l.mu.Lock()
	result, err := l.result, l.err
	l.result = nil
	l.mu.Unlock()
	if c.over = err != nil; result != nil && c.busy {
		c.unread = c.puts() && !c.link.read.Load()
		c.outcome, c.busy = *result, false
		on.Message(codec.MessageBinary, result.Body)
		return nil // an error behind it ends the connection, and no operation
	}
	return err
}

// puts reports whether the operation has data to send.
func (c *Conn) puts() bool { return c.task.verb == VerbPut || c.task.verb == VerbSend }

// Learnt implements codec.Learner: a put that the server refused ahead of its data is over, and the connection
// goes on.
func (c *Conn) Learnt() bool { return !c.busy && len(c.link.stream.Output()) == 0 }

// Owes implements codec.Phased: an operation is sent when the library has taken it, and all data of a put.
func (c *Conn) Owes() bool {
	if !c.busy {
		return c.unread
	}
	if c.puts() {
		return !c.link.read.Load()
	}
	wrote, _ := c.link.stream.Wrote()
	return wrote == c.wrote
}

// Feed implements codec.Dialogue.
func (c *Conn) Feed(b []byte, _ codec.Listener) error {
	c.heard += int64(len(b))
	if c.busy && c.task.verb != VerbGet && c.task.verb != VerbFetch && c.heard > c.link.protocol.limit+overhead {
		return errLarge(c.link.protocol.limit)
	}
	if !c.busy && c.link.stream.Full() {
		return errUnasked // the loop holds back no connection without an operation
	}
	c.link.stream.Feed(b)
	return nil
}

// overhead is what packets add to an answer at most, before the answer is too long.
const overhead = 1 << 20

// Look implements codec.IslandDialogue.
func (c *Conn) Look() { c.link.shore.Seen() }

// Full implements codec.IslandDialogue.
func (c *Conn) Full() bool { return c.link.stream.Full() }

// Output implements codec.Dialogue.
func (c *Conn) Output() []byte { return c.link.stream.Output() }

// Sent implements codec.Dialogue.
func (c *Conn) Sent(n int) { c.link.stream.Sent(n) }

// Unsent implements codec.Dialogue.
func (c *Conn) Unsent() int { return len(c.link.stream.Output()) }

// End implements codec.Dialogue: the library explains it.
func (c *Conn) End(err error) error {
	c.link.stream.End(err)
	return nil
}

// Over implements codec.Dialogue. The library may explain an end later than an operation ends.
func (c *Conn) Over() bool { return c.over || c.link.stream.Ended() != nil }

// Release implements codec.Dialogue.
func (c *Conn) Release() { c.link.close() }

var errMessages = errors.New("SSH carries operations, and no messages of a user's own")

// Send implements codec.Dialogue.
func (c *Conn) Send(codec.MessageKind, []byte, *uint64) error { return errMessages }

// Ping implements codec.Dialogue: no session asks.
func (c *Conn) Ping(uint64) {}

// Leave implements codec.Dialogue: a server takes the end of the connection for the goodbye.
func (c *Conn) Leave(uint16, string) {}

// Rest implements codec.Dialogue.
func (c *Conn) Rest() {}
