package engine

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/feed"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/target"
)

// play is a script in Go: the functions of a virtual user, by step.
type play struct {
	id      uint64
	client  workflow.Client
	answers map[int]*workflow.Response
	calls   map[int]func(p *play) workflow.Outcome
}

func (p *play) Begin() { p.answers = map[int]*workflow.Response{} }

func (p *play) SetRow(*feed.Reader, uint64) {}

func (p *play) SetResponse(step int, r *workflow.Response) { p.answers[step] = r }

func (p *play) When(int) (bool, workflow.Outcome) { return true, workflow.Outcome{OK: true} }

func (p *play) Run(workflow.Hook) workflow.Outcome { return workflow.Outcome{OK: true} }

func (p *play) Share(workflow.Shared) {}

func (p *play) Shared() workflow.Shared { return workflow.Shared{} }

func (p *play) SetVar(int, []byte) {}

func (p *play) Give(workflow.Given) {}

func (p *play) Provided() []message.Provided { return nil }

func (p *play) Call(step int) workflow.Outcome { return p.calls[step](p) }

func fetch(url string) func(p *play) workflow.Outcome {
	return func(p *play) workflow.Outcome {
		r := p.client.Do(&request.Request{Method: "GET", URL: url}, nil)
		switch {
		case r.Kind != "":
			return workflow.Outcome{Response: r, Kind: r.Kind, Detail: r.Error}
		case r.Status >= 400:
			return workflow.Outcome{Response: r, Kind: "status", Detail: url}
		}
		return workflow.Outcome{Response: r, OK: true}
	}
}

func other(name string, kind message.StepKind, after ...uint32) workflow.Step {
	s := workflow.Step{Plan: &message.StepPlan{Name: name, Kind: kind, After: after}}
	for _, before := range after {
		s.Takes = append(s.Takes, int(before))
	}
	return s
}

