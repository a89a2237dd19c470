package transport

import (
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// descriptor is a connection of the hall. Its socket has left Go's own poller: in both, each packet
// of a client would also wake a thread of the runtime, which finds nothing to run.
//
// Any goroutine closes it. Only the hall's reads, writes and releases it.
type descriptor struct {
	net.Conn // closed: it has only addresses left

	mu sync.Mutex
	fd int // -1: released
}

// detach takes a connection of TCP, or the one below TLS, out of Go's poller. It closes conn.
func detach(conn net.Conn) (*descriptor, error) {
	s, over := conn.(*secured)
	if over {
		conn = s.raw.Conn
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil, fmt.Errorf("no descriptor below %T", conn)
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil, err
	}
	d := &descriptor{Conn: conn}
	var failed error
	err = raw.Control(func(fd uintptr) { d.fd, failed = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	if err == nil && failed != nil {
		err = os.NewSyscallError("fcntl", failed)
	}
	if err != nil {
		return nil, err
	}
	_ = conn.Close() // its twin is open
	if over {
		s.raw.Conn = d
	}
	return d, nil
}

// Close ends the connection in both directions. The hall's next read says so.
func (d *descriptor) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fd < 0 {
		return net.ErrClosed
	}
	return unix.Shutdown(d.fd, unix.SHUT_RDWR)
}

// closeWrite says that nothing more comes.
func (d *descriptor) closeWrite() {
	_ = unix.Shutdown(d.fd, unix.SHUT_WR) // of an end that has gone, a read says so
}

// release gives the descriptor back.
func (d *descriptor) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fd >= 0 {
		_ = unix.Close(d.fd) // all that it could report is lost anyway
		d.fd = -1
	}
}

// read reads what has arrived. The socket never blocks, so that the scheduler need not know.
func (d *descriptor) read(b []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(unix.SYS_READ, uintptr(d.fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	return done(n, errno)
}

// write writes what the socket takes. b must not be empty.
func (d *descriptor) write(b []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(unix.SYS_WRITE, uintptr(d.fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	return done(n, errno)
}

func done(n uintptr, errno syscall.Errno) (int, error) {
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
