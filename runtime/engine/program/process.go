package program

import (
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/engine/talk"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/process"
	"hyperscale/runtime/protocol/custom"
	"hyperscale/runtime/protocol/http1"
)

// proc is one process of a program.
type proc struct {
	fleet   *Fleet
	client  *client
	number  int           // among all
	ordinal int           // among those of its client
	pipes   process.Pipes // In is below 0 once it is closed
	conn    *custom.Conn
	dirty   bool // it is listed for writing
	blocked bool // the kernel takes no more now
	closed  bool // its pipes are closed
}

const (
	writeRounds = 16
	readRounds  = 16
	readBuffer  = 64 << 10
)

// token is that of one of its descriptors.
func (p *proc) token(pipe uint32) uint64 { return pool.AsideToken(uint32(p.number)*pipes + pipe) }

// flush writes what the kernel takes.
func (f *Fleet) flush(p *proc) {
	for rounds := 0; !p.closed && p.pipes.In >= 0 && p.conn.Unsent(); rounds++ {
		n, errno := 0, syscall.EAGAIN // a program that takes much at once does not hold up the others
		if rounds < writeRounds {
			n, errno = write(p.pipes.In, p.conn.Output())
		}
		switch {
		case errno == syscall.EAGAIN:
			if p.conn.Deaf() {
				f.dies(p, "reads no stdin: more than 16 MiB of calls whose time is over wait for it")
				return
			}
			f.watch(p, true)
			return
		case errno == syscall.EPIPE:
			return // the poller reports it, and what the program said before it closed its stdin counts
		case errno != 0:
			f.shut(p)
			return
		}
		p.conn.Sent(n)
	}
	if !p.closed && p.pipes.In >= 0 {
		f.watch(p, false)
	}
}

// read is read(2) on a pipe.
func read(fd int, b []byte) (int, syscall.Errno) {
	for {
		n, err := unix.Read(fd, b)
		if err == unix.EINTR {
			continue
		}
		if errno, ok := err.(syscall.Errno); ok {
			return 0, errno
		}
		return n, 0
	}
}

// write is write(2) on a pipe.
func write(fd int, b []byte) (int, syscall.Errno) {
	for {
		n, err := unix.Write(fd, b)
		if err == unix.EINTR {
			continue
		}
		if errno, ok := err.(syscall.Errno); ok {
			return max(n, 0), errno
		}
		return n, 0
	}
}

// watch makes the poller report when the kernel takes more, or stop reporting it.
func (f *Fleet) watch(p *proc, blocked bool) {
	if p.blocked == blocked {
		return
	}
	events := uint32(0)
	if p.blocked = blocked; blocked {
		events = epoll.Out
	}
	if err := f.conns.Sockets.Poller.Mod(p.pipes.In, events, p.token(pipeIn)); err != nil {
		f.dies(p, err.Error())
	}
}

// read takes what a program says. What more there is comes with the next event.
func (f *Fleet) read(p *proc) {
	if !f.hear(p) {
		return
	}
	_ = f.conns.Sockets.Poller.Del(p.pipes.Out) // it would report the end again and again
	if _, over := p.conn.Calls(); !over {
		f.leaves(p, "closed its stdout")
	}
}

// hear takes what a program says, and reports whether it has closed its stdout.
func (f *Fleet) hear(p *proc) (end bool) {
	for range readRounds {
		n, errno := read(p.pipes.Out, f.buffer)
		f.conns.Clock.Tick()
		switch {
		case errno == syscall.EAGAIN:
			return false
		case errno != 0 || n == 0:
			return true
		}
		if err := p.conn.Feed(f.buffer[:n], p); err != nil {
			f.dies(p, breachOf(err))
			return false
		}
		if n < len(f.buffer) {
			return false
		}
	}
	return false
}

// breachOf is the text of a breach, as what a program does.
func breachOf(err error) string {
	if own, ok := err.(*http1.Error); ok {
		return "breaks the protocol: " + own.Detail
	}
	return "breaks the protocol: " + err.Error()
}

