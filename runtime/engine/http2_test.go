package engine

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/target"
)

// over2 makes a workflow use HTTP/2.
func over2(w *workflow.Workflow, streams int) *workflow.Workflow {
	w.HTTP.Version, w.HTTP.Streams, w.HTTP.Insecure = request.Version2, streams, true
	return w
}

// exact compares the counts of a run with those of the target.
func exact(t *testing.T, r *message.ExecResult, s *target.Server) (requests uint64) {
	t.Helper()
	sent := uint64(0)
	for _, a := range r.Stats.Steps {
		if a.Started != a.OK+a.Failed+a.TimedOut+a.Cancelled {
			t.Errorf("%s: started %d is not ok %d + failed %d + timed out %d + cancelled %d", a.Name, a.Started, a.OK, a.Failed, a.TimedOut, a.Cancelled)
		}
		requests += a.Started
		sent += a.Sent
	}
	if got := arrived(s, sent); got != sent || sent > requests {
		t.Errorf("started %d, sent %d, the target counted %d", requests, sent, got)
	}
	return requests
}

// arrived returns the target's count once it has read everything.
func arrived(s *target.Server, sent uint64) uint64 {
	for range 200 {
		if s.Stats().Requests >= sent {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return s.Stats().Requests
}

// saw compares what each step sent with what the target counted of it, exactly.
func saw(t *testing.T, r *message.ExecResult, s *target.Server) {
	t.Helper()
	sent := uint64(0)
	for _, step := range r.Stats.Steps {
		sent += step.Sent
	}
	arrived(s, sent)
	seen := s.Stats().Paths
	for i, step := range r.Stats.Steps {
		if n := seen[fmt.Sprintf("/%d", i)]; n != step.Sent || n > step.Started {
			t.Errorf("step %s: started %d, sent %d, cancelled %d, the target saw %d: %v", step.Name, step.Started, step.Sent, step.Cancelled, n, step.Errors)
		}
	}
}

func TestHTTP2(t *testing.T) {
	for name, tt := range map[string]struct {
		vus, streams, shared int
		secure               bool
		connections          uint64
	}{
		"a connection each":            {vus: 8, connections: 8},
		"a connection each, under TLS": {vus: 8, connections: 8, secure: true},
		"shared":                       {vus: 64, streams: 16, shared: 4, connections: 4},
		"shared, under TLS":            {vus: 64, streams: 16, shared: 4, connections: 4, secure: true},
		"shared by too many":           {vus: 64, streams: 4, shared: 2, connections: 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(c *target.Config) { c.TLS = tt.secure })
			w := over2(flow(get("a", s.URL()+"/"), get("b", s.URL()+"/"), get("c", s.URL()+"/", 0, 1)), tt.streams)
			w.Plan.Connections = uint32(tt.shared)
			w.Plan.Iterations = 20 * uint64(tt.vus) // each step gets its turn on a busy machine, too
			r := run(t, context.Background(), Config{Workflow: w, VUs: uint64(tt.vus), Duration: 30 * time.Second})
			n := exact(t, r, s)
			for _, a := range r.Stats.Steps {
				if a.OK != a.Started || a.OK == 0 {
					t.Errorf("%s: ok %d of %d: %v", a.Name, a.OK, a.Started, a.Errors)
				}
			}
			if got := s.Stats().Connections; got != tt.connections {
				t.Errorf("%d connections, want %d", got, tt.connections)
			}
			t.Logf("%d requests", n)
		})
	}
}

// For any sharing of connections and any misbehaviour of the target, each step has sent exactly
// what the target saw: cancelled or not, with TLS or without.
func TestAccountsHoldHoweverConnectionsAreShared(t *testing.T) {
	for seed := range uint64(16) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 2))
			s := serve(t, func(c *target.Config) {
				c.ErrorEvery, c.CloseEvery, c.StallEvery, c.StallFor = 2+random.IntN(20), 2+random.IntN(50), 10+random.IntN(200), time.Minute
				c.TLS = random.IntN(4) == 0
			})
			w := draw(random, s.URL())
			paths[seed%2].adjust(w)
			w.HTTP.Insecure = true
			if seed%4 != 0 {
				over2(w, 1+random.IntN(20))
			}
			if seed%4 == 0 || random.IntN(2) == 0 {
				w.Plan.Connections = 1 + random.Uint32N(8)
			}
			cfg := Config{Workflow: w, VUs: 1 + random.Uint64N(80), Duration: 100 * time.Millisecond, Timeout: 300 * time.Millisecond}
			cancels := random.IntN(3) == 0
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if cancels {
				stop := time.AfterFunc(50*time.Millisecond, cancel)
				defer stop.Stop()
			}
			r := run(t, ctx, cfg)
			saw(t, r, s)
			for _, step := range r.Stats.Steps {
				if !cancels && step.Cancelled > 0 {
					t.Errorf("step %s: %d cancelled by nobody", step.Name, step.Cancelled)
				}
				consistent(t, step)
			}
			if got, most := s.Stats().Connections, uint64(w.Plan.Connections); most > 0 && seed%4 != 0 && got > 4*most {
				t.Errorf("%d connections, want about %d", got, most)
			}
		})
	}
}

