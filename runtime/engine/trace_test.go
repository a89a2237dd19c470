package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"hyperscale/core/message"
	"hyperscale/runtime/redact"
	"hyperscale/runtime/trace"
)

// traced keeps what a recorder sends.
type traced struct {
	mu    sync.Mutex
	lines bytes.Buffer
	last  message.ExecTrace
}

func (c *traced) SendTrace(m *message.ExecTrace) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines.Write(m.Lines)
	if m.Last {
		c.last = *m
	}
}

// sampled is a line of a trace.
type sampled struct {
	Step, Name, Cause, Protocol, Method, URL, Error string
	VU, Iteration                                   uint64
	Request, First, Status                          int
	Due                                             int64            `json:"due_ns"`
	Begin                                           int64            `json:"begin_ns"`
	End                                             int64            `json:"end_ns"`
	Phases                                          map[string]int64 `json:"phases_ns"`
	In                                              uint64           `json:"bytes_in"`
	Out                                             uint64           `json:"bytes_out"`
	Head                                            []string         `json:"request_head"`
	Answer                                          []string         `json:"response_head"`
}

// sampledRun runs a workflow and returns the samples of it.
func sampledRun(t *testing.T, every uint64, cfg Config) (*message.ExecResult, []sampled, *traced) {
	t.Helper()
	c := new(traced)
	cfg.Trace = trace.NewRecorder(trace.Plan{Every: every, Seed: cfg.Seed, Workflow: "test"}, cfg.Mask, c)
	r := run(t, t.Context(), cfg)
	cfg.Trace.Close()
	if r.Error != "" {
		t.Fatal(r.Error)
	}
	var all []sampled
	for line := range bytes.Lines(c.lines.Bytes()) {
		var s sampled
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, s)
	}
	return r, all, c
}

// tracedFile sends fewer requests than a recorder holds: none is left out, however busy the machine is.
const tracedFile = `
def f(vu):
    vu.http.get("TARGET/json", name = "j")
    return vu.http.get("TARGET/redirect?t=hunter2hunter2", redirects = 1)

def begins(vu):
    vu.http.get("TARGET/begin")

workflow(
    name = "test", vus = 4, vu_iterations = 8, http = http.client(version = "VERSION"),
    setup = begins, vu_setup = begins,
    steps = [
        step("d", http.get("TARGET/digest", auth = http.digest("user", "pass"))),
        step("r", http.get("TARGET/redirect", redirects = 2, headers = {"Authorization": "Bearer hunter2hunter2"})),
        step("t", http.post("TARGET/${v}", body = "x", headers = {"X-V": "${v}"})),
        step(f),
    ],
    feed = feed.list([{"v": "a b"}]),
)`

// Each request of a sampled iteration has a line, and nothing else has: all lines of a run that
// samples everything are what the target counted, by status and by bytes.
func TestSamplesAreWhatTheTargetSaw(t *testing.T) {
	for _, version := range []string{"1.1", "2"} {
		server := serve(t, nil)
		w := loadFile(t, server.URL(), strings.ReplaceAll(tracedFile, "VERSION", version))
		r, all, c := sampledRun(t, 1, Config{Workflow: w, VUs: 4, Duration: DurationMax, Mask: redact.New([]string{"hunter2hunter2"})})
		var in, out, sent uint64
		for _, s := range r.Stats.Steps {
			if s.Kind != message.StepPart && s.Kind != message.StepBeside { // a function has the bytes of its requests
				in, out, sent = in+s.BytesIn, out+s.BytesOut, sent+s.Sent
			}
		}
		arrived(server, sent+5)
		seen := server.Stats().Statuses
		seen["200"] -= 5 // of setup, and of four vu_setup
		got := map[string]uint64{}
		chains := map[string]string{}
		for _, s := range all {
			got[fmt.Sprint(s.Status)]++
			in, out = in-s.In, out-s.Out
			sum := int64(0)
			for _, n := range s.Phases {
				sum += n
			}
			if sum != s.End-s.Due || s.Begin < s.Due || s.Begin > s.End {
				t.Errorf("the phases %v do not add up to what begins at %d, of %d to %d", s.Phases, s.Begin, s.Due, s.End)
			}
			at := fmt.Sprintf("%d/%d/", s.VU, s.Iteration)
			chains[at+fmt.Sprint(s.Request)] = s.URL[strings.LastIndex(s.URL, "/"):] + s.Cause
			if s.First > 0 && (s.First >= s.Request || chains[at+fmt.Sprint(s.First)] == "" || s.Cause == "") {
				t.Errorf("request %d follows %d by %q", s.Request, s.First, s.Cause)
			}
			if (s.Protocol == "HTTP/2") != (version == "2") || len(s.Head) < 3 || len(s.Answer) < 3 || !strings.Contains(s.Answer[0], fmt.Sprint(s.Status)) {
				t.Errorf("%+v", s)
			}
		}
		if !maps.Equal(got, seen) || uint64(len(all)) != sent || c.last.Sampled != sent || c.last.LeftOut != 0 {
			t.Errorf("HTTP/%s: %d lines with the statuses %v, the target's are %v of %d requests; %+v", version, len(all), got, seen, sent, c.last)
		}
		if in != 0 || out != 0 {
			t.Errorf("HTTP/%s: the lines lack %d bytes in and %d out", version, int64(in), int64(out))
		}
		if strings.Contains(c.lines.String(), "hunter2") {
			t.Errorf("HTTP/%s: a line has a secret", version)
		}
		if text := c.lines.String(); !strings.Contains(text, "/a%20b") || !strings.Contains(text, `"X-V: a b"`) || strings.Contains(text, "/begin") {
			t.Errorf("HTTP/%s: %.2000s", version, text)
		}
	}
}

