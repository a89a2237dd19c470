package engine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/core/load"
	"hyperscale/core/load/schedule"
	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/feed"
	"hyperscale/runtime/engine/leases"
	"hyperscale/runtime/engine/program"
	"hyperscale/runtime/redact"
	"hyperscale/runtime/trace"
)

// Config says what to run, and how much of it.
type Config struct {
	Workflow *workflow.Workflow
	VUs      uint64 // virtual users of this process
	FirstVU  uint64 // number of the first one: other processes run the others
	Seed     uint64 // of every random number that functions draw

	Given  []message.Provided // values from the earlier workflows
	Feed   *feed.Table        // of the workflow's feed, if its program does not contain it
	Rows   message.RowShare   // which of several datacenters takes which rows
	Lessor leases.Lessor      // of rows of a unique feed and values of counters; nil: this process takes all without a lease

	Together

	Resume *Resume // where the run joins a workflow that has run before; nil: it begins with the workflow

	Duration time.Duration // nothing new starts after it; 0 is one iteration of each virtual user
	Timeout  time.Duration // of a request without its own, from its dispatch

	Process

	Orders

	Turned   func()               // called with each turn of the loop, twice a second at least; may be nil
	Started  func()               // called once, when the clock starts; may be nil
	Progress func(*message.Stats) // called about twice a second with cumulative figures; may be nil, may be slow
	Mask     *redact.Mask         // hides values in what the run reports and prints; nil knows none
	Trace    *trace.Recorder      // gets samples of requests; nil: none are taken. Its user closes it after the run
	Debug    io.Writer            // if set: one virtual user, one iteration, everything printed
}

// Process is what a run gets of its process.
type Process struct {
	// Alone says that nothing else in this process is urgent. Other goroutines may run half a
	// millisecond late, which saves the loop a call of the scheduler at every wait.
	Alone bool
	// Programs starts custom programs. Nil: this process may start none.
	Programs program.Starter
}

// Orders reach a run while it runs.
type Orders struct {
	// Over reports whether the run must stop. A busy loop calls it every millisecond, before it
	// sends requests, and cancels the run once it is true. It does not wake a loop that waits,
	// so its caller cancels the context too. Nil: never true.
	Over func() bool

	// Throttled reports whether no user shall begin that need not, to save memory. The loop calls it
	// with each turn. Nil: never true.
	Throttled func() bool
}

// Together is what virtual users of all processes share.
type Together struct {
	Counters []message.CounterPlan // of the program
	Barriers []message.BarrierPlan // of the program
	Gatherer Gatherer              // of users that wait at barriers, beside Lessor; nil: no one waits for others
}

// Resume says where a run joins a workflow, in place of one that was lost.
type Resume struct {
	Since        time.Time // when the workflow's time was zero
	Begun        uint64    // iterations that lost processes are known to have begun
	FirstVU, VUs uint64    // whose iterations those are: this process's users, and others beside them
	Anew         bool      // the load begins from its beginning, and its figures lie where the workflow's time stands
}

// Limits without an option.
const (
	VUsMax      = 1_000_000 // of one process
	DurationMax = plan.DurationMax
	TimeoutMax  = plan.TimeoutMax
)

// Validate reports all faults, each with the value and a remedy.
func (c Config) Validate() error {
	var faults []error
	add := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	add(c.Workflow == nil, "workflow is not set: load one with core/workflow")
	add(c.VUs == 0 || c.VUs > VUsMax, "vus = %d is not within 1 and %d: spread more over several cores", c.VUs, VUsMax)
	add(c.Duration < 0 || c.Duration > DurationMax, "duration = %v is not within 0s and %v: 0s is one iteration of each virtual user", c.Duration, DurationMax)
	add(c.Timeout <= 0 || c.Timeout > TimeoutMax, "timeout = %v is not within 1ns and %v: 5s is a good start", c.Timeout, TimeoutMax)
	if c.Workflow != nil {
		add(len(c.Workflow.Steps) == 0, "workflow %q has no step: add one", c.Workflow.Plan.Name)
		p := c.Workflow.Plan
		add(c.Duration == 0 && c.Debug == nil && (load.Open(p) || len(p.Stages) > 0), "workflow %q has a rate or stages and no duration: say how long it takes", p.Name)
	}
	return errors.Join(faults...)
}

// overEvery is the interval between two calls of Config.Over.
const overEvery = time.Millisecond

// progressEvery is the interval between two reports.
const progressEvery = 500 * time.Millisecond

// startEvery spaces the first starts. Connecting all at once would overflow the target's accept
// queue, and measure the kernel's retries (1 s, 3 s) instead of the target.
const startEvery = 100 * time.Microsecond

// loadOf returns the part of a configuration that the schedule needs.
func loadOf(c Config) schedule.Config {
	plan := *c.Workflow.Plan
	plan.Steps = nil
	for _, s := range c.Workflow.Steps {
		plan.Steps = append(plan.Steps, *s.Plan)
	}
	return schedule.Config{Plan: &plan, FirstVU: c.FirstVU, VUs: c.VUs, Seed: c.Seed, Duration: c.Duration, Spacing: startSpacing(c)}
}

