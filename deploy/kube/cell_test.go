package kube

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hyperscale/deploy/kube/controlplane"
)

// binary is the product's: HYPERSCALE_BINARY, or bin/hyperscale.
func binary(t *testing.T) string {
	t.Helper()
	path := os.Getenv("HYPERSCALE_BINARY")
	if path == "" {
		path = filepath.Join("..", "..", "bin", "hyperscale")
	}
	if _, err := os.Stat(path); err != nil {
		controlplane.Missing(t, "%v: build it with `make bin/hyperscale`", err)
	}
	return path
}

// command is one of the product's, whose process does not outlive this one.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(binary(t), args...)
	// Variables of the tests are no settings, which the product rejects.
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "HYPERSCALE_") }), "HYPERSCALE_HISTORY=off")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// said is what a process has said so far.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// run starts a process that lasts until the test ends.
func run(t *testing.T, args ...string) *said {
	t.Helper()
	cmd, out := command(t, args...), &said{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
		killed := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // how it ends is no part of the test
		killed.Stop()
		if t.Failed() {
			text := out.String()
			t.Logf("the end of what %v said:\n%s", args[:1], text[max(0, len(text)-3000):])
		}
	})
	return out
}

// await returns what a process says, by a pattern with one group.
func (s *said) await(t *testing.T, pattern string) string {
	t.Helper()
	var found []string
	controlplane.Within(t, patience, "a process says "+pattern, func() bool {
		found = regexp.MustCompile(pattern).FindStringSubmatch(s.String())
		return found != nil
	})
	return found[1]
}

// cell is a gate with its HTTP API, a manager and two workers, as processes on loopback.
type cell struct {
	dir    string
	api    string            // URL of the gate's HTTP API
	tokens map[string]string // by role
}

// newCell starts a cell, and returns when its workers' cores are free.
func newCell(t *testing.T) *cell {
	t.Helper()
	c := &cell{dir: t.TempDir(), tokens: map[string]string{}}
	for _, role := range []string{"viewer", "submitter"} {
		out, err := command(t, "token", "new", "--role", role, "--name", "a-"+role, c.path("tokens")).Output()
		if err != nil {
			t.Fatal(err)
		}
		c.tokens[role] = strings.TrimSpace(string(out))
		if err := os.WriteFile(c.path(role+".token"), out, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	gate, manager := controlplane.FreeAddress(t), controlplane.FreeAddress(t)
	g := run(t, "gate", "--id=gate-1", "--listen="+gate, "--gates="+gate, "--data="+c.path("gate"), "--api=127.0.0.1:0", "--api-tokens="+c.path("tokens"))
	run(t, "manager", "--id=manager-1", "--listen="+manager, "--managers="+manager, "--gates="+gate, "--datacenter=here", "--data="+c.path("manager"))
	for _, id := range []string{"worker-1", "worker-2"} { // a worker has at most the cores of this machine
		run(t, "worker", "--id="+id, "--listen="+controlplane.FreeAddress(t), "--managers="+manager, "--datacenter=here", "--data="+c.path(id), "--cores=2")
	}
	c.api = "http://" + g.await(t, `msg=up .*api=(\S+)`)
	controlplane.Within(t, patience, "the workers' cores are free", func() bool {
		out, _ := command(t, "datacenters", "--gate="+gate).CombinedOutput() // it fails until the gate is up
		return regexp.MustCompile(`(?m)^here\b.*\b4\b`).Match(out)
	})
	return c
}

func (c *cell) path(name string) string { return filepath.Join(c.dir, name) }

// job is a row of the gates' list.
type job struct {
	Job   string `json:"job"`
	Name  string `json:"name"`
	State string `json:"state"`
}

// jobs are all of the operator's, by the name of their load test.
func (c *cell) jobs(t *testing.T) map[string][]job {
	t.Helper()
	all := map[string][]job{}
	for after := ""; ; {
		var page struct {
			Jobs []job  `json:"jobs"`
			Next string `json:"next"`
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("%s/v1/jobs?name=loadtest/prod/&limit=500&after=%s", c.api, after), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+c.tokens["viewer"])
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(w.Body)
		_ = w.Body.Close() // it was only read
		if err == nil && w.StatusCode == http.StatusOK {
			err = json.Unmarshal(b, &page)
		}
		if err != nil || w.StatusCode != http.StatusOK {
			t.Fatalf("list the jobs: %v, status %d: %s", err, w.StatusCode, b)
		}
		for _, j := range page.Jobs {
			parts := strings.Split(j.Name, "/") // loadtest/prod/NAMESPACE/NAME/UID
			if len(parts) != 5 {
				t.Fatalf("job name %q is no load test's", j.Name)
			}
			all[parts[3]] = append(all[parts[3]], j)
		}
		if after = page.Next; after == "" {
			return all
		}
	}
}

// target counts requests, and knows when the first one behind a mark came, and the last one.
type target struct {
	url         string
	count       atomic.Int64
	first, last atomic.Int64 // nanoseconds since 1970
}

func newTarget(t *testing.T) *target {
	t.Helper()
	g := &target{}
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		now := time.Now().UnixNano()
		g.first.CompareAndSwap(0, now)
		g.last.Store(now)
		g.count.Add(1)
	}))
	t.Cleanup(server.Close)
	g.url = server.URL
	return g
}

// mark forgets the first request: the next one is it.
func (g *target) mark() { g.first.Store(0) }

// begun waits for the first request behind the mark, and returns when it came.
func (g *target) begun(t *testing.T) time.Time {
	t.Helper()
	controlplane.Within(t, patience, "a request comes", func() bool { return g.first.Load() != 0 })
	return time.Unix(0, g.first.Load())
}

// quiet waits until no request has come for 5 s, and returns when the last one came.
func (g *target) quiet(t *testing.T) time.Time {
	t.Helper()
	controlplane.Within(t, patience, "the load has stopped", func() bool { return time.Since(time.Unix(0, g.last.Load())) > 5*time.Second })
	return time.Unix(0, g.last.Load())
}
