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

// general runs any workflow, with a goroutine for each virtual user. Durations are
// since base.
type general struct {
	cfg  Config
	g    *graph
	ctx  context.Context // ends with abort; has no deadline of its own, which a dial would take for its timeout
	stop context.CancelFunc
	tls  *tls.Config
	base time.Time
	over time.Duration // no request step and no function starts from then on
	hard time.Duration // functions that still run then get no more time

	active    atomic.Int64
	cancelled atomic.Bool
	debug     *printer // nil: off

	mu       sync.Mutex // guards what follows
	accounts []account
	gen      generator
	cpu      time.Duration // used by this process when last asked
	asked    time.Duration // when that was
	logs     []string

	hostsMu sync.Mutex
	hosts   map[string]*host

	linksMu sync.Mutex
	links   map[*link]struct{} // all open connections
}

// script is the part of a virtual user that a workflow's functions live in.
type script interface {
	Begin()
	SetResponse(step int, r *workflow.Response)
	Call(step int) workflow.Outcome
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
	inner, stop := context.WithCancel(context.WithoutCancel(ctx))
	r := &general{
		cfg: cfg, g: g, ctx: inner, stop: stop, over: never, hard: never, accounts: newAccounts(g),
		tls:   &tls.Config{InsecureSkipVerify: cfg.Workflow.HTTP.Insecure, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}},
		hosts: map[string]*host{}, links: map[*link]struct{}{},
	}
	if cfg.Duration > 0 {
		r.over, r.hard = cfg.Duration, cfg.Duration+cfg.Timeout
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
	defer r.stop()
	r.base = time.Now()
	r.cpu = processorTime()
	if r.cfg.Started != nil {
		r.cfg.Started()
	}
	aborted := make(chan struct{})
	stopWatching := context.AfterFunc(ctx, func() {
		defer close(aborted)
		r.abort()
	})
	quit, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		r.watch(quit)
	}()
	r.startAll(scripts)
	close(quit)
	<-watched
	if !stopWatching() {
		<-aborted
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.measure(now)
	r.gen.finish(now)
	return result(r.snapshot(now), r.cancelled.Load())
}

func (r *general) now() time.Duration { return time.Since(r.base) }

// startAll starts the virtual users one after the other and waits for their ends.
func (r *general) startAll(scripts scripted) {
	var users sync.WaitGroup
	spacing := startSpacing(r.cfg, startEveryGeneral)
	for i := range r.cfg.VUs {
		due := time.Duration(i) * spacing
		if !r.sleepUntil(due) || r.isOver() {
			break
		}
		r.active.Add(1)
		users.Go(func() {
			defer r.active.Add(-1)
			v := newVirtual(r, r.cfg.FirstVU+i, scripts)
			v.loop(due)
			v.close()
		})
	}
	users.Wait()
}

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
	case <-r.ctx.Done():
		return !r.isCancelled()
	}
}

// abort closes every connection: whoever reads or writes there sees it at once.
func (r *general) abort() {
	r.cancelled.Store(true)
	r.stop()
	r.linksMu.Lock()
	defer r.linksMu.Unlock()
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
	all := snapshot(r.accounts, &r.gen, uint64(r.active.Load()), now)
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
	line := fmt.Sprintf("vu %d: %s", id, text)
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
