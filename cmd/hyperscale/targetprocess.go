package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"hyperscale/cmd/hyperscale/internal/command"
)

// targetProcess is a separate `hyperscale target` process.
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
	child.SysProcAttr = besideJobs()
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
	if err != nil || !command.IsURL(t.url) {
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
	leaveJobsTheirCores()
	err := t.child.Start()
	started <- err
	if err == nil {
		_, _ = t.child.Process.Wait() // its exit status does not matter now
	}
}

func (t *targetProcess) stop() {
	if t.child.Process != nil {
		_ = t.child.Process.Signal(syscall.SIGTERM) // gone already is as good
	}
	<-t.ended
}
