package engine

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync/atomic"
	"time"

	"hyperscale/core/load/queue"
	"hyperscale/core/load/schedule"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/workflow"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/cookie"
	"hyperscale/runtime/protocol/http1"
)

const (
	eventsMax  = 256       // of one wait
	readBuffer = 64 << 10  // shared by all connections of the loop
	readRounds = 16        // of one event: a fast sender must not starve the others
	batchMax   = 128       // starts between two waits, for the same reason
	never      = 1<<63 - 1 // an instant that does not come
	none       = -1        // an index of nothing
)

// loop runs a workflow on one goroutine, and the coroutines that it resumes itself: none
// of what follows is locked. All instants are nanoseconds since base.
type loop struct {
	cfg      Config
	g        *graph
	accounts []measure.Account
	aside    measure.Account // of what is sent beside the steps: told nowhere
	gen      measure.Generator
	poller   *epoll.Poller
	wheel    *epoll.Wheel // deadlines, by index of lane
	clock    measure.Clock

	users  []user      // the last one is the workflow's own
	states []stepState // of the steps of user 0, of user 1, ...
	lanes  []lane      // of request steps: those of user 0, of user 1, ...; those of coroutines come behind them
	conns  connections
	buffer []byte
	events []epoll.Event
	probe  [1]byte
	more   []ticket // connections that may have more to read though the kernel has not

	common   http1.Common          // of all parsers
	jars     map[int32]*cookie.Jar // by user, of those that have cookies
	dressed  map[int32]*http1.Call // by lane, of those whose requests had to be written anew
	cookies  []byte                // what is being written of a jar
	sessions map[int32]*sessions   // of TLS, by user, where they are to be resumed
	secured  uint64                // handshakes that ended well
	resumed  uint64                // of those, how many took up a session
	sources  *sources              // nil: as the machine chooses
	random   *node.Rand            // of addresses, where they are drawn
	proxy    *proxy                // nil: none
	tunnels  map[int32]*tunnel     // by connection

	pools   []*pool  // that may have something for those who wait in them
	dirty   []ticket // connections that may have frames to write
	multis  []*multi // that no connection uses
	feeding bool     // a connection is being fed that has streams
	reading reading  // which

	hosts      map[string]*host
	memory     *memory // of functions' requests; nil: there are no functions
	resolver   resolver
	tls        *tls.Config         // of all hosts
	shakes     queue.Queue[ticket] // connections whose handshake may go on
	buffers    [][]byte            // for what the kernel does not take
	collectors []*http1.Collector
	exchanges  []*exchange

	values     values
	scripts    scripted
	script     []script // by user, the last one is the workflow's own; nil: none yet
	shared     workflow.Shared
	given      workflow.Given
	coroutines crowd
	current    *coroutine // that runs; nil: none does
	logs       []string
	debug      *printer // nil: off

	iterations *schedule.Iterations
	rows       *rows // of the workflow's feed; nil: it has none
	hungry     bool  // iterations wait for rows
	running    bool  // the clock runs: iterations begin
	hooks      int   // functions beside the steps that have not begun
	broken     []breakage
	over       int64 // nothing new starts from then on
	hard       int64 // what is in flight then is cancelled
	cut        bool  // it is being cancelled
	cancelled  atomic.Bool
	fault      error // why the run was cancelled, if it was our own doing
	asked      int64 // when Config.Over was last asked
	reporter   *measure.Reporter
	reporting  int64 // when figures are next reported
}

// ticket names what may be gone, or another one, when its turn comes.
type ticket struct {
	index  int32
	serial uint32
}

// breakage is a request that failed while it was started: it ends in a later turn, so
// that a start never calls itself.
type breakage struct {
	lane int32
	err  error
}

