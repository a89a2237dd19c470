package main

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/report"
)

// loadFile is one step against the target, that gives up after 300ms.
const loadFile = `
target = param("target", default = "", help = "server under test")
version = param("version", default = "1.1", help = "of HTTP")
shared = int(param("connections", default = "0", help = "that all users share; 0: each has its own"))
workflow(
    name = "load", vus = 1, duration = "1s", timeout = "300ms",
    http = http.client(version = version), steps = [step("home", http.get(target + "/"))],
    **({"connections": shared} if shared else {})
)
`

// hostile are the target's bad habits.
var hostile = []string{"--error-every", "10", "--close-every", "100", "--stall-every", "1000", "--stall-for", "2s"}

// arrived asserts that the target has counted exactly the requests that the run reports as
// sent, as soon as it has read its kernel's buffers.
func arrived(t *testing.T, url string, r *report.Result) {
	t.Helper()
	adds(t, r)
	got := uint64(0)
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if got = stats(t, url).Requests; got >= r.Totals.Sent {
			break
		}
	}
	if got != r.Totals.Sent || r.Totals.Sent > r.Totals.Started || got == 0 {
		t.Errorf("the target counted %d, the run %+v", got, r.Totals)
	}
}

// TestAccounting: the run's and the target's counts are equal, for a good target and a bad one,
// with few users and many, over HTTP/1.1 and HTTP/2.
func TestAccounting(t *testing.T) {
	t.Parallel()
	file := write(t, "load.star", loadFile)
	for _, kind := range []struct {
		name, version string
		vus           []int
		args          []string
	}{
		{"good", "1.1", []int{1, 7, 64, 500}, nil},
		{"hostile", "1.1", []int{1, 7, 64, 500}, hostile},
		{"good over HTTP 2", "2", []int{7, 500}, nil},
		{"hostile over HTTP 2", "2", []int{7, 500}, hostile},
	} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			for _, vus := range kind.vus {
				url := serveTarget(t, kind.args...)
				out := filepath.Join(t.TempDir(), "result.json")
				run(t, command.ExitGood, "run", file, "--set", "target="+url, "--set", "version="+kind.version, "--vus", fmt.Sprint(vus), "--duration", "700ms", "--cores", "1", "--ui", "none", "--out", "json="+out)
				r := readResult(t, out)
				arrived(t, url, r)
				if r.Totals.Cancelled != 0 || kind.args != nil && (r.Totals.Failed == 0 || r.Totals.Started > 10_000 && r.Totals.TimedOut == 0) {
					t.Errorf("%d VUs: a hostile target and no fault, or one too many: %+v", vus, r.Totals)
				}
				t.Logf("%d VUs: %+v", vus, r.Totals)
			}
		})
	}
}

// TestAccountingInterrupted: Ctrl-C cancels requests in flight, and the result counts those
// that were sent.
func TestAccountingInterrupted(t *testing.T) {
	t.Parallel()
	file := write(t, "load.star", loadFile)
	for _, args := range [][]string{{"--latency", "1ms"}, append([]string{"--latency", "1ms"}, hostile...)} {
		for _, version := range []string{"1.1", "2"} {
			for _, vus := range []int{1, 500} {
				url := serveTarget(t, args...)
				out := filepath.Join(t.TempDir(), "result.json")
				p := start(t, "run", file, "--set", "target="+url, "--set", "version="+version, "--vus", fmt.Sprint(vus), "--duration", "1m", "--cores", "1", "--ui", "none", "--out", "json="+out)
				eventually(t, "the target is busy", patience, func() bool { return stats(t, url).Requests >= uint64(100+vus) })
				begun := time.Now()
				p.signal(syscall.SIGINT)
				p.expect(command.ExitInterrupted)
				took := time.Since(begun)
				r := readResult(t, out)
				arrived(t, url, r)
				if r.Outcome != "CANCELLED" || r.Totals.Cancelled > uint64(vus) {
					t.Errorf("%d VUs: %s, %+v", vus, r.Outcome, r.Totals)
				}
				if took > 5*time.Second {
					t.Errorf("%d VUs: a run ended %v after Ctrl-C", vus, took)
				}
				t.Logf("%d VUs: ended after %v: %+v", vus, took, r.Totals)
			}
		}
	}
}

// TestAccountingOfAStoppedTarget: a target stands still for longer than the requests' timeout.
// When it continues, it counts the requests that lie in its kernel, although their streams are
// reset and their connections closed.
func TestAccountingOfAStoppedTarget(t *testing.T) {
	t.Parallel()
	file := write(t, "load.star", loadFile)
	for _, tt := range []struct {
		version     string
		connections int
		interrupted bool
	}{{"1.1", 0, false}, {"2", 0, false}, {"2", 4, false}, {"1.1", 0, true}, {"2", 0, true}, {"2", 4, true}} {
		target := start(t, "target", "--listen", "127.0.0.1:0")
		url := target.await(`(https?://\S+) is up`)
		out := filepath.Join(t.TempDir(), "result.json")
		p := start(t, "run", file, "--set", "target="+url, "--set", "version="+tt.version, "--set", fmt.Sprintf("connections=%d", tt.connections),
			"--vus", "500", "--duration", "1500ms", "--cores", "1", "--ui", "none", "--out", "json="+out)
		eventually(t, "the target is busy", patience, func() bool { return stats(t, url).Requests >= 1000 })
		target.signal(syscall.SIGSTOP)
		if tt.interrupted {
			time.Sleep(100 * time.Millisecond)
			p.signal(syscall.SIGINT)
			p.expect(command.ExitInterrupted)
		} else {
			time.Sleep(500 * time.Millisecond)
		}
		target.signal(syscall.SIGCONT)
		p.code()
		r := readResult(t, out)
		arrived(t, url, r)
		if tt.interrupted && r.Totals.Cancelled == 0 || !tt.interrupted && r.Totals.TimedOut == 0 {
			t.Errorf("%+v: the target was waited for: %+v", tt, r.Totals)
		}
		t.Logf("%+v: %+v", tt, r.Totals)
	}
}
