package transport

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/seal"
)

// Bounds of what the hall does before it lets others work.
const (
	hallTurn   = 16       // guests that it serves
	hallBytes  = 2 << 10  // that it reads from a guest at once
	hallLarge  = 64 << 10 // likewise within a large frame
	hallWorked = 500 * time.Microsecond
	hallRest   = 250 * time.Microsecond
)

// hall serves the streams of all clients and workers from one goroutine. A goroutine for each of a
// thousand connections would make a thousand runnable at once, and those of other nodes would wait
// behind them; its stack and buffers would take most of the memory of a manager of many workers.
//
// Sources take turns, and the streams of one source among themselves: one with a thousand streams
// waits for its own, and another source for one of them. After hallWorked the hall pauses for
// hallRest, so that what nodes send comes between.
type hall struct {
	t      *Transport
	poller *epoll.Poller
	calm   calm

	mu      sync.Mutex
	guests  map[uint64]*guest  // by stream
	sources map[string]*source // those with guests
	turns   []*source          // those with guests that wait
	workers int                // of the guests
	woken   bool               // the poller was, since the goroutine looked at turns
	over    bool               // no guest enters any more
	ended   bool               // the goroutine is gone

	// What follows belongs to the goroutine.
	late         map[*guest]struct{} // those with a deadline
	next         time.Time           // no deadline is earlier; zero: there is none
	batch        []node.Message
	out, scratch []byte
	in           []byte
	plain        []byte // what a guest said over TLS
}

// source is the guests of one source that wait for a turn.
type source struct {
	waiting []*guest
	guests  int // all, also those that do not wait
}

// cause is why a guest waits for its turn.
type cause uint8

const (
	hears cause = 1 << iota // bytes have arrived
	says                    // messages wait for it, or its stream ends
)

// guest is one stream of the hall.
type guest struct {
	hall *hall
	s    *stream
	conn *descriptor

	secured *secured  // nil: it does without TLS
	keys    seal.Keys // nil directions: its frames are not sealed

	// Under the hall's lock.
	source *source
	why    cause // it waits in its source's line; zero: it does not

	calm    bool   // it ends pauses; under the hall's lock
	ends    bool   // the peer has closed: there is something to read until that is read
	early   []byte // came with its Hello
	rest    []byte // of a frame that has not arrived whole
	out     []byte // what the socket did not take
	frame   time.Time
	written time.Time
	linger  time.Time // when we stop waiting for its last bytes, after ours
}

// hallOf returns the hall, which begins with the first client. Nil: the node ends, or its limit of
// open files is reached.
func (t *Transport) hallOf() *hall {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hall != nil || t.closed {
		return t.hall
	}
	h, err := newHall(t)
	if err != nil {
		t.config.Logger.Warn("serve clients one by one", "error", err.Error())
		return nil
	}
	t.hall = h
	t.workers.Go(h.run)
	return h
}

func newHall(t *Transport) (*hall, error) {
	poller, err := epoll.New()
	if err != nil {
		return nil, err
	}
	h := &hall{t: t, poller: poller, guests: map[uint64]*guest{}, sources: map[string]*source{}, late: map[*guest]struct{}{}, in: make([]byte, hallLarge)}
	few, err := epoll.New()
	if err == nil {
		err = h.calm.open(few)
	}
	if err != nil {
		_ = poller.Close() // nothing is in it
		return nil, err
	}
	return h, nil
}

// enter takes a stream in whose handshake is done, or returns false at the end of the node.
func (h *hall) enter(g *guest, with *shaken) bool {
	s := g.s
	s.mu.Lock()
	s.conn, s.peer, s.key = with.conn, with.peer, with.key
	if g.secured == nil {
		s.conn = g.conn
	}
	alive := s.state == stateOpening
	if alive {
		s.state = stateOpen
	}
	s.mu.Unlock()
	if !alive {
		return false
	}
	h.t.counters.opened.Add(1)
	h.t.sink.StreamOpened(s.id, with.peer)
	early, _ := with.reader.in.Peek(with.reader.in.Buffered()) // what is buffered can be read
	g.early = append(g.early, early...)
	if g.secured != nil {
		g.early, g.secured.raw.caught = append([]byte{}, g.early...), true // also if TLS alone has some
	}
	h.mu.Lock()
	if h.ended {
		h.mu.Unlock()
		return false
	}
	failed := h.poller.Add(g.conn.fd, epoll.In|epoll.Out|epoll.RdHup|epoll.Edge, uint64(s.id)) // once here, the hall may release it
	h.guests[uint64(s.id)] = g
	if with.peer.Role == node.RoleWorker {
		h.workers++
	}
	if g.source = h.sources[with.peer.Source]; g.source == nil {
		g.source = &source{}
		h.sources[with.peer.Source] = g.source
	}
	g.source.guests++
	h.admit(g)
	h.queue(g, hears|says)
	h.mu.Unlock()
	if failed != nil {
		s.cut(reasonOf(failed))
	}
	return true
}

