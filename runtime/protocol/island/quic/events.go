package quic

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/quic-go/quic-go"

	"hyperscale/runtime/protocol/http3"
	"hyperscale/runtime/protocol/island"
)

// unreadMost is what may wait for the loop before the readers of a connection wait, in bytes.
const unreadMost = 256 << 10

// queue is what goroutines have for the loop.
type queue struct {
	shore *island.Shore

	mu      sync.Mutex
	drained sync.Cond
	events  []event
	bytes   []byte
	other   batch // what the loop takes next time
	conn    *quic.Conn
	spare   *quic.Stream // for which there was room at last
	server  map[uint64]*quic.ReceiveStream
	err     error // the connection has ended
	closed  bool
}

// batch are the buffers of events that the loop has taken.
type batch struct {
	events []event
	bytes  []byte
}

// event is one of http3, with its bytes in the queue.
type event struct {
	kind       http3.EventKind
	stream     uint64
	code       uint64
	first, end int
}

func (q *queue) begin(s *island.Shore) {
	q.shore, q.drained.L = s, &q.mu
}

// tell changes the queue, and tells the loop.
func (q *queue) tell(change func()) {
	q.mu.Lock()
	change()
	q.mu.Unlock()
	q.shore.Tell()
}

func (q *queue) established(c *quic.Conn) { q.tell(func() { q.conn = c }) }

func (q *queue) up() *quic.Conn {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.conn
}

func (q *queue) end(err error) {
	q.tell(func() {
		if q.err == nil {
			q.err = err
		}
	})
}

func (q *queue) room(s *quic.Stream) {
	q.tell(func() {
		q.spare = s
		q.events = append(q.events, event{kind: http3.Room})
	})
}

// opened keeps a stream of the server, so that the loop can stop it.
func (q *queue) opened(s *quic.ReceiveStream) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.server == nil {
		q.server = map[uint64]*quic.ReceiveStream{}
	}
	q.server[uint64(s.StreamID())] = s
}

// forget gives up what is kept of a stream of the server that has ended.
func (q *queue) forget(stream uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.server, stream)
}

func (q *queue) of(stream uint64) *quic.ReceiveStream {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.server[stream]
}

// shut lets the goroutines that wait for the loop go.
func (q *queue) shut() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.drained.Broadcast()
}

// post adds an event with its bytes. False: the link is closed. One without bytes does not wait: the loop
// itself posts such ones, and only the loop makes room.
func (q *queue) post(e event, b []byte) bool {
	q.mu.Lock()
	for len(b) > 0 && len(q.bytes) > unreadMost && !q.closed {
		q.drained.Wait()
	}
	if q.closed {
		q.mu.Unlock()
		return false
	}
	e.first = len(q.bytes)
	q.bytes = append(q.bytes, b...)
	e.end = len(q.bytes)
	q.events = append(q.events, e)
	q.mu.Unlock()
	q.shore.Tell()
	return true
}

// pieces are the buffers of readers.
var pieces = sync.Pool{New: func() any { return new([pieceMost]byte) }}

// Bytes of a read: of a response, and of a stream of the server's.
const (
	pieceMost    = 4 << 10
	controlPiece = 128
)

// answer reads a response to its end.
func (q *queue) answer(s io.Reader, stream uint64) {
	buffer := pieces.Get().(*[pieceMost]byte)
	defer pieces.Put(buffer)
	q.read(s, stream, buffer[:])
}

// read reads a stream to its end.
func (q *queue) read(s io.Reader, stream uint64, buffer []byte) {
	for {
		n, err := s.Read(buffer)
		kind := http3.Data
		var reset *quic.StreamError
		switch {
		case err == io.EOF:
			kind = http3.Fin
		case err != nil:
			if n > 0 && !q.post(event{kind: http3.Data, stream: stream}, buffer[:n]) {
				return
			}
			if errors.As(err, &reset) && (reset.Remote || stream&3 == 3) { // a stopped stream of the server's ends, too
				q.post(event{kind: http3.Reset, stream: stream, code: uint64(reset.ErrorCode)}, nil)
			}
			return // run tells the connection's end once
		}
		if !q.post(event{kind: kind, stream: stream}, buffer[:n]) || kind == http3.Fin {
			return
		}
	}
}

// write writes a request that the library did not take at once. All is true before the server can have
// answered its end.
func (q *queue) write(s *quic.Stream, b []byte, all *atomic.Bool) {
	stream := uint64(s.StreamID())
	if _, err := s.Write(b); err != nil {
		q.refused(stream, err)
		return
	}
	all.Store(true)
	_ = s.Close() // it says only that the stream was given up
	q.post(event{kind: http3.Written, stream: stream}, nil)
}

// refused tells that the server takes no more of a request.
func (q *queue) refused(stream uint64, err error) {
	var stop *quic.StreamError
	if errors.As(err, &stop) && stop.Remote {
		q.post(event{kind: http3.Stopped, stream: stream, code: uint64(stop.ErrorCode)}, nil)
	}
}

// swap returns what has come since the last time, and the end of the connection.
func (q *queue) swap() (got batch, spare *quic.Stream, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	got = batch{q.events, q.bytes}
	q.events, q.bytes = q.other.events[:0], q.other.bytes[:0]
	if cap(q.bytes) > unreadMost {
		q.bytes = nil
	}
	q.other = batch{}
	spare, q.spare = q.spare, nil
	q.drained.Broadcast()
	return got, spare, q.err
}

// giveBack returns the buffers of a batch.
func (q *queue) giveBack(b batch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.other = b
}

// Take hands over what has come, until an error. Behind all of it the error is that of the connection's end.
func (l *Link) Take(take func(http3.Event) error) error {
	got, spare, end := l.queue.swap()
	defer l.queue.giveBack(got)
	if spare != nil {
		l.spare, l.waits = spare, false
	}
	for _, e := range got.events {
		if l.ended {
			return nil
		}
		if err := l.written(e.stream, e.kind, take); err != nil {
			return err
		}
		if !l.hears(&e) {
			continue
		}
		if err := take(http3.Event{Kind: e.kind, Stream: e.stream, Code: e.code, Bytes: got.bytes[e.first:e.end]}); err != nil {
			return err
		}
	}
	if l.ended || end == nil {
		return nil
	}
	for stream := range l.streams {
		if err := l.written(stream, http3.Reset, take); err != nil {
			return err
		}
	}
	return end
}

// written hands over that the library has the whole of a request, ahead of an event of its stream: another
// goroutine tells it, which may be later.
func (l *Link) written(stream uint64, ahead http3.EventKind, take func(http3.Event) error) error {
	r := l.streams[stream]
	if r == nil || ahead == http3.Written || !r.sending || !r.all.Load() {
		return nil
	}
	r.sending = false
	return take(http3.Event{Kind: http3.Written, Stream: stream})
}

// hears reports whether anything of an event's stream is still wanted, and notes what it ends.
func (l *Link) hears(e *event) bool {
	if e.kind == http3.Room || e.stream&3 != 0 {
		return true
	}
	r := l.streams[e.stream]
	if r == nil {
		return false
	}
	switch e.kind {
	case http3.Fin, http3.Reset:
		r.reads = false
	case http3.Written:
		if !r.sending {
			return false // it was handed over ahead
		}
		r.sending = false
	case http3.Stopped:
		r.sending = false
	}
	if !r.reads && !r.sending {
		delete(l.streams, e.stream)
	}
	return true
}
