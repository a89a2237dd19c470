package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hyperscale/runtime/report"
	"hyperscale/runtime/target"
)

// patience bounds each wait of a test: it ends on an event, or fails.
const patience = 20 * time.Second

// process is one hyperscale that runs: the command that TestMain put on PATH.
type process struct {
	t       *testing.T
	name    string
	cmd     *exec.Cmd
	out     output // stdout
	err     output // stderr
	done    chan struct{}
	started time.Time
}

// output is a process's output so far.
type output struct {
	mu   sync.Mutex
	b    bytes.Buffer
	news chan struct{}
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.b.Write(p)
	close(o.news)
	o.news = make(chan struct{})
	return len(p), nil
}

// now is the text so far, and a channel that is closed when there is more.
func (o *output) now() (string, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String(), o.news
}

func (o *output) String() string { s, _ := o.now(); return s }

// start runs hyperscale; it and its group are killed when the test ends.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	return startAs(t, func(*exec.Cmd) {}, args...)
}

func startAs(t *testing.T, change func(*exec.Cmd), args ...string) *process {
	t.Helper()
	p := &process{t: t, name: strings.Join(args[:min(3, len(args))], " "), done: make(chan struct{}), started: time.Now()}
	p.out.news, p.err.news = make(chan struct{}), make(chan struct{})
	p.cmd = exec.Command("hyperscale", args...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.WaitDelay = time.Second
	change(p.cmd)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // code reads how it ended
		close(p.done)
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it may have ended
		<-p.done
		text := p.err.String()
		for _, mark := range []string{"panic:", "fatal error:", "DATA RACE", "goroutine 1 ["} {
			if strings.Contains(text, mark) {
				t.Errorf("%s wrote %q:\n%s", p.name, mark, text)
			}
		}
		if t.Failed() && text != "" {
			t.Logf("stderr of %s:\n%s", p.name, tail(text, 6000))
		}
	})
	return p
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// await waits until stdout or stderr match, and returns the first group.
func (p *process) await(pattern string) string {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	late := time.After(patience)
	for {
		out, moreOut := p.out.now()
		err, moreErr := p.err.now()
		for _, text := range []string{out, err} {
			if m := re.FindStringSubmatch(text); m != nil {
				return m[len(m)-1]
			}
		}
		select {
		case <-moreOut:
		case <-moreErr:
		case <-p.done:
			select {
			case <-moreOut:
			case <-moreErr:
			default:
				p.t.Fatalf("%s ended without %q; stderr:\n%s", p.name, pattern, p.err.String())
			}
		case <-late:
			p.t.Fatalf("%s: no %q within %v; stderr:\n%s", p.name, pattern, patience, tail(err, 4000))
		}
	}
}

// code waits for the end; a process that was killed has -1.
func (p *process) code() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(2 * patience):
		p.t.Fatalf("%s has not ended after %v; stderr:\n%s", p.name, 2*patience, tail(p.err.String(), 4000))
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) { // its end tells how it went
		p.t.Fatal(err)
	}
}

// kill is kill -9 of this process alone, not of its children.
func (p *process) kill() {
	p.t.Helper()
	p.signal(syscall.SIGKILL)
	p.code()
}

// run runs hyperscale to its end, which must be with this code.
func run(t *testing.T, code int, args ...string) *process {
	t.Helper()
	p := start(t, args...)
	p.expect(code)
	return p
}

func (p *process) expect(code int) *process {
	p.t.Helper()
	if got := p.code(); got != code {
		p.t.Fatalf("%s: exit code %d, want %d; stdout:\n%s\nstderr:\n%s", p.cmd.Args, got, code, p.out.String(), p.err.String())
	}
	return p
}

// says wants each pattern in stderr.
func (p *process) says(patterns ...string) {
	p.t.Helper()
	for _, pattern := range patterns {
		if !regexp.MustCompile(pattern).MatchString(p.err.String()) {
			p.t.Errorf("%s does not say %q but:\n%s", p.cmd.Args, pattern, p.err.String())
		}
	}
}

func matches(pattern, text string) bool { return regexp.MustCompile(pattern).MatchString(text) }

// eventually asks until ok, at most for a bound.
func eventually(t *testing.T, what string, bound time.Duration, ok func() bool) {
	t.Helper()
	for limit := time.Now().Add(bound); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("not within %v: %s", bound, what)
		}
	}
}

// children are the processes that pid has started and that live.
func children(pid int) []int {
	all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // no pattern is bad
	var list []int
	for _, file := range all {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // the thread ended
		}
		for f := range strings.FieldsSeq(string(b)) {
			if child, err := strconv.Atoi(f); err == nil {
				list = append(list, child)
			}
		}
	}
	return list
}

// alive says whether pid runs: a zombie does not.
func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// memory is a process's resident set in bytes: its peak, if it is VmHWM.
func memory(t *testing.T, pid int, key string) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(key + `:\s+(\d+) kB`).FindSubmatch(b)
	if m == nil {
		t.Fatalf("no %s in the status of %d", key, pid)
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}

// serveTarget runs `hyperscale target` and returns its URL.
func serveTarget(t *testing.T, args ...string) string {
	t.Helper()
	p := start(t, append([]string{"target", "--listen", "127.0.0.1:0"}, args...)...)
	return p.await(`(https?://\S+) is up`)
}

func get(t *testing.T, url string) string {
	t.Helper()
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func stats(t *testing.T, url string) target.Stats {
	t.Helper()
	var s target.Stats
	if err := json.Unmarshal([]byte(get(t, url+"/__stats")), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// metric is one number of a node's /metrics, all its labels summed.
func metric(t *testing.T, admin, name string) float64 {
	t.Helper()
	var sum float64
	found := false
	for line := range strings.Lines(get(t, "http://"+admin+"/metrics")) {
		if rest, ok := strings.CutPrefix(line, name); ok && (rest[0] == ' ' || rest[0] == '{') {
			fields := strings.Fields(line)
			v, err := strconv.ParseFloat(fields[len(fields)-1], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum, found = sum+v, true
		}
	}
	if !found {
		t.Fatalf("%s has no metric %s", admin, name)
	}
	return sum
}

func readResult(t *testing.T, file string) *report.Result {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := new(report.Result)
	if err := json.Unmarshal(b, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// adds checks that a result's counts add up, on every level.
func adds(t *testing.T, r *report.Result) {
	t.Helper()
	check := func(what string, n report.Totals) {
		if n.Started != n.OK+n.Failed+n.TimedOut+n.Cancelled {
			t.Errorf("%s does not add up: %+v", what, n)
		}
	}
	var flows, centres uint64
	check("the whole", r.Totals)
	for _, w := range r.Workflows {
		check("workflow "+w.Name, w.Totals)
		flows += w.Totals.Started
		var steps uint64
		for _, s := range w.Steps {
			check("step "+s.Name, s.Totals)
			steps += s.Started
		}
		if steps != w.Totals.Started {
			t.Errorf("workflow %s started %d, its steps %d", w.Name, w.Totals.Started, steps)
		}
	}
	for name, d := range r.Datacenters {
		check("datacenter "+name, d.Totals)
		centres += d.Totals.Started
	}
	if flows != r.Totals.Started || centres != r.Totals.Started {
		t.Errorf("the whole started %d, its workflows %d, its datacenters %d", r.Totals.Started, flows, centres)
	}
}

// write puts a file into a test's own folder and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}