// call makes the hall look at a guest: a message waits for it, or its stream ends.
func (h *hall) call(g *guest) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.guests[uint64(g.s.id)] == g {
		h.queue(g, says)
		h.rouse(g)
	}
}

// queue lets a guest wait for its turn. The lock is held.
func (h *hall) queue(g *guest, why cause) {
	if g.why == 0 {
		if g.source.waiting = append(g.source.waiting, g); len(g.source.waiting) == 1 {
			h.turns = append(h.turns, g.source)
		}
	}
	g.why |= why
	h.wake()
}

func (h *hall) wake() {
	if !h.woken {
		h.woken = true
		_ = h.poller.Wake() // only a full counter is an error, and that wakes too
	}
}

// close lets no guest enter any more. The goroutine ends with its last guest.
func (h *hall) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	h.wake()
	_ = h.calm.set.Wake() // as wake does
}

// idle says whether no guest waits, and whether the hall is over. From then on a call wakes it.
func (h *hall) idle() (idle, over bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.woken = false
	h.ended = h.over && len(h.guests) == 0
	return len(h.turns) == 0, h.ended
}

func (h *hall) run() {
	defer func() { _ = h.poller.Close() }() // nothing is left in it
	defer h.calm.close()
	events := make([]epoll.Event, 4*hallTurn)
	worked := time.Now()
	for {
		idle, over := h.idle()
		if over {
			return
		}
		timeout := time.Duration(0)
		if idle {
			timeout = h.timeout()
		}
		before := time.Now()
		n, err := h.poller.Wait(events, timeout)
		if err != nil {
			node.Bug("transport: wait for clients: %v", err) // the set is open, and the buffer ours
		}
		now := time.Now()
		if now.Sub(before) > hallRest {
			worked = now
		}
		h.attend(events[:n])
		h.serve(now, hallTurn)
		h.sweep(now)
		if h.gathers() {
			time.Sleep(hallGather) // nothing wakes the poller meanwhile: the hall is not idle
			worked = time.Now()
			continue
		}
		if time.Since(worked) >= hallWorked {
			// A pause, not a yield: only a processor that finds nothing to run looks for what has
			// arrived at the sockets of nodes. Where nothing does, Go's poller makes a millisecond of it.
			h.rest(events, time.Now().Add(hallRest))
			worked = time.Now()
		}
	}
}

// attend lets guests wait for whom something has arrived, or whose sockets take more.
func (h *hall) attend(events []epoll.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.woken = true // until it looks again whether it is idle
	for i := range events {
		e := &events[i]
		g := h.guests[e.Token()]
		if g == nil {
			continue // the wake, or a guest that has left
		}
		if e.Events&(epoll.RdHup|epoll.Hup|epoll.Err) != 0 {
			g.ends = true
		}
		if e.Readable() {
			h.queue(g, hears)
		}
		if e.Writable() && len(g.out) > 0 { // each event tells of both directions
			h.queue(g, says)
		}
	}
}

// again lets a guest wait that has more to read.
func (h *hall) again(g *guest) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.guests[uint64(g.s.id)] == g {
		h.queue(g, hears)
	}
}

