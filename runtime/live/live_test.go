package live

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tester is what *testing.T and *rapid.T share.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

func same(t tester, want, got any, about ...any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%v (-want +got):\n%s", about, diff)
	}
}

func near(t tester, want, got, most float64, about string) {
	t.Helper()
	if got < want-most || got > want+most {
		t.Fatalf("%s: got %v, want %v within %v", about, got, want, most)
	}
}

func has(t tester, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Fatalf("%q lacks %q", text, part)
	}
}

func lacks(t tester, text, part string) {
	t.Helper()
	if strings.Contains(text, part) {
		t.Fatalf("%q is in\n%s", part, text)
	}
}

func must(t tester, err error, about ...any) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v: %v", about, err)
	}
}

// status is a job after a time: two datacenters, of which the second began 2 s later, each with 100 requests
// a second of 4 ms, of which one in ten fails.
func status(at time.Duration, change ...func(*message.JobStatus)) *message.JobStatus {
	s := &message.JobStatus{
		Job: message.JobID{7}, Name: "shop.star", Sequence: uint64(at/time.Millisecond) + 1, State: message.JobRunning, Elapsed: at + 3*time.Second,
		Plan: []message.WorkflowPlan{{Name: "shop", Duration: time.Minute, VUs: 20, Thresholds: []message.Threshold{
			{Expr: "latency.p99 < 3ms", Of: message.OfLatency, Quantile: 990_000, Op: message.OpBelow, Bound: int64(3 * time.Millisecond)},
			{Expr: "errors < 20%", Of: message.OfErrors, Op: message.OpBelow, Bound: 200_000},
		}}},
	}
	for i, name := range []string{"east", "west"} {
		late := time.Duration(i) * 2 * time.Second
		s.Datacenters = append(s.Datacenters, message.DatacenterResult{Name: name, State: message.JobRunning, Workflows: []message.WorkflowResult{workflow(at-late, time.Second+late)}})
	}
	for _, c := range change {
		c(s)
	}
	return s
}

func workflow(at, began time.Duration) message.WorkflowResult {
	var course stats.Windows
	var latency stats.Histogram
	w := message.StepStats{Name: "home", Kind: message.StepRequest}
	for since := time.Duration(0); since < at; since += 10 * time.Millisecond {
		in := course.At(since)
		in.Started++
		w.Started++
		latency.Record(4_000_000)
		course.Record(since, 4_000_000)
		if since%(100*time.Millisecond) == 0 {
			in.Failed, w.Failed = in.Failed+1, w.Failed+1
			continue
		}
		in.OK, w.OK = in.OK+1, w.OK+1
	}
	w.Latency, w.Windows = latency.Wire(), course.Wire()
	return message.WorkflowResult{Name: "shop", State: message.WorkflowRunning, VUs: 10, Cores: 1, Began: began, Duration: at, Stats: message.Stats{Active: 10, Elapsed: at, Steps: []message.StepStats{w}}}
}

func viewOf(t *testing.T, all ...*message.JobStatus) View {
	t.Helper()
	f := NewFold()
	for _, s := range all {
		f.Apply(s, time.Unix(1_700_000_000, 0))
	}
	v, ok, err := f.View()
	must(t, err)
	same(t, true, ok)
	return v
}

func sum(all []uint64) (n uint64) {
	for _, v := range all {
		n += v
	}
	return n
}

// TestViewAddsUp: what a running job's view shows over time is what its sums count, but for what not all
// executors have told.
func TestViewAddsUp(t *testing.T) {
	v := viewOf(t, status(10*time.Second))
	same(t, uint64(1000+800), v.Totals.Started)
	same(t, uint64(100+80), v.Totals.Failed)
	near(t, float64(v.Totals.Started), float64(sum(v.Course.Ended)), 200, "at most the newest column is left out")
	same(t, int64(time.Second), v.Course.Beginning, "columns count from where the load began first")
	first := int(2*time.Second/time.Duration(v.Course.WidthNS)) - 1
	near(t, 2*float64(v.Course.Ended[first]), float64(v.Course.Ended[first+3]), 2, "west begins 2 s later, and doubles the rate")
	for i, p99 := range v.Course.P99 {
		near(t, 3.5e6, float64(p99), 0.5e6, fmt.Sprint("p99 of column ", i))
	}
	same(t, "yes", v.Trust.Word)
	same(t, []string{"✗ latency", "✓ errors"}, []string{sign(v.Thresholds[0].OK) + v.Thresholds[0].Plot, sign(v.Thresholds[1].OK) + v.Thresholds[1].Plot})
	same(t, []string{"east", "west"}, []string{v.Places[0].Name, v.Places[1].Name})
	same(t, uint64(1_000_000), v.Places[0].SharePPM+v.Places[1].SharePPM+1, "555,555 and 444,444")
	near(t, 100_000, float64(v.Places[1].RateMilli), 1000, "west's rate")
}

