package exec

import (
	"context"
	"net"
	"os"
	osexec "os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// leaseOf is the tests' lease; production uses 5 s.
const leaseOf = 700 * time.Millisecond

func soon(d time.Duration) node.Instant { return node.Instant(bootTime()).Add(d) }

// spam sends a byte each millisecond, asking before each, to the address that is
// its program's name.
func spam(ctx context.Context, to string, lease *Lease) {
	c, err := net.Dial("tcp", to)
	if err != nil {
		panic(err)
	}
	for ctx.Err() == nil && !lease.Over() {
		if _, err := c.Write([]byte{1}); err != nil {
			panic(err)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestLeaseEndsARunThatNobodyExtends(t *testing.T) {
	for _, workflow := range []string{"until-cancelled", "hang"} {
		t.Run(workflow, func(t *testing.T) {
			h := start(t, nil)
			began := time.Now()
			h.run(1, workflow)
			h.next(t, 1)
			h.Extend(1, soon(100*time.Millisecond))
			h.Extend(1, soon(leaseOf)) // the later call counts
			gone, _ := h.end(t, 1)
			if workflow == "hang" && (!gone.Lapsed || !strings.Contains(gone.Reason, "its time was over")) {
				t.Errorf("got %+v", gone)
			}
			if took := time.Since(began); took < leaseOf/2 {
				t.Errorf("it ended after %v, and had %v", took, leaseOf)
			}
			h.run(2, "good")
			if gone, _ := h.end(t, 2); gone.Reason != "" {
				t.Errorf("the run after it: %q", gone.Reason)
			}
		})
	}
}

// frozenWorker extends a sender every 100 ms until it is stopped.
func frozenWorker(target string) {
	os.Setenv(role, "child")
	c := Default()
	c.Pass = passed()
	p, err := New(c, func(node.ExecEvent) {})
	if err != nil {
		panic(err)
	}
	p.Start(1, 0, &message.ExecStart{Shard: message.ShardID{Job: message.JobID{1}}, Workflow: "spam", PlanDigest: 1, VUs: 1, Program: message.Program{Main: target}})
	for {
		p.Extend(1, soon(leaseOf))
		time.Sleep(100 * time.Millisecond)
	}
}

// EXEC-6: the executors of a worker that is stopped (SIGSTOP) end within the time that
// they were last given, though their worker can do nothing.
func TestExecutorStopsWhileItsWorkerIsFrozen(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	worker := osexec.Command(self)
	worker.Env = append(os.Environ(), role+"=frozen "+listener.Addr().String())
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = worker.Process.Kill()
		_ = worker.Wait()
	}()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var last atomic.Int64 // when a byte came
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for b := make([]byte, 64); ; {
			if _, err := conn.Read(b); err != nil {
				return
			}
			last.Store(bootTime())
		}
	}()
	time.Sleep(2 * leaseOf) // it continues while its lease is extended
	if quiet := time.Duration(bootTime() - last.Load()); quiet > leaseOf {
		t.Fatalf("nothing came for %v while the worker ran", quiet)
	}
	frozen := bootTime()
	if err := unix.Kill(worker.Process.Pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended: // the process is gone, its socket closed
	case <-time.After(10 * time.Second):
		t.Fatal("the executor still lives 10 s after its worker was stopped")
	}
	went := time.Duration(last.Load() - frozen)
	t.Logf("it sent for %v more, its lease was %v", went, leaseOf)
	if went > leaseOf+time.Second { // a busy machine may be late

		t.Errorf("it sent for %v after its worker was stopped, its lease was %v", went, leaseOf)
	}
}
