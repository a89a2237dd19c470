package exec

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	osexec "os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// The test binary is its own executor: with this variable it plays the child,
// or a worker that is about to be killed.
const role = "HYPERSCALE_EXEC_TEST_ROLE"

// passed are the variables that a child needs: its role, and which bug is planted in this build
// (scenarios, mutants).
func passed() []string { return []string{role, "HYPERSCALE_PLANTED_BUG"} }

func TestMain(m *testing.M) {
	is, target, _ := strings.Cut(os.Getenv(role), " ")
	switch is {
	case "frozen":
		frozenWorker(target)
	case "child":
		os.Exit(Main(play))
	case "worker":
		doomedWorker()
	case "eater":
		eater()
	case "refused":
		refused(Sandbox(target))
	}
	os.Setenv(role, "child")
	goleak.VerifyTestMain(m)
}

// play acts by the workflow's name.
func play(ctx context.Context, w *Work) *message.ExecResult {
	s, lease, progress := w.Start, w.Lease, w.Progress
	result := &message.ExecResult{State: message.WorkflowCompleted}
	switch s.Workflow {
	case "good":
		progress(&message.Stats{Active: s.VUs})
	case "until-cancelled":
		<-ctx.Done()
		result.State = message.WorkflowCancelled
	case "hang":
		select {}
	case "spam":
		spam(ctx, s.Program.Main, lease)
	case "panic":
		panic("the engine broke")
	case "secret panic":
		panic("the engine broke with " + string(s.Program.Secrets[0].Value))
	case "confined", "tries":
		result.Error = playConfined(s.Workflow)
	case "memory":
		var hold [][]byte
		for {
			b := make([]byte, 8<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			hold = append(hold, b)
			time.Sleep(5 * time.Millisecond)
			_ = hold[0]
		}
	case "family", "shared", "grow":
		result.Error = playMemory(ctx, w)
	case "garbage":
		_, _ = os.NewFile(descriptor, "").Write([]byte{0xff, 0xff, 0xff, 0xff, 1, 2, 3})
		select {}
	case "programs", "sweep":
		result.Error = playPrograms(w, s.Workflow == "sweep")
	case "endless sweep":
		bounded(func() { select {} })
	case "rows":
		result.Error = mapped(w)
	case "files":
		result.Error = wholes(w)
	case "pinned":
		var set unix.CPUSet
		_ = unix.SchedGetaffinity(0, &set)
		result.Error = fmt.Sprintf("%d %s %v", set.Count(), os.Getenv("GOMAXPROCS"), sliceOf())
	}
	return result
}

// sliceOf is the scheduler's time slice of this thread, 0 if the kernel reports none.
func sliceOf() time.Duration {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		return 0
	}
	return time.Duration(attr.Runtime)
}

type harness struct {
	*Pool
	events chan node.ExecEvent
	usages chan *message.ExecUsage // some of them
}