// TestFiguresAreThoseOfAllRequests: quantiles, failures and doubts are of every request, over all datacenters, those that
// timed out included.
func TestFiguresAreThoseOfAllRequests(t *testing.T) {
	s := status(10*time.Second, func(s *message.JobStatus) {
		for i := range s.Datacenters {
			var course stats.Windows
			var latency stats.Histogram
			w := message.StepStats{Name: "home", Kind: message.StepRequest}
			for k := range time.Duration(1000) { // 1 to 1000 ms, the later datacenter 1001 to 2000
				took, since := uint64(time.Duration(i)*1000+k+1)*uint64(time.Millisecond), k*10*time.Millisecond
				latency.Record(took)
				course.Record(since, took)
				in := course.At(since)
				in.Started, w.Started = in.Started+1, w.Started+1
				if k%4 == 0 {
					in.TimedOut, w.TimedOut = in.TimedOut+1, w.TimedOut+1
					continue
				}
				in.OK, w.OK = in.OK+1, w.OK+1
			}
			w.Latency, w.Windows = latency.Wire(), course.Wire()
			d := &s.Datacenters[i].Workflows[0]
			d.State, d.Stats.Steps = message.WorkflowCompleted, []message.StepStats{w}
			d.Stats.Generator.Saturated = true
		}
	})
	v := viewOf(t, s)
	for name, q := range map[string][2]uint64{"p50": {v.Latency.P50, 1000}, "p90": {v.Latency.P90, 1800}, "p95": {v.Latency.P95, 1900}, "p99": {v.Latency.P99, 1980}, "p999": {v.Latency.P999, 1998}, "max": {v.Latency.Max, 2000}, "min": {v.Latency.Min, 1}} {
		near(t, float64(q[1])*1e6, float64(q[0]), 0.01*float64(q[1])*1e6, name)
	}
	same(t, []uint64{2000, 2000, 500}, []uint64{v.Latency.Count, sum(v.Course.Ended), sum(v.Course.Failed)})
	same(t, "no", v.Trust.Word)
	has(t, strings.Join(v.Trust.Why, " "), "saturated")
}

func sign(ok bool) string { return map[bool]string{true: "✓ ", false: "✗ "}[ok] }

// TestEndHasAll: the course of a job that ended holds every request.
func TestEndHasAll(t *testing.T) {
	f := NewFold()
	s := status(9700 * time.Millisecond)
	f.Apply(s, time.Now())
	for i := range s.Datacenters {
		s.Datacenters[i].Workflows[0].State = message.WorkflowCompleted
	}
	f.Finish(&message.Result{Job: s.Job, Name: s.Name, State: message.JobCompleted, Duration: s.Elapsed, Datacenters: s.Datacenters}, message.SinkReports{}, time.Now())
	v, _, err := f.View()
	must(t, err)
	same(t, true, v.Ended)
	same(t, v.Totals.Started, sum(v.Course.Ended))
	same(t, v.Totals.Failed, sum(v.Course.Failed))
}

// TestMarks: take-overs, lost attempts and ends before their time are marks, each once, and a lost
// attempt takes the trust.
func TestMarks(t *testing.T) {
	lost := func(s *message.JobStatus) {
		s.Datacenters[0].Workflows[0].Lost = []message.LostAttempt{{Attempt: 1, Worker: "worker-1", Reason: "silent\x1b[2J", Until: 4 * time.Second}}
		s.Takeovers = 1
	}
	over := func(s *message.JobStatus) { s.State, s.Reason = message.JobFailed, "abort_when: errors" }
	v := viewOf(t, status(5*time.Second), status(6*time.Second, lost), status(7*time.Second, lost), status(8*time.Second, lost, over))
	same(t, []Mark{
		{int64(4 * time.Second), 0, "lost", "worker-1 in east lost its share of shop: silent·[2J"},
		{int64(8 * time.Second), 0, "takeover", "a gate took the job over; the load goes on"},
		{int64(10 * time.Second), 0, "abort", "FAILED: abort_when: errors"},
	}, v.Marks)
	same(t, "no", v.Trust.Word)
	has(t, v.Trust.Why[0], "1 attempt lost")
	same(t, "warn", v.Places[0].Health)
	same(t, "1 attempt lost", v.Places[0].Waits)
}