// startSpacing spreads the first starts of a closed workflow over the pause between iterations,
// if there is one, so that virtual users do not run in lockstep. It never takes more than a
// tenth of the run. Stages set their own starts.
func startSpacing(cfg Config) time.Duration {
	p := cfg.Workflow.Plan
	if len(p.Stages) > 0 {
		return startEvery
	}
	vus := time.Duration(cfg.VUs)
	spacing := max(startEvery, max(p.Think, p.Pace)/vus)
	if cfg.Duration > 0 {
		spacing = min(spacing, cfg.Duration/10/vus)
	}
	return spacing
}

// once is one iteration of one virtual user.
func (c Config) once() Config {
	w, p := *c.Workflow, *c.Workflow.Plan
	p.VUs, p.Iterations, p.UserIterations, p.Rate, p.Jitter, p.Stages = 1, 0, 0, 0, 0, nil
	w.Plan = &p
	c.Workflow, c.VUs, c.FirstVU, c.Duration = &w, 1, 0, 0
	return c
}

// gracefulStop is how long what is in flight at the end may take.
func gracefulStop(c Config) time.Duration {
	if g := c.Workflow.Plan.GracefulStop; g > 0 {
		return g
	}
	return message.GracefulStopDefault
}

// hasHooks reports whether a workflow has functions beside its steps.
func hasHooks(w *workflow.Workflow) bool {
	for _, h := range hooks() {
		if w.Has(h) {
			return true
		}
	}
	return false
}

func hooks() []workflow.Hook {
	return []workflow.Hook{workflow.HookSetup, workflow.HookTeardown, workflow.HookVUSetup, workflow.HookVUTeardown, workflow.HookProvide}
}

// descriptorReserve is for descriptors that are no virtual user's connection: standard streams,
// the epoll set, the pipe to the parent, the interpreter's files.
const descriptorReserve = 32

// files are the open files that a run may need.
type files struct {
	users, lanes uint64 // connections of each of so many users, or places of a pool
	shared       uint64 // and those that do not depend on the users
}

// filesOf counts the files of a run: a pool bounds the connections that carry requests, and none of those
// that carry exchanges, unless their client says how many all users share.
func filesOf(c Config, g *graph) files {
	all, own, most, shared := uint64(g.sockets), uint64(g.own), uint64(c.Workflow.Plan.Connections), uint64(0)
	for _, s := range g.shared {
		shared += min(s.connections, c.VUs*s.lanes)
	}
	switch {
	case most == 0 || most >= c.VUs:
		return files{users: c.VUs, lanes: all, shared: shared}
	case own == 0:
		return files{users: most, lanes: all, shared: shared}
	}
	return files{users: c.VUs, lanes: own, shared: most*(all-own) + shared}
}

// need counts them.
func (f files) need() uint64 { return f.users*f.lanes + f.shared + descriptorReserve }

// check rejects a run that would run out of descriptors on the way.
func (f files) check() error {
	need := f.need()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("ask for the limit of open files: %w", err)
	}
	if need <= limit.Cur {
		return nil
	}
	if need <= limit.Max {
		raised := unix.Rlimit{Cur: limit.Max, Max: limit.Max}
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &raised); err != nil {
			return fmt.Errorf("raise the limit of open files from %d to %d: %w", limit.Cur, limit.Max, err)
		}
		return nil
	}
	return &DescriptorError{VUs: f.users, Lanes: f.lanes, Shared: f.shared, Need: need, Limit: limit.Max}
}

// grow grows the table of open files to its final size. When a process with several
// threads outgrows it, at 64, 256, 512 files and so on, the kernel waits for all processors: 10
// to 20 ms in which no request starts. If this fails, the table grows during the run.
func (f files) grow() {
	first, other, err := os.Pipe()
	if err != nil {
		return
	}
	defer first.Close()
	defer other.Close()
	if last, err := unix.FcntlInt(first.Fd(), unix.F_DUPFD_CLOEXEC, int(f.need()-1)); err == nil {
		_ = unix.Close(last)
	}
}

// DescriptorError says that the process may not open enough connections.
type DescriptorError struct {
	VUs, Lanes  uint64 // connections of each virtual user
	Shared      uint64 // connections of pools beside those
	Need, Limit uint64
}

func (e *DescriptorError) Error() string {
	most := uint64(0)
	if e.Limit > descriptorReserve+e.Shared {
		most = (e.Limit - descriptorReserve - e.Shared) / max(e.Lanes, 1)
	}
	beside := ""
	if e.Shared > 0 {
		beside = fmt.Sprintf(", beside %d of pools,", e.Shared)
	}
	return fmt.Sprintf("%d virtual users with %d connection(s) each%s need %d open files, but the limit is %d: raise it (ulimit -Hn %d), run on more cores, or use at most %d virtual users a core",
		e.VUs, e.Lanes, beside, e.Need, e.Limit, e.Need, most)
}