// Functions send streams, too, follow redirects and read answers. "auto" takes the server's
// choice, and HTTP/1.1 without TLS.
func TestFunctionsOverHTTP2(t *testing.T) {
	for _, tt := range []struct {
		client string
		secure bool
		shared string
	}{
		{`version = "2"`, false, ""},
		{`version = "2", tls = tls(verify = False)`, true, ""},
		{`version = "auto", tls = tls(verify = False)`, true, ""},
		{`version = "auto"`, false, ""},
		{`version = "2", streams = 2`, false, "connections = 2, "},
		{`version = "1.1"`, false, "connections = 2, "},
		{`version = "auto", tls = tls(verify = False)`, true, "connections = 2, "},
		{`version = "1.1", tls = tls(verify = False)`, true, "connections = 1, "},
	} {
		s := serve(t, func(c *target.Config) { c.TLS = tt.secure })
		text := strings.Replace(loginFlow, `name = "test",`, `name = "test", `+tt.shared+`http = http.client(`+tt.client+`),`, 1)
		text = strings.Replace(text, `http.get("TARGET/")`, `http.get("TARGET/redirect", redirects = 2)`, 1)
		r := run(t, context.Background(), Config{Workflow: loadFile(t, s.URL(), text), VUs: 6, Seed: 1})
		for _, step := range r.Stats.Steps[:5] {
			want := uint64(6)
			if step.Name == "is_even" {
				want = 3
			}
			if step.OK != want {
				t.Errorf("%s %s: step %s: ok %d, want %d: %v", tt.client, tt.shared, step.Name, step.OK, want, step.Errors)
			}
			consistent(t, step)
		}
		most := uint64(6)
		if tt.shared != "" {
			most = 2
		}
		if got := s.Stats(); got.Requests != 24 || !strings.Contains(tt.client, "auto") && strings.Contains(tt.client, `"2"`) && got.Connections > most {
			t.Errorf("%s %s: %d requests on %d connections", tt.client, tt.shared, got.Requests, got.Connections)
		}
	}
}

// A pool of HTTP/1.1 connections bounds them; a request that waits is blocked, and that time
// counts as latency.
func TestPoolBlocks(t *testing.T) {
	for _, version := range []string{request.Version11, request.Version2} {
		s := serve(t, func(c *target.Config) { c.Latency = 20 * time.Millisecond })
		w := flow(get("a", s.URL()+"/"))
		w.HTTP.Version, w.HTTP.Streams, w.Plan.Connections = version, 1, 2
		r := run(t, context.Background(), Config{Workflow: w, VUs: 8, Duration: 400 * time.Millisecond})
		a := r.Stats.Steps[0]
		consistent(t, a)
		if a.OK != a.Started || a.OK != s.Stats().Requests || s.Stats().Connections != 2 {
			t.Errorf("version %s: ok %d of %d, the target saw %d on %d connections: %v", version, a.OK, a.Started, s.Stats().Requests, s.Stats().Connections, a.Errors)
		}
		// The pool serves two of eight at a time: three quarters of the latency is waiting.
		blocked, wait := phaseOf(a, message.PhaseBlocked), phaseOf(a, message.PhaseWait)
		if blocked.Sum < wait.Sum || wait.Sum/wait.Count < uint64(19*time.Millisecond) {
			t.Errorf("version %s: blocked %d ns, waited %d ns for %d answers", version, blocked.Sum, wait.Sum, wait.Count)
		}
	}
}

