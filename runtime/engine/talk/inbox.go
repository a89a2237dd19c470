package talk

import (
	"time"

	"hyperscale/core/load/queue"
	"hyperscale/core/workflow/session"
)

// The bounds of what a session keeps.
const (
	unreadMost      = 256      // messages that no function has received
	unreadBytesMost = 1 << 20  // bytes of them
	unsentMost      = 64 << 10 // bytes that a sender need not wait for
	askedMost       = 1024     // messages whose answers are timed
)

// Inbox is what a session has read and its functions have not received.
type Inbox struct {
	unread queue.Queue[session.Message]
	bytes  int
	shut   bool // its functions receive no more: what comes is dropped
}

// Put adds what was read.
func (b *Inbox) Put(m session.Message) {
	if b.shut {
		return
	}
	b.unread.Push(m)
	b.bytes += m.Size()
}

// Take returns the oldest message, if there is one.
func (b *Inbox) Take() (m session.Message, ok bool) {
	if b.unread.Len() == 0 {
		return m, false
	}
	m = b.unread.Pop()
	b.bytes -= m.Size()
	return m, true
}

// Full implements pool.Reader.
func (b *Inbox) Full() bool { return b.unread.Len() >= unreadMost || b.bytes >= unreadBytesMost }

// Roomy reports whether enough was received to read on.
func (b *Inbox) Roomy() bool {
	return b.unread.Len() <= unreadMost/2 && b.bytes <= unreadBytesMost/2
}

// Shut drops what no function has received.
func (b *Inbox) Shut() { *b = Inbox{shut: true} }

// asked are the instants of messages that have no answer yet, the oldest first.
type asked struct{ at queue.Queue[int64] }

// add notes a message. Beyond the bound it is not timed.
func (a *asked) add(now int64) {
	if a.at.Len() < askedMost {
		a.at.Push(now)
	}
}

// answered returns since when a message that comes now was waited for; none: its peer sent it of
// its own accord.
func (a *asked) answered() (since int64, was bool) {
	if a.at.Len() == 0 {
		return 0, false
	}
	return a.at.Pop(), true
}

// shift moves the instants to a clock that began so much later.
func (a *asked) shift(by int64) {
	for range a.at.Len() {
		a.at.Push(a.at.Pop() - by)
	}
}

// pinged is a ping that waits for its answer.
type pinged struct {
	payload uint64
	at      int64
	took    time.Duration // 0: it has none
}