// Retries are entries of their own, linked to the first, as are failures without an answer.
func TestRetriesAreSampled(t *testing.T) {
	for _, function := range []bool{false, true} {
		var n atomic.Int64
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			switch n.Add(1) {
			case 1:
				panic(http.ErrAbortHandler)
			case 2:
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}))
		file := `workflow(name = "test", steps = [step("a", http.get("TARGET/", retry = retry(3, on = ["closed", 503])))])`
		if function {
			file = `
def a(vu):
    return vu.http.get("TARGET/", retry = retry(3, on = ["closed", 503]))
workflow(name = "test", steps = [step(a)])`
		}
		_, all, _ := sampledRun(t, 1, Config{Workflow: loadFile(t, s.URL, file), VUs: 1})
		var got []string
		for _, s := range all {
			got = append(got, fmt.Sprintf("%d<%d %s %d %s", s.Request, s.First, s.Cause, s.Status, s.Error))
		}
		if want := "1<0  0 closed, 2<1 retry 503 , 3<1 retry 200 "; strings.Join(got, ", ") != want {
			t.Errorf("function %v: got %q, want %q", function, got, want)
		}
		s.Close()
	}
}

// Two executors sample what one does: TRACE-1.
func TestExecutorsAgreeOnSamples(t *testing.T) {
	server := serve(t, nil)
	w := loadFile(t, server.URL(), `workflow(name = "test", vus = 40, vu_iterations = 25, steps = [step("a", http.get("TARGET/"))])`)
	iterations := func(shares ...[2]uint64) map[[2]uint64]bool {
		all := map[[2]uint64]bool{}
		for _, s := range shares {
			_, lines, _ := sampledRun(t, 10, Config{Workflow: w, FirstVU: s[0], VUs: s[1], Seed: 11, Duration: DurationMax})
			for _, l := range lines {
				all[[2]uint64{l.VU, l.Iteration}] = true
			}
		}
		return all
	}
	one, two := iterations([2]uint64{0, 40}), iterations([2]uint64{0, 13}, [2]uint64{13, 27})
	if len(one) < 50 || len(one) > 200 || !maps.Equal(one, two) {
		t.Errorf("one executor samples %d iterations of 1,000, two sample %d others", len(one), len(two))
	}
}

// BenchmarkTraced is BenchmarkRequest with one iteration in a thousand sampled, and with all.
func BenchmarkTraced(b *testing.B) {
	for _, every := range []uint64{1 << 40, 1000, 1} {
		b.Run(fmt.Sprintf("1 of %d", every), func(b *testing.B) {
			s := serve(b, nil)
			w := loadFile(b, s.URL(), `workflow(name = "test", vus = 64, duration = "1s", steps = [step("get", http.get("TARGET/"))])`)
			b.ReportAllocs()
			b.ResetTimer()
			before := processorTime()
			w.Plan.Iterations = uint64(b.N)
			recorder := trace.NewRecorder(trace.Plan{Every: every, Seed: 1, Workflow: "test"}, nil, new(traced))
			run(b, b.Context(), Config{Workflow: w, VUs: 64, Seed: 1, Trace: recorder})
			recorder.Close()
			b.ReportMetric(float64(processorTime()-before)/float64(b.N), "cpu-ns/op")
		})
	}
}
