package engine

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/target"
)

// Tests of servers mostly wait: one more of them at once than there are cores ends earlier. -parallel wins.
func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", strconv.Itoa(runtime.GOMAXPROCS(0)+1)) // the flag exists in each test binary
	goleak.VerifyTestMain(m)
}

// serve runs a target until the test ends.
func serve(t testing.TB, change func(*target.Config)) *target.Server {
	t.Helper()
	cfg := target.Default()
	cfg.Listen = "127.0.0.1:0"
	if change != nil {
		change(&cfg)
	}
	s, err := target.Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("target: %v", err)
		}
	})
	return s
}

// get makes a step that waits for the steps with the given numbers.
func get(name, url string, after ...uint32) workflow.Step {
	return workflow.Step{
		Plan:    &message.StepPlan{Name: name, Kind: message.StepRequest, After: after},
		Request: &request.Request{Method: "GET", URL: url},
	}
}

func flow(steps ...workflow.Step) *workflow.Workflow {
	return &workflow.Workflow{Plan: &message.WorkflowPlan{Name: "test", Test: true}, Steps: steps}
}

// paths names the paths of a request: counted alone, its answer inspected (for the sake of a
// redirect that never occurs), and sent by a function.
var paths = []struct {
	name   string
	adjust func(*workflow.Workflow)
}{
	{"counted", func(*workflow.Workflow) {}},
	{"kept", func(w *workflow.Workflow) { w.Steps[0].Request.Redirects = 1 }},
}

// eachPath runs a test on all paths concurrently, since they mostly wait. It returns when all
// have ended.
func eachPath(t *testing.T, test func(t *testing.T, adjust func(*workflow.Workflow))) {
	t.Helper()
	t.Run("path", func(t *testing.T) {
		for _, p := range paths {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				test(t, p.adjust)
			})
		}
	})
}

func run(t testing.TB, ctx context.Context, cfg Config) *message.ExecResult {
	t.Helper()
	if cfg.Timeout == 0 {
		cfg.Timeout = 5 * time.Second
	}
	r, err := Run(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Stats.Steps {
		if s.Started != s.OK+s.Failed+s.TimedOut+s.Cancelled {
			t.Errorf("step %s: started %d is not ok %d + failed %d + timed out %d + cancelled %d", s.Name, s.Started, s.OK, s.Failed, s.TimedOut, s.Cancelled)
		}
		consistent(t, s)
		for _, h := range []message.Histogram{s.Latency, s.Service, s.Metric, r.Stats.Generator.Lag} {
			if _, err := stats.FromWire(h); err != nil {
				t.Errorf("step %s: %v", s.Name, err)
			}
		}
	}
	if r.Stats.Active != 0 {
		t.Errorf("%d virtual users are left", r.Stats.Active)
	}
	return r
}

func kinds(s message.StepStats) map[string]uint64 {
	all := map[string]uint64{}
	for _, e := range s.Errors {
		all[e.Kind] = e.Count
	}
	return all
}

func TestCountsAgreeWithTheTarget(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		for _, vus := range []uint64{1, 7, 64, 500} {
			t.Run(fmt.Sprint(vus), func(t *testing.T) {
				s := serve(t, nil)
				w := flow(get("home", s.URL()+"/"))
				adjust(w)
				r := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: 150 * time.Millisecond})
				home, seen := r.Stats.Steps[0], s.Stats()
				if home.Started == 0 || home.Started != home.OK || home.Started != seen.Requests {
					t.Errorf("started %d, ok %d, the target saw %d: %v", home.Started, home.OK, seen.Requests, home.Errors)
				}
				if home.BytesOut != seen.BytesIn || home.BytesIn != seen.BytesOut {
					t.Errorf("bytes out %d, in %d; the target saw %d in, %d out", home.BytesOut, home.BytesIn, seen.BytesIn, seen.BytesOut)
				}
				if seen.Connections > vus {
					t.Errorf("got %d connections, want at most one for each of %d virtual users", seen.Connections, vus)
				}
				want := []message.StatusCount{{Status: 200, Count: home.OK}}
				if diff := cmp.Diff(want, home.Statuses); diff != "" {
					t.Errorf("statuses (-want +got):\n%s", diff)
				}
				if r.State != message.WorkflowCompleted || home.Latency.Count != home.OK || home.Service.Count != home.OK {
					t.Errorf("state %v, %d latencies, %d service times of %d", r.State, home.Latency.Count, home.Service.Count, home.OK)
				}
			})
		}
	})
}

