package engine

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/http1"
)

// errNoNotify is an end that may be forged: only close_notify ends a stream under TLS.
// Responses that tell their length do not get here.
var errNoNotify = &http1.Error{Kind: http1.KindTruncated, Detail: "the connection was closed without the close_notify of TLS"}

// wire is the connection below TLS. It remembers what the library forgives.
type wire struct {
	*net.TCPConn
	raw   syscall.RawConn
	ended bool // the stream has ended
	ask   bool // reads do not wait: that there is nothing is a timeout, which TLS survives
}

func (w *wire) Read(b []byte) (int, error) {
	n, err := 0, error(nil)
	if w.ask {
		n, err = w.look(b)
	} else {
		n, err = w.TCPConn.Read(b)
	}
	w.ended = w.ended || err == io.EOF
	return n, err
}

func (w *wire) look(b []byte) (int, error) {
	var n int
	var errno syscall.Errno
	if err := w.raw.Control(func(fd uintptr) { n, errno = epoll.Read(int(fd), b) }); err != nil {
		return 0, err
	}
	switch {
	case errno == syscall.EAGAIN:
		return 0, os.ErrDeadlineExceeded
	case errno != 0:
		return 0, errno
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// staleTLS reads what has come since the last response. Tickets and new keys may come at
// any time and are taken here; anything else spends the connection.
func (k *link) staleTLS() bool {
	k.hold()
	defer k.release()
	k.wire.ask = true
	n, err := k.stream.Read(k.buffer[:])
	k.wire.ask = false
	return n > 0 || !errors.Is(err, os.ErrDeadlineExceeded)
}
