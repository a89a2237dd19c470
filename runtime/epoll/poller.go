//go:build linux

package epoll

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The events to watch for, and the events reported.
const (
	In    uint32 = unix.EPOLLIN
	Out   uint32 = unix.EPOLLOUT
	RdHup uint32 = unix.EPOLLRDHUP // the peer will send no more
	Pri   uint32 = unix.EPOLLPRI   // urgent data: a read ends before it
	Err   uint32 = unix.EPOLLERR   // always reported
	Hup   uint32 = unix.EPOLLHUP   // always reported
	Edge  uint32 = unix.EPOLLET
)

// WakeToken is the token of the event that Wake causes; descriptors must not use it.
const WakeToken = ^uint64(0)

// Forever as a timeout waits until an event comes.
const Forever = time.Duration(-1)

// Event is one descriptor's readiness.
type Event unix.EpollEvent

// Token is the token that Add or Mod set.
func (e *Event) Token() uint64 { return uint64(uint32(e.Fd)) | uint64(uint32(e.Pad))<<32 }

// Readable includes errors and hang-ups: a read reports them.
func (e *Event) Readable() bool { return e.Events&(In|RdHup|Err|Hup) != 0 }

// Writable includes errors and hang-ups: a write reports them.
func (e *Event) Writable() bool { return e.Events&(Out|Err|Hup) != 0 }

// Poller is one epoll set. Wait belongs to one goroutine; Wake may be called by any.
type Poller struct {
	fd     int
	wake   int
	coarse atomic.Bool     // the kernel lacks epoll_pwait2
	rest   syscall.RawConn // the set in Go's own poller; nil: nothing has rested
	file   *os.File
}

// New opens an epoll set.
func New() (*Poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("open an epoll set: %w", err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		_ = unix.Close(fd) // nothing was added to it
		return nil, fmt.Errorf("open an eventfd: %w", err)
	}
	p := &Poller{fd: fd, wake: wake}
	// Edge-triggered: each Wake is one event, and the counter need not be read.
	if err := p.Add(wake, In|Edge, WakeToken); err != nil {
		_ = p.Close() // the first error is the one to tell
		return nil, err
	}
	return p, nil
}

// Rest waits as Block does, and leaves the processor to other goroutines meanwhile: it waits in Go's own poller,
// which keeps their timers. Block would hold the processor until the scheduler finds out, which takes up to ten
// milliseconds. The timeout is positive.
func (p *Poller) Rest(events []Event, timeout time.Duration) (int, error) {
	if p.rest == nil {
		file, err := p.File()
		if err != nil {
			return 0, err
		}
		raw, err := file.SyscallConn()
		if err != nil {
			_ = file.Close() // the first error is the one to tell
			return 0, fmt.Errorf("wait for events: %w", err)
		}
		p.rest, p.file = raw, file
	}
	if err := p.file.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return 0, fmt.Errorf("wait for events: %w", err)
	}
	n, found := 0, error(nil)
	err := p.rest.Read(func(uintptr) bool {
		n, found = p.Wait(events, 0)
		return n > 0 || found != nil
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return 0, nil
	}
	if found != nil {
		err = found
	}
	return n, err
}

// Close closes the set; the descriptors in it stay open.
func (p *Poller) Close() error {
	if p.file != nil {
		_ = p.file.Close() // a duplicate
	}
	err := unix.Close(p.wake)
	if closeErr := unix.Close(p.fd); err == nil {
		err = closeErr
	}
	return err
}

