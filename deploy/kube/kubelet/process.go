package kubelet

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// process is the first process of a container. The others end with it.
type process struct {
	cmd   *exec.Cmd
	began time.Time
	ended time.Time     // valid once done is closed
	done  chan struct{} // closed when no process of the container lives
}

// start starts a container. Its output goes to the end of a log.
func (b *birth) start(log string) (*process, error) {
	text, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }() // the process has its own
	p := &process{cmd: exec.Command("/proc/self/exe"), began: time.Now(), done: make(chan struct{})}
	p.cmd.Env = []string{born + "=" + string(text)}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC, Setsid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a container: %w", err)
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is in its state
		p.ended = time.Now()
		close(p.done)
	}()
	return p, nil
}

// signal sends one to the first process, if it lives.
func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) } // one that has ended hears nothing

// code is the exit code of a process that has ended, as container engines tell it.
func (p *process) code() (code int32, signal int32) {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return 128 + int32(status.Signal()), int32(status.Signal())
	}
	return int32(p.cmd.ProcessState.ExitCode()), 0
}
