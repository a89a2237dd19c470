package exec

import (
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// playPrograms starts a program that starts another, and returns the numbers of both. Sweep ends them here.
func playPrograms(w *Work, sweep bool) string {
	p, err := w.Programs.Start([]string{"run", "1000"})
	if err != nil {
		return err.Error()
	}
	_ = unix.SetNonblock(p.Out, false)
	said, b := "", make([]byte, 100)
	for strings.Count(said, "\n") < 2 {
		n, err := unix.Read(p.Out, b)
		if n <= 0 {
			return fmt.Sprint("its stdout ended: ", err)
		}
		said += string(b[:n])
	}
	if sweep {
		w.Programs.sweep()
		for _, pid := range strings.Fields(said) {
			n, _ := strconv.Atoi(pid)
			if !dies(n) {
				return pid + " lives"
			}
		}
	}
	return said
}

// A SIGKILL behind the lapse of a lease is the child's own; one before it is another's.
func TestWhatKilledALapsedChild(t *testing.T) {
	second := uint64(time.Second)
	for _, tt := range []struct {
		until, now uint64
		lapsed     bool
	}{{0, 9 * second, false}, {3 * second, 2 * second, false}, {3 * second, 3 * second, false}, {3 * second, 3*second + uint64(hardStop), true}} {
		killed := osexec.Command("sleep", "1000")
		if err := killed.Start(); err != nil {
			t.Fatal(err)
		}
		_ = killed.Process.Kill()
		c := &child{cmd: killed}
		if tt.until != 0 {
			c.until.Store(uint64(bootTime()) + tt.until - tt.now)
		}
		if reason, lapsed := c.why(killed.Wait()); lapsed != tt.lapsed || strings.Contains(reason, "its time was over") != tt.lapsed {
			t.Errorf("until %d, now %d: %v %q", tt.until, tt.now, lapsed, reason)
		}
	}
}

// An executor's last sweep, however long it takes, ends within its bound.
func TestLastSweepIsBounded(t *testing.T) {
	h := start(t, nil)
	h.run(1, "endless sweep")
	if gone, _ := h.end(t, 1); !strings.Contains(gone.Reason, "was killed") {
		t.Errorf("got %+v", gone)
	}
}

// dies reports whether a process ends soon.
func dies(pid int) bool {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if gone(pid) {
			return true
		}
	}
	return false
}

// TestPrograms: an executor that may start nothing itself gets programs of its worker, and none of them,
// nor what they started, outlives it. What its worker's owner did not allow does not run.
func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "run"), []byte("#!/bin/sh\nsleep $1 & echo $$; echo $!; wait\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, workflow, custom, want string }{
		{"the worker ends them", "programs", dir, ""},
		{"the executor ends them", "sweep", dir, ""},
		{"none is allowed", "programs", "", "custom program run may not run here: start its worker with --custom DIR, the folder of the programs that it may run"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := start(t, func(c *Config) { c.Custom, c.Sandbox = tt.custom, SandboxRequire })
			h.run(1, tt.workflow)
			gone, last := h.end(t, 1)
			r, ok := last.(*message.ExecResult)
			if !ok || gone.Reason != "" || gone.Cause == node.ExecUnspawned {
				t.Fatalf("got %+v after %+v", gone, last)
			}
			if tt.want != "" {
				if r.Error != tt.want {
					t.Fatalf("%q, want %q", r.Error, tt.want)
				}
				return
			}
			pids := strings.Fields(r.Error)
			if len(pids) != 2 {
				t.Fatal(r.Error)
			}
			for _, pid := range pids {
				n, err := strconv.Atoi(pid)
				if err != nil || !dies(n) {
					t.Errorf("%s (%v) lives", pid, err)
				}
			}
		})
	}
	h := start(t, func(c *Config) { c.Custom = dir })
	h.Close()
	c := Default()
	c.Custom = filepath.Join(dir, "run")
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "is no folder") {
		t.Error(err)
	}
}
