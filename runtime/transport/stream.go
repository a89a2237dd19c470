package transport

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/seal"
)

// state is how far a stream has come. It only moves forward.
type state uint8

const (
	stateOpening state = iota // dialing or shaking hands
	stateOpen
	stateClosing // Close was called: flush, then end without a report
	stateEnded   // broken
)

// batchBytes is about how much is encoded for one write.
const batchBytes = 64 << 10

// stream is one connection to a peer, dialed or accepted.
type stream struct {
	t          *Transport
	id         node.StreamID
	to         node.Addr // empty if accepted
	cancelDial context.CancelFunc
	wake       chan struct{} // holds one: the writer has something to look at
	guest      *guest        // nil: it has goroutines of its own
	gone       func()        // gives its place back; nil: it has none

	mu     sync.Mutex
	state  state
	conn   net.Conn // nil until the handshake is done
	peer   node.Peer
	key    seal.ID // of the secret that seals it
	reason string  // why it ended
	queue  queue
	// flushed says that the writer is done after Close: the transport waits for the peer's last
	// bytes for at most Linger.
	flushed bool
}

// send queues m, or breaks the stream for want of room.
func (s *stream) send(m node.Message) {
	size := 4 + message.HeaderSize + m.Size()
	s.mu.Lock()
	if s.state > stateOpen {
		s.mu.Unlock()
		return
	}
	if peer := s.peer; s.state == stateOpen && !message.Knows(peer, m.Kind()) {
		s.mu.Unlock()
		unknownTo(&s.t.config, peer, m)
		return
	}
	full := s.queue.bytes+size > s.t.config.Limits.Queue
	if !full {
		s.queue.push(m, size)
	}
	s.mu.Unlock()
	if full {
		s.t.counters.queueFull.Add(1)
		s.cut(fmt.Sprintf("more than %d bytes waited to be written: the peer or its link is too slow", s.t.config.Limits.Queue))
		return
	}
	s.poke()
}

