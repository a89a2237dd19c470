package transport

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"hyperscale/core/node"
	"hyperscale/runtime/epoll"
)

// Bounds of calm guests.
const (
	calmMost = 64 // guests, as each packet of one wakes a thread
	calmFew  = 4  // guests of one source: a flood has more
)

// calm ends a pause of the hall early, for clients of sources with few streams: for what they say, and for the answers
// to them. Its set is in Go's own poller, so that a pause gives the processor away as a sleep does.
type calm struct {
	set  *epoll.Poller
	file *os.File // the set
	raw  syscall.RawConn

	// Under the hall's lock.
	guests int
	rests  bool // the hall does, and no message to a guest has ended that

	urgent bool // the hall has heard a critical message since it last let others work
}

func newCalm() (c calm, err error) {
	if c.set, err = epoll.New(); err != nil {
		return c, err
	}
	if c.file, err = c.set.File(); err == nil {
		c.raw, err = c.file.SyscallConn()
	}
	if err != nil {
		_ = c.set.Close() // the first error is the one to tell
		return c, fmt.Errorf("wait for few clients: %w", err)
	}
	return c, nil
}

func (c *calm) close() {
	_ = c.file.Close() // nothing is left in it
	_ = c.set.Close()
}

// wait waits until an event of a calm guest or an instant.
func (c *calm) wait(events []epoll.Event, until time.Time) (n int) {
	if c.file.SetReadDeadline(until) != nil {
		time.Sleep(time.Until(until))
		return 0
	}
	failed := c.raw.Read(func(uintptr) bool {
		var err error
		n, err = c.set.Wait(events, 0)
		return n > 0 || err != nil
	})
	if failed != nil && !errors.Is(failed, os.ErrDeadlineExceeded) {
		time.Sleep(time.Until(until))
	}
	return n
}

// admit lets a guest that enters end pauses, if its source has few. The lock is held.
func (h *hall) admit(g *guest) {
	few := g.source.guests <= calmFew
	if few && g.s.peer.Role == node.RoleClient && h.calm.guests < calmMost && h.calm.set.Add(g.conn.fd, epoll.In|epoll.RdHup|epoll.Edge, uint64(g.s.id)) == nil {
		g.calm = true
		h.calm.guests++
	}
	if g.source.guests != calmFew+1 {
		return
	}
	//lint:orderfree each by itself
	for _, o := range h.guests {
		if o.calm && o.source == g.source {
			_ = h.calm.set.Del(o.conn.fd) // it may have left
			o.calm = false
			h.calm.guests--
		}
	}
}

// calmTimes is how often a pause ends early. Those who ask more often wait as others do.
const calmTimes = 16

// rouse ends a pause for a message to a calm guest. The lock is held.
func (h *hall) rouse(g *guest) {
	if g.calm && h.calm.rests {
		h.calm.rests = false
		_ = h.calm.set.Wake() // only a full counter is an error, and that wakes too
	}
}

// rest is the pause of a busy hall: others work. Calm guests end it for themselves.
func (h *hall) rest(events []epoll.Event, until time.Time) {
	for range calmTimes {
		if h.rests(true) {
			return
		}
		n := h.calm.wait(events, until)
		if over := h.rests(false); n == 0 || over {
			return
		}
		h.attend(events[:n])
		h.serve(time.Now(), h.sourcesThatWait())
	}
	time.Sleep(time.Until(until))
}

// rests notes whether the hall does, and says whether it is over.
func (h *hall) rests(is bool) (over bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calm.rests = is
	return h.over
}

// sourcesThatWait is after how many turns each source has had one.
func (h *hall) sourcesThatWait() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return min(len(h.turns), hallTurn)
}

// serve gives guests their turns, at most so many.
func (h *hall) serve(now time.Time, turns int) {
	for range turns {
		g, why := h.take()
		if g == nil {
			return
		}
		if why&says != 0 {
			h.say(g, now)
		}
		if why&hears != 0 {
			h.hear(g, now)
		}
		if h.calm.urgent {
			h.calm.urgent = false
			runtime.Gosched() // the machine is the next that runs here, if it has slept
		}
	}
}
