package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/protocol/hostile/hostiletest"
)

// executorsOf are the processes that a process has started.
func executorsOf(t *testing.T, p *process) (pids []int) {
	t.Helper()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", p.cmd.Process.Pid, task.Name())) // a thread may end meanwhile
		for _, field := range strings.Fields(string(b)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestExecutorsAreConfined: the flags of a worker reach its executors, which run a test.
func TestExecutorsAreConfined(t *testing.T) {
	t.Parallel()
	root := os.Geteuid() == 0
	user := fmt.Sprintf("%d:%d", os.Geteuid(), os.Getegid())
	c := &cluster{t: t, dir: t.TempDir(), admins: map[string]string{}}
	c.startGate(hostiletest.FreeAddress(t))
	c.gateAddr = c.gate.await(upLine)
	c.startManager(hostiletest.FreeAddress(t))
	c.managerAddr = c.manager.await(upLine)
	if root {
		asRoot := start(t, "worker", "--id", "worker-2", "--listen", "127.0.0.1:0", "--data", c.path("worker-2"), "--datacenter", "here", "--managers", "127.0.0.1:1", "--cores", "1")
		asRoot.await(`level=WARN msg="executors run as root: .*--executor-user`)
	}
	args := []string{"worker", "--id", "worker-1", "--listen", "127.0.0.1:0", "--data", c.path("worker-1"), "--datacenter", "here", "--managers", c.managerAddr, "--cores", "1",
		"--executor-sandbox", "require", "--executor-env", "WANTED, ALSO"}
	if root {
		user = "12345:23456"
		args = append(args, "--executor-user", user)
	}
	p := startAs(t, func(cmd *exec.Cmd) {
		cmd.Env = append(os.Environ(), "AWS_SECRET_ACCESS_KEY=hunter2", "WANTED=1", "ALSO=2")
	}, args...)
	p.await(upLine)
	c.cores(1)
	pids := executorsOf(t, p)
	if len(pids) != 1 {
		t.Fatalf("its children are %v, want an executor", pids)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pids[0]))
	if err != nil {
		t.Fatal(err)
	}
	uid, gid, _ := strings.Cut(user, ":")
	for _, want := range []string{`Name:\s+hyperscale`, `Uid:\s+` + uid + `\s`, `Gid:\s+` + gid + `\s`, `NoNewPrivs:\s+1`, `Seccomp:\s+2`} {
		if !regexp.MustCompile(want).Match(status) {
			t.Errorf("want %s in:\n%s", want, status)
		}
	}
	if root { // no other user may read it
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pids[0]))
		variables := strings.Split(string(b), "\x00")
		if err != nil || !slices.Contains(variables, "WANTED=1") || !slices.Contains(variables, "ALSO=2") || strings.Contains(string(b), "hunter2") || strings.Contains(string(b), "PATH=") {
			t.Errorf("its variables are %q: %v", variables, err)
		}
	}
	url := serveTarget(t)
	run(t, command.ExitGood, "submit", write(t, "test.star", `
workflow(name = "w", vus = 2, iterations = 20, steps = [step("get", http.get("`+url+`/"))])
`), "--gate", c.gateAddr, "--wait", "--ui", "none")
	if s := stats(t, url); s.Requests != 20 {
		t.Errorf("%d requests", s.Requests)
	}
}

// TestSurroundingsAreRefused: a flag that cannot be ends the command before it starts anything.
func TestSurroundingsAreRefused(t *testing.T) {
	t.Parallel()
	worker := []string{"worker", "--id", "w", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--datacenter", "here", "--managers", "127.0.0.1:1", "--cores", "1"}
	file := write(t, "test.star", `workflow(name = "w", vus = 1, iterations = 1, steps = [step("get", http.get("http://127.0.0.1:1/"))])`)
	for _, test := range []struct {
		args []string
		want string
	}{
		{append(slices.Clone(worker), "--executor-env", "HYPERSCALE_SECRET_TOKEN"), "executor_env = HYPERSCALE_SECRET_TOKEN would give a secret to all programs: take it out, and let the program name secret()"},
		{append(slices.Clone(worker), "--executor-sandbox", "on"), `executor_sandbox = "on" must be auto, require or off: correct --executor-sandbox`},
		{append(slices.Clone(worker), "--executor-user", "0:0"), "executor_user = 0:0 is root"},
		{append(slices.Clone(worker), "--executor-user", "no-such-user"), "executor_user = no-such-user is unknown: give --executor-user the name of a user"},
		{[]string{"gate", "--id", "g", "--data", t.TempDir(), "--config", write(t, "gate.yaml", "executor_user: daemon\n")}, "executor_user = daemon means nothing to a gate: take it out"},
		{[]string{"run", file, "--executor-env", "A=B"}, `executor_env = "A=B" is no name of a variable`},
		{[]string{"run", file, "--executor-sandbox", "on"}, "choose one of auto, require, off"},
	} {
		run(t, command.ExitUsage, test.args...).says(regexp.QuoteMeta(test.want))
	}
}
