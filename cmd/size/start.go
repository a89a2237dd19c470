package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// started is what executors need until they are ready: medians.
type started struct {
	wall, cpu time.Duration
	own, all  int64 // bytes: anonymous, and with what is mapped of files
}

// inTurns starts the executor of each binary so often, one after the other.
func inTurns(ctx context.Context, times int, paths ...string) ([]started, error) {
	all := make([][]started, len(paths))
	for range times {
		for i, path := range paths {
			s, err := start(ctx, path)
			if err != nil {
				return nil, fmt.Errorf("start the executor of %s: %w", path, err)
			}
			all[i] = append(all[i], s)
		}
	}
	var out []started
	for _, one := range all {
		out = append(out, started{
			wall: median(one, func(s started) time.Duration { return s.wall }), cpu: median(one, func(s started) time.Duration { return s.cpu }),
			own: median(one, func(s started) int64 { return s.own }), all: median(one, func(s started) int64 { return s.all }),
		})
	}
	return out, nil
}

func median[T int64 | time.Duration](all []started, of func(started) T) T {
	var values []T
	for _, s := range all {
		values = append(values, of(s))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// start is a worker that hears an executor say that it is ready, and is gone then.
func start(ctx context.Context, path string) (s started, err error) {
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return s, err
	}
	ours, theirs := os.NewFile(uintptr(ends[0]), "executor"), os.NewFile(uintptr(ends[1]), "worker")
	defer ours.Close()
	defer theirs.Close()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "executor")
	var faults bytes.Buffer
	cmd.Stderr, cmd.ExtraFiles, cmd.Env = &faults, []*os.File{theirs}, []string{"GOMAXPROCS=1"}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return s, err
	}
	theirs.Close()
	var first [1]byte
	_, err = ours.Read(first[:])
	s.wall = time.Since(began)
	s.own, s.all = memoryOf(cmd.Process.Pid)
	ours.Close()
	_ = cmd.Wait() // its exit code says that its worker has gone
	if err != nil {
		return s, fmt.Errorf("it does not say that it is ready: %w: %s", err, bytes.TrimSpace(faults.Bytes()))
	}
	s.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return s, nil
}

// memoryOf reads /proc/PID/status, in bytes.
func memoryOf(pid int) (own, all int64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // of a process that waits for us it is there
	return kilobytes(text, "RssAnon:") << 10, kilobytes(text, "VmRSS:") << 10
}

func kilobytes(status []byte, name string) int64 {
	_, rest, _ := bytes.Cut(status, []byte("\n"+name))
	value, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
	n, _ := strconv.ParseInt(string(value), 10, 64) // zero shows in the table
	return n
}