// TestSinksAndTheirLateRows: a page shows each sink in the words of a status, and the time in which rows came late as one
// mark, which goes on while they do. A datacenter that fails while the job goes on is a mark, and so is one that it leaves.
func TestSinksAndTheirLateRows(t *testing.T) {
	at := func(through, late time.Duration) func(s *message.JobStatus) {
		return func(s *message.JobStatus) {
			r := message.SinkReport{Name: "house", Kind: "postgres", Delivered: 12, Through: through, Since: late, Why: "connection refused"}
			if late > 0 {
				r.Behind = uint64(late / time.Second)
			}
			s.Sinks.List = []message.SinkReport{r, {Name: "hook", Kind: "webhook", Delivered: 40, Lost: 3, Rejected: 2, Twice: 1}}
		}
	}
	failed := func(s *message.JobStatus) {
		s.Datacenters[1].State, s.Datacenters[1].Error = message.JobFailed, "no worker"
	}
	left := func(s *message.JobStatus) { s.Datacenters = s.Datacenters[:1] }
	v := viewOf(t, status(20*time.Second, at(19*time.Second, 0)), status(60*time.Second, at(20*time.Second, 38*time.Second)), status(80*time.Second, failed, at(20*time.Second, 58*time.Second)), status(90*time.Second, left, at(88*time.Second, time.Second)))
	same(t, []Sink{
		{Name: "house", Kind: "postgres", State: "on time", Health: "good", Delivered: 12, ThroughNS: 88e9, BehindNS: 1e9, Why: "connection refused"},
		{Name: "hook", Kind: "webhook", State: "lacks rows", Health: "bad", Delivered: 40, Lost: 3, Rejected: 2, PerhapsTwice: 1},
	}, v.Sinks)
	var late, lost []Mark
	for _, m := range v.Marks {
		if m.Kind == "sink" {
			late = append(late, m)
		} else {
			lost = append(lost, m)
		}
	}
	began := v.Course.Beginning
	same(t, []Mark{{20e9 - began, 83e9 - began, "sink", "sink house was behind"}}, late)
	same(t, 2, len(lost))
	has(t, lost[0].Text, "datacenter west failed: no worker")
	has(t, lost[1].Text, "datacenter west is lost: the job has left it")
}

// TestOldStatusesChangeNothing: statuses may come out of order.
func TestOldStatusesChangeNothing(t *testing.T) {
	same(t, viewOf(t, status(5*time.Second), status(9*time.Second)).Totals, viewOf(t, status(5*time.Second), status(9*time.Second), status(7*time.Second)).Totals)
}

// TestFiguresGoOnBehindATakeOver: the next owner counts its statuses from 1.
func TestFiguresGoOnBehindATakeOver(t *testing.T) {
	v := viewOf(t, status(9*time.Second), status(12*time.Second, func(s *message.JobStatus) { s.Sequence, s.Takeovers = 1, 1 }))
	same(t, uint64(1200+1000), v.Totals.Started)
	same(t, "takeover", v.Marks[0].Kind)
}

// TestCoursesByPieces: a page that adds up the pieces that its stream sends has the whole course.
func TestCoursesByPieces(t *testing.T) {
	numbers := func(t *rapid.T, n int, old []uint64) []uint64 {
		all := append([]uint64{}, old[:min(len(old), rapid.IntRange(0, n).Draw(t, "kept"))]...)
		for len(all) < n {
			all = append(all, rapid.Uint64Range(0, 3).Draw(t, "value"))
		}
		return all[:n]
	}
	rapid.Check(t, func(t *rapid.T) {
		var sent, page Course
		for range rapid.IntRange(1, 6).Draw(t, "views") {
			n := rapid.IntRange(0, 8).Draw(t, "columns")
			c := Course{WidthNS: rapid.Int64Range(1, 2).Draw(t, "width"), Per: 8, Ended: numbers(t, n, sent.Ended), Failed: numbers(t, n, sent.Failed), P50: numbers(t, n, sent.P50), P99: numbers(t, n, sent.P99), Users: numbers(t, n, sent.Users)}
			piece := c.since(&sent)
			if piece.From > len(page.Ended) || piece.From > 0 && piece.WidthNS != page.WidthNS {
				t.Fatalf("the page has %d columns of %d, the piece begins at %d of %d", len(page.Ended), page.WidthNS, piece.From, piece.WidthNS)
			}
			join := func(a, b []uint64) []uint64 { return append(append([]uint64{}, a[:piece.From]...), b...) }
			page = Course{WidthNS: piece.WidthNS, Per: piece.Per, Ended: join(page.Ended, piece.Ended), Failed: join(page.Failed, piece.Failed), P50: join(page.P50, piece.P50), P99: join(page.P99, piece.P99), Users: join(page.Users, piece.Users)}
			same(t, c, page)
			sent = c
		}
	})
}

