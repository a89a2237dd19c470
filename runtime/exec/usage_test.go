package exec

import (
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/worker/budget"
)

// raced says that the race detector watches: its memory is an executor's, too.
var raced bool

// fill returns memory that no other process has.
func fill(n int) []byte {
	b := make([]byte, n)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	return b
}

// eater is a process that an executor has started: it has memory for itself, until it is killed.
func eater() {
	b := fill(64 << 20)
	_, _ = os.Stdout.WriteString("full\n")
	select {
	case <-make(chan int):
	case <-time.After(time.Hour):
	}
	_ = b[0]
}

// playMemory acts by the workflow's name, and reports progress once it has its memory.
func playMemory(ctx context.Context, w *Work) string {
	switch w.Start.Workflow {
	case "family":
		self, err := os.Executable()
		if err != nil {
			return err.Error()
		}
		cmd := osexec.Command(self)
		cmd.Env = append(os.Environ(), role+"=eater")
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err.Error()
		}
		if err := cmd.Start(); err != nil {
			return err.Error()
		}
		if _, err := out.Read(make([]byte, 1)); err != nil {
			return err.Error()
		}
		w.Progress(&message.Stats{Active: uint64(cmd.Process.Pid)})
		select {}
	case "shared":
		fd, err := unix.MemfdCreate("shared", unix.MFD_CLOEXEC)
		if err != nil {
			return err.Error()
		}
		const size = 128 << 20
		if err := unix.Ftruncate(fd, size); err != nil {
			return err.Error()
		}
		b, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return err.Error()
		}
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		w.Progress(&message.Stats{Active: 1})
		<-ctx.Done()
	case "grow":
		return grow(ctx, w)
	}
	return ""
}

// grow takes 90 % of its budget until it is throttled, and then leaves most of it.
func grow(ctx context.Context, w *Work) string {
	var hold [][]byte
	for used := uint64(0); used < budget.Percent(w.Start.Memory, 90); used, _ = usageOf([]int{os.Getpid()}) {
		hold = append(hold, fill(1<<20))
	}
	for !w.Throttled() {
		if time.Sleep(time.Millisecond); ctx.Err() != nil {
			return "it was not throttled"
		}
	}
	runtime.KeepAlive(hold) // a collection of the throttle would free it before this run sees that
	hold = append([][]byte(nil), hold[0])
	for w.Throttled() {
		if time.Sleep(time.Millisecond); ctx.Err() != nil {
			return "it stays throttled"
		}
	}
	return fmt.Sprintf("%d", len(hold))
}

// usage returns a measurement that began after the call.
func (h *harness) usage(t *testing.T) *message.ExecUsage {
	t.Helper()
	var u *message.ExecUsage
	for range 3 { // one that waited, and one that was under way
		select {
		case u = <-h.usages:
		case <-time.After(time.Minute):
			t.Fatal("no measurement within a minute")
		}
	}
	return u
}

// TestUsageIsThatOfTheWholeFamily: what processes have that an executor started counts, and they die
// with it.
func TestUsageIsThatOfTheWholeFamily(t *testing.T) {
	h := start(t, func(c *Config) { c.Sandbox = SandboxOff })
	h.run(1, "family")
	h.next(t, 1) // it has started
	e := h.next(t, 1)
	progress, ok := e.Body.(*message.ExecProgress)
	if !ok {
		t.Fatalf("got %+v", e)
	}
	grandchild := int(progress.Stats.Active)
	for deadline := time.Now().Add(10 * time.Second); ; {
		u := h.usage(t)
		if u.Memory >= 64<<20 && u.Machine > 0 && u.Left > 0 && u.MemoryMax == Default().MemoryMax {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("its family has 64 MiB, and ten seconds later it is measured as %+v", *u)
		}
	}
	h.Kill(1)
	for deadline := time.Now().Add(time.Minute); !gone(grandchild); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			_ = unix.Kill(grandchild, unix.SIGKILL)
			t.Fatal("the executor is killed, and a minute later its family lives on")
		}
	}
	if end, _ := h.end(t, 1); end.Reason != "killed by its worker" {
		t.Errorf("gone: %+v", end)
	}
}

// TestUsageLeavesSharedMemoryOut: files that all executors map count for none of them.
func TestUsageLeavesSharedMemoryOut(t *testing.T) {
	h := start(t, nil)
	h.run(1, "shared")
	h.next(t, 1)
	if e := h.next(t, 1); e.Body == nil || e.Body.Kind() != message.KindExecProgress {
		t.Fatalf("got %+v", e)
	}
	if u := h.usage(t); u.Memory == 0 || u.Memory >= 128<<20 {
		t.Errorf("it maps 128 MiB of a file, and is measured as %+v", *u)
	}
	h.Cancel(1)
	h.end(t, 1)
}

// TestAThrottledExecutorSavesMemory: one that is throttled returns what it leaves to the system, so that
// its throttle ends.
func TestAThrottledExecutorSavesMemory(t *testing.T) {
	if raced {
		t.Skip("the race detector keeps memory of its own beside each page, for good")
	}
	h := start(t, func(c *Config) { c.MemoryMax = 1 << 30 })
	h.Start(1, 0, &message.ExecStart{Shard: message.ShardID{Job: message.JobID{1}}, Workflow: "grow", PlanDigest: 1, VUs: 3, Program: message.Program{Main: "x.star"}, Memory: 256 << 20})
	g := budget.New(256 << 20)
	told, levels := budget.Within, []budget.Level{}
	for deadline := time.After(time.Minute); ; {
		select {
		case u := <-h.usages:
			level := g.Look(1, u)
			if len(levels) == 0 || levels[len(levels)-1] != level {
				levels = append(levels, level)
			}
			if (level >= budget.Throttled) != (told >= budget.Throttled) {
				h.Tell(1, &message.ExecThrottle{On: level >= budget.Throttled})
			}
			told = level
		case e := <-h.events:
			if e.Kind == node.ExecGone {
				t.Fatalf("gone: %+v, levels %v", e, levels)
			}
			if r, ok := e.Body.(*message.ExecResult); ok {
				if r.Error != "1" || !slices.Contains(levels, budget.Throttled) || slices.Contains(levels, budget.Over) {
					t.Errorf("it says %q, levels %v", r.Error, levels)
				}
				h.end(t, 1)
				return
			}
		case <-deadline:
			t.Fatalf("no end within a minute, levels %v, last %+v", levels, *g.Now())
		}
	}
}
