package hostiletest

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// Missing ends a test that needs something which this machine has not.
func Missing(t testing.TB, what, install string) {
	t.Helper()
	if os.Getenv("HYPERSCALE_CI") != "" {
		t.Fatalf("this machine has no %s: apt-get install %s", what, install)
	}
	t.Skipf("this machine has no %s: apt-get install %s", what, install)
}

// Need returns the path of a program, or ends the test.
func Need(t testing.TB, name, install string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, name, install)
	}
	return path
}

// Python returns the path of a Python 3 that has the modules, or ends the test: that of the
// machine's packages has them, where another one comes first.
func Python(t testing.TB, modules ...string) string {
	t.Helper()
	install := "python3"
	for _, m := range modules {
		install += " python3-" + m
	}
	for _, name := range []string{"/usr/bin/python3", "python3"} {
		path, err := exec.LookPath(name)
		if err == nil && exec.Command(path, "-c", "import sys, "+strings.Join(append(modules, "os"), ", ")).Run() == nil {
			return path
		}
	}
	Missing(t, strings.Join(append([]string{"python3"}, modules...), " with "), install)
	return ""
}

// Process is a server that runs until its input ends.
type Process struct {
	t      testing.TB
	input  io.WriteCloser
	lines  *bufio.Scanner
	wait   func() error
	stderr strings.Builder
	pid    int
	ended  bool
}

// Start runs a program, and ends it with the test.
func Start(t testing.TB, path string, args ...string) *Process {
	t.Helper()
	command := exec.Command(path, args...)
	p := &Process{t: t, wait: command.Wait}
	command.Stderr = &p.stderr
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	p.input, p.lines, p.pid = input, bufio.NewScanner(output), command.Process.Pid
	t.Cleanup(func() {
		if !p.ended {
			_ = input.Close()
			_ = command.Process.Kill()
			_ = command.Wait()
		}
	})
	return p
}

// Line returns the next line that the program prints.
func (p *Process) Line() string {
	p.t.Helper()
	if !p.lines.Scan() {
		p.t.Fatalf("the server has ended: %s", p.stderr.String())
	}
	return p.lines.Text()
}

// Stop ends the program's input, waits for its end, and returns what it still prints.
func (p *Process) Stop() string {
	p.t.Helper()
	_ = p.input.Close()
	var rest []string
	for p.lines.Scan() {
		rest = append(rest, p.lines.Text())
	}
	p.ended = true
	if err := p.wait(); err != nil {
		p.t.Errorf("the server ends with %v: %s", err, p.stderr.String())
	}
	return strings.Join(rest, "\n")
}

// Kill ends the program, and returns what it has said on stderr.
func (p *Process) Kill() string {
	_ = syscall.Kill(p.pid, syscall.SIGKILL)
	_ = p.wait()
	p.ended = true
	return p.stderr.String()
}
