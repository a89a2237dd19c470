package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// command is what shall be run and measured.
type command struct {
	Args    []string
	Env     []string // besides ours
	CPUs    []int
	Out     string // file of standard output; standard error is Out + ".err"
	Limit   time.Duration
	Sample  time.Duration // how often memory is read; zero: never
	StopAt  time.Duration // when the whole tree is stopped; zero: never
	StopFor time.Duration
}

// usage is what a command and all below it took.
type usage struct {
	Wall    time.Duration
	CPU     time.Duration
	Exit    int
	Killed  bool          // it took longer than its limit
	Stopped time.Duration // how long it stood still
	Peak    memory        // of all processes together, at its worst sample
	Below   memory        // of all but the first process that run its program, at its own worst sample
	Root    memory        // of the first process alone, likewise
}

// measure runs a command in a wrapper of its own.
func measure(c command) (usage, error) {
	self, err := os.Executable()
	if err != nil {
		return usage{}, err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return usage{}, err
	}
	wrapper := exec.Command(self, "measure")
	wrapper.Stdin, wrapper.Stderr = bytes.NewReader(text), os.Stderr
	wrapper.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // it ends with us, and its command with it
	out, err := wrapper.Output()
	if err != nil {
		return usage{}, fmt.Errorf("measure %s: %w", c.Args[0], err)
	}
	var u usage
	if err := json.Unmarshal(out, &u); err != nil {
		return usage{}, fmt.Errorf("measure %s: %w", c.Args[0], err)
	}
	if u.Killed {
		return u, fmt.Errorf("%s did not end within %v", c.Args[0], c.Limit)
	}
	return u, nil
}

// wrap is the wrapper: it reads a command and writes a usage.
func wrap(in io.Reader, out io.Writer) error {
	var c command
	if err := json.NewDecoder(in).Decode(&c); err != nil {
		return err
	}
	// Orphans of the command become ours, so that their time is counted.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt orphans: %w", err)
	}
	u, err := run(c)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(u)
}

func run(c command) (usage, error) {
	stdout, err := os.Create(c.Out)
	if err != nil {
		return usage{}, err
	}
	defer func() { _ = stdout.Close() }() // the child has its own
	stderr, err := os.Create(c.Out + ".err")
	if err != nil {
		return usage{}, err
	}
	defer func() { _ = stderr.Close() }()
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Env = stdout, stderr, append(os.Environ(), c.Env...)
	cmd.WaitDelay = time.Second
	began := time.Now()
	if err := startOn(cmd, c.CPUs); err != nil {
		return usage{}, err
	}
	var u usage
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	err = watch(c, cmd.Process.Pid, &u, ended)
	u.Wall = time.Since(began)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		u.Exit = exit.ExitCode()
	} else if err != nil {
		return usage{}, err
	}
	reap()
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &r); err != nil {
		return usage{}, err
	}
	u.CPU = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	return u, nil
}

// watch samples, stops and at last kills the tree; it returns how the command ended.
func watch(c command, pid int, u *usage, ended <-chan error) error {
	never := make(<-chan time.Time)
	sample, stop := never, never
	if c.Sample > 0 {
		t := time.NewTicker(c.Sample)
		defer t.Stop()
		sample = t.C
	}
	if c.StopFor > 0 {
		stop = time.After(c.StopAt)
	}
	limit := time.After(c.Limit)
	for {
		select {
		case err := <-ended:
			return err
		case <-sample:
			u.sample(pid)
		case <-stop:
			u.Stopped = standStill(pid, c.StopFor)
		case <-limit:
			u.Killed = true
			for _, p := range tree(pid) {
				_ = unix.Kill(p, unix.SIGKILL) // it may have gone
			}
		}
	}
}

func (u *usage) sample(pid int) {
	root := memoryOf(pid)
	var below memory
	all := root
	own, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)) // a process that has ended has none
	for _, p := range tree(pid)[1:] {
		now := memoryOf(p)
		all.add(now)
		if program, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", p)); program == own { // else it is a custom program
			below.add(now)
		}
	}
	for at, now := range map[*memory]memory{&u.Peak: all, &u.Below: below, &u.Root: root} {
		at.Anon, at.RSS = max(at.Anon, now.Anon), max(at.RSS, now.RSS)
	}
}

// standStill stops all of a tree for so long, and returns how long it was.
func standStill(pid int, d time.Duration) time.Duration {
	pids := tree(pid)
	began := time.Now()
	for _, p := range pids {
		_ = unix.Kill(p, unix.SIGSTOP) // it may have gone
	}
	time.Sleep(d)
	for _, p := range pids {
		_ = unix.Kill(p, unix.SIGCONT)
	}
	return time.Since(began)
}

// reap waits for adopted orphans: a few seconds for those that end by themselves,
// then it ends them.
func reap() {
	patience := time.Now().Add(3 * time.Second)
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.EINTR) || pid > 0:
		case err != nil: // none is left
			return
		case time.Now().After(patience):
			for _, p := range tree(os.Getpid())[1:] {
				_ = unix.Kill(p, unix.SIGKILL)
			}
			time.Sleep(10 * time.Millisecond)
		default:
			time.Sleep(10 * time.Millisecond)
		}
	}
}
