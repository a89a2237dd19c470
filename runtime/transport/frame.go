package transport

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/seal"
)

// bufferKept is the largest buffer that a stream keeps between two frames.
const bufferKept = 64 << 10

// bufferFirst is the buffer for a frame before any of its bytes has arrived.
const bufferFirst = 4 << 10

// frameReader takes frames off a stream.
type frameReader struct {
	in     *bufio.Reader
	conn   net.Conn        // nil in tests that have no deadlines
	keys   *seal.Direction // nil: frames are not sealed
	limit  int             // bytes of one frame as it is on the wire
	slow   time.Duration   // how long a frame may take once its length arrived
	buffer []byte
}

// tooLongError is a length prefix beyond its bound, the mark of garbage.
type tooLongError struct {
	length uint32
	limit  int
}

func (e *tooLongError) Error() string {
	return fmt.Sprintf("a frame of %d bytes is outside %d..%d: the sender does not speak this protocol", e.length, message.HeaderSize, e.limit)
}

// Is makes it a message.ErrFrame.
func (e *tooLongError) Is(target error) bool { return target == message.ErrFrame }

// next reads one frame. It returns io.EOF for an end between two frames.
func (r *frameReader) next() (message.Body, error) {
	var prefix [4]byte
	if _, err := io.ReadFull(r.in, prefix[:]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(prefix[:])
	if r.keys == nil && seal.Sealed(prefix[:]) {
		return nil, errSealed
	}
	if speaksTLS(prefix[:]) {
		return nil, errSecured
	}
	if length < message.HeaderSize || length > uint32(r.limit) {
		return nil, &tooLongError{length, r.limit}
	}
	b, err := r.body(int(length))
	if err != nil {
		return nil, err
	}
	if r.keys != nil {
		if b, err = r.keys.Open(b); err != nil {
			return nil, err
		}
	}
	return message.Decode(b)
}

// body reads n bytes. The buffer doubles as bytes arrive, so that a length alone
// costs its sender more than it costs us.
func (r *frameReader) body(n int) ([]byte, error) {
	if r.conn != nil && r.slow > 0 && r.in.Buffered() < n {
		_ = r.conn.SetReadDeadline(time.Now().Add(r.slow)) // a closed conn says so at the read
		defer func() { _ = r.conn.SetReadDeadline(time.Time{}) }()
	}
	b := r.buffer[:0]
	if cap(b) == 0 {
		b = make([]byte, 0, min(n, bufferFirst))
	}
	for len(b) < n {
		if len(b) == cap(b) {
			b = append(make([]byte, 0, min(n, 2*cap(b))), b...)
		}
		want := min(n, cap(b))
		got, err := io.ReadFull(r.in, b[len(b):want])
		b = b[:len(b)+got]
		if err != nil {
			return nil, fmt.Errorf("cut short after %d of %d bytes: %w", len(b), n, noEOF(err))
		}
	}
	if cap(b) <= bufferKept {
		r.buffer = b
	} else {
		r.buffer = nil
	}
	return b, nil
}

// noEOF makes an end inside a frame different from one between two.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// appendFrame puts the length and the frame of m behind b, sealed where there are keys. scratch is
// reused from call to call.
func appendFrame(b, scratch []byte, keys *seal.Direction, m node.Message) (whole, reuse []byte, err error) {
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	if keys == nil {
		whole, err = message.Append(b, m)
	} else if scratch, err = message.Append(scratch[:0], m); err == nil {
		whole = keys.Seal(b, scratch)
	}
	if err != nil {
		return b[:at], scratch, err
	}
	binary.BigEndian.PutUint32(whole[at:], uint32(len(whole)-at-4))
	return whole, scratch, nil
}
