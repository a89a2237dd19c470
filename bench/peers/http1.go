package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// fast is a server of HTTP/1.1 as cheap as one can be: one loop, one answer, no
// header is looked at. It knows GET alone. It can also be slow on purpose: stand
// still once, answer late, or answer no more than so many a second.
type fast struct {
	c        serverConfig
	counter  *counter
	poll, fd int
	answers  []byte // several, one after the other, for pipelined requests
	one      int    // bytes of one
	buffer   []byte
	ends     []byte   // by descriptor: how much of a header's end has been read
	alive    []uint32 // by descriptor: raised when its owner changes
	open     int64
	queue    []owed // answers that are not due, oldest first
	head     int
	free     time.Time // when the capacity has the next answer
	first    time.Time // when the first request came
	stood    bool
}

// owed is an answer that is not due.
type owed struct {
	fd    int
	alive uint32 // the descriptor's owner, as it may be another one by then
	due   time.Time
}

const (
	headerEnd = "\r\n\r\n"
	pipeline  = 64
	backlog   = 4096
)

func newFast(c serverConfig, n *counter) (*fast, error) {
	const body = "0123456789012345678901234567890123456789"
	one := []byte("HTTP/1.1 200 OK\r\nServer: fast\r\nDate: Sat, 21 Nov 2026 05:52:47 GMT\r\nContent-Type: text/plain\r\nContent-Length: 40\r\n\r\n" + body)
	f := &fast{c: c, counter: n, answers: bytes.Repeat(one, pipeline), one: len(one), buffer: make([]byte, 64<<10)}
	var err error
	if f.fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); err != nil {
		return nil, err
	}
	at, err := netip.ParseAddrPort(c.Listen)
	if err != nil {
		return nil, err
	}
	err = errors.Join(unix.SetsockoptInt(f.fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1),
		unix.Bind(f.fd, &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}), unix.Listen(f.fd, backlog))
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", c.Listen, err)
	}
	if f.poll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, err
	}
	return f, f.watch(f.fd)
}

func (f *fast) watch(fd int) error {
	return unix.EpollCtl(f.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

// address returns where it listens.
func (f *fast) address() (string, error) {
	name, err := unix.Getsockname(f.fd)
	if err != nil {
		return "", err
	}
	at, ok := name.(*unix.SockaddrInet4)
	if !ok {
		return "", errors.New("the listener has no IPv4 address")
	}
	return netip.AddrPortFrom(netip.AddrFrom4(at.Addr), uint16(at.Port)).String(), nil
}

// serve never returns without an error.
func (f *fast) serve() error {
	runtime.LockOSThread()
	events := make([]unix.EpollEvent, 512)
	for {
		n, err := unix.EpollWait(f.poll, events, f.timeout())
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		f.standStill()
		for i := range events[:max(n, 0)] {
			if fd := int(events[i].Fd); fd == f.fd {
				f.accept()
			} else {
				f.read(fd)
			}
		}
		f.pay()
	}
}

// timeout sleeps till shortly before the next answer is due, as epoll counts in
// milliseconds, and returns how long epoll may wait.
func (f *fast) timeout() int {
	if f.head == len(f.queue) {
		return -1
	}
	left := time.Until(f.queue[f.head].due)
	if left >= 2*time.Millisecond {
		return int(left/time.Millisecond) - 1
	}
	if left > 0 {
		t := unix.NsecToTimespec(int64(left))
		_ = unix.Nanosleep(&t, nil) // a signal only makes it shorter
	}
	return 0
}

// standStill does what this server is asked to do once: nothing at all.
func (f *fast) standStill() {
	if f.c.StallFor == 0 || f.stood || f.first.IsZero() || time.Since(f.first) < f.c.StallAt {
		return
	}
	f.stood = true
	began := time.Now()
	time.Sleep(f.c.StallFor)
	f.counter.stalled.Store(int64(time.Since(began)))
}

func (f *fast) accept() {
	for {
		fd, _, err := unix.Accept4(f.fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			return // none is left, or no descriptor is: the next turn tries again
		}
		for fd >= len(f.ends) {
			f.ends, f.alive = append(f.ends, 0), append(f.alive, 0)
		}
		f.ends[fd] = 0
		f.alive[fd]++
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) // only slower without
		if f.watch(fd) != nil {
			_ = unix.Close(fd)
			continue
		}
		f.open++
		if f.open > f.counter.most.Load() {
			f.counter.most.Store(f.open)
		}
	}
}

func (f *fast) close(fd int) {
	f.alive[fd]++
	f.open--
	_ = unix.Close(fd) // whoever called has gone
}

func (f *fast) read(fd int) {
	n, errno := raw(syscall.SYS_READ, fd, f.buffer)
	if errno == syscall.EAGAIN {
		return
	}
	if errno != 0 || n == 0 {
		f.close(fd)
		return
	}
	requests := f.requests(fd, f.buffer[:n])
	if requests == 0 {
		return
	}
	f.note(requests)
	if f.c.Delay == 0 && f.c.Capacity == 0 {
		f.answer(fd, requests)
		return
	}
	now := time.Now()
	for range requests {
		due := now.Add(f.c.Delay)
		if f.c.Capacity > 0 {
			if f.free.After(due) {
				due = f.free
			}
			f.free = due.Add(time.Duration(float64(time.Second) / f.c.Capacity))
		}
		f.queue = append(f.queue, owed{fd, f.alive[fd], due})
	}
}

// note counts requests, and when they came if that is asked for.
func (f *fast) note(requests int) {
	if f.first.IsZero() && f.c.StallFor > 0 {
		f.first = time.Now()
	}
	if f.counter.arrivals != nil {
		now := time.Since(f.counter.base)
		for range requests {
			f.counter.arrive(now)
		}
	}
	f.counter.requests.Add(uint64(requests))
}

// requests counts the headers that end in these bytes.
func (f *fast) requests(fd int, b []byte) int {
	if f.ends[fd] == 0 && len(b) >= len(headerEnd) && string(b[len(b)-len(headerEnd):]) == headerEnd {
		return bytes.Count(b, []byte(headerEnd))
	}
	n, have := 0, f.ends[fd]
	for _, c := range b {
		switch {
		case c == headerEnd[have]:
			have++
		case c == '\r':
			have = 1
		default:
			have = 0
		}
		if int(have) == len(headerEnd) {
			n, have = n+1, 0
		}
	}
	f.ends[fd] = have
	return n
}

// answer writes that many answers; who does not read them is cut off.
func (f *fast) answer(fd, requests int) {
	for requests > 0 {
		some := min(requests, pipeline)
		n, errno := raw(syscall.SYS_WRITE, fd, f.answers[:some*f.one])
		if errno != 0 || n != some*f.one {
			f.close(fd)
			return
		}
		requests -= some
	}
}

// pay gives the answers that are due.
func (f *fast) pay() {
	if f.head == len(f.queue) {
		return
	}
	now := time.Now()
	for f.head < len(f.queue) && !f.queue[f.head].due.After(now) {
		o := f.queue[f.head]
		f.head++
		if f.alive[o.fd] == o.alive {
			f.answer(o.fd, 1)
		}
	}
	if f.head == len(f.queue) {
		f.queue, f.head = f.queue[:0], 0
	} else if f.head >= 1<<16 {
		f.queue = append(f.queue[:0], f.queue[f.head:]...)
		f.head = 0
	}
}
