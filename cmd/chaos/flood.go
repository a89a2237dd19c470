package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"hyperscale/cmd/chaos/internal/flood"
)

// floods holds the configuration of the flood that this process is.
const floods = "HYPERSCALE_CHAOS_FLOOD"

// runFlood floods until a signal ends it, and prints what it did.
func runFlood(config string) error {
	var c flood.Config
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r, err := flood.Run(ctx, c)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

// flooding is a flood in a process of its own, on the last client's host. All else goes before it
// on the processors that they share.
type flooding struct {
	cmd *exec.Cmd
	out *strings.Builder
}

func (c *cluster) startFlood(config flood.Config) (*flooding, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	m := c.clients[len(c.clients)-1]
	config.Cluster, config.From = "chaos", address(m.host)
	text, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	args := []string{"nice", "-n", "19", self}
	if !c.direct {
		args = append([]string{"ip", "netns", "exec", m.name}, args...)
	}
	f := &flooding{cmd: exec.Command(args[0], args[1:]...), out: &strings.Builder{}}
	f.cmd.Env = append(os.Environ(), floods+"="+string(text))
	f.cmd.Stdout, f.cmd.Stderr = f.out, os.Stderr
	return f, f.cmd.Start()
}

// stop ends the flood and returns what it did.
func (f *flooding) stop() (*flood.Report, error) {
	_ = f.cmd.Process.Signal(syscall.SIGTERM) // one that has ended says so below
	if err := f.cmd.Wait(); err != nil {
		return nil, fmt.Errorf("the flood: %w", err)
	}
	var r flood.Report
	if err := json.Unmarshal([]byte(f.out.String()), &r); err != nil {
		return nil, fmt.Errorf("the flood's report: %w", err)
	}
	return &r, nil
}

// blackHole kills each executor of a worker as soon as it is there, until done is closed.
func (m *machine) blackHole(done <-chan struct{}) {
	for {
		m.mu.Lock()
		pid := m.cmd.Process.Pid
		m.mu.Unlock()
		for _, child := range children(pid) {
			_ = syscall.Kill(child, syscall.SIGKILL) // it may have ended
		}
		select {
		case <-done:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// children returns the processes that a process has started.
func children(pid int) (all []int) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil
	}
	for _, name := range tasks {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		for _, f := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(f); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

// peak is the most memory that a machine's process has had, 0 if it does not run.
func (m *machine) peak() int64 {
	m.mu.Lock()
	pid := m.cmd.Process.Pid
	m.mu.Unlock()
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }() // it was only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			kib, _ := strconv.ParseInt(strings.Fields(text)[0], 10, 64)
			return kib << 10
		}
	}
	return 0
}

// summary is one line about a flood.
func summary(r *flood.Report) string {
	served, refused := r.Answered()
	sent := 0
	for _, kind := range slices.Sorted(maps.Keys(r.Sent)) {
		sent += r.Sent[kind]
	}
	return fmt.Sprintf("%d frames flooded, %d requests answered and %d refused, %d of %d connections ended", sent, served, refused, r.Ended, r.Opened)
}
