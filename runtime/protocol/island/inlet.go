package island

import (
	"net"
	"os"
	"sync"
	"time"
)

// inlet is where one side waits for the other: its mutex, whether it is closed, and the deadline of a read.
type inlet struct {
	mu     sync.Mutex
	moved  sync.Cond // something has changed for a goroutine that waits
	closed bool
	end    error // what a read gets behind all that was fed; nil: more may come
	due    time.Time
	timer  *time.Timer
}

// waits waits for a change, and returns why the read fails. The mutex is held.
func (i *inlet) waits() error {
	if i.closed {
		return net.ErrClosed
	}
	if !i.due.IsZero() && !time.Now().Before(i.due) {
		return os.ErrDeadlineExceeded
	}
	i.moved.Wait()
	return nil
}

// until sets the deadline of reads; zero: there is none.
func (i *inlet) until(t time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.timer != nil {
		i.timer.Stop()
		i.timer = nil
	}
	if i.due = t; !t.IsZero() && !i.closed {
		i.timer = time.AfterFunc(time.Until(t), func() {
			i.mu.Lock()
			defer i.mu.Unlock()
			i.moved.Broadcast()
		})
	}
	i.moved.Broadcast()
}

// shut closes both directions; the mutex is held.
func (i *inlet) shut() {
	i.closed = true
	if i.timer != nil {
		i.timer.Stop()
		i.timer = nil
	}
	i.moved.Broadcast()
}

// address is an address without a meaning: names, dials and source addresses are the loop's.
type address string

func (address) Network() string  { return "island" }
func (a address) String() string { return string(a) }
