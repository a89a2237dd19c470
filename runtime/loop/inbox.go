package loop

import (
	"sync"
	"sync/atomic"
	"time"

	"hyperscale/core/node"
)

// inbox is the mailbox with its lock, and the state of each stream.
type inbox struct {
	wake chan struct{} // holds one: there is something new

	mu      sync.Mutex
	box     *node.Mailbox
	streams map[node.StreamID]*stream
	held    *node.Input // a message that waits for its StreamOpened to be seen
	lost    []lostInput // found no room since the last step; at most lostMax
	loses   atomic.Bool // lost is not empty
	ended   bool
}

// lostMax bounds the reports of lost messages between two steps. The mailbox counts them all.
const lostMax = 64

// lostInput is a message that found no room and left nothing to the machine.
type lostInput struct {
	message node.Message
	from    node.Peer
	broken  bool // with its stream
}

// stream is a stream of which the machine may get inputs. The inbox drops it when the machine
// closes it or has received its break.
type stream struct {
	peer node.Peer
	seen bool // StreamOpened was delivered
}

func newInbox(c node.MailboxConfig) *inbox {
	return &inbox{
		wake:    make(chan struct{}, 1),
		box:     node.NewMailbox(c),
		streams: map[node.StreamID]*stream{},
	}
}

// push queues an input that came at an instant. It returns false if a datagram is lost, or a
// stream must break. After the end it returns true: no machine will read the input.
func (b *inbox) push(in *node.Input, at node.Instant) bool {
	b.mu.Lock()
	ok := b.admit(in, at)
	b.mu.Unlock()
	b.poke()
	return ok
}

// poke wakes the loop.
func (b *inbox) poke() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// admit keeps the table of streams. The lock is held.
func (b *inbox) admit(in *node.Input, at node.Instant) bool {
	if b.ended {
		return true
	}
	switch in.Kind {
	case node.InputStreamOpened:
		s := b.streams[in.Stream]
		if s == nil {
			s = &stream{}
			b.streams[in.Stream] = s
		}
		s.peer = in.From
	case node.InputStreamBroken:
		if b.streams[in.Stream] == nil {
			return true
		}
	case node.InputMessage:
		if in.Stream != 0 && b.streams[in.Stream] == nil {
			return true
		}
	}
	fate := b.box.Push(in, at)
	if fate > node.FateRefused && in.Kind == node.InputMessage && len(b.lost) < lostMax {
		b.lost = append(b.lost, lostInput{in.Message, in.From, fate == node.FateRejected && in.Stream != 0})
		b.loses.Store(true)
	}
	return fate != node.FateRejected && (in.Stream != 0 || fate != node.FateDropped)
}

// takeLost returns the messages that found no room since the last call.
func (b *inbox) takeLost() []lostInput {
	if !b.loses.Load() {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	lost := b.lost
	b.lost = nil
	b.loses.Store(false)
	return lost
}

// open registers a stream of our own. The lock is held around the network's
// Open, so that its news cannot arrive before the stream is known.
func (b *inbox) open(begin func() node.StreamID) node.StreamID {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := begin()
	b.streams[id] = &stream{}
	return id
}

func (b *inbox) forget(id node.StreamID) {
	b.mu.Lock()
	delete(b.streams, id)
	b.mu.Unlock()
}

// next moves the next input that is still wanted to in.
func (b *inbox) next(in *node.Input, t *timers, now node.Instant) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held != nil {
		*in, b.held = *b.held, nil
		if b.streams[in.Stream] != nil {
			return true
		}
	}
	for b.box.Pop(in, now) {
		if b.wanted(in, t) {
			return true
		}
	}
	*in = node.Input{}
	return false
}

// done tells the entrance how long the step for an admitted request took.
func (b *inbox) done(in *node.Input, took time.Duration) {
	if in.Place != 0 {
		b.mu.Lock()
		b.box.Done(in, took)
		b.mu.Unlock()
	}
}

// wanted drops inputs that the machine must not see any more, and puts a stream's StreamOpened
// before a message that overtook it in a lane of higher priority.
func (b *inbox) wanted(in *node.Input, t *timers) bool {
	switch in.Kind {
	case node.InputTimer:
		return t.take(in.Timer, in.Generation)
	case node.InputStreamOpened:
		s := b.streams[in.Stream]
		if s == nil || s.seen {
			return false
		}
		s.seen = true
	case node.InputStreamBroken:
		if b.streams[in.Stream] == nil {
			return false
		}
		delete(b.streams, in.Stream)
	case node.InputMessage, node.InputShed:
		if in.Stream == 0 {
			return true
		}
		s := b.streams[in.Stream]
		if s == nil {
			return false
		}
		if !s.seen {
			s.seen = true
			message := *in
			b.held = &message
			*in = node.Input{Kind: node.InputStreamOpened, Stream: in.Stream, From: s.peer}
		}
	}
	return true
}

// end forgets everything and lets nothing more in.
func (b *inbox) end() {
	b.mu.Lock()
	b.ended = true
	b.box.Clear()
	clear(b.streams)
	b.held = nil
	b.mu.Unlock()
}