func (s *stream) poke() {
	if s.guest != nil {
		s.guest.hall.call(s.guest)
		return
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// close lets the writer flush and then end the stream.
func (s *stream) close() {
	s.mu.Lock()
	opening := s.state == stateOpening
	if s.state < stateClosing {
		s.state = stateClosing
	}
	s.mu.Unlock()
	if opening && s.cancelDial != nil {
		s.cancelDial()
	}
	s.poke()
}

// cut breaks the stream now. The first reason stands.
func (s *stream) cut(reason string) {
	s.mu.Lock()
	if s.state < stateClosing {
		s.state, s.reason = stateEnded, reason
	}
	conn := s.conn
	s.mu.Unlock()
	if conn != nil {
		_ = conn.Close() // its reader and writer notice
	} else if s.cancelDial != nil {
		s.cancelDial()
	}
	s.poke()
}

// dial connects and runs the stream to its end.
func (s *stream) dial(ctx context.Context) {
	dialer := net.Dialer{KeepAlive: -1, Timeout: s.t.config.Limits.Dial}
	conn, err := dialer.DialContext(ctx, "tcp", string(s.to))
	if err != nil {
		s.unreached(fmt.Sprintf("connect to %s: %s", s.to, dialReason(err)), false)
		return
	}
	// Close and the node's end reach the handshake through its connection.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	shaken, err := s.t.shake(conn, true)
	stop()
	if err != nil {
		_ = conn.Close() // the handshake's error says more
		var refused *RefusedError
		s.unreached(fmt.Sprintf("greet %s: %s", s.to, readReason(err)), errors.As(err, &refused) && refused.unfit())
		return
	}
	s.t.datagrams.names.meet(shaken.peer.Addr, conn.RemoteAddr())
	s.run(shaken)
}

// unreached ends a stream that never opened. It logs that itself, as a machine reports no peer
// that it never knew.
func (s *stream) unreached(why string, unfit bool) {
	if !s.closing() {
		s.t.quiet.target("no stream could be opened", string(s.to), why)
	}
	s.over(why, unfit)
}

// run carries a stream whose handshake is done, and returns at its end.
func (s *stream) run(with *shaken) {
	conn := with.conn
	s.mu.Lock()
	s.conn, s.peer, s.key = conn, with.peer, with.key
	alive := s.state == stateOpening
	if alive {
		s.state = stateOpen
	}
	s.mu.Unlock()
	if !alive {
		_ = conn.Close() // closed while it was opening
		s.over("", false)
		return
	}
	s.t.counters.opened.Add(1)
	s.t.sink.StreamOpened(s.id, with.peer)
	var writer sync.WaitGroup
	writer.Go(func() { s.write(conn, with.out) })
	s.read(conn, with.reader)
	_ = conn.Close()
	s.poke()
	writer.Wait()
	s.over("", false)
}

// over forgets the stream and reports its end, unless the machine closed it. Unfit: the handshake rejected it for good.
func (s *stream) over(reason string, unfit bool) {
	s.t.unregister(s)
	s.mu.Lock()
	told := s.state == stateClosing
	if s.state != stateEnded {
		s.state, s.reason = stateEnded, reason
	}
	reason = s.reason
	s.mu.Unlock()
	if s.gone != nil {
		s.gone() // before its end is known: the next one may come at once
	}
	if !told {
		s.t.counters.broken.Add(1)
		s.t.sink.StreamBroken(s.id, s.peer, reason, unfit)
	}
}

// sealed returns the key of an open stream.
func (s *stream) sealed() (key seal.ID, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.key, s.state == stateOpen
}

func (s *stream) closing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == stateClosing
}

// read hands frames to the sink until the stream ends in one way or another.
func (s *stream) read(conn net.Conn, r *frameReader) {
	for {
		m, err := r.next()
		if s.closing() {
			s.drain(conn)
			return
		}
		if !s.heard(m, err, conn) {
			return
		}
	}
}

// heard hands a frame to the sink. False: the stream is cut.
func (s *stream) heard(m message.Body, err error, conn net.Conn) bool {
	if unknown := (*message.UnknownKindError)(nil); errors.As(err, &unknown) {
		s.t.skip(conn.RemoteAddr(), err)
		if no := message.RefuseUnknown(s.t.config.Self, s.peer, unknown); no != nil {
			s.send(no)
		}
		return true // a newer version says more than this one understands
	}
	if err != nil {
		if s.t.counters.unsealed.count(err) {
			s.t.quiet.source("a peer's frame did not open", conn.RemoteAddr(), err)
		} else if errors.Is(err, message.ErrFrame) {
			s.t.counters.garbage.Add(1)
			s.t.quiet.source("a peer sent what is no frame", conn.RemoteAddr(), err)
		}
		s.cut(readReason(err))
		return false
	}
	s.t.counters.messagesIn.Add(1)
	s.t.counters.bytesIn.Add(uint64(4 + message.HeaderSize + m.Size()))
	switch m := m.(type) {
	case *message.HelloRefused:
		refused := byPeer(m)
		if refused.reason != "" { // the dialer has judged what this end said last
			s.t.counters.refused.Add(1)
			s.t.certified.count(refused)
			s.t.quiet.source("a connection was refused", conn.RemoteAddr(), refused)
		}
		s.cut(refused.Error())
		return false
	case *message.Hello:
		s.cut("the peer said Hello twice")
		return false
	}
	if !s.t.takes(s.peer, s.id, m) {
		s.cut(misplaced(s.peer, m))
		return false
	}
	if !s.t.sink.Message(s.peer, s.id, m) {
		s.t.counters.laneFull.Add(1)
		s.cut(fmt.Sprintf("the %s lane of this node's mailbox is full", m.Priority()))
		return false
	}
	return true
}

// drain reads the peer's last bytes while ours leave: a close with unread bytes would reset the
// connection and lose bytes in flight.
func (s *stream) drain(conn net.Conn) {
	s.mu.Lock()
	flushed := s.flushed
	s.mu.Unlock()
	if flushed {
		// The end of a frame has lifted the deadline that the writer set.
		_ = conn.SetReadDeadline(time.Now().Add(s.t.config.Limits.Linger))
	}
	_, _ = io.Copy(io.Discard, conn) // until the peer closes too, or the deadline
}

// write sends the queued messages until the stream ends; after Close it flushes.
func (s *stream) write(conn net.Conn, keys *seal.Direction) {
	var batch []node.Message
	var out, scratch []byte
	for {
		s.mu.Lock()
		batch = s.queue.take(batch[:0], batchBytes)
		state := s.state
		s.mu.Unlock()
		if state == stateEnded {
			return
		}
		if len(batch) == 0 {
			if state == stateClosing {
				s.mu.Lock()
				s.flushed = true
				s.mu.Unlock()
				finish(conn, s.t.config.Limits.Linger)
				return
			}
			<-s.wake
			continue
		}
		out = out[:0]
		for i, m := range batch {
			var err error
			if !message.Knows(s.peer, m.Kind()) { // it waited for the peer's Hello
				unknownTo(&s.t.config, s.peer, m)
				continue
			}
			if out, scratch, err = appendFrame(out, scratch, keys, m); err != nil {
				s.cut(err.Error())
				return
			}
			batch[i] = nil
		}
		_ = conn.SetWriteDeadline(time.Now().Add(s.t.config.Limits.Write)) // a closed conn says so at the write
		if _, err := conn.Write(out); err != nil {
			s.cut("write: " + reasonOf(err))
			return
		}
		s.t.counters.messagesOut.Add(uint64(len(batch)))
		s.t.counters.bytesOut.Add(uint64(len(out)))
		if cap(out) > 2*batchBytes {
			out, scratch = nil, nil
		}
	}
}

// finish says that nothing more comes, and bounds the wait for the peer.
func finish(conn net.Conn, linger time.Duration) {
	if c, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite() // the reader closes the rest
	}
	_ = conn.SetReadDeadline(time.Now().Add(linger))
}

// newReader reads frames after a handshake.
func (t *Transport) newReader(conn net.Conn) *frameReader {
	return &frameReader{in: bufio.NewReaderSize(conn, 16<<10), conn: conn}
}

// readReason describes the end of reading, for the machine and for people.
func readReason(err error) string {
	switch {
	case err == io.EOF:
		return "closed by the peer"
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "the peer stopped in the middle of a frame: " + reasonOf(err)
	}
	return reasonOf(err)
}

func dialReason(err error) string {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "no program listens there: start it, or correct the address"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "no answer in time: check that it runs and that no firewall is between"
	}
	return reasonOf(err)
}

// reasonOf cuts the addresses out of net's errors: they are our own ports.
func reasonOf(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err.Error()
	}
	return err.Error()
}

// errUnread is of a peer that lets TLS answer, and reads nothing of it.
var errUnread = errors.New("it reads nothing of what TLS answers")

// answers queues what TLS says by itself, such as new keys for which a peer asks. A peer that reads nothing gets no more
// time by that, and no more memory than a stream's. False: it has all of that.
func (g *guest) answers(b []byte, now time.Time, l *Limits) bool {
	if len(g.out) == 0 {
		g.written = now.Add(l.Write)
	}
	g.out = append(g.out, b...)
	return len(g.out) <= l.Queue
}