func TestCountsAgreeWithAHostileTarget(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		s := serve(t, func(c *target.Config) {
			c.ErrorEvery, c.CloseEvery, c.StallEvery, c.StallFor = 10, 100, 1000, 5*time.Second
		})
		w := flow(get("home", s.URL()+"/"))
		adjust(w)
		r := run(t, context.Background(), Config{Workflow: w, VUs: 64, Duration: 500 * time.Millisecond, Timeout: time.Second})
		home, n := r.Stats.Steps[0], s.Stats().Requests
		if home.Started != n {
			t.Errorf("started %d, the target saw %d", home.Started, n)
		}
		// Each tenth fails: 90 of a thousand with status 500. Ten are closed, but one of those
		// stalls before, so that it times out.
		want := map[string]uint64{"closed": n/100 - n/1000, "status 500": n/10 - n/100}
		if late := n / 1000; late > 0 {
			want["timeout"] = late
		}
		if diff := cmp.Diff(want, kinds(home)); diff != "" {
			t.Errorf("errors (-want +got):\n%s", diff)
		}
		if home.Failed != n/10-n/1000 || home.TimedOut != n/1000 {
			t.Errorf("got failed %d, timed out %d, want %d, %d", home.Failed, home.TimedOut, n/10-n/1000, n/1000)
		}
	})
}

func TestStalledRequestsTimeOut(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		s := serve(t, func(c *target.Config) { c.StallEvery, c.StallFor = 7, 5*time.Second })
		w := flow(get("home", s.URL()+"/"))
		adjust(w)
		r := run(t, context.Background(), Config{Workflow: w, VUs: 5, Duration: 400 * time.Millisecond, Timeout: 500 * time.Millisecond})
		home, n := r.Stats.Steps[0], s.Stats().Requests
		if home.Started != n || home.TimedOut != n/7 || home.OK != n-n/7 || home.TimedOut == 0 {
			t.Errorf("started %d, timed out %d, ok %d; the target saw %d", home.Started, home.TimedOut, home.OK, n)
		}
		if home.Latency.Max < uint64(500*time.Millisecond) || home.Latency.Max > uint64(4*time.Second) {
			t.Errorf("the longest latency is %v, want about the timeout", time.Duration(home.Latency.Max))
		}
	})
}

func TestCancelGivesUpWhatIsInFlight(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		s := serve(t, func(c *target.Config) { c.StallEvery, c.StallFor = 50, time.Minute })
		w := flow(get("home", s.URL()+"/"))
		adjust(w)
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		before := time.Now()
		r := run(t, ctx, Config{Workflow: w, VUs: 64, Duration: time.Minute, Timeout: time.Minute})
		if took := time.Since(before); took > 20*time.Second {
			t.Errorf("cancelling took %v", took)
		}
		home, n := r.Stats.Steps[0], s.Stats().Requests
		if r.State != message.WorkflowCancelled || home.Cancelled == 0 || home.Cancelled > 64 {
			t.Errorf("got state %v, cancelled %d", r.State, home.Cancelled)
		}
		if n > home.Started || n < home.Started-home.Cancelled {
			t.Errorf("started %d, cancelled %d, but the target saw %d", home.Started, home.Cancelled, n)
		}
	})
}

func TestNothingListens(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := l.Addr().String()
		l.Close()
		w := flow(get("home", "http://"+address+"/"))
		adjust(w)
		r := run(t, context.Background(), Config{Workflow: w, VUs: 3, Duration: 100 * time.Millisecond})
		home := r.Stats.Steps[0]
		if home.Started == 0 || home.Failed != home.Started || kinds(home)["refused"] != home.Failed {
			t.Errorf("started %d, failed %d, errors %v", home.Started, home.Failed, home.Errors)
		}
		if !silent(r) || home.Latency.Count != 0 {
			t.Errorf("got state %v (%s), %d latencies, want none, and no answer", r.State, r.Error, home.Latency.Count)
		}
	})
}

func TestOnePass(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		s := serve(t, nil)
		w := flow(get("a", s.URL()+"/a"), get("b", s.URL()+"/b", 0), get("c", s.URL()+"/c", 0), get("d", s.URL()+"/d", 1, 2))
		adjust(w)
		run(t, context.Background(), Config{Workflow: w, VUs: 20})
		want := map[string]uint64{"/a": 20, "/b": 20, "/c": 20, "/d": 20}
		if diff := cmp.Diff(want, s.Stats().Paths); diff != "" {
			t.Errorf("requests by path (-want +got):\n%s", diff)
		}
		// b and c run concurrently, unless one was so fast that the other found its connection
		// free.
		if got := s.Stats().Connections; got < 20 || got > 40 {
			t.Errorf("got %d connections, want one or two a virtual user", got)
		}
	})
}