// TestStream: the first view of a stream is whole, the next has what changed, and the end ends it.
func TestStream(t *testing.T) {
	f := NewFeed()
	server := httptest.NewServer(f)
	defer server.Close()
	f.Apply(status(5 * time.Second))
	in, err := http.Get(server.URL)
	must(t, err)
	defer func() { must(t, in.Body.Close()) }()
	same(t, "text/event-stream", in.Header.Get("Content-Type"))
	lines := bufio.NewScanner(in.Body)
	lines.Buffer(nil, 1<<20)
	next := func() (v View) {
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				must(t, json.Unmarshal([]byte(data), &v))
				return v
			}
		}
		t.Fatal("the stream ended")
		return v
	}
	whole := next()
	same(t, 0, whole.Course.From)
	f.Apply(status(6 * time.Second))
	piece := next()
	if piece.Course.From == 0 || len(piece.Course.Ended) >= len(whole.Course.Ended) {
		t.Fatalf("the second view has %d columns from %d on, the first had %d", len(piece.Course.Ended), piece.Course.From, len(whole.Course.Ended))
	}
	s := status(7 * time.Second)
	f.Finish(&message.Result{Job: s.Job, Name: s.Name, State: message.JobCancelled, Duration: s.Elapsed, Datacenters: s.Datacenters}, message.SinkReports{})
	same(t, true, next().Ended)
	for lines.Scan() {
		lacks(t, lines.Text(), "data:")
	}
	must(t, lines.Err())
}

// TestEndWithoutAView: a job whose last view cannot be made ends its streams, which make it once more and then leave.
func TestEndWithoutAView(t *testing.T) {
	f := NewFeed()
	broken := func(s *message.JobStatus) { s.Datacenters[0].Workflows[0].Stats.Steps[0].Latency.Count += 7 }
	s := status(5*time.Second, broken)
	f.Apply(s)
	if _, _, _, err := f.newest(); err == nil {
		t.Fatal("the view is made of buckets that do not add up")
	}
	f.Finish(&message.Result{Job: s.Job, Name: s.Name, State: message.JobCompleted, Duration: s.Elapsed, Datacenters: s.Datacenters}, message.SinkReports{})
	f.Close()
	server := httptest.NewServer(f)
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	in, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	must(t, err)
	out, err := http.DefaultClient.Do(in)
	must(t, err)
	_, err = io.ReadAll(out.Body)
	must(t, err)
	must(t, out.Body.Close())
}

// TestStreamsAreBounded: one more page gets a reason.
func TestStreamsAreBounded(t *testing.T) {
	f := NewFeed()
	for range streamsMost {
		same(t, true, f.enter())
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	same(t, http.StatusServiceUnavailable, w.Code)
	has(t, w.Body.String(), "close one of them")
}

// TestHosts: names of other sites reach nothing.
func TestHosts(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1:80": true, "[::1]:80": true, "localhost": true, "LOCALHOST:8089": true, "10.1.2.3": true, "evil.example": false, "evil.example:8089": false, "127.0.0.1.evil.example": false, "": false,
	} {
		same(t, want, ours(host), host)
	}
}

// TestAssets: each file has the policy, and none has a script or a style within.
func TestAssets(t *testing.T) {
	all := Assets()
	for path, kind := range map[string]string{"/": "text/html", "/jobs/x": "text/html", "/live/main.js": "text/javascript", "/live/page.css": "text/css", "/live/live.css": "text/css"} {
		w := httptest.NewRecorder()
		all.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		same(t, http.StatusOK, w.Code, path)
		has(t, w.Header().Get("Content-Type"), kind)
		same(t, policy, w.Header().Get("Content-Security-Policy"), path)
		if kind == "text/html" {
			lacks(t, w.Body.String(), "style=")
			lacks(t, w.Body.String(), "<script>")
			lacks(t, w.Body.String(), "http:")
		}
	}
	w := httptest.NewRecorder()
	all.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/live/../live.go", nil))
	same(t, false, w.Code == http.StatusOK)
}

// TestScripts runs the tests of the scripts that need no browser.
func TestScripts(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") != "" || os.Getenv("HYPERSCALE_CI") != "" {
			t.Fatal("no node is here to test scripts with: install nodejs")
		}
		t.Skip("no node is here to test scripts with: install nodejs")
	}
	out, err := exec.CommandContext(t.Context(), node, "--test", "testdata/").CombinedOutput()
	must(t, err, string(out))
	has(t, string(out), "# fail 0")
	lacks(t, string(out), "# pass 0")
}