func newLoop(cfg Config, g *graph) (*loop, error) {
	dealt, err := newRows(cfg)
	if err != nil {
		return nil, err
	}
	secured, err := tlsOptions(cfg.Workflow)
	if err != nil {
		return nil, err
	}
	poller, err := epoll.New()
	if err != nil {
		return nil, err
	}
	l := &loop{
		cfg: cfg, g: g, accounts: newAccounts(g), poller: poller, wheel: epoll.NewWheel(0), clock: measure.Clock{Base: time.Now()},
		users: make([]user, cfg.VUs+1), states: make([]stepState, (cfg.VUs+1)*uint64(len(g.steps))), lanes: make([]lane, cfg.VUs*uint64(g.lanes)),
		buffer: make([]byte, readBuffer), events: make([]epoll.Event, eventsMax),
		hosts: map[string]*host{}, tls: secured, reporter: measure.NewReporter(cfg.Progress),
		values:     newValues(cfg),
		iterations: schedule.New(loadOf(cfg)), over: never, hard: never, asked: -int64(overEvery), reporting: never,
	}
	l.jars, l.dressed, l.sessions = map[int32]*cookie.Jar{}, map[int32]*http1.Call{}, map[int32]*sessions{}
	l.sources = newSources(cfg.Workflow.HTTP.Sources, cfg.FirstVU)
	l.proxy, l.tunnels = newProxy(cfg.Workflow.HTTP.Proxy), map[int32]*tunnel{}
	l.common.BodyMax = cfg.Workflow.HTTP.MaxBody
	for i := range l.lanes {
		l.lanes[i].step, l.lanes[i].conn, l.lanes[i].home.index = none, none, none
	}
	for i := range l.users {
		l.users[i].idle = none
	}
	for _, h := range g.hosts {
		l.hosts[h.key] = h
	}
	l.aside, l.rows = measure.NewAccount(&message.StepPlan{}, nil, false), dealt
	l.reading.l = l
	l.scripts = func(id uint64, c workflow.Client) script { return cfg.Workflow.NewVU(id, cfg.Seed, c) }
	if g.scripted {
		l.script, l.memory = make([]script, cfg.VUs+1), newMemory()
	}
	if cfg.Debug != nil {
		l.debug = &printer{cfg.Debug}
	}
	return l, nil
}

// play runs the workflow from its setup to its teardown, and leaves nothing behind.
func (l *loop) play(ctx context.Context) (*message.ExecResult, error) {
	defer l.close()
	l.resolver.open(ctx, l.poller, l.g.names)
	watched := make(chan struct{})
	stopWatching := context.AfterFunc(ctx, func() {
		defer close(watched)
		l.cancelled.Store(true)
		_ = l.poller.Wake() // it cannot fail while the poller is open
	})
	defer func() {
		if !stopWatching() {
			<-watched // it may be about to use the poller
		}
	}()
	err := l.run()
	if err != nil {
		return nil, fmt.Errorf("run workflow %q: %w", l.g.name, err)
	}
	ended := time.Duration(l.clock.Now)
	l.gen.Finish(ended)
	gen := l.gen // what comes now is not measured
	if err := l.cleanUp(); err != nil {
		l.log(err.Error())
	}
	l.tellResumed()
	out := measure.Judge(l.snapshot(&gen, ended), l.cancelled.Load())
	if l.script != nil && l.script[l.own()] != nil {
		out.Provided = l.script[l.own()].Provided()
	}
	if l.fault != nil {
		out.State, out.Error, out.Provided = message.WorkflowFailed, l.fault.Error(), nil
	}
	return out, nil
}

func (l *loop) close() {
	for at := range l.conns.n {
		l.hangUp(at)
	}
	l.coroutines.close()
	l.resolver.close()
	l.rows.forget()
	_ = l.poller.Close() // nothing is left in it
	l.reporter.Close()
}

// run does what is measured, and before it the setup.
func (l *loop) run() error {
	l.clock.Tick()
	if err := l.setUp(); err != nil {
		return err
	}
	if err := l.firstRows(); err != nil {
		return err
	}
	l.begins()
	for !l.iterations.Done() {
		if l.stops() {
			break
		}
		l.startDue()
		if err := l.turn(min(l.reporting, l.hard)); err != nil {
			return err
		}
		l.housekeep()
		if l.clock.Now >= l.hard {
			break
		}
	}
	l.running = false
	l.giveUp()
	l.iterations.Abandon(l.clock.Tick())
	hangUpLeft(l)
	return nil
}

// begins starts the clock. Nothing is in flight then.
func (l *loop) begins() {
	l.clock, l.wheel = measure.Clock{Base: time.Now()}, epoll.NewWheel(0)
	for i := range l.coroutines.all {
		l.coroutines.all[i].lane.alarm = 0
	}
	//lint:orderfree each host by itself
	for _, h := range l.hosts {
		h.resolvedAt(0)
	}
	l.running = true
	l.gen, l.asked = measure.Generator{}, -int64(overEvery)
	if l.cfg.Duration > 0 {
		l.over, l.hard = int64(l.cfg.Duration), int64(l.cfg.Duration+gracefulStop(l.cfg))
	}
	if l.reporter != nil {
		l.reporting = int64(progressEvery)
	}
	if l.cfg.Started != nil {
		l.cfg.Started()
	}
	l.clock.Tick()
}

