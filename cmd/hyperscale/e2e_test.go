package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/protocol/hostile/hostiletest"
)

// cluster is a gate, a manager and workers of one core each, on loopback.
type cluster struct {
	t             *testing.T
	dir           string
	gate, manager *process
	workers       []*process
	workerArgs    []string // of each, beside its own
	trust         []string // of each node and client: --cluster-secret, or nothing
	gateAddr      string
	managerAddr   string
	admins        map[string]string
}

func (c *cluster) path(name string) string { return filepath.Join(c.dir, name) }

// node starts one node, or starts it again.
func (c *cluster) node(role, id, listen string, args ...string) *process {
	c.t.Helper()
	p := start(c.t, append([]string{role, "--id", id, "--listen", listen, "--admin", "127.0.0.1:0", "--data", c.path(id), "--history", c.path(id + ".jsonl")}, slices.Concat(args, c.trust)...)...)
	c.admins[id] = p.await(`msg=up .*admin=(\S+)`)
	return p
}

func (c *cluster) startGate(listen string) { c.gate = c.node("gate", "gate-1", listen) }

func (c *cluster) startManager(listen string) {
	c.manager = c.node("manager", "manager-1", listen, "--datacenter", "here", "--gates", c.gateAddr)
}

func (c *cluster) startWorker(n int) {
	args := append([]string{"--datacenter", "here", "--managers", c.managerAddr, "--cores", "1"}, c.workerArgs...)
	c.workers[n-1] = c.node("worker", fmt.Sprintf("worker-%d", n), "127.0.0.1:0", args...)
}

const upLine = `msg=up .* addr=(\S+)`

func startCluster(t *testing.T, workers int) *cluster {
	t.Helper()
	return startClusterIn(t, t.TempDir(), workers)
}

// startClusterIn keeps all that its nodes write in dir.
func startClusterIn(t *testing.T, dir string, workers int, workerArgs ...string) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: dir, workers: make([]*process, workers), workerArgs: workerArgs, admins: map[string]string{}}
	c.begin()
	return c
}

// begin starts the nodes.
func (c *cluster) begin() {
	c.t.Helper()
	c.startGate(hostiletest.FreeAddress(c.t))
	c.gateAddr = c.gate.await(upLine)
	c.startManager(hostiletest.FreeAddress(c.t))
	c.managerAddr = c.manager.await(upLine)
	for i := range c.workers {
		c.startWorker(i + 1)
	}
	c.cores(len(c.workers))
}

// cores waits until so many are free.
func (c *cluster) cores(n int) {
	c.t.Helper()
	want := fmt.Sprintf(`"cores_free": %d`, n)
	eventually(c.t, want, patience, func() bool {
		p := start(c.t, append([]string{"datacenters", "--json", "--gate", c.gateAddr}, c.trust...)...)
		return p.code() == 0 && strings.Contains(p.out.String(), want) && strings.Contains(p.out.String(), `"HEALTHY"`)
	})
}

// submit returns the job's id.
func (c *cluster) submit(file string, args ...string) string {
	c.t.Helper()
	return strings.TrimSpace(run(c.t, command.ExitGood, append([]string{"submit", file, "--gate", c.gateAddr}, args...)...).out.String())
}

func (c *cluster) watch(job string) (*process, string) {
	c.t.Helper()
	out := c.path(job + ".json")
	return start(c.t, "watch", job, "--gate", c.gateAddr, "--ui", "none", "--out", "json="+out), out
}

// TestClusterSurvives is one cluster's bad day: each process is killed once.
func TestClusterSurvives(t *testing.T) {
	t.Parallel()
	url := serveTarget(t, "--latency", "5ms")
	file := write(t, "load.star", loadFile)
	c := startCluster(t, 2)
	set := []string{"--set", "target=" + url, "--vus", "8"}

	c.loseWorker(file, set)
	c.startWorker(1)
	c.cores(2)
	c.cancels(file, set)
	c.cancelsOne(set)
	c.loseExecutor(file, set)
	c.cores(2)
	c.loseServers(file, set)
	judge(t, c.dir)
}