// Answered implements custom.Listener.
func (p *proc) Answered(tag uint64, a *custom.Answer) {
	f := p.fleet
	index := int32(uint32(tag))
	n := f.conns.Slots.At(index)
	n.Account.BytesIn += uint64(a.Bytes)
	n.In += int64(a.Bytes)
	n.Called = pool.Called{}
	if n.Written == 0 {
		n.Written = n.Wrote // it has answered what it has
	}
	n.Talk.(*talk.Exchange).Replied(a, p.names())
	n.Status, n.Size = n.Talk.Status(), int64(len(a.Body))
	n.Serial++ // tickets of it are void
	f.conns.Requests.Answered(index, f.conns.Clock.Now)
	f.admit(p.client)
}

// names are those of the program's measures.
func (p *proc) names() []string {
	said, _ := p.conn.Program()
	return said.Measures
}

// shut handles a stdin that the program has closed: one that ends may do so.
func (f *Fleet) shut(p *proc) {
	if !f.ending {
		f.leaves(p, "closed its stdin")
		return
	}
	epoll.Close(p.pipes.In)
	p.pipes.In = -1
}

// leaves handles a pipe that the program has closed: mostly it has ended, and its fate says how.
func (f *Fleet) leaves(p *proc, did string) {
	waits := f.fault == nil // many processes that go at once hold up the loop no longer than one
	switch {
	case f.fated(p, waits):
	case waits:
		f.dies(p, did+" and lives on: read lines until the stdin ends")
	default:
		f.dies(p, did)
	}
}

// patience is how long a process whose pipe is closed may take to end. Only a run that ends waits for it,
// and once.
const patience = EndWithin

// awaits waits for news of a process's fate, while the loop stands.
func (f *Fleet) awaits(p *proc) {
	until := time.Now().Add(patience)
	if f.ending && f.until.Before(until) {
		until = f.until
	}
	for {
		left := max(0, time.Until(until))
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(p.pipes.Fate), Events: unix.POLLIN}}, int(left.Milliseconds()))
		if err != unix.EINTR || left == 0 {
			return
		}
	}
}

// fated takes what has come of a process's fate, and reports whether it has ended. Wait: for a moment.
func (f *Fleet) fated(p *proc, wait bool) bool {
	if wait {
		f.awaits(p)
	}
	b := make([]byte, process.NoteMost)
	for !p.closed {
		n, errno := read(p.pipes.Fate, b)
		switch {
		case errno == syscall.EAGAIN:
			return false
		default: // a note comes whole
			how, words, _ := strings.Cut(string(b[:n]), "\n")
			if how == "" {
				how = "ended, and what started it says nothing"
			}
			if f.hear(p); p.closed { // what it said before counts; a pipe holds no more than hear takes
				return true
			}
			if words != "" {
				how += "; its stderr ends: " + strings.ReplaceAll(strings.TrimSpace(words), "\n", " | ")
			}
			f.over(p, how)
			return true
		}
	}
	return true
}

// ended handles news of a process's fate.
func (f *Fleet) ended(p *proc) {
	if f.read(p); !p.closed {
		f.fated(p, false)
	}
}

// over takes the end of a process.
func (f *Fleet) over(p *proc, how string) {
	if _, good := p.conn.Calls(); good {
		f.close(p)
		return
	}
	f.dies(p, how)
}

// dies ends a process that went wrong, and the run.
func (f *Fleet) dies(p *proc, how string) {
	if p.closed {
		return
	}
	err := &http1.Error{Kind: http1.KindProcess, Detail: p.named() + " " + how}
	if f.fault == nil {
		f.fault = &faultError{err.Detail}
	}
	if p.client.dead == nil {
		p.client.dead = err
	}
	for _, tag := range p.conn.Close() {
		index := int32(uint32(tag))
		f.conns.Slots.At(index).Called = pool.Called{}
		f.conns.Slots.Breaks(index, err)
	}
	for c := p.client; c.waiting.Len() > 0; {
		w := c.waiting.Pop()
		if n := f.conns.Slots.At(w.index); n.Serial == w.serial && n.Called.Process == pool.None {
			n.Called = pool.Called{}
			f.conns.Slots.Breaks(w.index, err)
		}
	}
	f.close(p)
}

type faultError struct{ text string }

func (e *faultError) Error() string { return e.text }

// close closes the pipes of a process.
func (f *Fleet) close(p *proc) {
	if !p.closed {
		p.closed = true
		p.pipes.Close()
	}
}
