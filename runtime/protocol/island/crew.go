package island

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// Bounds of a crew.
const (
	Most       = 16384 // goroutines of its own, each of a connection of up to 80 KiB: more connections than that belong into several processes
	Handshakes = 256   // under way at once, as of TLS: each costs a millisecond of the loop's processor
	OfHost     = 128   // handshakes with one host: one that does not answer leaves places for others
)

// yields is how often the loop gives goroutines their turn before it waits: each time the scheduler runs up to 61 of
// them before it comes back. Where none is ready that costs a tenth of a microsecond.
const yields = 4

// Crew are the goroutines that work beside one loop.
type Crew struct {
	wake    func() // ends the loop's sleep; any goroutine may call it
	shaking chan struct{}
	stop    chan struct{}

	fed bool // since the last Take, by the loop

	mu     sync.Mutex
	ready  []uint64 // tags, each once
	asleep bool
	alive  int
	hosts  map[string]*places
	ended  chan struct{} // closed when none is alive; nil: nothing waits for it
}

// New returns a crew. It starts nothing before the first Go.
func New(wake func()) *Crew {
	return &Crew{wake: wake, shaking: make(chan struct{}, Handshakes), hosts: map[string]*places{}, stop: make(chan struct{})}
}

// ErrMany: the crew has no room for more work.
var ErrMany = errors.New("too many connections for one process: it keeps at most 16384 of protocols that need goroutines")

// errClosed: the crew has ended.
var errClosed = errors.New("the run ends")

// Go runs work on a goroutine of its own. A panic in it becomes an error for broke. The error says why
// nothing was started.
func (c *Crew) Go(work func(), broke func(error)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped() {
		return errClosed
	}
	if c.alive == Most {
		return ErrMany
	}
	c.alive++
	go func() {
		defer c.left()
		defer func() {
			if p := recover(); p != nil {
				broke(fmt.Errorf("panic: %v", p))
			}
		}()
		work()
	}()
	return nil
}

func (c *Crew) left() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alive--; c.alive == 0 && c.ended != nil {
		close(c.ended)
		c.ended = nil
	}
}

func (c *Crew) stopped() bool {
	select {
	case <-c.stop:
		return true
	default:
		return false
	}
}

// places are those of the handshakes with one host.
type places struct {
	taken chan struct{}
	users int // between host and unhost
}

// host returns the places of a host. Each call needs an unhost.
func (c *Crew) host(name string) *places {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.hosts[name]
	if h == nil {
		h = &places{taken: make(chan struct{}, OfHost)}
		c.hosts[name] = h
	}
	h.users++
	return h
}

func (c *Crew) unhost(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h := c.hosts[name]; h.users > 1 {
		h.users--
	} else {
		delete(c.hosts, name)
	}
}

// Enter waits until the caller's handshake with a host may begin. False: until is closed, or the crew is.
// Each Enter that returns true needs a Leave.
func (c *Crew) Enter(host string, until <-chan struct{}) bool {
	h := c.host(host)
	if c.seat(h.taken, until) {
		if c.seat(c.shaking, until) {
			return true
		}
		<-h.taken
	}
	c.unhost(host)
	return false
}

func (c *Crew) seat(in chan<- struct{}, until <-chan struct{}) bool {
	select {
	case in <- struct{}{}:
		return true
	case <-until:
	case <-c.stop:
	}
	return false
}

// Leave ends a handshake with a host.
func (c *Crew) Leave(host string) {
	<-c.shaking
	c.mu.Lock()
	h := c.hosts[host]
	c.mu.Unlock()
	<-h.taken
	c.unhost(host)
}

// Fed says that goroutines have something to do: before the loop waits, they get their turn.
func (c *Crew) Fed() { c.fed = true }

// Take appends the tags of islands that called Tell since the last call, and gives goroutines that were fed their turn
// first.
func (c *Crew) Take(dst []uint64) []uint64 {
	if c.fed {
		c.fed = false
		runtime.Gosched()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asleep = false
	dst = append(dst, c.ready...)
	c.ready = c.ready[:0]
	return dst
}

// Asleep says that the loop is about to wait, and has to be woken. False: there is something to Take, or a
// goroutine was fed.
func (c *Crew) Asleep() bool {
	if c.fed {
		return false
	}
	for range yields { // the scheduler may have come back to the loop before all others had their turn
		runtime.Gosched()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asleep = len(c.ready) == 0
	return c.asleep
}

// Busy reports whether any goroutine of the crew lives.
func (c *Crew) Busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.alive > 0
}

// Close waits until the crew's goroutines have ended, at most so long, and returns how many have not. Their
// streams are closed before. Nothing begins after it, and the loop is not woken any more.
func (c *Crew) Close(within time.Duration) (left int) {
	c.mu.Lock()
	if c.stopped() {
		defer c.mu.Unlock()
		return c.alive
	}
	close(c.stop)
	c.asleep = false
	if c.alive == 0 {
		c.mu.Unlock()
		return 0
	}
	ended := make(chan struct{})
	c.ended = ended
	c.mu.Unlock()
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = nil
	return c.alive
}

// Shore is where one island meets the loop.
type Shore struct {
	crew *Crew
	tag  uint64
	told bool // its tag is among the ready; guarded by the crew's mutex
}

// Shore returns the shore of a new island. The tag is what Take returns for it.
func (c *Crew) Shore(tag uint64) *Shore { return &Shore{crew: c, tag: tag} }

// Tell makes the loop look at the island. Any goroutine may call it.
func (s *Shore) Tell() {
	c := s.crew
	c.mu.Lock()
	wakes := false
	if !s.told && !c.stopped() {
		s.told = true
		c.ready = append(c.ready, s.tag)
		wakes, c.asleep = c.asleep, false
		if wakes {
			c.wake() // under the mutex: Close ends all waking
		}
	}
	c.mu.Unlock()
}

// Seen says that the loop looks at the island now: the next Tell counts anew.
func (s *Shore) Seen() {
	s.crew.mu.Lock()
	s.told = false
	s.crew.mu.Unlock()
}

// Crew returns the crew of the island.
func (s *Shore) Crew() *Crew { return s.crew }
