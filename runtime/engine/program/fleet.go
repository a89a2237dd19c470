package program

import (
	"errors"
	"fmt"
	"time"

	"hyperscale/core/load/queue"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/engine/talk"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/http1"
)

// Fleet is the custom programs of a run.
type Fleet struct {
	conns   *pool.Connections
	clients map[string]*client // by the key of their host
	order   []*client
	procs   []*proc // by number
	dirty   []*proc
	fresh   []ticket // calls that the kernel may not have whole
	buffer  []byte
	fault   error
	ending  bool      // the programs were asked to end
	until   time.Time // by then, once they were
}

var _ pool.Aside = (*Fleet)(nil)

// client is the processes of one custom.client.
type client struct {
	of      *request.Custom
	procs   []*proc
	waiting queue.Queue[waiter]
	dead    error // why its calls fail; nil: they go
}

// ticket names a slot's request, which may have ended.
type ticket struct {
	index  int32
	serial uint32
}

// waiter is a call that waits for room.
type waiter struct {
	ticket
	patience int64 // how long it may take once it goes
}

// Fault says why the run must end; nil: it need not.
func (f *Fleet) Fault() error { return f.fault }

var errStray = errors.New("no such custom program was started: load the workflow again")

// Begin implements pool.Aside.
func (f *Fleet) Begin(index int32) {
	n := f.conns.Slots.At(index)
	c := f.clients[n.Host.Key]
	switch {
	case c == nil:
		f.conns.Slots.Breaks(index, errStray)
	case c.dead != nil:
		f.conns.Slots.Breaks(index, c.dead)
	default:
		if p := c.free(); p != nil && c.waiting.Len() == 0 {
			f.send(p, index)
			return
		}
		c.waiting.Push(waiter{ticket{index, n.Serial}, n.Deadline - f.conns.Clock.Now})
		n.Called, n.Deadline = pool.Called{Process: pool.None}, pool.Never
	}
}

// free is the process with the fewest calls that has room; nil: none has.
func (c *client) free() (best *proc) {
	for _, p := range c.procs {
		if p.conn.Room() && (best == nil || p.conn.Busy() < best.conn.Busy()) {
			best = p
		}
	}
	return best
}

// send queues a call.
func (f *Fleet) send(p *proc, index int32) {
	n := f.conns.Slots.At(index)
	f.conns.Slots.SetOut(index)
	x := n.Talk.(*talk.Exchange)
	before := len(p.conn.Output())
	place, err := x.Call(p.conn, uint64(n.Serial)<<32|uint64(uint32(index)), time.Duration(n.Deadline-f.conns.Clock.Now))
	if err != nil {
		n.Called = pool.Called{}
		f.conns.Slots.Breaks(index, err)
		return
	}
	n.Sent = len(p.conn.Output()) - before
	n.Account.BytesOut += uint64(n.Sent)
	n.Called = pool.Called{Process: int32(p.number) + 1, Place: place}
	n.Wrote = max(f.conns.Clock.Now, 1)
	f.fresh = append(f.fresh, ticket{index, n.Serial})
	f.soil(p)
}

// soil marks a process for writing.
func (f *Fleet) soil(p *proc) {
	if !p.dirty {
		p.dirty = true
		f.dirty = append(f.dirty, p)
	}
}

// admit sends calls that wait, as far as there is room.
func (f *Fleet) admit(c *client) {
	for c.waiting.Len() > 0 {
		w := c.waiting.First()
		n := f.conns.Slots.At(w.index)
		if n.Serial != w.serial || n.Called.Process != pool.None {
			c.waiting.Pop() // it was given up
			continue
		}
		p := c.free()
		if p == nil {
			return
		}
		c.waiting.Pop()
		n.Deadline = f.conns.Clock.Now + w.patience
		f.send(p, w.index)
	}
}

// Drop implements pool.Aside.
func (f *Fleet) Drop(n *pool.RequestSlot) {
	at := n.Called
	n.Called = pool.Called{}
	if at.Process < 0 {
		return
	}
	p := f.procs[at.Process-1]
	p.conn.Cancel(at.Place, n.Account.Deliveries().Late())
	f.soil(p)
	if h := &f.conns.Halt; !h.Cut && !h.Cancelled.Load() {
		f.admit(p.client)
	}
}

// Late implements pool.Aside.
func (f *Fleet) Late(n *pool.RequestSlot) http1.Kind {
	if n.Written == 0 && f.procs[n.Called.Process-1].blocked {
		return http1.KindWriteTimeout
	}
	return http1.KindTimeout
}

// Flush implements pool.Aside.
func (f *Fleet) Flush() {
	if len(f.dirty) == 0 {
		return
	}
	for _, p := range f.dirty {
		p.dirty = false
		f.flush(p)
	}
	f.dirty = f.dirty[:0]
	left := f.fresh[:0]
	for _, t := range f.fresh {
		n := f.conns.Slots.At(t.index)
		switch {
		case n.Serial != t.serial || n.Called.Process <= 0 || n.Written != 0:
		case f.procs[n.Called.Process-1].conn.Unsent():
			left = append(left, t)
		default:
			n.Written = max(f.conns.Clock.Now, n.Wrote)
		}
	}
	f.fresh = left
}

// The descriptors of a process, by the lowest bits of their tokens.
const (
	pipeIn uint32 = iota
	pipeOut
	pipeFate
	pipes = 4
)

// Handle implements pool.Aside.
func (f *Fleet) Handle(at uint32, e *epoll.Event) {
	if at/pipes >= uint32(len(f.procs)) {
		return
	}
	p := f.procs[at/pipes]
	if p.closed {
		return
	}
	switch at % pipes {
	case pipeIn:
		if e.Events&(epoll.Err|epoll.Hup) != 0 {
			if f.read(p); !p.closed && p.pipes.In >= 0 {
				f.shut(p)
			}
			return
		}
		f.soil(p)
		f.Flush()
	case pipeOut:
		f.read(p)
	case pipeFate:
		f.ended(p)
	}
}

// named is a program as messages name it.
func (p *proc) named() string {
	text := "custom program " + p.client.of.Program[0]
	if len(p.client.procs) > 1 {
		text += fmt.Sprintf(" (process %d of %d)", p.ordinal+1, len(p.client.procs))
	}
	return text
}
