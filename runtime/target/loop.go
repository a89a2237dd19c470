package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/runtime/epoll"
)

const (
	readSize     = 64 << 10
	eventsSize   = 512
	acceptBurst  = 64
	acceptPause  = 100 * time.Millisecond // when descriptors have run out
	lingerFor    = time.Second
	listenerSlot = 0 // in the table of connections: its timer ends the pause
)

// loop serves all plain connections from one goroutine.
type loop struct {
	site     *site
	poller   *epoll.Poller
	wheel    *epoll.Wheel
	base     time.Time
	now      int64 // nanoseconds since base, read once a turn
	listener *os.File
	fd       int
	conns    []*connection // by slot; nil is free
	free     []int32
	serial   uint32 // distinguishes a connection from the slot's last one
	buffer   []byte
	out      output // shared: a connection copies what it cannot send at once
	taken    takeover
}

func newLoop(site *site, listener *net.TCPListener) (*loop, error) {
	poller, err := epoll.New()
	if err != nil {
		return nil, err
	}
	// The copy leaves Go's own poller for ours; the original must close, or it would
	// keep the port after us.
	file, err := listener.File()
	if err == nil {
		err = listener.Close()
	}
	if err != nil {
		_ = poller.Close() // nothing is in it
		return nil, fmt.Errorf("take over the listener: %w", err)
	}
	l := &loop{
		site: site, poller: poller, base: time.Now(), listener: file, fd: int(file.Fd()),
		wheel: epoll.NewWheel(0), conns: make([]*connection, 1), buffer: make([]byte, readSize),
	}
	err = unix.SetNonblock(l.fd, true)
	if err == nil {
		err = poller.Add(l.fd, epoll.In, listenerSlot)
	}
	if err != nil {
		l.close()
		return nil, fmt.Errorf("watch the listener: %w", err)
	}
	return l, nil
}

func (l *loop) close() {
	for _, c := range l.conns {
		if c != nil {
			epoll.Close(c.fd)
		}
	}
	_ = l.listener.Close() // only read from
	_ = l.poller.Close()   // no other goroutine uses it now
}

func (l *loop) run(ctx context.Context) error {
	own, cancel := context.WithCancel(ctx)
	defer l.taken.all.Wait()
	defer cancel()
	l.taken.ctx = own // it ends after ctx, perhaps after the wake that ctx causes: it is not asked here
	events := make([]epoll.Event, eventsSize)
	for ctx.Err() == nil {
		n, err := l.poller.Wait(events, l.wheel.Timeout(l.elapsed()))
		if err != nil {
			return err
		}
		l.now = l.elapsed()
		l.site.mu.Lock()
		l.site.clock(l.base.Add(time.Duration(l.now)))
		for i := range events[:n] {
			l.event(&events[i])
		}
		for id, ok := l.wheel.Expire(l.now); ok; id, ok = l.wheel.Expire(l.now) {
			l.expired(id)
		}
		l.site.mu.Unlock()
	}
	return nil
}

func (l *loop) elapsed() int64 { return int64(time.Since(l.base)) }

func (l *loop) event(e *epoll.Event) {
	token := e.Token()
	switch token {
	case epoll.WakeToken:
		return
	case listenerSlot:
		l.accept()
		return
	}
	// A connection that an earlier event of this turn closed may have a new owner.
	c := l.conns[uint32(token)]
	if c == nil || c.serial != uint32(token>>32) {
		return
	}
	if e.Writable() && !c.unsent.empty() {
		l.flush(c)
	} else if e.Readable() {
		l.read(c)
	}
}

func (l *loop) accept() {
	for range acceptBurst {
		fd, err := epoll.Accept(l.fd)
		switch {
		case err == nil:
			l.open(fd)
		case errors.Is(err, syscall.EAGAIN):
			return
		case errors.Is(err, syscall.ECONNABORTED), errors.Is(err, syscall.EINTR):
		default:
			// Out of descriptors or memory. The listener stays readable, so without a pause
			// the loop would spin.
			if l.poller.Mod(l.fd, 0, listenerSlot) == nil {
				l.wheel.Set(listenerSlot, l.now+int64(acceptPause))
			}
			return
		}
	}
}

func (l *loop) open(fd int) {
	slot := int32(len(l.conns))
	if last := len(l.free) - 1; last >= 0 {
		slot, l.free = l.free[last], l.free[:last]
	} else {
		l.conns = append(l.conns, nil)
	}
	l.serial++
	c := &connection{fd: fd, slot: slot, serial: l.serial, session: session{site: l.site}}
	if epoll.NoDelay(fd) != nil || l.poller.Add(fd, epoll.In, c.token()) != nil {
		epoll.Close(fd) // the peer is gone, or the kernel has no memory for one more
		l.free = append(l.free, slot)
		return
	}
	l.conns[slot] = c
	c.session.open()
	c.active = l.now
	l.wheel.Set(slot, l.now+int64(l.site.cfg.IdleTimeout))
}

// expired handles the timer of a slot: the next answer or the end of patience.
func (l *loop) expired(id int32) {
	if id == listenerSlot {
		_ = l.poller.Mod(l.fd, epoll.In, listenerSlot) // it was added at the start and stays
		l.accept()
		return
	}
	c := l.conns[id]
	switch {
	case c.state == stateIdle && c.active+int64(l.site.cfg.IdleTimeout) > l.now:
		l.wheel.Set(id, c.active+int64(l.site.cfg.IdleTimeout))
	case c.state == stateWaiting:
		l.answer(c)
	default:
		l.drop(c)
	}
}
