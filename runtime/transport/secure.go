package transport

import (
	"crypto/tls"
	"io"
	"net"
)

// plainFirst is the first memory for what a peer says; outKept is the most that a connection keeps of
// what it wrote.
const (
	plainFirst = 2 << 10
	outKept    = 128 << 10
)

// secured is a connection under TLS.
type secured struct {
	*tls.Conn
	raw *wire
}

// Read ends with io.EOF also where the peer's process died: a stream's end has no meaning, and a
// frame that is cut short is noticed by its length.
func (s *secured) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}

// Close ends the connection now, whatever waits: TLS's own would wait for the peer.
func (s *secured) Close() error { return s.raw.Conn.Close() }

// wire is what lies below TLS: a connection, until the hall has caught it. From then on the hall reads
// and writes its bytes.
type wire struct {
	net.Conn
	caught  bool
	in, out []byte
}

// errWait says that the hall has no more bytes for TLS now.
var errWait net.Error = waitError{}

type waitError struct{}

func (waitError) Error() string   { return "no bytes have arrived" }
func (waitError) Timeout() bool   { return true }
func (waitError) Temporary() bool { return true } // crypto/tls keeps the part of a record that it has

func (w *wire) Read(b []byte) (int, error) {
	if !w.caught {
		return w.Conn.Read(b)
	}
	if len(w.in) == 0 {
		return 0, errWait
	}
	n := copy(b, w.in)
	w.in = w.in[n:]
	return n, nil
}

func (w *wire) Write(b []byte) (int, error) {
	if !w.caught {
		return w.Conn.Write(b)
	}
	w.out = append(w.out, b...)
	return len(b), nil
}

// take returns what TLS wants to write. It is valid until the next write.
func (w *wire) take() []byte {
	b := w.out
	if w.out = w.out[:0]; cap(w.out) > outKept {
		w.out = nil
	}
	return b
}

// said appends to plain what the hall's bytes say.
func (s *secured) said(plain, b []byte) ([]byte, error) {
	s.raw.in = b
	for {
		if len(plain) == cap(plain) {
			plain = append(make([]byte, 0, 2*cap(plain)+plainFirst), plain...)
		}
		n, err := s.Read(plain[len(plain):cap(plain)])
		plain = plain[:len(plain)+n]
		switch err {
		case nil:
		case errWait:
			return plain, nil
		default:
			return plain, err
		}
	}
}

// finish writes TLS's own end, behind which nothing comes. The end of the connection says the same, so
// that it does no harm where the socket does not take it.
func (s *secured) finish(to *descriptor) {
	_ = s.Conn.CloseWrite()
	if b := s.raw.take(); len(b) > 0 {
		_, _ = to.write(b)
	}
}
