package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// order is one submission.
type order struct {
	key   string
	began time.Time
	ended time.Time
	ack   bool // a job id was printed
	code  int
	text  string
}

// crowd is all clients.
type crowd struct {
	mu     sync.Mutex
	orders []*order
	quit   chan struct{}
	all    sync.WaitGroup
}

// submitAll makes each client submit one job after the other until ctx ends. Each job has its
// own process, which waits for the result.
func (c *cluster) submitAll(ctx context.Context, seed uint64) *crowd {
	w := &crowd{quit: make(chan struct{})}
	file := filepath.Join(c.dir, "test.star")
	if err := os.WriteFile(file, []byte(testFile), 0o644); err != nil {
		panic(err) // the directory was made a moment ago
	}
	for i, m := range c.clients {
		w.all.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-w.quit:
					return
				case <-time.After(2 * time.Second):
				}
				key := fmt.Sprintf("chaos-%d-%d-%d", seed, i, n)
				former := c.options.former != "" && (n+i)%2 == 1
				w.all.Go(func() { w.submit(ctx, c, m, key, file, former) })
			}
		})
	}
	return w
}

// testFile is what clients submit: a little load for two seconds.
const testFile = `target = param("target", default = "http://127.0.0.1:8080")

workflow(
    name = "main",
    vus = 1,
    duration = "2s",
    timeout = "1s",
    think = "50ms",
    steps = [step("home", http.get(target + "/"))],
)
`

func (w *crowd) submit(ctx context.Context, c *cluster, m *machine, key, file string, former bool) {
	o := &order{key: key, began: time.Now()}
	w.mu.Lock()
	w.orders = append(w.orders, o)
	w.mu.Unlock()
	binary, journal := c.options.binary, "--journal"
	if former {
		binary, journal = c.options.former, "--history"
	}
	args := slices.Concat([]string{"netns", "exec", m.name, binary, "submit", file, "--gate", c.gateList(), "--cluster", "chaos"}, c.trust(false), []string{
		"--key", key, "--wait", "--ui", "none", "--set", "target=http://" + address(c.target.host) + ":8080",
		"--out", "json=" + resultFile(c.dir, m.name, key), journal, filepath.Join(c.dir, m.name+"-"+key+".history"),
	})
	cmd := exec.CommandContext(ctx, "ip", args...)
	cmd.Env = append(os.Environ(), "HYPERSCALE_HISTORY=off")
	out := &strings.Builder{}
	faults := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = out, faults
	err := cmd.Run()
	w.mu.Lock()
	defer w.mu.Unlock()
	o.ended, o.text = time.Now(), faults.String()
	line, _, _ := strings.Cut(out.String(), "\n")
	o.ack = len(line) == 26
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		o.code = exit.ExitCode()
	} else if err != nil {
		o.code = -1
	}
}

// stop stops all clients from starting anything new.
func (w *crowd) stop() { close(w.quit) }

// wait waits for all clients, at most until a deadline, and returns how many
// submitted, were acknowledged, of those had no result by then, and ended badly.
func (w *crowd) wait(ctx context.Context, until time.Time) (submitted, acknowledged int, late, failed []string) {
	done := make(chan struct{})
	go func() { w.all.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	case <-time.After(time.Until(until)):
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.orders {
		submitted++
		if o.ack {
			acknowledged++
		}
		if o.code != 0 {
			failed = append(failed, fmt.Sprintf("%s: exit %d: %s", o.key, o.code, strings.TrimSpace(o.text)))
		}
		if o.ended.IsZero() {
			late = append(late, o.key+" has no answer")
		} else if o.ack && strings.Contains(o.text, "silent") {
			late = append(late, fmt.Sprintf("%s: exit %d: %s", o.key, o.code, strings.TrimSpace(o.text)))
		}
	}
	return submitted, acknowledged, late, failed
}