// The server speaks HTTP/1.1 alone: "auto" uses it, and "2" fails with an explanation.
func TestVersionsOfTheServer(t *testing.T) {
	old := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	old.TLS = &tls.Config{NextProtos: []string{"http/1.1"}}
	old.Config.ErrorLog = log.New(io.Discard, "", 0)
	old.StartTLS()
	defer old.Close()
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer plain.Close()
	for _, tt := range []struct{ version, url, kind, says string }{
		{request.VersionAuto, old.URL, "", ""},
		{request.Version2, old.URL, "tls_alert", "HTTP/2"},
		{request.Version2, plain.URL, "protocol", "HTTP/1, not HTTP/2"},
	} {
		w := flow(get("a", tt.url), get("b", tt.url), get("c", tt.url))
		w.HTTP.Version, w.HTTP.Insecure = tt.version, true
		r := run(t, context.Background(), Config{Workflow: w, VUs: 2})
		for _, a := range r.Stats.Steps {
			if tt.kind == "" && a.OK == 2 || tt.kind != "" && kinds(a)[tt.kind] == 2 && strings.Contains(a.Errors[0].Example, tt.says) {
				continue
			}
			t.Errorf("version %s, %s: ok %d, %v, want %q", tt.version, a.Name, a.OK, a.Errors, tt.kind)
		}
	}
}

// Values fill requests over HTTP/2, bodies too, and answers provide them.
func TestValuesOverHTTP2(t *testing.T) {
	for _, shared := range []string{"", "connections = 2, "} {
		s := serve(t, nil)
		w := loadFile(t, s.URL(), `
workflow(name = "test", vus = 8, duration = "1s", `+shared+`http = http.client(version = "2", streams = 8), steps = [
    step("login", http.post("TARGET/login", json = {"user": "someone with a rather long name"}), extract = {"token": json_path("$.token")}, expect = [status(200)]),
    step("me", http.get("TARGET/me", headers = {"Authorization": "Bearer ${token}"}), after = ["login"],
         extract = {"user": json_path("$.user")}, expect = [status(200), body_contains("someone")]),
    step("again", http.post("TARGET/login", json = {"user": "${user}"}), after = ["me"], expect = [json_is("$.token", "nothing")]),
    step("cookie", http.get("TARGET/cookie"), extract = {"session": cookie("session")}),
])`)
		r := run(t, context.Background(), Config{Workflow: w, VUs: 8, Duration: 200 * time.Millisecond})
		exact(t, r, s)
		for i, a := range r.Stats.Steps {
			if good := a.OK == a.Started; a.Started == 0 || good == (i == 2) || i == 2 && kinds(a)["expect"] != a.Started {
				t.Errorf("%s: ok %d of %d: %v", a.Name, a.OK, a.Started, a.Errors)
			}
			consistent(t, a)
		}
	}
}

// The engine gives up an open connection on which nothing arrives any more: when a PING gets no
// answer for as long as a request's timeout.
func TestSilentConnectionIsGivenUp(t *testing.T) {
	for _, shared := range []uint32{0, 1} {
		q := serveQuick(t)
		q.silent.Store(1)
		w := over2(flow(get("a", q.url()+"/"), get("b", q.url()+"/")), 2)
		w.Plan.Connections = shared
		r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Second, Timeout: 250 * time.Millisecond})
		for _, a := range r.Stats.Steps {
			if a.TimedOut < 1 || a.TimedOut > 4 || a.OK < 10 || a.Failed > 0 {
				t.Errorf("shared %d, %s: ok %d, failed %d, timed out %d: %v", shared, a.Name, a.OK, a.Failed, a.TimedOut, a.Errors)
			}
		}
	}
}

// A stream times out alone: the streams beside it get their answers, and the connection stays.
func TestOnlyTheLateStreamIsReset(t *testing.T) {
	s := serve(t, func(c *target.Config) { c.StallEvery, c.StallFor = 50, time.Minute })
	w := over2(flow(get("a", s.URL()+"/")), 16)
	w.Plan.Connections = 2
	r := run(t, context.Background(), Config{Workflow: w, VUs: 32, Duration: 500 * time.Millisecond, Timeout: 800 * time.Millisecond})
	a := r.Stats.Steps[0]
	exact(t, r, s)
	if a.TimedOut < 5 || a.OK < 100 || a.Failed > 0 || s.Stats().Connections != 2 {
		t.Errorf("ok %d, failed %d, timed out %d on %d connections: %v", a.OK, a.Failed, a.TimedOut, s.Stats().Connections, a.Errors)
	}
}
