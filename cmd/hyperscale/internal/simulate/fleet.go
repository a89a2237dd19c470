package simulate

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"hyperscale/scenarios"
)

// runMax is how long one run may take in real time: the slowest scenario takes
// seconds, so a run that has not ended by then hangs.
const runMax = 10 * time.Minute

// fleet plays tasks in child processes, so that a run which ends its process is
// one failed run.
type fleet struct {
	command []string // of a child
	jobs    int
	canary  *simTask // what each child plays first; nil for none
	limit   time.Duration
	// next returns the next task, and false if there is none.
	next func() (simTask, bool)
	// done receives each result, one at a time.
	done func(simResult)

	mutex sync.Mutex
	err   error // that made it stop
}

// runnerProgram is this program, as a runner.
func runnerProgram() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return []string{self, "sim", runnerCommand}, nil
}

// run returns when all tasks are played, or the context ended.
func (f *fleet) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	for range f.jobs {
		group.Go(func() {
			if err := f.serve(ctx); err != nil {
				f.fail(err)
				cancel()
			}
		})
	}
	group.Wait()
	return f.err
}

func (f *fleet) fail(err error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.err == nil {
		f.err = err
	}
}

func (f *fleet) take() (simTask, bool) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.next()
}

func (f *fleet) report(r simResult) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.done(r)
}

// serve plays tasks with one child, and another after each that died.
func (f *fleet) serve(ctx context.Context) error {
	var child *runner
	defer func() { child.end() }()
	for ctx.Err() == nil {
		t, ok := f.take()
		if !ok {
			return nil
		}
		if child == nil {
			var err error
			if child, err = f.start(ctx); err != nil {
				return err
			}
		}
		r, alive := child.play(ctx, t, f.limit)
		if ctx.Err() != nil {
			return nil // it was killed, that says nothing of the run
		}
		f.report(r)
		if !alive {
			child.end()
			child = nil
		}
	}
	return nil
}

// start begins a child and lets it play the canary.
func (f *fleet) start(ctx context.Context) (*runner, error) {
	child, err := startRunner(f.command)
	if err != nil || f.canary == nil {
		return child, err
	}
	r, alive := child.play(ctx, *f.canary, f.limit)
	if ctx.Err() == nil && (!alive || r.Verdict != scenarios.OK) {
		child.end()
		return nil, fmt.Errorf("the canary, scenario %s: %s: nothing that this program calls good can be believed", f.canary.Scenario, r.Detail)
	}
	return child, nil
}

// runner is one child.
type runner struct {
	process *exec.Cmd
	in      io.WriteCloser
	answers chan []byte // closed when the child has ended its output
	errors  *firstWords
}

func startRunner(command []string) (*runner, error) {
	process := exec.Command(command[0], command[1:]...)
	r := &runner{process: process, answers: make(chan []byte, 1), errors: &firstWords{}}
	process.Stderr = r.errors
	process.Env = os.Environ()
	if os.Getenv("GOMAXPROCS") == "" {
		process.Env = append(process.Env, "GOMAXPROCS=1") // a world uses one
	}
	// Ctrl-C is the swarm's to handle.
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if r.in, err = process.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start a runner: %w", err)
	}
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start a runner: %w", err)
	}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("start a runner: %w", err)
	}
	go func() {
		defer close(r.answers)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 4<<20)
		for lines.Scan() {
			r.answers <- append([]byte(nil), lines.Bytes()...)
		}
	}()
	return r, nil
}

// play makes the child play one task; it returns false if the child has ended.
func (r *runner) play(ctx context.Context, t simTask, limit time.Duration) (simResult, bool) {
	result := simResult{simLine: simLine{Scenario: t.Scenario, Seed: t.Seed, Hash: fmt.Sprintf("%016x", 0), Verdict: scenarios.Panicked}, Shrunk: t.Shrink}
	line, err := json.Marshal(t)
	if err == nil {
		_, err = r.in.Write(append(line, '\n'))
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	start := time.Now()
	select {
	case answer, ok := <-r.answers:
		if ok && err == nil {
			if err = json.Unmarshal(answer, &result); err == nil {
				return result, true
			}
			r.kill()
			result.Detail = fmt.Sprintf("its process answered %.80q: %v", answer, err)
			return result, false
		}
	case <-timer.C:
		r.kill()
		result.Verdict = scenarios.Stuck
		result.Detail = fmt.Sprintf("not back after %v of real time: something goes on for ever while no virtual time passes", limit)
		return result, false
	case <-ctx.Done():
		r.kill()
		return result, false
	}
	result.RealMS = time.Since(start).Milliseconds()
	result.Detail = r.obituary()
	return result, false
}

// obituary waits for the child's end and says why it came.
func (r *runner) obituary() string {
	err := r.wait()
	if text := r.errors.String(); text != "" {
		return "its process ended: " + text
	}
	return fmt.Sprintf("its process ended: %v", err)
}

// wait returns how the child ended: by itself, if it does so soon.
func (r *runner) wait() error {
	_ = r.in.Close() // this ends an idle one
	timer := time.AfterFunc(endMax, r.kill)
	defer timer.Stop()
	for range r.answers { // until its output is read
	}
	return r.process.Wait()
}

// kill ends the child and whatever it started; it may have ended by itself.
func (r *runner) kill() { _ = syscall.Kill(-r.process.Process.Pid, syscall.SIGKILL) }

// endMax is how long a child may take to notice the end of the tasks, and to write its counters
// if it was built with -cover.
const endMax = 10 * time.Second

// end lets an idle child go; one that is not is killed. Twice does no harm.
func (r *runner) end() {
	if r == nil {
		return
	}
	_ = r.wait() // obituary reports the end where it matters
}

// firstWords keeps the beginning of a child's output: there a crash names its cause.
type firstWords struct {
	mutex sync.Mutex
	text  []byte
}

// errorsMax bounds the kept part of a child's stderr.
const errorsMax = 4 << 10

// Write implements io.Writer.
func (b *firstWords) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.text = append(b.text, p[:min(len(p), errorsMax-len(b.text))]...)
	return len(p), nil
}

// String returns the kept output.
func (b *firstWords) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return strings.TrimSpace(string(b.text))
}