// perform runs a workflow whose functions are Go.
func perform(t *testing.T, ctx context.Context, cfg Config, calls map[int]func(*play) workflow.Outcome) *message.ExecResult {
	t.Helper()
	if cfg.Timeout == 0 {
		cfg.Timeout = 5 * time.Second
	}
	g, err := newGraph(cfg)
	if err == nil {
		err = g.resolve(ctx, time.Second)
	}
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLoop(cfg, g)
	if err != nil {
		t.Fatal(err)
	}
	l.functions.scripts = func(id uint64, c workflow.Client) script { return &play{id: id, client: c, calls: calls} }
	r, err := l.play(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Stats.Steps {
		if s.Started != s.OK+s.Failed+s.TimedOut+s.Cancelled {
			t.Errorf("step %s: started %d, ok %d, failed %d, timed out %d, cancelled %d", s.Name, s.Started, s.OK, s.Failed, s.TimedOut, s.Cancelled)
		}
	}
	return r
}

type tally struct{ Started, OK, Failed, TimedOut, Cancelled, Skipped uint64 }

func tallies(r *message.ExecResult) map[string]tally {
	all := map[string]tally{}
	for _, s := range r.Stats.Steps {
		all[s.Name] = tally{s.Started, s.OK, s.Failed, s.TimedOut, s.Cancelled, s.Skipped}
	}
	return all
}

func TestFunctionsChecksMetricsActions(t *testing.T) {
	s := serve(t, nil)
	w := flow(
		get("home", s.URL()+"/"),
		other("login", message.StepFunction),
		other("is_home", message.StepCheck, 0),
		other("size", message.StepMetric, 0),
		other("say", message.StepAction, 1),
		other("odd", message.StepCheck, 1),
		other("behind", message.StepFunction, 5),
	)
	r := perform(t, context.Background(), Config{Workflow: w, VUs: 4, FirstVU: 10}, map[int]func(*play) workflow.Outcome{
		1: fetch(s.URL() + "/login?x"),
		2: func(p *play) workflow.Outcome {
			return workflow.Outcome{OK: p.answers[0].Status == 200 && len(p.answers[0].Pairs()) > 0, Kind: "no home"}
		},
		3: func(p *play) workflow.Outcome {
			return workflow.Outcome{OK: true, HasValue: true, Value: int64(len(p.answers[0].Body)) * 1000}
		},
		4: func(p *play) workflow.Outcome { p.client.Log("hello\n"); return workflow.Outcome{OK: true} },
		5: func(p *play) workflow.Outcome {
			return workflow.Outcome{OK: p.id%2 == 1, Kind: "id is even", Detail: "an example"}
		},
		6: fetch(s.URL() + "/behind"),
	})
	want := map[string]tally{
		"home": {Started: 4, OK: 4}, "login": {Started: 4, Failed: 4}, "is_home": {Started: 4, OK: 4}, "size": {Started: 4, OK: 4},
		"login/GET /login": {Started: 4, Failed: 4},
		"say":              {Skipped: 4}, "odd": {Skipped: 4}, "behind": {Skipped: 4},
	}
	if diff := cmp.Diff(want, tallies(r)); diff != "" {
		t.Errorf("with a failed login (-want +got):\n%s", diff)
	}
	if size := r.Stats.Steps[3].Metric; size.Count != 4 || size.Min != 150_000 || size.Max != 150_000 {
		t.Errorf("metric: %+v", size)
	}
	login := r.Stats.Steps[1]
	if len(login.Errors) != 1 || !strings.HasPrefix(login.Errors[0].Kind, "status 4") || login.Latency.Count != 4 || login.Service.Count != 4 || login.BytesIn == 0 {
		t.Errorf("login: %+v", login)
	}
}

func TestCheckOutcomes(t *testing.T) {
	s := serve(t, nil)
	w := flow(other("visit", message.StepFunction), other("say", message.StepAction, 0), other("odd", message.StepCheck, 0), other("behind", message.StepFunction, 2))
	r := perform(t, context.Background(), Config{Workflow: w, VUs: 4, FirstVU: 10}, map[int]func(*play) workflow.Outcome{
		0: fetch(s.URL() + "/"),
		1: func(p *play) workflow.Outcome { p.client.Log("hello"); return workflow.Outcome{OK: true} },
		2: func(p *play) workflow.Outcome {
			return workflow.Outcome{OK: p.id%2 == 1, Kind: "id is even", Detail: "an example"}
		},
		3: fetch(s.URL() + "/behind"),
	})
	want := map[string]tally{
		"visit": {Started: 4, OK: 4}, "say": {Started: 4, OK: 4}, "odd": {Started: 4, OK: 2, Failed: 2}, "behind": {Started: 2, OK: 2, Skipped: 2},
		"visit/GET /": {Started: 4, OK: 4}, "behind/GET /behind": {Started: 2, OK: 2},
	}
	if diff := cmp.Diff(want, tallies(r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]message.ErrorCount{{Kind: "id is even", Count: 2, Example: "an example"}}, r.Stats.Steps[2].Errors); diff != "" {
		t.Errorf("errors of the check (-want +got):\n%s", diff)
	}
	if len(r.Stats.Logs) != 4 || !strings.HasSuffix(r.Stats.Logs[0], "hello") {
		t.Errorf("logs: %q", r.Stats.Logs)
	}
}

// Concurrent functions never hold the script at the same time, and release it while they wait.
func TestOneFunctionAtATime(t *testing.T) {
	s := serve(t, func(c *target.Config) { c.Latency = 500 * time.Millisecond })
	var mu sync.Mutex // locking fails if two functions are inside
	inside := func(p *play) workflow.Outcome {
		for range 3 {
			if !mu.TryLock() {
				t.Error("two functions of a virtual user ran at the same time")
				return workflow.Outcome{}
			}
			mu.Unlock()
			p.client.Sleep(time.Millisecond)
		}
		return fetch(s.URL() + "/")(p)
	}
	w := flow(other("a", message.StepFunction), other("b", message.StepFunction), other("c", message.StepFunction))
	before := time.Now()
	r := perform(t, context.Background(), Config{Workflow: w, VUs: 1}, map[int]func(*play) workflow.Outcome{0: inside, 1: inside, 2: inside})
	if took := time.Since(before); took > 1400*time.Millisecond {
		t.Errorf("three functions of 500 ms took %v: they did not run side by side", took)
	}
	for name, got := range tallies(r) {
		if got.OK != 1 {
			t.Errorf("step %s: %+v", name, got)
		}
	}
}

func TestCancelWakesFunctions(t *testing.T) {
	s := serve(t, func(c *target.Config) { c.StallEvery, c.StallFor = 1, time.Minute })
	w := flow(other("sleeps", message.StepFunction), other("waits", message.StepFunction))
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var asleep atomic.Int32
	go func() {
		for ctx.Err() == nil && (asleep.Load() < 3 || s.Stats().Requests < 3) {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	before := time.Now()
	r := perform(t, ctx, Config{Workflow: w, VUs: 3, Duration: time.Minute, Timeout: time.Minute}, map[int]func(*play) workflow.Outcome{
		0: func(p *play) workflow.Outcome {
			asleep.Add(1)
			p.client.Sleep(time.Hour)
			if !p.client.Stopped() {
				t.Error("the sleep ended, but the client is not stopped")
			}
			return workflow.Outcome{Kind: "cancelled"}
		},
		1: fetch(s.URL() + "/"),
	})
	if took := time.Since(before); took > 19*time.Second {
		t.Errorf("cancelling took %v", took)
	}
	want := map[string]tally{"sleeps": {Started: 3, Cancelled: 3}, "waits": {Started: 3, Cancelled: 3}, "waits/GET /": {Started: 3, Cancelled: 3}}
	if diff := cmp.Diff(want, tallies(r)); diff != "" || r.State != message.WorkflowCancelled {
		t.Errorf("state %v (-want +got):\n%s", r.State, diff)
	}
}

// A function without an end is cancelled when its grace is over.
func TestEndlessFunctionIsStopped(t *testing.T) {
	s := serve(t, nil)
	w := flow(other("endless", message.StepFunction))
	w.Plan.GracefulStop = 100 * time.Millisecond
	r := perform(t, context.Background(), Config{Workflow: w, VUs: 2, Duration: 100 * time.Millisecond, Timeout: 10 * time.Second}, map[int]func(*play) workflow.Outcome{
		0: func(p *play) workflow.Outcome {
			for {
				out := fetch(s.URL() + "/")(p)
				if p.client.Stopped() {
					return workflow.Outcome{Kind: "cancelled"}
				}
				if !out.OK {
					return out
				}
			}
		},
	})
	if got := tallies(r)["endless"]; got != (tally{Started: 2, Cancelled: 2}) {
		t.Errorf("got %+v", got)
	}
}

func TestDebugShowsEverything(t *testing.T) {
	s := serve(t, nil)
	w := flow(get("home", s.URL()+"/"), get("me", s.URL()+"/me"), get("after", s.URL()+"/", 1))
	var out bytes.Buffer
	r := run(t, context.Background(), Config{Workflow: w, VUs: 50, Duration: time.Hour, Debug: &out})
	if got := s.Stats().Requests; got != 2 || r.Stats.Steps[0].Started != 1 {
		t.Errorf("the target saw %d requests, want 2", got)
	}
	for _, want := range []string{"> GET /me HTTP/1.1\n", "> User-Agent: hyperscale\n", "< HTTP/1.1 200 OK\n", "< HTTP/1.1 401 Unauthorized\n", "step home: ok", "step me: failed, status 401", "step after: skipped"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
}
