package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/runtime/target"
)

// draw makes a random graph of requests to one target.
func draw(random *rand.Rand, url string) *workflow.Workflow {
	w := flow()
	for i := range 1 + random.IntN(5) {
		var after []uint32
		for before := range i {
			if random.IntN(3) == 0 {
				after = append(after, uint32(before))
			}
		}
		w.Steps = append(w.Steps, get(fmt.Sprintf("s%d", i), fmt.Sprintf("%s/%d", url, i), after...))
	}
	w.Plan.Think = time.Duration(random.IntN(2)*random.IntN(20)) * time.Millisecond
	return w
}

// For any misbehaviour of the target and any graph, each step has sent exactly what the target
// saw, cancelled or not.
func TestAccountsHoldOnAnyGraph(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		for seed := range uint64(6) {
			random := rand.New(rand.NewPCG(seed, 1))
			s := serve(t, func(c *target.Config) {
				c.ErrorEvery, c.CloseEvery, c.StallEvery, c.StallFor = 2+random.IntN(20), 2+random.IntN(50), 10+random.IntN(200), time.Minute
			})
			w := draw(random, s.URL())
			adjust(w)
			cfg := Config{Workflow: w, VUs: 1 + random.Uint64N(80), Duration: 100 * time.Millisecond, Timeout: 300 * time.Millisecond}
			cancels := random.IntN(3) == 0
			ctx, cancel := context.WithCancel(context.Background())
			if cancels {
				stop := time.AfterFunc(50*time.Millisecond, cancel)
				defer stop.Stop()
			}
			r := run(t, ctx, cfg)
			cancel()
			saw(t, r, s)
			for _, step := range r.Stats.Steps {
				if !cancels && step.Cancelled > 0 {
					t.Errorf("seed %d, step %s: %d cancelled by nobody", seed, step.Name, step.Cancelled)
				}
				if answers := step.OK + step.Failed - kinds(step)["closed"]; step.Service.Count < answers || step.Latency.Count != answers+step.TimedOut {
					t.Errorf("seed %d, step %s: %d latencies, %d service times of %d answers and %d timeouts", seed, step.Name, step.Latency.Count, step.Service.Count, answers, step.TimedOut)
				}
			}
		}
	})
}

// A host may have addresses at which nothing listens: all connections find the good one, also
// while they try concurrently.
func TestEveryAddressIsTried(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		s := serve(t, nil)
		w := flow(get("home", s.URL()+"/"))
		adjust(w)
		cfg := Config{Workflow: w, VUs: 100, Timeout: 5 * time.Second}
		g, err := newGraph(cfg)
		if err != nil {
			t.Fatal(err)
		}
		good := netip.MustParseAddrPort(s.Addr())
		for _, silent := range []string{"127.0.0.3", "127.0.0.4"} {
			g.hosts[0].Addrs = append(g.hosts[0].Addrs, netip.AddrPortFrom(netip.MustParseAddr(silent), good.Port()))
		}
		g.hosts[0].Addrs = append(g.hosts[0].Addrs, good)
		l, err := newLoop(cfg, g)
		if err != nil {
			t.Fatal(err)
		}
		r, err := l.play(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if home := r.Stats.Steps[0]; home.OK != 100 {
			t.Errorf("ok %d of %d: %v", home.OK, home.Started, home.Errors)
		}
		if got := g.hosts[0].Good; got != 2 {
			t.Errorf("address %d is remembered as good, want 2", got)
		}
	})
}

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// TestDescriptorsGrowAtOnce checks the size of this process's table of open files.
func TestDescriptorsGrowAtOnce(t *testing.T) {
	size := func() (n int) {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(status), "FDSize:")
		if _, err := fmt.Sscan(after, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	s := serve(t, nil)
	w := flow(get("a", s.URL()+"/"))
	vus := uint64(2 * size())
	w.Plan.Iterations = 1
	if r := run(t, t.Context(), Config{Workflow: w, VUs: vus}); r.Stats.Steps[0].OK != 1 {
		t.Fatalf("%+v", r.Stats.Steps[0])
	}
	if got := size(); got < int(vus) {
		t.Errorf("there is room for %d files, want it for %d virtual users from the start", got, vus)
	}
}

func TestNoDescriptorIsLeft(t *testing.T) {
	s := serve(t, func(c *target.Config) { c.StallEvery, c.StallFor = 20, time.Minute })
	run(t, context.Background(), Config{Workflow: flow(get("a", s.URL()+"/")), VUs: 1}) // the target has now opened what it needs
	for _, p := range paths {                                                           // one after the other: they count each other's descriptors
		w := flow(get("a", s.URL()+"/"), get("b", "http://127.0.0.1:1/"))
		p.adjust(w)
		before := descriptors(t)
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		if r := run(t, ctx, Config{Workflow: w, VUs: 30, Duration: time.Minute}); r.State != message.WorkflowCancelled {
			t.Errorf("got state %v", r.State)
		}
		// The target, in this process, closes its ends a moment later.
		for until := time.Now().Add(5 * time.Second); descriptors(t) > before; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("%s: %d descriptors are open, %d were before", p.name, descriptors(t), before)
			}
		}
	}
}