func start(t *testing.T, change func(*Config)) *harness {
	t.Helper()
	h := &harness{events: make(chan node.ExecEvent, 100), usages: make(chan *message.ExecUsage, 1)}
	c := Default()
	c.Logger = slog.New(slog.DiscardHandler)
	c.MemoryInterval = 20 * time.Millisecond
	c.Pass = passed()
	if change != nil {
		change(&c)
	}
	var err error
	if h.Pool, err = New(c, h.take); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

// take is the sink of a pool.
func (h *harness) take(e node.ExecEvent) {
	if u, ok := e.Body.(*message.ExecUsage); ok {
		offer(h.usages, u)
		return
	}
	h.events <- e
}

func (h *harness) run(id node.ExecID, workflow string) {
	h.Start(id, 0, &message.ExecStart{Shard: message.ShardID{Job: message.JobID{1}}, Workflow: workflow, PlanDigest: 1, VUs: 3,
		Program: message.Program{Main: "x.star"}})
}

// next returns the next event of an id, within a bound.
func (h *harness) next(t *testing.T, id node.ExecID) node.ExecEvent {
	t.Helper()
	select {
	case e := <-h.events:
		if e.ID != id {
			t.Fatalf("event of run %d, want %d: %+v", e.ID, id, e)
		}
		return e
	case <-time.After(10 * time.Second):
		t.Fatal("no event within 10 s")
	}
	panic("unreachable")
}

// end skips messages and returns the last event and the last message before it.
func (h *harness) end(t *testing.T, id node.ExecID) (node.ExecEvent, node.Message) {
	t.Helper()
	var last node.Message
	for {
		e := h.next(t, id)
		if e.Kind == node.ExecGone {
			return e, last
		}
		last = e.Body
	}
}

func TestRunsOneAfterAnotherOnOneCore(t *testing.T) {
	h := start(t, nil)
	for id := node.ExecID(1); id <= 3; id++ {
		h.run(id, "good")
		if e := h.next(t, id); e.Body.Kind() != message.KindExecStarted {
			t.Fatalf("first: got %+v, want started", e)
		}
		if e := h.next(t, id); e.Body.Kind() != message.KindExecProgress {
			t.Fatalf("second: got %+v, want progress", e)
		}
		gone, last := h.end(t, id)
		if r, ok := last.(*message.ExecResult); !ok || r.State != message.WorkflowCompleted || gone.Reason != "" {
			t.Fatalf("end: got %+v after %+v, want a result and no reason", gone, last)
		}
	}
}

func TestCancelBringsAResult(t *testing.T) {
	h := start(t, nil)
	h.run(1, "until-cancelled")
	h.next(t, 1)
	h.Cancel(1)
	gone, last := h.end(t, 1)
	if r, ok := last.(*message.ExecResult); !ok || r.State != message.WorkflowCancelled || gone.Reason != "" {
		t.Fatalf("got %+v after %+v", gone, last)
	}
}

// A kernel that reaps slowly leaves an executor above its limit to the next check.
func TestTheLimitIsFoundExceededTwice(t *testing.T) {
	h := start(t, nil)
	h.run(1, "hang")
	h.mu.Lock()
	ch := h.busy[1]
	h.mu.Unlock()
	ch.exceed("above its limit")
	ch.exceed("above its limit")
	ch.kill("killed by its worker")
	if got := ch.cause(); got != node.ExecOverLimit {
		t.Errorf("cause %d, want %d", got, node.ExecOverLimit)
	}
	if gone, _ := h.end(t, 1); gone.Reason != "above its limit" || gone.Cause != node.ExecOverLimit {
		t.Errorf("it ended by cause %d: %q", gone.Cause, gone.Reason)
	}
}

func TestDeathTellsItsReason(t *testing.T) {
	for _, tc := range []struct {
		name, workflow string
		act            func(*harness)
		reason, tail   string
		cause          node.ExecCause
	}{
		{"killed by its worker", "hang", func(h *harness) { h.Kill(1) }, "killed by its worker", "", node.ExecDied},
		{"killed from outside", "hang", func(h *harness) { _ = unix.Kill(h.Pids()[0], unix.SIGKILL) }, "killed from outside: killed", "", node.ExecDied},
		{"broken inside", "panic", nil, "exit status 2", "the engine broke", node.ExecDied},
		{"talking garbage", "garbage", nil, "not a message", "", node.ExecDied},
		{"eating memory", "memory", nil, "its budget of 96 MiB", "", node.ExecOverLimit},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := start(t, func(c *Config) { c.MemoryMax = 96 << 20 })
			h.run(1, tc.workflow)
			h.next(t, 1)
			if tc.act != nil {
				tc.act(h)
			}
			gone, _ := h.end(t, 1)
			if gone.Cause != tc.cause {
				t.Errorf("cause %d, want %d", gone.Cause, tc.cause)
			}
			if !strings.Contains(gone.Reason, tc.reason) || !strings.Contains(gone.Tail, tc.tail) {
				t.Fatalf("reason %q and tail %q, want %q and %q", gone.Reason, gone.Tail, tc.reason, tc.tail)
			}
			h.run(2, "good") // the core serves on
			if gone, _ := h.end(t, 2); gone.Reason != "" {
				t.Fatalf("the run after it: %q", gone.Reason)
			}
		})
	}
}