// loseWorker: its share joins again on the other one, and counts once.
func (c *cluster) loseWorker(file string, set []string) {
	t, lifetime := c.t, 3*time.Second
	t.Helper()
	job := c.submit(file, append(set, "--duration", lifetime.String())...)
	watch, out := c.watch(job)
	executors := children(c.workers[0].cmd.Process.Pid)
	if len(executors) == 0 {
		t.Fatal("a worker without executors")
	}
	c.running(job)
	c.workers[0].kill()
	killed := time.Now()
	watch.expect(command.ExitGood)
	took := time.Since(killed)
	if took > lifetime+8*time.Second {
		t.Errorf("the job ended %v after its worker was killed", took)
	}
	for _, pid := range executors {
		if alive(pid) {
			t.Errorf("executor %d of the killed worker lives on", pid)
		}
	}
	r := readResult(t, out)
	adds(t, r)
	w := r.Workflows[0]
	if r.Outcome != "COMPLETED" || len(w.Lost) != 1 || w.Lost[0].Worker != "worker-1" || w.Lost[0].Attempt != 1 || w.Lost[0].Started == 0 {
		t.Fatalf("%s, lost %+v, want worker-1's first attempt", r.Outcome, w.Lost)
	}
	// What the lost attempt sent after its last report reached the target, and no figure knows it.
	if got := stats(t, c.target(set)).Requests; got < r.Totals.Started || w.Lost[0].UnreportedNS == 0 {
		t.Errorf("the target counted %d, the result has %d, and at most %d ns unreported", got, r.Totals.Started, w.Lost[0].UnreportedNS)
	}
	if !strings.Contains(watch.out.String(), "lost attempts") {
		t.Errorf("the summary is silent about the lost attempt:\n%s", &watch.out)
	}
	t.Logf("worker: COMPLETED %v after kill -9, %d requests counted, lost %+v", took, r.Totals.Started, w.Lost)
}

func (c *cluster) target(set []string) string { return strings.TrimPrefix(set[1], "target=") }

// running waits until the job is running and reports that it started something.
func (c *cluster) running(job string) {
	c.t.Helper()
	id, err := message.ParseJobID(job)
	if err != nil {
		c.t.Fatal(err)
	}
	n := dialNode(c.t, c.gateAddr, "observer")
	defer n.Kill()
	eventually(c.t, "job "+job+" is RUNNING", patience, func() bool {
		status, ok := ask(c.t, n, 1, func(int) node.Message { return &message.JobQuery{Job: id} })[0].(*message.JobStatus)
		if !ok || status.State != message.JobRunning {
			return false
		}
		var started uint64
		for _, d := range status.Datacenters {
			for _, w := range d.Workflows {
				for _, step := range w.Stats.Steps {
					started += step.Started
				}
			}
		}
		return started > 0
	})
}

// busy waits until the target gets more requests than it had.
func (c *cluster) busy(set []string) {
	c.t.Helper()
	before := stats(c.t, c.target(set)).Requests
	eventually(c.t, "the target is busy", patience, func() bool { return stats(c.t, c.target(set)).Requests > before+200 })
}

// cancelsOne: one workflow of a job ends, and the job goes on.
func (c *cluster) cancelsOne(set []string) {
	t := c.t
	t.Helper()
	both := write(t, "both.star", `
target = param("target", default = "http://localhost:8080")
workflow(name = "loud", vus = 2, duration = "1m", think = "50ms", steps = [step("home", http.get(target))])
workflow(name = "calm", vus = 2, duration = "4s", think = "50ms", steps = [step("home", http.get(target))])
workflow(name = "next", depends = ["loud"], vus = 2, duration = "1s", steps = [step("home", http.get(target))])
`)
	job := c.submit(both, set...)
	watch, out := c.watch(job)
	begun := time.Now()
	p := run(t, command.ExitUsage, "cancel", job, "lod", "--gate", c.gateAddr)
	if !strings.Contains(p.err.String(), "the job has loud, calm, next") {
		t.Errorf("a cancellation of a workflow that the job does not have says %q", &p.err)
	}
	p = run(t, command.ExitGood, "cancel", job, "loud", "--reason", "too loud", "--gate", c.gateAddr)
	if took := time.Since(begun); !strings.Contains(p.out.String(), "loud CANCELLED") || took > 4*time.Second {
		t.Errorf("cancel of a workflow said %q after %v", &p.out, took)
	}
	watch.expect(command.ExitFailed)
	r := readResult(t, out)
	states := map[string]string{}
	for _, w := range r.Workflows {
		states[w.Name] = w.Outcome
	}
	want := map[string]string{"loud": "CANCELLED", "calm": "COMPLETED", "next": "FAILED"}
	if diff := cmp.Diff(want, states); diff != "" || r.Outcome != "PARTIAL" {
		t.Errorf("the job ended %v (-want +got):\n%s", r.Outcome, diff)
	}
	adds(t, r)
}

// cancels: a long job ends within two seconds.
func (c *cluster) cancels(file string, set []string) {
	t := c.t
	t.Helper()
	job := c.submit(file, append(set, "--duration", "1m")...)
	watch, out := c.watch(job)
	c.busy(set)
	begun := time.Now()
	p := run(t, command.ExitGood, "cancel", job, "--gate", c.gateAddr)
	took := time.Since(begun)
	if !strings.Contains(p.out.String(), "CANCELLED") || took > 2*time.Second {
		t.Errorf("cancel said %q after %v", &p.out, took)
	}
	watch.expect(command.ExitInterrupted)
	adds(t, readResult(t, out))
	t.Logf("cancel: CANCELLED after %v", took)
}