func TestFailedStepsSkipThoseAfterThem(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		s := serve(t, nil)
		// /me without a token answers 401.
		w := flow(get("me", s.URL()+"/me"), get("free", s.URL()+"/free"), get("behind", s.URL()+"/b", 0), get("far", s.URL()+"/c", 1, 2))
		adjust(w)
		r := run(t, context.Background(), Config{Workflow: w, VUs: 5})
		got := map[string][3]uint64{}
		for _, step := range r.Stats.Steps {
			got[step.Name] = [3]uint64{step.OK, step.Failed, step.Skipped}
		}
		want := map[string][3]uint64{"me": {0, 5, 0}, "free": {5, 0, 0}, "behind": {0, 0, 5}, "far": {0, 0, 5}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ok, failed, skipped (-want +got):\n%s", diff)
		}
	})
}

func TestThinkTimeIsKept(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		s := serve(t, nil)
		w := flow(get("home", s.URL()+"/"))
		w.Plan.Think = 50 * time.Millisecond
		adjust(w)
		r := run(t, context.Background(), Config{Workflow: w, VUs: 10, Duration: 520 * time.Millisecond})
		home := r.Stats.Steps[0]
		if home.Started < 30 || home.Started > 110 || home.Started != s.Stats().Requests {
			t.Errorf("started %d, the target saw %d, want about 100", home.Started, s.Stats().Requests)
		}
	})
}

func TestProgressIsCumulative(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		s := serve(t, nil)
		w := flow(get("home", s.URL()+"/"))
		adjust(w)
		var told []*message.Stats
		began := 0
		r := run(t, context.Background(), Config{
			Workflow: w, VUs: 2, Duration: 1300 * time.Millisecond,
			Started: func() { began++ }, Progress: func(m *message.Stats) { told = append(told, m) },
		})
		if began != 1 || len(told) < 2 {
			t.Fatalf("started %d times, told %d times, want 1 and 2 at least", began, len(told))
		}
		first, second := told[0].Steps[0].Started, told[1].Steps[0].Started
		if first == 0 || second <= first || r.Stats.Steps[0].Started <= second || told[0].Active != 2 {
			t.Errorf("started %d, then %d, at last %d; active %d", first, second, r.Stats.Steps[0].Started, told[0].Active)
		}
		if r.Stats.Generator.BusyMax == 0 || r.Stats.Generator.Lag.Count == 0 {
			t.Errorf("the generator was not watched: %+v", r.Stats.Generator)
		}
	})
}

func TestTooFewDescriptors(t *testing.T) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if limit.Max >= VUsMax {
		t.Skipf("this machine allows %d open files", limit.Max)
	}
	w := flow(get("a", "http://127.0.0.1:1/"), get("b", "http://127.0.0.1:1/"))
	_, err := Run(context.Background(), Config{Workflow: w, VUs: limit.Max, Timeout: time.Second})
	var few *DescriptorError
	if !errors.As(err, &few) || few.Lanes != 2 || few.Limit != limit.Max {
		t.Errorf("got error %v, want one that names the limit of %d", err, limit.Max)
	}
}

func TestBadConfigurations(t *testing.T) {
	good := Config{Workflow: flow(get("a", "http://127.0.0.1:1/")), VUs: 1, Timeout: time.Second}
	for _, tt := range []struct {
		name  string
		spoil func(*Config)
	}{
		{"no workflow", func(c *Config) { c.Workflow = nil }},
		{"no step", func(c *Config) { c.Workflow = flow() }},
		{"no virtual user", func(c *Config) { c.VUs = 0 }},
		{"a negative duration", func(c *Config) { c.Duration = -1 }},
		{"no timeout", func(c *Config) { c.Timeout = 0 }},
		{"a URL without a scheme", func(c *Config) { c.Workflow = flow(get("a", "127.0.0.1/")) }},
		{"a host that nobody knows", func(c *Config) { c.Workflow = flow(get("a", "http://no-such-host.invalid/")) }},
		{"a step that waits for itself", func(c *Config) { c.Workflow = flow(get("a", "http://127.0.0.1:1/", 0)) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := good
			tt.spoil(&cfg)
			r, err := Run(context.Background(), cfg)
			if err == nil {
				t.Fatalf("got result %v, want an error", r.State)
			}
			t.Log(err)
		})
	}
}

func TestNothingStartsAtTheEnd(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		s := serve(t, func(c *target.Config) { c.Latency = 600 * time.Millisecond })
		w := flow(get("first", s.URL()+"/first"), get("second", s.URL()+"/second", 0))
		adjust(w)
		r := run(t, context.Background(), Config{Workflow: w, VUs: 3, Duration: 300 * time.Millisecond})
		want := map[string]tally{"first": {Started: 3, OK: 3}, "second": {}}
		if diff := cmp.Diff(want, tallies(r)); diff != "" || r.State != message.WorkflowCompleted {
			t.Errorf("what was in flight ended, what was behind it never started: state %v (-want +got):\n%s", r.State, diff)
		}
	})
}

// silent says that no request of a run was answered, whatever its manager makes of that.
func silent(r *message.ExecResult) bool {
	_, is := stats.Silent(&r.Stats)
	return is && r.State == message.WorkflowCompleted
}