// hear reads once from a guest.
func (h *hall) hear(g *guest, now time.Time) {
	if early := g.early; early != nil {
		g.early = nil
		if h.parse(g, early, now); g.secured != nil {
			h.decrypt(g, nil, now) // what TLS has read, and no frame has taken
		}
	}
	size := hallBytes
	if len(g.rest) >= hallBytes {
		size = hallLarge
	}
	n, failed := g.conn.read(h.in[:size])
	if n == hallBytes && h.large(g) {
		// The rest of a large frame, at once: to keep what came first for another turn costs more.
		switch more, err := g.conn.read(h.in[n:]); {
		case more > 0:
			n, size = n+more, hallLarge
		case err == unix.EAGAIN:
			size = hallLarge
		} // another error, and the end, come again in the next turn
	}
	switch {
	case failed == unix.EAGAIN:
	case failed == unix.EINTR:
		h.again(g)
	case g.s.closing():
		if failed != nil || n == 0 {
			h.leave(g)
		} else {
			h.again(g)
		}
	case failed != nil:
		g.s.cut(readReason(os.NewSyscallError("read", failed)))
		h.leave(g)
	case g.secured != nil && n > 0:
		if h.decrypt(g, h.in[:n], now) && (n == size || g.ends) {
			h.again(g)
		}
	case n == 0 && len(g.rest) > 0:
		g.s.cut(readReason(fmt.Errorf("cut short after %d bytes: %w", len(g.rest), io.ErrUnexpectedEOF)))
		h.leave(g)
	case n == 0:
		g.s.cut(readReason(io.EOF))
		h.leave(g)
	default:
		if h.parse(g, h.in[:n], now); n == size || g.ends {
			h.again(g)
		}
	}
}

// large says that what was read is the beginning of a frame that is larger.
func (h *hall) large(g *guest) bool {
	return g.secured == nil && len(g.rest) == 0 && binary.BigEndian.Uint32(h.in) > hallBytes-4
}

// parse hands the whole frames of what has arrived to the sink.
func (h *hall) parse(g *guest, b []byte, now time.Time) {
	if len(g.rest) > 0 {
		g.rest = append(g.rest, b...)
		b = g.rest
	}
	whole := false
	for len(b) >= 4 {
		length := binary.BigEndian.Uint32(b)
		if length < message.HeaderSize || length > message.FrameMax+seal.Overhead {
			g.s.heard(nil, &tooLongError{length, message.FrameMax + seal.Overhead}, g.conn)
			return
		}
		if uint32(len(b)-4) < length {
			break
		}
		m, err := g.open(b[4 : 4+length])
		b, whole = b[4+length:], true
		if !g.s.heard(m, err, g.conn) || g.s.closing() {
			return
		}
		if m != nil && m.Priority() == node.Critical && g.s.peer.Role == node.RoleClient {
			h.calm.urgent = true
		}
	}
	if len(b) == 0 {
		g.rest, g.frame = nil, time.Time{}
		return
	}
	if whole || g.rest == nil {
		g.rest = append(make([]byte, 0, 2*len(b)), b...)
		g.frame = time.Time{}
	}
	if g.frame.IsZero() {
		g.frame = now.Add(h.t.config.Limits.Frame)
		h.limit(g, g.frame)
	}
}

// open decodes a frame, in its own bytes.
func (g *guest) open(b []byte) (message.Body, error) {
	if g.keys.In != nil {
		var err error
		if b, err = g.keys.In.Open(b); err != nil {
			return nil, err
		}
	}
	return message.Decode(b)
}

// say writes to a guest what waits for it, one batch a turn, or ends it.
func (h *hall) say(g *guest, now time.Time) {
	s := g.s
	if len(g.out) == 0 {
		s.mu.Lock()
		h.batch = s.queue.take(h.batch[:0], batchBytes)
		state := s.state
		s.mu.Unlock()
		switch {
		case state == stateEnded:
			h.leave(g)
			return
		case len(h.batch) == 0 && state == stateClosing:
			h.finish(g, now)
			return
		case len(h.batch) == 0:
			return
		}
		h.out = h.out[:0]
		for i, m := range h.batch {
			var err error
			if h.out, h.scratch, err = appendFrame(h.out, h.scratch, g.keys.Out, m); err != nil {
				s.cut(err.Error())
				h.leave(g)
				return
			}
			h.batch[i] = nil
		}
		h.t.counters.messagesOut.Add(uint64(len(h.batch)))
		h.t.counters.bytesOut.Add(uint64(len(h.out)))
		g.written = now.Add(h.t.config.Limits.Write)
		h.seal(g, now)
		if cap(h.out) > 2*batchBytes {
			h.out, h.scratch = nil, nil
		}
		return
	}
	h.put(g, g.out, now)
}

