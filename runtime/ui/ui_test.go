package ui

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/report"
	"hyperscale/runtime/report/reporttest"
	"hyperscale/runtime/ui/units"
)

func TestMain(m *testing.M) {
	if child := os.Getenv("UI_TEST_CHILD"); child != "" {
		os.Exit(childMain(child))
	}
	goleak.VerifyTestMain(m)
}

// loaded is a workflow of two steps after a time: 40 requests of each every 10 ms,
// slower in the fourth second, with some failures.
func loaded(at time.Duration, name string) message.WorkflowResult {
	var home, search, lag stats.Histogram
	n := uint64(at / (10 * time.Millisecond))
	for i := range n {
		ms := uint64(time.Millisecond)
		slow := 1 + i%7
		if i/100 == 3 {
			slow *= 4
		}
		home.RecordN(slow*ms, 39)
		home.RecordN(slow*9*ms, 1)
		search.RecordN(slow*3*ms, 40)
		lag.Record(i % 300 * 1000)
	}
	return message.WorkflowResult{
		Name: name, State: message.WorkflowRunning, VUs: 64, Cores: 2, Duration: at,
		Stats: message.Stats{
			Active: 64, Elapsed: at, Generator: message.Generator{Lag: lag.Wire(), BusyMax: 431_000, Begun: 40 * n},
			Steps: []message.StepStats{
				{
					Name: "home", Kind: message.StepRequest, Started: 40 * n, Sent: 40*n - n/20, OK: 40*n - n/4, Failed: n/4 - n/20, TimedOut: n / 20,
					BytesIn: 40 * n * 231, BytesOut: 40 * n * 61, Latency: home.Wire(),
					Statuses: []message.StatusCount{{Status: 200, Count: 40*n - n/4}, {Status: 503, Count: n/4 - n/10}},
					Errors:   []message.ErrorCount{{Kind: "closed", Count: n/10 - n/20, Example: "the server closed the connection before an answer\x1b[2J"}, {Kind: "status", Count: n/4 - n/10, Example: "GET / answered 503"}, {Kind: "timeout", Count: n / 20}},
				},
				{Name: "search_in_the_whole_catalogue", Kind: message.StepFunction, Started: 40*n - n/4, Sent: 40*n - n/4, OK: 40*n - n/4, Skipped: n / 4, Latency: search.Wire(), BytesIn: 99 * n},
				{Name: "found", Kind: message.StepCheck, OK: 39 * n, Failed: n - n/4, Errors: []message.ErrorCount{{Kind: "nothing found", Count: n - n/4}}},
				{Name: "hits", Kind: message.StepMetric, Metric: home.Wire()},
			},
		},
	}
}

func story(at time.Duration, names ...string) *message.JobStatus {
	s := &message.JobStatus{Name: "shop.star", Sequence: uint64(at), State: message.JobRunning, Elapsed: at + 200*time.Millisecond}
	for _, name := range names {
		w := loaded(at, "shop")
		s.Datacenters = append(s.Datacenters, message.DatacenterResult{Name: name, State: message.JobRunning, Workflows: []message.WorkflowResult{w}, Workers: workersOf(&w, 2)})
	}
	return s
}

// workersOf shares a workflow's counts: the first worker has most of them.
func workersOf(w *message.WorkflowResult, n uint64) (out []message.WorkerShare) {
	var started, ok, failed uint64
	for i := range w.Stats.Steps {
		if s := &w.Stats.Steps[i]; s.Kind.Measured() {
			started, ok, failed = started+s.Started, ok+s.OK, failed+s.Failed+s.TimedOut
		}
	}
	for i := range n {
		share := func(all uint64) uint64 {
			if i == 0 {
				return all - all/(n+1)*(n-1)
			}
			return all / (n + 1)
		}
		out = append(out, message.WorkerShare{
			Node: fmt.Sprintf("worker-%d", i+1), State: message.WorkerRunning, CoresTotal: 4, Cores: 1, VUs: share(w.VUs), Active: share(w.Stats.Active), Elapsed: w.Stats.Elapsed,
			Started: share(started), OK: share(ok), Failed: share(failed), Late: time.Duration(i) * 130 * time.Microsecond, BusyMax: 410_000,
		})
	}
	return out
}

