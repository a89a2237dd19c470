package island

import (
	"io"
	"net"
	"time"
)

// Bounds of a stream, in each direction. One read of the loop may exceed that of bytes to read.
const (
	StreamUnread  = 256 << 10
	StreamUnsent  = 256 << 10
	streamShrinks = 64 << 10 // a longer buffer that is empty is given back
)

// Stream is a byte stream that a loop reads and writes for a library, which takes it for its connection.
type Stream struct {
	inlet
	shore  *Shore
	peer   address
	unread buffer
	full   bool // the loop reads no more until Tell
	unsent []byte
	out    []byte // what the loop writes now: the library appends no more to it
	spare  []byte // memory of what was written last
	whole  []byte // memory of out
	wrote  uint64
	took   uint64
}

var _ net.Conn = (*Stream)(nil)

// NewStream returns an open stream. Peer is what the library shows as its address.
func NewStream(s *Shore, peer string) *Stream {
	f := &Stream{shore: s, peer: address(peer)}
	f.moved.L = &f.mu
	return f
}

// buffer is a queue of bytes.
type buffer struct {
	bytes []byte
	gone  int
}

func (b *buffer) len() int { return len(b.bytes) - b.gone }

func (b *buffer) put(p []byte) {
	if b.gone > 0 && len(b.bytes)+len(p) > cap(b.bytes) {
		b.bytes = b.bytes[:copy(b.bytes, b.bytes[b.gone:])]
		b.gone = 0
	}
	b.bytes = append(b.bytes, p...)
}

func (b *buffer) take(p []byte) int {
	n := copy(p, b.bytes[b.gone:])
	if b.gone += n; b.gone == len(b.bytes) {
		if b.bytes, b.gone = b.bytes[:0], 0; cap(b.bytes) > streamShrinks {
			b.bytes = nil
		}
	}
	return n
}

// Read implements net.Conn.
func (f *Stream) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.unread.len() == 0 || f.closed {
		if f.end != nil && !f.closed {
			return 0, f.end
		}
		if err := f.waits(); err != nil {
			return 0, err
		}
	}
	n := f.unread.take(p)
	if f.full && f.unread.len() < StreamUnread/2 {
		f.full = false
		f.shore.Tell()
	}
	return n, nil
}

// Write implements net.Conn: it waits until the loop has room for all of it.
func (f *Stream) Write(p []byte) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(p) > 0 {
		if f.closed {
			return n, net.ErrClosed
		}
		room := StreamUnsent - len(f.unsent) - len(f.out)
		if room <= 0 {
			f.moved.Wait()
			continue
		}
		some := p[:min(room, len(p))]
		f.unsent = append(f.unsent, some...)
		n, p, f.wrote = n+len(some), p[len(some):], f.wrote+uint64(len(some))
		f.shore.Tell()
	}
	return n, nil
}

// Close implements net.Conn. It tells the loop, as the library may close of its own accord.
func (f *Stream) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.shut()
		f.shore.Tell()
	}
	return nil
}

// LocalAddr implements net.Conn.
func (f *Stream) LocalAddr() net.Addr { return address("island") }

// RemoteAddr implements net.Conn.
func (f *Stream) RemoteAddr() net.Addr { return f.peer }

// SetDeadline implements net.Conn: a write ends with its stream, and has no deadline of its own.
func (f *Stream) SetDeadline(t time.Time) error { return f.SetReadDeadline(t) }

// SetReadDeadline implements net.Conn.
func (f *Stream) SetReadDeadline(t time.Time) error {
	f.until(t)
	return nil
}

// SetWriteDeadline implements net.Conn. There is none.
func (f *Stream) SetWriteDeadline(time.Time) error { return errDeadline }

// Feed gives the library what the loop has read.
func (f *Stream) Feed(b []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || f.end != nil || len(b) == 0 {
		return
	}
	f.unread.put(b)
	f.moved.Broadcast()
	f.shore.crew.Fed()
}

// Full reports that the loop must read no more until Take returns the tag again.
func (f *Stream) Full() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.full = f.unread.len() >= StreamUnread && !f.closed
	return f.full
}

// End says that the peer sends no more, with the error of the loop's read. False: it has been said.
func (f *Stream) End(err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || f.end != nil {
		return false
	}
	if err == nil {
		err = io.EOF
	}
	f.end = err
	f.moved.Broadcast()
	f.shore.crew.Fed()
	return true
}

// Output returns the bytes to write next. They stay as they are until Sent.
func (f *Stream) Output() []byte {
	if len(f.out) > 0 {
		return f.out
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.unsent) > 0 {
		f.whole, f.out = f.unsent, f.unsent
		f.unsent, f.spare = f.spare, nil
	}
	return f.out
}

// Sent says that the kernel took so many of them.
func (f *Stream) Sent(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	waits := len(f.unsent)+len(f.out) >= StreamUnsent
	f.took += uint64(n)
	if f.out = f.out[n:]; len(f.out) == 0 && cap(f.whole) <= streamShrinks {
		f.spare, f.whole = f.whole[:0], nil
	}
	if waits && n > 0 {
		f.moved.Broadcast()
		f.shore.crew.Fed()
	}
}

// Wrote returns how many bytes the library has written, and Took how many of them the kernel has.
func (f *Stream) Wrote() (wrote, took uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.wrote, f.took
}

// Ended returns the error with which the peer's end was reported; nil: it may send more.
func (f *Stream) Ended() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.end
}