func TestExecutorIsPinnedToOneProcessor(t *testing.T) {
	h := start(t, nil)
	h.run(1, "pinned")
	_, last := h.end(t, 1)
	want := "1 1 0s"
	if own := sliceOf(); own != 0 {
		want = fmt.Sprintf("1 1 %v", slice)
		if own == slice {
			t.Error("this process kept the time slice of its executors")
		}
	}
	if r := last.(*message.ExecResult); r.Error != want {
		t.Fatalf("processors, GOMAXPROCS and slice: got %q, want %q", r.Error, want)
	}
}

func TestCommandThatDoesNotExistIsTold(t *testing.T) {
	c := Default()
	c.Command = []string{"/does/not/exist"}
	_, err := New(c, func(node.ExecEvent) {})
	if err == nil || !strings.Contains(err.Error(), "/does/not/exist") {
		t.Fatalf("got %v", err)
	}
}

func TestValidateReportsEveryFault(t *testing.T) {
	err := Config{Cores: -1, MemoryMax: 1, MemoryInterval: -time.Second}.Validate()
	for _, key := range []string{"exec.cores = -1", "exec.memory_max = 1", "exec.memory_interval = -1s", "exec.logger"} {
		if !strings.Contains(err.Error(), key) {
			t.Errorf("%q is missing in %v", key, err)
		}
	}
}

func TestReadJudgesTheLengthFirst(t *testing.T) {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.BigEndian, uint32(0xffffffff))
	if _, err := read(&b); !errors.Is(err, message.ErrFrame) {
		t.Fatalf("got %v, want ErrFrame", err)
	}
}

// doomedWorker starts a hanging executor, prints its pid, and waits to be killed.
func doomedWorker() {
	os.Setenv(role, "child")
	c := Default()
	c.Pass = passed()
	started := make(chan struct{}, 10)
	p, err := New(c, func(node.ExecEvent) { started <- struct{}{} })
	if err != nil {
		panic(err)
	}
	h := &harness{Pool: p}
	h.run(1, "hang")
	<-started
	_, _ = os.Stdout.WriteString(strconv.Itoa(p.Pids()[0]) + "\n")
	select {}
}

// EXEC-1: a worker killed by SIGKILL leaves no executor behind.
func TestExecutorDiesWithItsWorker(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	worker := osexec.Command(self)
	worker.Env = append(os.Environ(), role+"=worker")
	out, err := worker.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 20)
	n, err := io.ReadAtLeast(out, buf, 2)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(buf[:n])))
	if err != nil {
		t.Fatal(err)
	}
	_ = worker.Process.Kill()
	_ = worker.Wait()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if gone(pid) {
			return
		}
		if time.Now().After(deadline) {
			_ = unix.Kill(pid, unix.SIGKILL)
			t.Fatalf("executor %d outlived its worker by 10 s", pid)
		}
	}
}

// gone reports whether a process has ended, reaped by its new parent or not.
func gone(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || bytes.Contains(stat, []byte(") Z "))
}

// TestSecretsStayInTheirExecutor: what it says as it breaks has none.
func TestSecretsStayInTheirExecutor(t *testing.T) {
	h := start(t, nil)
	secretly := func(id node.ExecID, workflow string) {
		h.Start(id, 0, &message.ExecStart{Shard: message.ShardID{Job: message.JobID{1}}, Workflow: workflow, VUs: 1, PlanDigest: 1, Program: message.Program{Main: "f", Secrets: []message.Secret{{Name: "token", Value: "hunter2"}}}})
	}
	secretly(1, "secret panic")
	gone, _ := h.end(t, 1)
	if !strings.Contains(gone.Tail, "the engine broke with ***") || strings.Contains(gone.Tail, "hunter2") {
		t.Errorf("its last words: %q", gone.Tail)
	}
}