func TestLines(t *testing.T) {
	m := NewModel("shop.star", &message.Plan{})
	var b strings.Builder
	for _, s := range []*message.JobStatus{
		{State: message.JobSubmitted}, {State: message.JobQueued, Position: 2, Reason: "no free cores", Elapsed: time.Second},
		story(500*time.Millisecond, "east"), story(2*time.Second, "east"), story(5*time.Second, "east"),
	} {
		m.Apply(s)
		fmt.Fprintln(&b, Line(m))
	}
	reporttest.Golden(t, "testdata/"+"lines.txt", b.String())
}

// TestStatusesOutOfOrder: an old status never turns figures back.
func TestStatusesOutOfOrder(t *testing.T) {
	m := model(3 * time.Second)
	before := Line(m)
	m.Apply(story(time.Second, "local"))
	if diff := cmp.Diff(before, Line(m)); diff != "" {
		t.Error(diff)
	}
}

// TestDatacentersAreMerged: two datacenters with the same load make twice the rate
// and the same quantiles.
func TestDatacentersAreMerged(t *testing.T) {
	one, two := NewModel("", &message.Plan{}), NewModel("", &message.Plan{})
	for at := time.Second; at <= 3*time.Second; at += time.Second {
		one.Apply(story(at, "east"))
		two.Apply(story(at, "east", "west"))
	}
	want := one.Now()
	want.RateMilli *= 2
	want.FailMilli *= 2
	want.Closed.Users *= 2
	want.Closed.BegunMilli *= 2
	if diff := cmp.Diff(want, two.Now()); diff != "" {
		t.Error(diff)
	}
}

