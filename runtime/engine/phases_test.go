package engine

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/target"
)

// processorTime returns the CPU time of this process.
func processorTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // it cannot fail for the process itself
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func phaseOf(s message.StepStats, p message.Phase) message.Histogram {
	for _, one := range s.Phases {
		if one.Phase == p {
			return one.Time
		}
	}
	return message.Histogram{}
}

// consistent checks figures of a step that must agree with each other.
func consistent(t testing.TB, s message.StepStats) {
	t.Helper()
	var sum uint64
	for _, one := range s.Phases {
		sum += one.Time.Sum
	}
	// A function may return an older answer than its last, whose phases are unknown.
	if sum != s.Latency.Sum && s.Kind == message.StepRequest {
		t.Errorf("step %s: its phases take %d ns, its latencies %d", s.Name, sum, s.Latency.Sum)
	}
	all, err := stats.Intervals(s.Windows)
	if err != nil {
		t.Fatal(err)
	}
	var w stats.Window
	var latencies uint64
	for _, one := range all {
		w.Started, w.OK, w.Failed, w.TimedOut, w.Bytes = w.Started+one.Started, w.OK+one.OK, w.Failed+one.Failed, w.TimedOut+one.TimedOut, w.Bytes+one.Bytes
		for _, n := range one.Latency {
			latencies += n
		}
	}
	if w.Started != s.Started || w.OK != s.OK || w.Failed != s.Failed || w.TimedOut != s.TimedOut || w.Bytes != s.BytesIn+s.BytesOut || latencies != s.Latency.Count {
		t.Errorf("step %s: the windows add up to %d latencies of %+v, want what the step has: %d of %+v", s.Name, latencies, w, s.Latency.Count, s)
	}
}

// TestPhasesOfARun: on both paths a connection is opened once a user, and all other phases
// occur with each request.
func TestPhasesOfARun(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		s := serve(t, nil)
		stalled := serve(t, func(c *target.Config) { c.StallEvery = 1 })
		w := flow(get("home", s.URL()+"/"), get("denied", s.URL()+"/me", 0), get("slow", stalled.URL()+"/"), get("closed", "http://127.0.0.1:1/"))
		adjust(w)
		r := run(t, context.Background(), Config{Workflow: w, VUs: 3, Duration: 300 * time.Millisecond, Timeout: 100 * time.Millisecond})
		home, slow := r.Stats.Steps[0], r.Stats.Steps[2]
		for _, p := range []message.Phase{message.PhaseBlocked, message.PhaseSend, message.PhaseWait, message.PhaseReceive} {
			// On a busy machine some time out before they wait.
			if got := phaseOf(home, p).Count; got < home.OK || got > home.Latency.Count {
				t.Errorf("phase %d happened %d times, want %d to %d", p, got, home.OK, home.Latency.Count)
			}
		}
		if got := phaseOf(home, message.PhaseConnect).Count; got == 0 || got > home.Latency.Count {
			t.Errorf("%d of %d requests connected", got, home.Latency.Count)
		}
		if got := phaseOf(home, message.PhaseTLS).Count + phaseOf(home, message.PhaseDNS).Count; got != 0 {
			t.Errorf("%d requests shook hands or looked names up, want none", got)
		}
		if wait := phaseOf(slow, message.PhaseWait); slow.TimedOut == 0 || wait.Count == 0 || wait.Count > slow.TimedOut || wait.Max < 20_000_000 {
			t.Errorf("%d of %d requests that timed out waited, for %d ns at most", wait.Count, slow.TimedOut, wait.Max)
		}
	})
}

// TestPhasesOfFunctions: each name is looked up once a run, TLS begins each connection, and
// redirects add up.
func TestPhasesOfFunctions(t *testing.T) {
	s := serve(t, func(c *target.Config) { c.TLS = true })
	url := strings.Replace(s.URL(), "127.0.0.1", "localhost", 1) + "/redirect"
	w := flow(other("go", message.StepFunction))
	w.HTTP.Insecure = true
	r := perform(t, context.Background(), Config{Workflow: w, VUs: 2, Duration: 100 * time.Millisecond}, map[int]func(*play) workflow.Outcome{
		0: func(p *play) workflow.Outcome {
			a := p.client.Do(&request.Request{Method: "GET", URL: url, Redirects: 2}, nil)
			return workflow.Outcome{Response: a, OK: a.Status == 200, Kind: a.Kind, Detail: a.Error}
		},
	})
	step := r.Stats.Steps[0]
	consistent(t, step)
	var sum uint64
	for _, one := range step.Phases {
		sum += one.Time.Sum
	}
	if sum != step.Latency.Sum || step.OK == 0 {
		t.Errorf("the phases of %d requests take %d ns, their latencies %d: %v", step.OK, sum, step.Latency.Sum, step.Errors)
	}
	tls, connect, dns := phaseOf(step, message.PhaseTLS).Count, phaseOf(step, message.PhaseConnect).Count, phaseOf(step, message.PhaseDNS).Count
	if tls == 0 || tls != connect || dns == 0 || dns > 2 {
		t.Errorf("%d handshakes, %d connections, %d look-ups, want as many handshakes as connections and at most 2 look-ups", tls, connect, dns)
	}
}

// TestPhasesOfALongUpload: the phases separate the sending from the wait for the answer.
func TestPhasesOfALongUpload(t *testing.T) {
	s := serve(t, func(c *target.Config) { c.StallEvery, c.StallFor = 1, 50*time.Millisecond })
	w := flow(get("up", s.URL()+"/"))
	w.Steps[0].Request.Method, w.Steps[0].Request.Body, w.Steps[0].Request.Redirects = "POST", make([]byte, 4<<20), 1
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: 50 * time.Millisecond})
	up := r.Stats.Steps[0]
	if wait := phaseOf(up, message.PhaseWait); up.OK == 0 || wait.Count != up.OK || wait.Min < 10_000_000 || phaseOf(up, message.PhaseSend).Max == 0 {
		t.Errorf("%d uploads waited %d times, %d ns at least: %v", up.OK, wait.Count, wait.Min, up.Phases)
	}
}
