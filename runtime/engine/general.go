package engine

import (
	"context"
	"crypto/tls"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/core/workflow"
)

// general runs any workflow, with a goroutine for each pass that is under way. Durations
// are since base.
type general struct {
	cfg  Config
	g    *graph
	tls  *tls.Config
	base time.Time
	over time.Duration // no request step and no function starts from then on
	hard time.Duration // what is in flight then is cancelled

	cancelled atomic.Bool
	cut       atomic.Bool // hard has come
	debug     *printer    // nil: off

	crewMu  sync.Mutex // guards what follows; taken behind mu, where both are
	drive   *drive
	users   []*virtual // nil: has not begun
	alarm   int64      // when conduct looks again
	scripts scripted
	shared  workflow.Shared // by setup
	passes  sync.WaitGroup
	kick    chan struct{} // conduct has to look earlier

	mu       sync.Mutex // guards what follows
	accounts []account
	gen      generator
	cpu      time.Duration // used by this process when last asked
	asked    time.Duration // when that was
	logs     []string
	fault    error // of setup

	hostsMu sync.Mutex
	hosts   map[string]*host

	linksMu sync.Mutex         // guards what follows
	links   map[*link]struct{} // all open connections
	ctx     context.Context    // ends with abort; has no deadline of its own, which a dial would take for its timeout
	stop    context.CancelFunc
}

// script is the part of a virtual user that a workflow's functions live in.
type script interface {
	Begin()
	SetResponse(step int, r *workflow.Response)
	Call(step int) workflow.Outcome
	When(step int) (bool, workflow.Outcome)
	Run(workflow.Hook) workflow.Outcome
	Share(workflow.Shared)
	Shared() workflow.Shared
}

var _ script = (*workflow.VU)(nil)

// scripted makes the script of one virtual user.
type scripted func(id uint64, c workflow.Client) script

func runGeneral(ctx context.Context, cfg Config, g *graph) (*message.ExecResult, error) {
	return newGeneral(ctx, cfg, g).run(ctx, func(id uint64, c workflow.Client) script {
		return cfg.Workflow.NewVU(id, cfg.Seed, c)
	}), nil
}

func newGeneral(ctx context.Context, cfg Config, g *graph) *general {
	r := &general{
		cfg: cfg, g: g, over: never, hard: never, accounts: newAccounts(g), kick: make(chan struct{}, 1),
		tls:   &tls.Config{InsecureSkipVerify: cfg.Workflow.HTTP.Insecure, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}},
		hosts: map[string]*host{}, links: map[*link]struct{}{},
		drive: newDrive(cfg, startSpacing(cfg, startEveryGeneral)), users: make([]*virtual, cfg.VUs),
	}
	r.ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	if cfg.Duration > 0 {
		r.over, r.hard = cfg.Duration, cfg.Duration+gracefulStop(cfg)
	}
	for _, h := range g.hosts {
		r.hosts[h.name] = h
	}
	if cfg.Debug != nil {
		r.debug = &printer{w: cfg.Debug}
	}
	return r
}

func (r *general) run(ctx context.Context, scripts scripted) *message.ExecResult {
	r.base, r.scripts = time.Now(), scripts
	aborted := make(chan struct{})
	stopWatching := context.AfterFunc(ctx, func() {
		defer close(aborted)
		r.abort()
	})
	r.prepare()
	r.base = time.Now()
	r.cpu = processorTime()
	if r.cfg.Started != nil {
		r.cfg.Started()
	}
	quit, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		r.watch(quit)
	}()
	r.conduct()
	close(quit)
	<-watched
	ended := r.now()
	r.cleanUp()
	if !stopWatching() {
		<-aborted
	}
	r.abandonLinks()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.measure(ended)
	r.gen.finish(ended)
	out := result(r.snapshot(ended), r.cancelled.Load())
	if r.fault != nil {
		out.State, out.Error = message.WorkflowFailed, r.fault.Error()
	}
	return out
}

func (r *general) now() time.Duration { return time.Since(r.base) }

func (r *general) isOver() bool { return r.isCancelled() || r.now() >= r.over }

// isCancelled also asks whether the run may go on; whoever said that it may not
// cancels the context too, which closes what is open.
func (r *general) isCancelled() bool {
	if r.cfg.Over != nil && !r.cancelled.Load() && r.cfg.Over() {
		r.cancelled.Store(true)
	}
	return r.cancelled.Load()
}

// sleepUntil returns false when the run was cancelled before then.
func (r *general) sleepUntil(due time.Duration) bool {
	left := due - r.now()
	if left <= 0 {
		return !r.isCancelled()
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.context().Done():
		return !r.isCancelled()
	}
}

func (r *general) context() context.Context {
	r.linksMu.Lock()
	defer r.linksMu.Unlock()
	return r.ctx
}

// abort gives up what is in flight.
func (r *general) abort() {
	r.cancelled.Store(true)
	r.abandonLinks()
}

// abandonLinks closes every connection: whoever reads or writes there sees it at once.
func (r *general) abandonLinks() {
	r.linksMu.Lock()
	defer r.linksMu.Unlock()
	r.stop()
	for k := range r.links {
		k.tcp.Close()
	}
}

// watch tells figures and judges each second's busyness until it is told to quit.
func (r *general) watch(quit <-chan struct{}) {
	t := newTeller(r.cfg.Progress)
	defer t.close()
	ticker := time.NewTicker(progressEvery)
	defer ticker.Stop()
	for {
		select {
		case <-quit:
			return
		case <-ticker.C:
			r.mu.Lock()
			now := r.now()
			r.measure(now)
			r.gen.turn(now)
			if t != nil {
				t.tell(r.snapshot(now))
			}
			r.mu.Unlock()
		}
	}
}

// measure adds the idle time since it was last asked: the goroutines' time cannot be
// told from waiting, so the process's is taken.
func (r *general) measure(now time.Duration) {
	cpu := processorTime()
	used := (cpu - r.cpu) / time.Duration(runtime.GOMAXPROCS(0))
	r.gen.idle += max(0, now-r.asked-used)
	r.cpu, r.asked = cpu, now
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0 // it cannot fail for the process itself
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func (r *general) snapshot(now time.Duration) message.Stats {
	r.crewMu.Lock()
	defer r.crewMu.Unlock()
	all := snapshot(r.accounts, &r.gen, r.drive, now)
	all.Logs = append([]string(nil), r.logs...)
	return all
}

// account changes a step's account.
func (r *general) account(step int, change func(a *account)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.accounts[step])
}

const logLineMax = 1 << 10 // bytes of a line that vu.log wrote

func (r *general) log(id uint64, text string) {
	r.logLine(fmt.Sprintf("vu %d: %s", id, text))
}

func (r *general) logLine(line string) {
	if len(line) > logLineMax {
		line = line[:logLineMax]
	}
	r.debug.printf("%s\n", line)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.logs) < stats.LogsMax {
		r.logs = append(r.logs, line)
	}
}
