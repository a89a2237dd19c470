package transport

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

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

// open takes a set, which it closes with an error.
func (c *calm) open(set *epoll.Poller) (err error) {
	if c.file, err = set.File(); err == nil {
		c.raw, err = c.file.SyscallConn()
	}
	if err != nil {
		_ = set.Close() // the first error is the one to tell
		return fmt.Errorf("wait for few clients: %w", err)
	}
	c.set = set
	return nil
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
