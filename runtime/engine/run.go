package engine

import (
	"context"
	"fmt"
	"time"

	"hyperscale/core/load/schedule"
	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/engine/program"
	"hyperscale/runtime/epoll"
)

// Run runs the workflow and returns when nothing of it is left. An error means that it sent
// nothing; the result reports all later failures. Both are masked, as is all that it reports.
func Run(ctx context.Context, cfg Config) (*message.ExecResult, error) {
	if tell := cfg.Progress; tell != nil {
		cfg.Progress = func(s *message.Stats) {
			cfg.Mask.Stats(s)
			tell(s)
		}
	}
	out, err := runMasked(ctx, cfg)
	if err != nil {
		return nil, cfg.Mask.Error(err)
	}
	for i := range out.Provided {
		if cfg.Mask.Has(string(out.Provided[i].Value)) { // managers would keep it on their disks
			out.State, out.Error = message.WorkflowFailed, fmt.Sprintf("provide %q: the value has a secret in it: use secret() where it is needed", out.Provided[i].Name)
			out.Provided = nil
			break
		}
	}
	cfg.Mask.Stats(&out.Stats)
	out.Error = cfg.Mask.Example(out.Error)
	return out, nil
}

func runMasked(ctx context.Context, cfg Config) (*message.ExecResult, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Debug != nil {
		cfg = cfg.once()
	}
	given, err := cfg.Workflow.Take(cfg.Given)
	if err != nil {
		return nil, err
	}
	g, err := newGraph(cfg)
	if err != nil {
		return nil, err
	}
	files := filesOf(cfg, g)
	if err := files.check(); err != nil {
		return nil, err
	}
	files.grow()
	if err := g.resolve(ctx, cfg.Timeout); err != nil {
		return nil, err
	}
	l, err := newLoop(cfg, g)
	if err != nil {
		return nil, fmt.Errorf("prepare workflow %q: %w", g.name, err)
	}
	l.functions.given = given
	return l.play(ctx)
}

func newLoop(cfg Config, g *graph) (*loop, error) {
	dealt, err := newRows(cfg)
	if err != nil {
		return nil, err
	}
	conns, err := pool.NewConnections(pool.Options{
		Workflow: cfg.Workflow, FirstVU: cfg.FirstVU, VUs: cfg.VUs, Slots: cfg.VUs * uint64(g.slots), Seed: cfg.Seed, Hosts: g.hosts, Names: g.names, Protocol: g.protocol,
	})
	if err != nil {
		return nil, err
	}
	l := &loop{events: make([]epoll.Event, eventsMax), reporter: measure.NewReporter(cfg.Progress), asked: -int64(overEvery), reporting: pool.Never}
	l.Connections, l.cfg, l.g = conns, &cfg, g
	p := &l.parts
	conns.Requests = &p.requests
	p.course = course{parts: p, over: pool.Never, hard: pool.Never}
	p.iterations = iterations{parts: p, schedule: schedule.New(loadOf(cfg)), rows: dealt}
	p.users = users{parts: p, users: make([]user, cfg.VUs+1), states: make([]stepState, (cfg.VUs+1)*uint64(len(g.steps)))}
	p.requests = newRequests(p)
	p.functions = functions{parts: p, scripts: func(id uint64, c workflow.Client) script { return cfg.Workflow.NewVU(id, cfg.Seed, c) }}
	p.counters, p.gates = newCounters(p), newGates(p)
	p.sessions = sessions{parts: p, open: map[int32][]*session{}}
	if g.scripted {
		p.functions.script = make([]script, cfg.VUs+1)
	}
	return l, nil
}

// play runs the workflow from its setup to its teardown, and leaves nothing behind.
func (l *loop) play(ctx context.Context) (*message.ExecResult, error) {
	defer l.close()
	l.Dialer.Resolver.Open(ctx, l.Sockets.Poller, l.g.names)
	watched := make(chan struct{})
	stopWatching := context.AfterFunc(ctx, func() {
		defer close(watched)
		l.Halt.Cancelled.Store(true)
		_ = l.Sockets.Poller.Wake() // it cannot fail while the poller is open
	})
	defer func() {
		if !stopWatching() {
			<-watched // it may be about to use the poller
		}
	}()
	l.counters.listen()
	if err := l.openPrograms(ctx); err != nil {
		return nil, fmt.Errorf("run workflow %q: %w", l.g.name, err)
	}
	err := l.run()
	if err != nil {
		return nil, fmt.Errorf("run workflow %q: %w", l.g.name, err)
	}
	ended := time.Duration(l.Clock.Now)
	l.gen.Finish(ended)
	gen := l.gen // the generator's figures exclude what follows
	if err := l.cleanUp(); err != nil {
		l.functions.tell(err.Error())
	}
	l.sessions.end()
	l.endPrograms()
	if err := l.Sockets.Linger(l.events); err != nil {
		l.functions.tell(err.Error())
	}
	if n := l.Sockets.Unknown; n > 0 {
		l.functions.tell(fmt.Sprintf("connections closed before their server answered the goodbye: %d; it may lack the last of their unconfirmed messages", n))
	}
	if left := l.Wire.EndIslands(); left > 0 {
		l.functions.tell(fmt.Sprintf("%d connections of protocols that need goroutines did not end in time", left))
	}
	l.tellCancelled()
	for _, line := range l.requests.talks.Owed() {
		l.functions.tell(line)
	}
	l.gates.leave()
	l.tellResumed()
	out := measure.Judge(l.snapshot(&gen, ended), l.Halt.Cancelled.Load())
	if l.functions.script != nil && l.functions.script[l.functions.own()] != nil {
		out.Provided = l.functions.script[l.functions.own()].Provided()
	}
	if l.course.fault != nil {
		out.State, out.Error, out.Provided = message.WorkflowFailed, l.course.fault.Error(), nil
	}
	return out, nil
}