// TestModelsAreNotAddedUp: users and iterations of closed and of open workflows are two curves, also
// of the time before the first status.
func TestModelsAreNotAddedUp(t *testing.T) {
	open := message.WorkflowPlan{Name: "open", Duration: 10 * time.Second, Rate: 50_000}
	closed := message.WorkflowPlan{Name: "closed", Duration: 10 * time.Second}
	report := func(name string, at time.Duration, users, begun uint64) message.WorkflowResult {
		a := stats.NewActivity(0)
		for now := time.Duration(0); now <= at; now += 500 * time.Millisecond {
			a.Finish(now, users, begun*uint64(now/(500*time.Millisecond)), 0)
		}
		w := message.WorkflowResult{Name: name, State: message.WorkflowRunning}
		w.Stats = message.Stats{Elapsed: at, Active: users, Activity: a.Wire(), Generator: message.Generator{Begun: begun * uint64(at/(500*time.Millisecond))}}
		var windows stats.Windows
		for now := time.Duration(0); now < at; now += time.Second {
			windows.At(now).OK++
		}
		w.Stats.Steps = []message.StepStats{{Name: "home", Kind: message.StepRequest, Windows: windows.Wire()}}
		return w
	}
	m := NewModel("", &message.Plan{Workflows: []message.WorkflowPlan{open, closed}})
	for at := time.Second; at <= 6*time.Second; at += time.Second {
		m.Apply(&message.JobStatus{Sequence: uint64(at), State: message.JobRunning, Elapsed: at, Datacenters: []message.DatacenterResult{{Name: "local", Workflows: []message.WorkflowResult{report("open", at, 3, 20), report("closed", at, 7, 500)}}}})
	}
	if diff := cmp.Diff([]Course{{3, 40_000, 50_000}, {7, 1_000_000, 0}}, []Course{m.Now().Open, m.Now().Closed}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	late := NewModel("", &message.Plan{Workflows: []message.WorkflowPlan{open}})
	late.Apply(&message.JobStatus{Sequence: 1, State: message.JobRunning, Elapsed: 6 * time.Second, Datacenters: []message.DatacenterResult{{Name: "local", Workflows: []message.WorkflowResult{report("open", 6*time.Second, 3, 20)}}}})
	if len(late.Points) < 3 || late.Points[1].Open != (Course{3, 40_000, 40_000}) || late.Points[1].Closed != (Course{}) {
		t.Errorf("the past: %+v", late.Points)
	}
}

// TestADatacenterBeginsLater: the screen draws its load where it happened, and its plan lasts until
// the later one is to end. What is asked for is the sum of what each is asked for at its own time.
func TestADatacenterBeginsLater(t *testing.T) {
	plan := &message.Plan{Workflows: []message.WorkflowPlan{{Name: "shop", Duration: 10 * time.Second, VUs: 5, Stages: []message.StagePlan{{Duration: 10 * time.Second, Rate: 10_000}}}}}
	m := NewModel("", plan)
	for at := time.Second; at <= 8*time.Second; at += time.Second {
		s := story(at, "east")
		if late := at - 4*time.Second; late > 0 {
			west := story(late, "west").Datacenters[0]
			west.Workflows[0].Began = 4 * time.Second
			s.Datacenters = append(s.Datacenters, west)
		}
		m.Apply(s)
	}
	done, planned := m.Progress()
	if done != 8*time.Second || planned != 14*time.Second {
		t.Errorf("%v of %v are done, want 8s of 14s", done, planned)
	}
	if got, want := m.flows[0].pace.askedMilli, uint64(7500+3500); got != want {
		t.Errorf("%d thousandths a second are asked for, want %d", got, want)
	}
}

func result(t *testing.T, names ...string) *report.Result {
	t.Helper()
	w := loaded(10*time.Second, "shop")
	w.State = message.WorkflowCompleted
	in := &message.Result{
		Name: "shop.star", State: message.JobCompleted, Duration: 10400 * time.Millisecond, Workflows: []message.WorkflowResult{w},
		Thresholds: []message.ThresholdResult{
			{Workflow: "shop", Expr: "home.latency.p99 < 250ms", Of: message.OfLatency, Value: 36_000_000, OK: true},
			{Workflow: "shop", Expr: "errors < 0.1%", Of: message.OfErrors, Value: 6250},
			{Workflow: "shop", Expr: "home.rate > 1000/s", Of: message.OfRate, Value: 3_987_125, OK: true},
		},
	}
	if len(names) > 1 {
		in.Turns = []string{"before_all → shop", "shop ⇢ after_all"}
		in.Workflows[0].Order = []string{"home → (style + script + the_third_picture_of_the_page + fonts + a_video + manifest) → data"}
	}
	for i, name := range names {
		part := w
		if i > 0 {
			part.Began = 2500 * time.Millisecond
			part.Lost = []message.LostAttempt{{Attempt: 1, Worker: "worker-2", Reason: "silent for 5.0s", Started: 12_345, OK: 12_000, Counted: true, Until: 12 * time.Second, Unreported: 5308 * time.Millisecond}}
			in.Workflows[0].Lost = part.Lost
			in.Workflows[0].Stats.Generator.Saturated = true
			in.Workflows[0].Stats.Logs = []string{"done\x07"}
			in.Workflows[0].Stats.Rows, in.Workflows[0].Burned = 12_345, 64
		}
		in.Datacenters = append(in.Datacenters, message.DatacenterResult{Name: name, State: message.JobCompleted, Duration: 10 * time.Second, Workflows: []message.WorkflowResult{part}})
	}
	r, err := report.Build(in, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSummaries(t *testing.T) {
	nothing, err := report.Build(&message.Result{
		Name: "a.star", State: message.JobFailed, Error: "no datacenter is ready: start managers and workers, or wait until they have registered",
	}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	refused, err := report.Build(&message.Result{
		Name: "a.star", State: message.JobFailed, Error: `local: workflow "w": nothing reached the target`,
		Datacenters: []message.DatacenterResult{{Name: "local", State: message.JobFailed}},
		Workflows:   []message.WorkflowResult{{Name: "w", State: message.WorkflowFailed, Error: "local: nothing reached the target", VUs: 2, Cores: 1}},
	}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name   string // of the golden
		result *report.Result
		style  Style
	}{
		{"summary.txt", result(t, "local"), Style{Width: 80}},
		{"summary-colour.txt", result(t, "local"), Style{Width: 80, Color: true}},
		{"summary-cluster.txt", result(t, "east", "west"), Style{Width: 80}},
		{"summary-failed.txt", nothing, Style{Width: 80}},
		{"summary-refused.txt", refused, Style{Width: 80}}, // the reason is shown once
	} {
		got := Summary(row.result, row.style)
		for line := range strings.SplitSeq(got, "\n") {
			if width := utf8.RuneCountInString(line); !row.style.Color && width > row.style.Width {
				t.Errorf("%s has %d columns, want at most %d: %q", row.name, width, row.style.Width, line)
			}
			if plain := strings.ReplaceAll(line, "\x1b[", ""); strings.ContainsAny(plain, "\x1b\x07\r") {
				t.Errorf("%s lets a control character through: %q", row.name, line)
			}
		}
		reporttest.Golden(t, "testdata/"+row.name, got)
	}
}

// TestRemedy: the summary shows what limited the generator, as it was measured.
func TestRemedy(t *testing.T) {
	for want, g := range map[string]report.Generator{
		"saturated: an executor's own work filled its core":                       {Saturated: true, BusyMaxPPM: 990_000},
		"starved: other programs had the generator's core for 40% of a second":    {Starved: true, Late: true, WaitMaxPPM: 400_000, StealMaxPPM: 10},
		"starved: other machines of the same host had the generator's core for 3": {Starved: true, StealMaxPPM: 300_000},
		"late: starts were late although the generator had its core":              {Late: true, BusyMaxPPM: 20_000},
		"unanswered: not one of the 37 requests of the executor on core 1 of w2 was answered, though others were (dns): no such host. Check": {Silent: 1, Unanswered: []report.Unanswered{
			{Workflow: "shop", Worker: "w2", Core: 1, Requests: 37, Kind: "dns", Example: "no such host"},
		}},
		"throttled: an executor used 1843 MiB, 89% of its budget of memory. For 12.5s, executors began no new virtual user; 40 begins were held back": {Usage: report.Usage{Throttles: 2, Pressed: true, ThrottledNS: 12_500_000_000, Held: 40, MemoryBytes: 1843 << 20, MemoryMax: 2 << 30}},
		"For 1s, executors began no new virtual user; none was due. Give":                                                                             {Usage: report.Usage{Throttles: 1, Pressed: true, ThrottledNS: 1_000_000_000, MemoryBytes: 1843 << 20, MemoryMax: 2 << 30}},
		"memory: an executor used 1536 MiB, 75% of its budget of memory; it is throttled at 85%. Give":                                                {Usage: report.Usage{Pressed: true, MemoryBytes: 1536 << 20, MemoryMax: 2 << 30}},
		"memory of an executor at most 512.0 MiB of 2.0 GiB, processors 3.0s":                                                                         {Usage: report.Usage{MemoryBytes: 512 << 20, MemoryMax: 2 << 30, CPUNS: 3_000_000_000}},
		"unanswered: and 6 more executors, which the result file names":                                                                               {Silent: 9, Unanswered: make([]report.Unanswered, 9)},
		"busiest second 11%, 50 starts late by 9.00ms at most":                                                                                        {BusyMaxPPM: 110_000, LagNS: report.Distribution{Count: 50, P99: 9_000_000, Max: 9_000_000}},
		"busiest second 11%, starts late by 1.00ms at p99, 9.00ms at most":                                                                            {BusyMaxPPM: 110_000, LagNS: report.Distribution{Count: 1000, P99: 1_000_000, Max: 9_000_000}},
	} {
		r := result(t, "local")
		r.Generator = g
		got := strings.Join(strings.Fields(Summary(r, Style{Width: 80})), " ")
		if !strings.Contains(got, want) {
			t.Errorf("%+v: the summary does not say %q:\n%s", g, want, got)
		}
		said := 0
		for _, what := range []string{"saturated: ", "starved: ", "late: "} {
			said += strings.Count(got, what)
		}
		if doubt := g.Saturated || g.Starved || g.Late; doubt != (said == 1) {
			t.Errorf("%+v: %d reasons:\n%s", g, said, got)
		}
	}
}

// TestPhasesAddUpToTheMean: what few requests do counts with its share.
func TestPhasesAddUpToTheMean(t *testing.T) {
	r := result(t, "local")
	step := &r.Workflows[0].Steps[0]
	step.LatencyNS.Count, step.LatencyNS.Mean = 100, 5_000_000
	step.PhasesNS = map[string]report.Distribution{"connect": {Count: 10, Mean: 20_000_000}, "wait": {Count: 100, Mean: 3_000_000}, "send": {Count: 100}}
	got := strings.Join(strings.Fields(Summary(r, Style{Width: 80})), " ")
	for _, want := range []string{"mean all connect wait", step.Name + " 5.00ms 2.00ms 3.00ms"} {
		if !strings.Contains(got, want) {
			t.Errorf("the summary does not say %q:\n%s", want, got)
		}
	}
}

func TestFormats(t *testing.T) {
	for _, row := range []struct{ got, want string }{
		{units.Count(0), "0"}, {units.Count(999), "999"}, {units.Count(1000), "1,000"}, {units.Count(1234567), "1,234,567"},
		{units.Latency(0), "0ns"}, {units.Latency(812), "812ns"}, {units.Latency(999_600), "1.00ms"}, {units.Latency(1_234_000), "1.23ms"},
		{units.Latency(45_600_000_000), "45.6s"}, {units.Latency(999_499), "999µs"}, {units.Latency(99_960_000), "100ms"},
		{units.Milli(0), "0"}, {units.Milli(12), "0.012"}, {units.Milli(12_340), "12.34"}, {units.Milli(1_234_500), "1,235"}, {units.Milli(150_000), "150"},
		{units.Duration(0), "0.0s"}, {units.Duration(59960 * time.Millisecond), "1m00s"}, {units.Duration(185 * time.Second), "3m05s"}, {units.Duration(2*time.Hour + 4*time.Minute), "2h04m"},
		{units.Share(0, 0), "-"}, {units.Share(1, 1_000_000), "0.01%"}, {units.Share(999_999, 1_000_000), "99.99%"}, {units.Share(7, 7), "100%"},
		{units.Bytes(812), "812 B"}, {units.Bytes(1258291), "1.2 MiB"},
		{units.Clean("a\x1b[2Jb\xffc"), "a·[2Jb·c"},
	} {
		if row.got != row.want {
			t.Errorf("got %q, want %q", row.got, row.want)
		}
	}
}

// The answers of steps with long names and short ones stand in one column.
func TestStatusesStandInAColumn(t *testing.T) {
	d := &summary{style: Style{Width: 80}, result: &report.Result{}}
	d.statuses(&report.Workflow{Steps: []report.Step{
		{Name: "page", Statuses: map[string]uint64{"200": 3}},
		{Name: "a_stylesheet", Statuses: map[string]uint64{"200": 2, "404": 1}},
		{Name: "never"},
	}})
	got := strings.Join(d.lines, "\n")
	want := "\n  statuses\n  page          200: 3\n  a_stylesheet  200: 2  404: 1"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestScriptErrorsComeFirst: what failed by the test itself stands before any figure.
func TestScriptErrorsComeFirst(t *testing.T) {
	r := result(t, "local")
	step := &r.Workflows[0].Steps[0]
	step.Errors = append(step.Errors, report.Error{Kind: "script", Count: step.Started / 4, Example: "shop.star:7: no attribute"})
	got := strings.Split(Summary(r, Style{Width: 80}), "\n")
	if want := "  25.00% of home (10,000 of 40,000 starts) failed by the script, not by the"; got[1] != want {
		t.Errorf("the second line is %q, want %q", got[1], want)
	}
}

// TestNoNameIsCutInAFile: a log of CI has room, and a terminal of 60 columns gets lines of 60.
func TestNoNameIsCutInAFile(t *testing.T) {
	const long = "a_name_of_a_step_that_is_longer_than_most_names_of_steps_are"
	r := result(t, "local")
	r.Workflows[0].Steps[0].Name = long
	if got := Summary(r, Style{Width: 80, Whole: true}); strings.Count(got, long) < 3 || strings.Contains(got, "…") {
		t.Errorf("%d whole names:\n%s", strings.Count(got, long), got)
	}
	for _, line := range strings.Split(Summary(r, Style{Width: 60}), "\n") {
		if n := len([]rune(line)); n > 60 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}
