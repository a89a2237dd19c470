package main

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// loadFile is one step against the target, that gives up after 300ms.
const loadFile = `
target = param("target", default = "", help = "server under test")
workflow(
    name = "load", vus = 1, duration = "1s", timeout = "300ms",
    steps = [step("home", http.get(target + "/"))],
)
`

// TestAccounting: what a run says it started is what the target counted, for a
// good target and a bad one, with few users and many.
func TestAccounting(t *testing.T) {
	t.Parallel()
	hostile := []string{"--error-every", "10", "--close-every", "100", "--stall-every", "1000", "--stall-for", "2s"}
	file := write(t, "load.star", loadFile)
	for _, kind := range []struct {
		name string
		args []string
	}{{"good", nil}, {"hostile", hostile}} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			for _, vus := range []int{1, 7, 64, 500} {
				url := serveTarget(t, kind.args...)
				out := filepath.Join(t.TempDir(), "result.json")
				run(t, exitGood, "run", file, "--set", "target="+url, "--vus", fmt.Sprint(vus), "--duration", "700ms", "--cores", "1", "--ui", "none", "--out", "json="+out)
				r := readResult(t, out)
				adds(t, r)
				if got := stats(t, url).Requests; got != r.Totals.Started || got == 0 || r.Totals.Cancelled != 0 {
					t.Errorf("%d VUs: the target counted %d, the run %+v", vus, got, r.Totals)
				}
				if kind.args != nil && (r.Totals.Failed == 0 || r.Totals.Started > 10_000 && r.Totals.TimedOut == 0) {
					t.Errorf("%d VUs: a hostile target and no fault: %+v", vus, r.Totals)
				}
				t.Logf("%d VUs: %+v", vus, r.Totals)
			}
		})
	}
}

// TestAccountingInterrupted: what Ctrl-C cut off is at most what is called
// cancelled.
func TestAccountingInterrupted(t *testing.T) {
	t.Parallel()
	file := write(t, "load.star", loadFile)
	for _, args := range [][]string{
		{"--latency", "1ms"},
		{"--latency", "1ms", "--error-every", "10", "--close-every", "100", "--stall-every", "1000", "--stall-for", "2s"},
	} {
		for _, vus := range []int{1, 500} {
			url := serveTarget(t, args...)
			out := filepath.Join(t.TempDir(), "result.json")
			p := start(t, "run", file, "--set", "target="+url, "--vus", fmt.Sprint(vus), "--duration", "1m", "--cores", "1", "--ui", "none", "--out", "json="+out)
			eventually(t, "the target is busy", patience, func() bool { return stats(t, url).Requests >= uint64(100+vus) })
			begun := time.Now()
			p.signal(syscall.SIGINT)
			p.expect(exitInterrupted)
			took := time.Since(begun)
			r := readResult(t, out)
			adds(t, r)
			got := stats(t, url).Requests
			if r.Outcome != "CANCELLED" || got > r.Totals.Started || got+r.Totals.Cancelled < r.Totals.Started || r.Totals.Cancelled > uint64(vus) {
				t.Errorf("%d VUs: the target counted %d, the run, %s, %+v", vus, got, r.Outcome, r.Totals)
			}
			if took > 5*time.Second {
				t.Errorf("%d VUs: a run ended %v after Ctrl-C", vus, took)
			}
			t.Logf("%d VUs: ended after %v: %+v", vus, took, r.Totals)
		}
	}
}
