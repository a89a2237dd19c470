package cancel

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Bounds of a crew.
const (
	Most    = 16              // requests under way
	Waiting = 1024            // requests that wait
	Within  = 2 * time.Second // for one of them
)

// Counts are what became of requests.
type Counts struct {
	Heard, Failed, Dropped uint64
	Example                string // why one failed
}

// All is how many there were.
func (c Counts) All() uint64 { return c.Heard + c.Failed + c.Dropped }

// Crew sends requests beside the loop, which asks it. It starts nothing before the first one.
type Crew struct {
	slots   chan struct{}
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	open   int
	counts Counts
}

// New returns a crew.
func New() *Crew {
	c := &Crew{slots: make(chan struct{}, Most)}
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c
}

// Ask sends a request, and returns at once.
func (c *Crew) Ask(e Errand) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == Most+Waiting || c.ctx.Err() != nil {
		c.counts.Dropped++
		return
	}
	c.open++
	c.running.Go(func() { c.settle(c.run(e)) })
}

// errStopped: the crew ends.
var errStopped = errors.New("the run ended before it was sent")

func (c *Crew) run(e Errand) error {
	select {
	case c.slots <- struct{}{}:
	case <-c.ctx.Done():
		return errStopped
	}
	defer func() { <-c.slots }()
	ctx, cancel := context.WithTimeout(c.ctx, Within)
	defer cancel()
	return e.send(ctx)
}

// settle counts a request that has ended.
func (c *Crew) settle(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	switch {
	case err == nil:
		c.counts.Heard++
	default:
		if c.counts.Failed++; c.counts.Example == "" {
			c.counts.Example = err.Error()
		}
	}
}

// End waits for requests under way, at most so long, and returns what became of all. Later ones are
// dropped.
func (c *Crew) End(within time.Duration) Counts {
	timer := time.AfterFunc(within, c.stop)
	c.running.Wait()
	timer.Stop()
	c.stop()
	c.running.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts
}
