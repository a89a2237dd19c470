package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
)

// TestSilentExecutors: a worker kills an executor whose loop says nothing, and its share runs once
// more. It kills none whose target is slow, and none because it was stopped itself.
func TestSilentExecutors(t *testing.T) {
	t.Parallel()
	const silence, killed = 2 * time.Second, 2700 * time.Millisecond
	url, slow := serveTarget(t, "--latency", "5ms"), serveTarget(t, "--latency", (killed+500*time.Millisecond).String())
	file := write(t, "load.star", loadFile)
	c := startClusterIn(t, t.TempDir(), 2, "--set", "worker.executor_silence="+silence.String())
	set := []string{"--set", "target=" + url, "--vus", "8"}

	prepared := write(t, "prepared.star", fmt.Sprintf(`
def prepare(vu):
    vu.http.get(%q)
workflow(name = "load", vus = 2, duration = "500ms", timeout = "10s", setup = prepare, teardown = prepare, steps = [step("home", http.get(%q))])
`, slow, url))
	watch, out := c.watch(c.submit(prepared))
	watch.expect(command.ExitGood)
	if r := readResult(t, out); r.Outcome != "COMPLETED" || len(r.Workflows[0].Lost) != 0 {
		t.Errorf("a target that answers after %v: %s, lost %+v", killed, r.Outcome, r.Workflows[0].Lost)
	}

	for _, frozen := range []string{"worker", "worker and executors"} {
		c.cores(2)
		watch, out = c.watch(c.submit(file, append(set, "--duration", "6s")...))
		c.busy(set)
		pids := []int{c.workers[0].cmd.Process.Pid}
		if frozen != "worker" {
			pids = append(pids, children(pids[0])...)
		}
		signalAll(t, pids, syscall.SIGSTOP)
		time.Sleep(killed + 300*time.Millisecond) // below the time for a renewal
		signalAll(t, pids, syscall.SIGCONT)
		watch.expect(command.ExitGood)
		if r := readResult(t, out); r.Outcome != "COMPLETED" || len(r.Workflows[0].Lost) != 0 {
			t.Errorf("%s stopped: %s, lost %+v", frozen, r.Outcome, r.Workflows[0].Lost)
		}
	}

	c.cores(2)
	watch, out = c.watch(c.submit(file, append(set, "--duration", "8s")...))
	c.busy(set)
	begun := time.Now()
	signalAll(t, children(c.workers[0].cmd.Process.Pid), syscall.SIGSTOP)
	c.workers[0].await(`executor-watched .*state=stuck`)
	took := time.Since(begun)
	watch.expect(command.ExitGood)
	r := readResult(t, out)
	adds(t, r)
	if w := r.Workflows[0]; r.Outcome != "COMPLETED" || len(w.Lost) != 1 || w.Lost[0].Worker != "worker-1" || !strings.Contains(w.Lost[0].Reason, "said nothing") || took < silence {
		t.Errorf("executor stopped: %s, killed after %v, lost %+v", r.Outcome, took, w.Lost)
	}
	t.Logf("executor stopped: killed after %v, lost %+v", took, r.Workflows[0].Lost)
	c.cores(2)
	judge(t, c.dir)
}

func signalAll(t *testing.T, pids []int, s syscall.Signal) {
	t.Helper()
	if len(pids) == 0 {
		t.Fatal("no process to stop")
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, s); err != nil {
			t.Fatal(err)
		}
	}
}
