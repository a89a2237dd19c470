package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/report"
)

// How often the pusher reports a running job to a server, and how often it tries at the end.
const (
	pushEvery = 5 * time.Second
	endTries  = 4
	endWait   = 500 * time.Millisecond
	endMax    = 30 * time.Second // for all that waits: a server that answers slowly holds up no command
)

// Pusher sends a job's figures to a server while it runs, and at its end. One goroutine calls
// Apply, Finish and Close.
type Pusher struct {
	remote *Remote
	every  time.Duration
	wait   time.Duration // before the second try of the end; twice as long before each other
	most   time.Duration // for the end
	tell   func(format string, args ...any)

	latest   atomic.Pointer[message.JobStatus]
	accepted time.Time // of the job, by the first status
	news     chan struct{}
	stop     context.CancelFunc // nil before the first status
	ended    chan struct{}

	backlog backlog // of the loop, until it has ended
	failed  bool    // the loop has reported a failure
	updates int
	why     error
}

// NewPusher starts with the first status; tell receives messages for a person.
func NewPusher(r *Remote, tell func(format string, args ...any)) *Pusher {
	return &Pusher{remote: r, every: pushEvery, wait: endWait, most: endMax, tell: tell, news: make(chan struct{}, 1), ended: make(chan struct{})}
}

// Apply takes a status. It never waits.
func (p *Pusher) Apply(s *message.JobStatus) {
	p.latest.Store(s)
	if p.stop == nil {
		p.accepted = time.Now().Add(-s.Elapsed)
		ctx, stop := context.WithCancel(context.Background())
		p.stop = stop
		go p.loop(ctx)
	}
	select {
	case p.news <- struct{}{}:
	default: // it will look at the newest anyway
	}
}

// loop pushes the newest status every now and then, if there is one, behind what the server has not taken yet.
func (p *Pusher) loop(ctx context.Context) {
	defer close(p.ended)
	ticks := time.NewTicker(p.every)
	defer ticks.Stop()
	for {
		select {
		case <-p.news:
		case <-ctx.Done():
			return
		}
		if err := p.push(ctx, p.latest.Load()); ctx.Err() == nil {
			p.account(err)
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
	}
}

func (p *Pusher) push(ctx context.Context, s *message.JobStatus) error {
	now, err := Live(s, p.accepted)
	if err != nil {
		return err
	}
	p.updates++
	p.backlog.add(Families(now), time.Now())
	return cmp.Or(p.backlog.send(ctx, p.remote), p.backlog.last)
}

// account reports the first failure at once, and what is missing at the end.
func (p *Pusher) account(err error) {
	if err == nil {
		return
	}
	if !p.failed {
		p.failed = true
		p.tell("prometheus: %v; the run goes on, and updates wait for the server", err)
	}
	p.why = err
}

// Finish sends what waits and the end, again and again for some seconds where that may help, until endMax is over or the
// context ends.
func (p *Pusher) Finish(ctx context.Context, r *report.Result) error {
	p.Close()
	p.updates++
	p.backlog.end(Families(&Snapshot{Result: r}), time.Now())
	err := cmp.Or(p.finish(ctx), p.backlog.last)
	if n := p.backlog.missing + len(p.backlog.waiting); n > 1 || n == 1 && err == nil {
		p.tell("prometheus: %d of %d updates did not arrive: %v", n, p.updates, cmp.Or(err, p.why))
	}
	return err
}

func (p *Pusher) finish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.most)
	defer cancel()
	for try, wait := 1, p.wait; ; try++ {
		err := p.backlog.send(ctx, p.remote)
		switch {
		case err == nil || lasting(err):
			return err
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return fmt.Errorf("given up after %v: %w", p.most, err)
		case ctx.Err() != nil:
			return fmt.Errorf("interrupted: %w", err)
		case try == endTries:
			return fmt.Errorf("given up after %d tries: %w", endTries, err)
		}
		p.why = err
		select {
		case <-time.After(wait):
		case <-ctx.Done(): // the next try says so
		}
		wait *= 2
	}
}

// Close stops telling. It may be called again.
func (p *Pusher) Close() {
	if p.stop != nil {
		p.stop()
		<-p.ended
	}
	p.remote.Close()
}

// Check finds out before the run whether the server listens.
func (p *Pusher) Check() error {
	err := p.remote.Check(context.Background())
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %v: correct the address, or look at the server: %w", tryMax, err)
	}
	return err
}