// turn does what is ready, and waits for more until then.
func (l *loop) turn(until int64) error {
	l.drain()
	l.runReady()
	l.settlePools()
	n, err := l.wait(until)
	if err != nil {
		return err
	}
	if n > 0 && l.stops() {
		return nil
	}
	began := l.clock.Now
	for i := range n {
		l.handle(&l.events[i])
		l.drain()
		l.runTurns(began) // while what they wait for is at hand
		l.settlePools()
	}
	for id, ok := l.wheel.Expire(l.clock.Now); ok; id, ok = l.wheel.Expire(l.clock.Now) {
		l.expire(id)
	}
	l.settlePools()
	return nil
}

// stops asks whether the run may go on: after every wait, which may have been long
// if this process was stopped, but not so often that it costs.
func (l *loop) stops() bool {
	if l.cfg.Over != nil && l.clock.Now-l.asked >= int64(overEvery) {
		l.asked = l.clock.Now
		if l.cfg.Over() {
			l.cancelled.Store(true)
		}
	}
	return l.cancelled.Load()
}

// wait first asks without blocking, so that only true idleness counts as idle.
func (l *loop) wait(until int64) (int, error) {
	n, err := l.poller.Wait(l.events, 0)
	if n > 0 || err != nil {
		l.clock.Tick()
		return n, err
	}
	before := l.clock.Tick()
	timeout := l.timeout(until)
	if timeout <= 0 {
		return 0, nil
	}
	if l.cfg.Alone {
		n, err = l.poller.Doze(l.events, timeout)
	} else {
		n, err = l.poller.Block(l.events, timeout)
	}
	l.gen.Idle += time.Duration(l.clock.Tick() - before)
	return n, err
}

// timeout is how long nothing is due.
func (l *loop) timeout(until int64) time.Duration {
	if len(l.broken) > 0 || l.coroutines.ready() || l.shakes.Len() > 0 || len(l.more) > 0 || l.settled() {
		return 0
	}
	if l.running { // what has just run may have ended iterations
		until = min(until, l.nextStart())
	}
	left := time.Duration(until - l.clock.Now)
	if timer := l.wheel.Timeout(l.clock.Now); timer >= 0 {
		left = min(left, timer)
	}
	// The end of a second is judged on time also when nothing happens.
	return min(left, time.Second)
}

// settled tells that nothing is under way and nothing will be.
func (l *loop) settled() bool {
	if l.running {
		return l.iterations.Done()
	}
	return l.hooks == 0 && l.coroutines.alive == 0
}

// startDue begins the iterations whose time has come.
func (l *loop) startDue() {
	for range batchMax {
		p, ok := l.nextIteration()
		if !ok {
			break
		}
		l.begin(p)
		l.clock.Tick()
	}
}

// hangUpLeft closes the connections of the users who have left, unless their teardown may
// want them.
func hangUpLeft(l *loop) {
	left := l.iterations.Left()
	if len(left) == 0 || l.cfg.Workflow.Has(workflow.HookVUTeardown) {
		return
	}
	for _, vu := range left {
		l.hangUpAll(vu)
	}
}

// nextStart is when the next iteration may begin.
func (l *loop) nextStart() int64 {
	if l.hungry {
		return l.over // unless rows come, which wakes the loop
	}
	return l.iterations.Wake()
}

func (l *loop) isOver() bool { return l.cut || l.clock.Now >= l.over || l.cancelled.Load() }

// drain ends what broke and starts what is ready, each once: what that brings about
// waits for the next turn.
func (l *loop) drain() {
	if n := len(l.broken); n > 0 {
		for i := range n {
			l.fail(l.broken[i].lane, l.broken[i].err)
		}
		l.broken = append(l.broken[:0], l.broken[n:]...)
	}
	if !l.running {
		return
	}
	for range batchMax {
		p, ok := l.nextIteration()
		if !ok {
			break
		}
		l.begin(p)
	}
}

func (l *loop) housekeep() {
	l.gen.Turn(time.Duration(l.clock.Now))
	if l.clock.Now >= l.reporting {
		l.reporting = l.clock.Now + int64(progressEvery)
		l.reporter.Report(l.snapshot(&l.gen, time.Duration(l.clock.Now)))
	}
}