// File is the set itself in Go's own poller: a goroutine can wait for an event of it and hold no thread.
// Closing it leaves the set open.
func (p *Poller) File() (*os.File, error) {
	fd, err := unix.FcntlInt(uintptr(p.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("duplicate an epoll set: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil { // what tells Go that it may poll it
		_ = unix.Close(fd)
		return nil, fmt.Errorf("poll an epoll set: %w", err)
	}
	return os.NewFile(uintptr(fd), "epoll"), nil
}

// Add watches a descriptor; events of it carry the token.
func (p *Poller) Add(fd int, events uint32, token uint64) error {
	return p.control(unix.EPOLL_CTL_ADD, fd, events, token)
}

// Mod changes the events that a descriptor is watched for.
func (p *Poller) Mod(fd int, events uint32, token uint64) error {
	return p.control(unix.EPOLL_CTL_MOD, fd, events, token)
}

// Del stops watching. Closing the only descriptor of a socket does so by itself.
func (p *Poller) Del(fd int) error { return p.control(unix.EPOLL_CTL_DEL, fd, 0, 0) }

func (p *Poller) control(op, fd int, events uint32, token uint64) error {
	e := unix.EpollEvent{Events: events, Fd: int32(uint32(token)), Pad: int32(uint32(token >> 32))}
	_, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_CTL, uintptr(p.fd), uintptr(op), uintptr(fd), uintptr(unsafe.Pointer(&e)), 0, 0)
	if errno != 0 {
		return fmt.Errorf("watch descriptor %d: %w", fd, errno)
	}
	return nil
}

// Wake makes the current or the next Wait return with an event of WakeToken.
func (p *Poller) Wake() error {
	one := [8]byte{0: 1} // any non-zero count will do, whatever the byte order
	if _, err := unix.Write(p.wake, one[:]); err != nil && !errors.Is(err, unix.EAGAIN) {
		return fmt.Errorf("wake the poller: %w", err)
	}
	return nil
}

// Wait fills events and returns their number; 0 after the timeout or a signal. It first polls
// without blocking, which is mostly enough for a busy loop, and cheap, as the scheduler need
// not know. Only a call that may block informs the scheduler.
func (p *Poller) Wait(events []Event, timeout time.Duration) (int, error) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
	if errno == 0 && n == 0 && timeout != 0 {
		n, errno = p.block(events, timeout)
	}
	return told(n, errno)
}

// Block waits as Wait does, but blocks at once. It is for a loop that has just found no event
// with a timeout of 0, and separates its idle time from its busy time. The timeout must not be
// 0.
func (p *Poller) Block(events []Event, timeout time.Duration) (int, error) {
	return told(p.block(events, timeout))
}

// dozeMost is how long Doze does not tell the scheduler.
const dozeMost = 500 * time.Microsecond

// Doze waits as Block does, for a process whose only work is its loop. During a short wait it
// keeps the processor from other goroutines, which is cheaper because the scheduler need not
// take it away and return it. For a longer wait it calls the scheduler anyway.
func (p *Poller) Doze(events []Event, timeout time.Duration) (int, error) {
	if timeout > 0 && !p.coarse.Load() {
		left := unix.NsecToTimespec(int64(min(timeout, dozeMost)))
		n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.fd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(unsafe.Pointer(&left)), 0, 0)
		if errno == 0 && (n > 0 || timeout <= dozeMost) || errno == unix.EINTR {
			return told(n, errno)
		}
		timeout -= min(dozeMost, timeout-1)
	}
	return p.Block(events, timeout)
}

func told(n uintptr, errno syscall.Errno) (int, error) {
	switch errno {
	case 0:
		return int(n), nil
	case unix.EINTR:
		return 0, nil
	}
	return 0, fmt.Errorf("wait for events: %w", errno)
}

func (p *Poller) block(events []Event, timeout time.Duration) (uintptr, syscall.Errno) {
	first, count := unsafe.Pointer(&events[0]), uintptr(len(events))
	if timeout > 0 && !p.coarse.Load() {
		left := unix.NsecToTimespec(int64(timeout))
		n, _, errno := syscall.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.fd), uintptr(first), count, uintptr(unsafe.Pointer(&left)), 0, 0)
		if errno != unix.ENOSYS && errno != unix.EPERM {
			return n, errno
		}
		p.coarse.Store(true) // an old kernel, or a container that forbids the call
	}
	n, _, errno := syscall.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd), uintptr(first), count, uintptr(milliseconds(timeout)), 0, 0)
	return n, errno
}

// milliseconds rounds up: a wait that ends early would make its user spin.
func milliseconds(timeout time.Duration) int {
	if timeout < 0 {
		return -1
	}
	return int(min((timeout+time.Millisecond-1)/time.Millisecond, 1<<30))
}