// put writes bytes, keeps what the socket does not take, and comes back for more.
func (h *hall) put(g *guest, b []byte, now time.Time) {
	n, failed := 0, error(nil)
	if len(b) > 0 {
		n, failed = g.conn.write(b)
	}
	switch {
	case failed == unix.EAGAIN:
		n = 0
	case failed == unix.EINTR:
		n = 0
		defer h.call(g)
	case failed != nil:
		g.s.cut("write: " + os.NewSyscallError("write", failed).Error())
		h.leave(g)
		return
	}
	if b = b[n:]; len(b) > 0 {
		g.out = append(g.out[:0], b...) // forwards in its own memory, if it is that
		h.limit(g, g.written)
	} else {
		g.out, g.written = nil, time.Time{}
	}
	if len(b) > 0 {
		return
	}
	g.s.mu.Lock()
	more := g.s.queue.bytes > 0 || g.s.state >= stateClosing
	g.s.mu.Unlock()
	if more {
		h.call(g)
	}
}

// finish tells a guest that nothing more comes, and waits for its last bytes.
func (h *hall) finish(g *guest, now time.Time) {
	if !g.linger.IsZero() {
		return
	}
	if g.secured != nil {
		g.secured.finish(g.conn)
	}
	g.conn.closeWrite() // its end of the stream closes the rest
	g.frame, g.linger = time.Time{}, now.Add(h.t.config.Limits.Linger)
	h.limit(g, g.linger)
}

// limit makes the sweep look at a guest at an instant, or before.
func (h *hall) limit(g *guest, at time.Time) {
	h.late[g] = struct{}{}
	if h.next.IsZero() || at.Before(h.next) {
		h.next = at
	}
}

// timeout is how long no deadline passes.
func (h *hall) timeout() time.Duration {
	if h.next.IsZero() {
		return epoll.Forever
	}
	return max(0, time.Until(h.next))
}

// sweep ends the guests whose deadline has passed.
func (h *hall) sweep(now time.Time) {
	if h.next.IsZero() || now.Before(h.next) {
		return
	}
	h.next = time.Time{}
	//lint:orderfree each by itself
	for g := range h.late {
		switch {
		case passed(g.linger, now):
			h.leave(g)
		case passed(g.frame, now):
			g.s.cut(readReason(fmt.Errorf("cut short after %d bytes: %w", len(g.rest), os.ErrDeadlineExceeded)))
			h.leave(g)
		case passed(g.written, now) && len(g.out) > 0:
			g.s.cut("write: " + os.ErrDeadlineExceeded.Error())
			h.leave(g)
		default:
			delete(h.late, g)
			for _, at := range [...]time.Time{g.linger, g.frame, g.written} {
				if !at.IsZero() {
					h.limit(g, at)
				}
			}
		}
	}
}

func passed(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

// leave ends a guest's stream. Later calls for it have no effect.
func (h *hall) leave(g *guest) {
	id := uint64(g.s.id)
	h.mu.Lock()
	here := h.guests[id] == g
	if here {
		delete(h.guests, id)
		if g.s.peer.Role == node.RoleWorker {
			h.workers--
		}
		h.excite(g)
		if g.source.guests--; g.source.guests == 0 {
			delete(h.sources, g.s.peer.Source)
		}
	}
	if h.over && len(h.guests) == 0 {
		h.wake() // to end
	}
	h.mu.Unlock()
	delete(h.late, g)
	if !here {
		return
	}
	g.conn.release()
	g.rest, g.out = nil, nil
	g.s.over("", false)
}

// decrypt hands what has arrived to TLS, and parses what that says. False: the guest leaves.
func (h *hall) decrypt(g *guest, b []byte, now time.Time) bool {
	var err error
	h.plain, err = g.secured.said(h.plain[:0], b)
	if len(g.secured.raw.out) > 0 { // TLS answers by itself
		if !g.answers(g.secured.raw.take(), now, &h.t.config.Limits) {
			err = errUnread
		}
		h.call(g)
	}
	if !g.s.closing() {
		h.parse(g, h.plain, now)
	}
	if cap(h.plain) > 2*batchBytes {
		h.plain = nil
	}
	if err == nil {
		return true
	}
	if err == io.EOF && len(g.rest) > 0 {
		err = fmt.Errorf("cut short after %d bytes: %w", len(g.rest), io.ErrUnexpectedEOF)
	}
	g.s.cut(readReason(err))
	h.leave(g)
	return false
}

// seal writes the batch that is encoded, over TLS where the guest has it.
func (h *hall) seal(g *guest, now time.Time) {
	if g.secured == nil {
		h.put(g, h.out, now)
	} else if _, err := g.secured.Write(h.out); err != nil {
		g.s.cut("write: " + reasonOf(err))
		h.leave(g)
	} else {
		h.put(g, g.secured.raw.take(), now)
	}
}
