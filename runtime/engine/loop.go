package engine

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/epoll"
)

const (
	eventsMax  = 256       // of one wait
	readBuffer = 64 << 10  // shared by all connections of the loop
	readRounds = 16        // of one event: a fast sender must not starve the others
	batchMax   = 128       // starts between two waits, for the same reason
	never      = 1<<63 - 1 // an instant that does not come
)

// loop runs a plain workflow. All instants are nanoseconds since base.
type loop struct {
	cfg      Config
	g        *graph
	accounts []account
	gen      generator
	poller   *epoll.Poller
	wheel    *epoll.Wheel // deadlines, by index of connection
	base     time.Time
	now      int64 // when the clock was last read

	users  []user
	conns  []conn // lanes of user 0, lanes of user 1, ...
	buffer []byte
	events []epoll.Event

	drive     *drive
	broken    []breakage
	over      int64 // nothing new starts from then on
	hard      int64 // what is in flight then is cancelled
	cancelled atomic.Bool
	asked     int64 // when Config.Over was last asked
	teller    *teller
	telling   int64 // when figures are next told
}

// breakage is a request that failed while it was started: it ends in a later turn, so
// that a start never calls itself.
type breakage struct {
	conn int32
	err  error
}

func runLoop(ctx context.Context, cfg Config, g *graph) (*message.ExecResult, error) {
	l, err := newLoop(cfg, g)
	if err != nil {
		return nil, fmt.Errorf("prepare workflow %q: %w", g.name, err)
	}
	watched := make(chan struct{})
	stopWatching := context.AfterFunc(ctx, func() {
		defer close(watched)
		l.cancelled.Store(true)
		_ = l.poller.Wake() // it cannot fail while the poller is open
	})
	if cfg.Started != nil {
		cfg.Started()
	}
	err = l.run()
	if !stopWatching() {
		<-watched // it may be about to use the poller
	}
	l.close()
	if err != nil {
		return nil, fmt.Errorf("run workflow %q: %w", g.name, err)
	}
	l.gen.finish(time.Duration(l.now))
	return result(l.snapshot(), l.cancelled.Load()), nil
}

func newLoop(cfg Config, g *graph) (*loop, error) {
	poller, err := epoll.New()
	if err != nil {
		return nil, err
	}
	l := &loop{
		cfg: cfg, g: g, accounts: newAccounts(g), poller: poller, wheel: epoll.NewWheel(0), base: time.Now(),
		users: make([]user, cfg.VUs), conns: make([]conn, cfg.VUs*uint64(g.lanes)),
		buffer: make([]byte, readBuffer), events: make([]epoll.Event, eventsMax),
		drive: newDrive(cfg, startSpacing(cfg, startEveryLoop)), over: never, hard: never, asked: -int64(overEvery), telling: never, teller: newTeller(cfg.Progress),
	}
	for i := range l.conns {
		l.conns[i].fd, l.conns[i].step = -1, -1
	}
	l.drive.leave = l.hangUpAll
	if cfg.Duration > 0 {
		l.over, l.hard = int64(cfg.Duration), int64(cfg.Duration+gracefulStop(cfg))
	}
	if l.teller != nil {
		l.telling = int64(progressEvery)
	}
	return l, nil
}

func (l *loop) close() {
	for i := range l.conns {
		l.hangUp(&l.conns[i])
	}
	_ = l.poller.Close() // nothing is left in it
	l.teller.close()
}

// tick reads the clock.
func (l *loop) tick() int64 {
	l.now = int64(time.Since(l.base))
	return l.now
}

func (l *loop) run() error {
	l.tick()
	for !l.drive.done() {
		if l.lapsed() || l.cancelled.Load() {
			l.cancel()
			return nil
		}
		l.startDue()
		l.drain()
		n, err := l.wait()
		if err != nil {
			return err
		}
		if n > 0 && l.lapsed() {
			continue
		}
		for i := range n {
			l.handle(&l.events[i])
			l.drain()
		}
		for id, ok := l.wheel.Expire(l.now); ok; id, ok = l.wheel.Expire(l.now) {
			l.expire(id)
		}
		l.housekeep()
		if l.now >= l.hard {
			l.cancel()
			return nil
		}
	}
	l.drive.stop(l.tick())
	return nil
}

// lapsed asks whether the run may go on: after every wait, which may have been long
// if this process was stopped, but not so often that it costs.
func (l *loop) lapsed() bool {
	if l.cfg.Over == nil || l.now-l.asked < int64(overEvery) {
		return false
	}
	l.asked = l.now
	if l.cfg.Over() {
		l.cancelled.Store(true)
	}
	return l.cancelled.Load()
}

// wait first asks without blocking, so that only true idleness counts as idle.
func (l *loop) wait() (int, error) {
	n, err := l.poller.Wait(l.events, 0)
	if n > 0 || err != nil {
		l.tick()
		return n, err
	}
	before := l.tick()
	timeout := l.timeout()
	if timeout <= 0 {
		return 0, nil
	}
	n, err = l.poller.Block(l.events, timeout)
	l.gen.idle += time.Duration(l.tick() - before)
	return n, err
}

// timeout is how long nothing is due.
func (l *loop) timeout() time.Duration {
	if len(l.broken) > 0 || l.drive.done() {
		return 0
	}
	next := min(l.telling, l.drive.wake(), l.hard)
	left := time.Duration(next - l.now)
	if timer := l.wheel.Timeout(l.now); timer >= 0 {
		left = min(left, timer)
	}
	// The end of a second is judged on time also when nothing happens.
	return min(left, time.Second)
}

// startDue begins the passes whose time has come.
func (l *loop) startDue() {
	for range batchMax {
		p, ok := l.drive.next(l.now)
		if !ok {
			break
		}
		l.begin(p)
		l.tick()
	}
}

func (l *loop) isOver() bool { return l.now >= l.over }

// drain ends what broke and starts what is ready, each once: what that brings about
// waits for the next turn.
func (l *loop) drain() {
	if n := len(l.broken); n > 0 {
		for i := range n {
			l.fail(l.broken[i].conn, l.broken[i].err)
		}
		l.broken = append(l.broken[:0], l.broken[n:]...)
	}
	for range batchMax {
		p, ok := l.drive.next(l.now)
		if !ok {
			break
		}
		l.begin(p)
	}
}

func (l *loop) housekeep() {
	l.gen.turn(time.Duration(l.now))
	if l.now >= l.telling {
		l.telling = l.now + int64(progressEvery)
		l.teller.tell(l.snapshot())
	}
}

// cancel gives up what is in flight.
func (l *loop) cancel() {
	for i := range l.conns {
		if c := &l.conns[i]; c.step >= 0 {
			l.accounts[c.step].cancelled++
			c.step = -1
		}
	}
	l.drive.abandon(l.now)
}

func (l *loop) snapshot() message.Stats {
	return snapshot(l.accounts, &l.gen, l.drive, time.Duration(l.now))
}