// loseExecutor: the worker lives, and its share runs once more: one death leaves open what is broken.
func (c *cluster) loseExecutor(file string, set []string) {
	t := c.t
	t.Helper()
	job := c.submit(file, append(set, "--duration", "3s")...)
	watch, out := c.watch(job)
	c.busy(set)
	worker := c.workers[0]
	for _, pid := range children(worker.cmd.Process.Pid) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	watch.expect(command.ExitGood)
	r := readResult(t, out)
	adds(t, r)
	w := r.Workflows[0]
	// On a busy machine the other worker's load may begin first: then the executor is gone before it has its work.
	if r.Outcome != "COMPLETED" || len(w.Lost) != 1 || w.Lost[0].Worker != "worker-1" ||
		!strings.Contains(w.Lost[0].Reason, "killed") && !strings.Contains(w.Lost[0].Reason, "its work could not be handed over") {
		t.Fatalf("%s, lost %+v, want an attempt of worker-1 whose executor was killed", r.Outcome, w.Lost)
	}
	if !strings.Contains(watch.out.String(), "lost attempts") {
		t.Errorf("the summary is silent about the lost attempt:\n%s", &watch.out)
	}
	if !alive(worker.cmd.Process.Pid) {
		t.Error("the worker died with its executor")
	}
	t.Logf("executor: %s, lost %+v", r.Outcome, w.Lost)
}

// loseServers kills and restarts the gate and then the manager, each in the middle of a job
// that a client watches.
func (c *cluster) loseServers(file string, set []string) {
	t := c.t
	t.Helper()
	for _, lost := range []struct {
		name string
		do   func()
	}{
		{"gate", func() { c.gate.kill(); c.startGate(c.gateAddr) }},
		{"manager", func() { c.manager.kill(); c.startManager(c.managerAddr) }},
	} {
		before := stats(t, c.target(set)).Requests
		job := c.submit(file, append(set, "--duration", "1500ms")...)
		watch, out := c.watch(job)
		c.busy(set)
		begun := time.Now()
		lost.do()
		watch.expect(command.ExitGood)
		r := readResult(t, out)
		adds(t, r)
		got := stats(t, c.target(set)).Requests - before
		if r.Outcome != "COMPLETED" || len(r.Workflows[0].Lost) != 0 || got != r.Totals.Started {
			t.Errorf("%s killed: %s, the target counted %d, the result %+v", lost.name, r.Outcome, got, r.Totals)
		}
		t.Logf("%s: COMPLETED %v after kill -9", lost.name, time.Since(begun))
	}
}

// TestKilledRunLeavesNothing: the executors of a run end after its SIGKILL, so that the target
// gets no more load.
func TestKilledRunLeavesNothing(t *testing.T) {
	t.Parallel()
	url := serveTarget(t, "--latency", "1ms")
	p := start(t, "run", url+"/", "--vus", "8", "--duration", "1m", "--cores", "1", "--ui", "none")
	eventually(t, "the target is busy", patience, func() bool { return stats(t, url).Requests > 100 })
	left := children(p.cmd.Process.Pid)
	p.kill()
	if len(left) == 0 {
		t.Fatal("a run without executors")
	}
	eventually(t, "the executors end", 2*time.Second, func() bool {
		return !slices.ContainsFunc(left, alive)
	})
}

// SIGTERM under a shard that is longer than stop_timeout: executors end it, nothing is killed.
func TestStoppedWorkerEndsItsShards(t *testing.T) {
	t.Parallel()
	url := serveTarget(t, "--latency", "5ms")
	file := write(t, "load.star", loadFile)
	c := startCluster(t, 1)
	stop := 9 * time.Second
	worker := c.node("worker", "worker-2", "127.0.0.1:0", "--managers", c.managerAddr, "--datacenter", "here", "--cores", "1", "--stop-timeout", stop.String())
	c.cores(2)
	job := c.submit(file, "--set", "target="+url, "--vus", "8", "--duration", "5m")
	c.running(job)
	worker.signal(syscall.SIGTERM)
	stopped := time.Now()
	worker.expect(command.ExitGood)
	if took := time.Since(stopped); took > stop {
		t.Errorf("the worker ended after %v, want %v at most", took, stop)
	}
	if log := worker.err.String(); strings.Contains(log, "killed") {
		t.Errorf("something was killed:\n%s", log)
	}
	run(t, command.ExitUsage, "worker", "--id", "w", "--data", t.TempDir(), "--managers", "127.0.0.1:1", "--datacenter", "here", "--stop-timeout", "8s").
		says(`stop_timeout = 8s must be at least 9s for a worker`, `--stop-timeout`)
}