func (l *loop) close() {
	for at := range l.Sockets.Conns.N {
		l.Sockets.HangUp(at)
	}
	l.Coroutines.Close()
	if l.programs != nil {
		l.programs.Close()
	}
	_ = l.Wire.EndIslands() // those of a run that failed: a result has told of others
	l.Dialer.Resolver.Close()
	l.counters.forget()
	_ = l.Cancels.End(0)         // the result has its counts
	_ = l.Sockets.Poller.Close() // nothing is left in it
	l.reporter.Close()
}

// run runs the setup, and then what the run measures.
func (l *loop) run() error {
	l.Clock.Tick()
	if err := l.setUp(); err != nil {
		return err
	}
	if err := l.firstRows(); err != nil {
		return err
	}
	l.begins()
	for !l.iterations.schedule.Done() {
		if l.stops() {
			break
		}
		l.startDue()
		if err := l.turn(min(l.reporting, l.course.hard)); err != nil {
			return err
		}
		l.housekeep()
		if l.Clock.Now >= l.course.hard {
			break
		}
	}
	l.course.running = false
	l.giveUp()
	l.iterations.schedule.Abandon(l.Clock.Tick())
	d := l.iterations.schedule.Figures()
	l.activity.Finish(time.Duration(l.Clock.Now), d.Active, d.Begun, d.Lost)
	l.iterations.hangUpLeft()
	return nil
}

// begins starts the clock. Nothing is in flight then.
func (l *loop) begins() {
	parking{&l.requests}.cut() // of records that the setup gave up
	l.Slots.Broken = l.Slots.Broken[:0]
	before := l.Clock.Base
	l.Clock = measure.Clock{Base: time.Now()}
	switch r := l.cfg.Resume; {
	case r == nil:
	case r.Anew:
		l.course.late = time.Since(r.Since)
	default:
		l.Clock.Base = r.Since
	}
	now := l.Clock.Tick()
	by := int64(l.Clock.Base.Sub(before))
	l.sessions.shift(by)
	l.Sockets.Shift(by)
	l.Slots.Quiet()
	//lint:orderfree each host by itself
	for _, h := range l.Dialer.Hosts {
		h.ResolvedAt(now)
	}
	l.course.running = true
	l.activity = stats.NewActivity(time.Duration(now))
	l.gen, l.asked = measure.NewGenerator(time.Duration(now)), now-int64(overEvery)
	if l.cfg.Duration > 0 {
		l.course.over, l.course.hard = int64(l.cfg.Duration), int64(l.cfg.Duration+gracefulStop(*l.cfg))
	}
	if l.reporter != nil {
		l.reporting = now + int64(progressEvery)
	}
	if l.cfg.Started != nil {
		l.cfg.Started()
	}
	if r := l.cfg.Resume; r != nil && !r.Anew {
		l.course.joined = now
		l.iterations.schedule.Join(schedule.Joined{At: time.Duration(now), Begun: r.Begun, FirstVU: r.FirstVU, VUs: r.VUs})
	}
	l.Clock.Tick()
}

// firstRows waits for the first rows, before the clock starts.
func (l *loop) firstRows() error {
	r := l.iterations.rows
	if r == nil || r.Lessor == nil {
		return nil
	}
	for !r.ready(l.Clock.Tick()) && !r.Ended && !l.stops() {
		if _, err := l.Sockets.Poller.Block(l.events, time.Second); err != nil {
			return err
		}
	}
	return nil
}

// cancelsMost is how long the end of a run waits for what it has asked servers to cancel.
const cancelsMost = 2 * time.Second

// tellCancelled adds to the result how many statements were to be cancelled by a request to their server.
func (l *loop) tellCancelled() {
	c := l.Cancels.End(cancelsMost)
	if c.All() == 0 {
		return
	}
	line := fmt.Sprintf("cancel requests: servers took %d of %d", c.Heard, c.All())
	if c.Failed > 0 {
		line += fmt.Sprintf(", %d failed (%s)", c.Failed, c.Example)
	}
	if c.Dropped > 0 {
		line += fmt.Sprintf(", %d were too many at once and were not sent", c.Dropped)
	}
	l.functions.tell(line)
}

// tellResumed adds to the result how many connections resumed a session.
func (l *loop) tellResumed() {
	if l.cfg.Workflow.HTTP.TLS.Resume && l.Handshakes.Secured > 0 {
		l.functions.tell(fmt.Sprintf("tls: %d of %d connections resumed a session", l.Handshakes.Resumed, l.Handshakes.Secured))
	}
}

// openPrograms starts the custom programs of the workflow, before the clock: those that its steps call, and
// all of its file if it has functions, as any of them may call them.
func (l *loop) openPrograms(ctx context.Context) error {
	var all []*request.Custom
	for _, c := range l.cfg.Workflow.Customs {
		if l.g.scripted || l.g.calls(c) {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return nil
	}
	fleet, err := program.Open(ctx, l.Connections, program.Config{Programs: all, Starter: l.cfg.Programs, FirstVU: l.cfg.FirstVU, Seed: l.cfg.Seed, Turned: l.cfg.Turned})
	l.programs = fleet
	return err
}

// endPrograms tells the programs that the load is over.
func (l *loop) endPrograms() {
	if l.programs != nil {
		if l.course.fault == nil { // it may have ended the last calls
			l.course.fault = l.programs.Fault()
		}
		l.programs.End(l.cfg.Turned, l.functions.tell)
	}
}
