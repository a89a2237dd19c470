package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"hyperscale/core/message"
	"hyperscale/examples"
	"hyperscale/runtime/local"
)

const demoNext = `
What to try next:
  hyperscale new test.star                           write a test of your own
  hyperscale target --listen 127.0.0.1:8080          something to try it against
  hyperscale run test.star                           run it
  hyperscale run http://127.0.0.1:8080/ --vus 500    or test one address
`

func newDemoCommand() *cobra.Command {
	var (
		out      outputFlags
		load     loadFlags
		duration time.Duration
	)
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "watch a load test end to end, in a few seconds",
		Long: `Starts a test server and a whole local cluster, runs examples/quickstart.star
against it, and prints the summary.`,
		Args: exactly(),
		RunE: runs(func(cmd *cobra.Command, _ []string) error {
			f, err := newFollower(&out)
			if err != nil {
				return err
			}
			defer f.close()
			server, err := startTarget()
			if err != nil {
				return fmt.Errorf("start the test server: %w", err)
			}
			defer server.stop()
			load.duration, load.params = duration, []string{"target=" + server.url}
			source, err := examples.Files.ReadFile(examples.Quickstart)
			if err != nil {
				return err
			}
			program, plan, err := loadProgram(examples.Quickstart, []message.File{{Name: examples.Quickstart, Data: source}}, nil, &load)
			if err != nil {
				return err
			}
			w := &plan.Workflows[0]
			f.note("examples/%s against a test server at %s: %d VUs for %v", examples.Quickstart, server.url, w.VUs, w.Duration)
			f.run = origin(&program)
			result, err := runLocally(cmd.Context(), f, jobSpec{program: program, plan: plan})
			if err != nil {
				return err
			}
			verdict := f.finish(cmd, result)
			if !out.quiet {
				_, err = io.WriteString(cmd.OutOrStdout(), demoNext)
			}
			return errors.Join(verdict, err)
		}),
	}
	addSpan(cmd.Flags(), &duration, "duration", 5*time.Second, time.Second, "how long to send load")
	out.add(cmd.Flags())
	return cmd
}

// targetProcess is a `hyperscale target` of its own.
type targetProcess struct {
	url   string
	child *exec.Cmd
	ended chan struct{}
}

// startTarget starts one on a free port and waits until it is up.
func startTarget() (*targetProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	child := exec.Command(self, "target", "--listen", "127.0.0.1:0")
	child.Stderr = os.Stderr
	child.Env = append(os.Environ(), "GOMAXPROCS=1")
	// A group of its own: Ctrl-C ends the job, and the job's end the target. If this
	// process dies the kernel ends the target too.
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	pipe, err := child.StdoutPipe()
	if err != nil {
		return nil, err
	}
	t := &targetProcess{child: child, ended: make(chan struct{})}
	started := make(chan error, 1)
	go t.live(started)
	if err := <-started; err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(pipe).ReadString('\n')
	t.url, _, _ = strings.Cut(line, " ")
	if err != nil || !isURL(t.url) {
		t.stop()
		return nil, fmt.Errorf("it said %q and no address: %w", line, err)
	}
	return t, nil
}

// live starts the child on a thread that stays until its end: a child inherits the
// processors of the thread that starts it, and dies with that thread.
func (t *targetProcess) live(started chan<- error) {
	defer close(t.ended)
	runtime.LockOSThread() // never unlocked: the thread, with its processors, goes with this goroutine
	if cpus := local.CPUs(); len(cpus) > 1 {
		var set unix.CPUSet
		set.Set(cpus[len(cpus)-1])
		_ = unix.SchedSetaffinity(0, &set) // where it is forbidden the target shares, and the summary is still true
	}
	err := t.child.Start()
	started <- err
	if err == nil {
		_, _ = t.child.Process.Wait() // how it ended does not matter any more
	}
}

func (t *targetProcess) stop() {
	if t.child.Process != nil {
		_ = t.child.Process.Signal(syscall.SIGTERM) // gone already is as good
	}
	<-t.ended
}
