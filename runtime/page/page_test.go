package page

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"hyperscale/core/stats"
	"hyperscale/runtime/report"
	"hyperscale/runtime/report/reporttest"
)

// render draws a result and demands what holds of every page.
func render(t testing.TB, r *report.Result) string {
	t.Helper()
	b, err := Render(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > sizeMax {
		t.Errorf("the page has %d bytes, want at most %d", len(b), sizeMax)
	}
	return string(b)
}

// distribution is a plausible one of so many values about a median.
func distribution(count, median uint64) report.Distribution {
	return report.Distribution{Count: count, Min: median / 2, Mean: median, P50: median, P90: 2 * median, P95: 3 * median, P99: 5 * median, P999: 8 * median, Max: 11 * median}
}

// buckets is a histogram that fits it: of many buckets, as those of real runs are.
func buckets(count, median uint64) report.Buckets {
	var b strings.Builder
	const n = 1500
	for i := range uint64(n) {
		fmt.Fprintf(&b, "%d:%d ", median/2+i*(11*median-median/2)/n, 1+count/n)
	}
	return report.Buckets(b.String())
}

// courseOf is a course of several windows with a wave, failures after a third, and a gap.
func courseOf(windows int, width time.Duration, rate, median uint64) report.Course {
	c := report.Course{PerOctave: 8, WidthNS: int64(width)}
	for i := range windows {
		if i*10/windows == 7 && i%3 > 0 {
			continue
		}
		n := rate * uint64(width) / uint64(time.Second) * uint64(100+i*37%29+i%windows/3) / 100
		w := report.Window{SinceNS: int64(i) * int64(width), Started: n, OK: n, Bytes: 300 * n, P50NS: median * uint64(80+i*31%50) / 100, P99NS: 4 * median * uint64(80+i*17%90) / 100}
		if i*3/windows == 1 {
			w.Failed, w.OK = n/9, n-n/9
		}
		w.Buckets = report.Buckets(fmt.Sprintf("%d:%d %d:%d", 1<<bits.Len64(w.P50NS)-1, n-n/20, 1<<bits.Len64(w.P99NS)-1, n/20+1))
		c.Windows = append(c.Windows, w)
	}
	return c
}

func stepOf(i, windows int, width time.Duration) report.Step {
	median := uint64(900_000 + i*i*370_000)
	n := uint64(100_000 + 7_919*i)
	return report.Step{
		Name: fmt.Sprintf("step_%d", i), Kind: "request", RateMilli: n * 10,
		Totals:    report.Totals{Started: n, Sent: n, OK: n - 700, Failed: 690, TimedOut: 10, BytesIn: 3000 * n, BytesOut: 90 * n},
		Statuses:  map[string]uint64{"200": n - 700, "500": 600, "404": 90},
		Errors:    []report.Error{{Kind: "status 500", Count: 600, Example: "GET http://10.0.0.1/items: answered 500"}, {Kind: "timeout", Count: 10, Example: "no whole answer after 5s"}},
		LatencyNS: distribution(n, median), ServiceNS: distribution(n, median), Buckets: buckets(n, median),
		PhasesNS: map[string]report.Distribution{"blocked": distribution(n, median/10), "connect": distribution(n/100, median), "tls": distribution(n/100, median*2), "wait": distribution(n, median*7/10), "receive": distribution(n, median*2/10)},
		Course:   courseOf(windows, width, 300, median), Tags: map[string]string{"team": "shop"},
	}
}

// resultOf is a run with something in each place.
func resultOf(steps, places, windows int, width time.Duration) *report.Result {
	w := report.Workflow{Name: "shop", Outcome: "COMPLETED", VUs: 300, Cores: 8, DurationNS: int64(windows) * int64(width), Tags: map[string]string{"release": "1.4.2"}}
	for i := range steps {
		s := stepOf(i, windows, width)
		w.Steps = append(w.Steps, s)
		w.Series = append(w.Series, report.Series{Tag: "step", Value: s.Name, Totals: s.Totals, RateMilli: s.RateMilli, LatencyNS: s.LatencyNS})
		w.Totals.Started += s.Started
		w.Totals.OK += s.OK
		w.Totals.Failed += s.Failed
		w.Totals.TimedOut += s.TimedOut
		w.Totals.BytesIn += s.BytesIn
		w.Totals.BytesOut += s.BytesOut
		w.Requested = w.Totals
	}
	w.Generator = report.Generator{LagNS: distribution(10_000, 80_000), BusyMaxPPM: 640_000, Begun: 10_000}
	w.Checks = []report.Check{{Name: "has_body", Passed: 990, Failed: 10, Errors: []report.Error{{Kind: "empty body", Count: 10}}}, {Name: "never", Skipped: 7}}
	w.Metrics = []report.Metric{{Name: "items", ValueMilli: distribution(900, 4000), SumMilli: 3_600_000, RateMilli: 60_000}}
	w.Lost = []report.Lost{{Shard: 2, Attempt: 1, Worker: "worker-7", Reason: "silent for 5s", Started: 812, OK: 800, Counted: true, UntilNS: 12e9, UnreportedNS: 5_308e6}}
	w.Logs = []string{"vu 3: order 17"}
	r := &report.Result{
		Schema: report.Schema, Job: "e8gz9yz8qprfwv1w3s45298e24", Name: "shop.star", Outcome: "COMPLETED", StartedAt: "2026-11-22T01:50:25Z", DurationNS: w.DurationNS,
		Totals: w.Totals, Requested: w.Totals, Generator: w.Generator, Workflows: []report.Workflow{w}, Datacenters: map[string]report.Datacenter{},
		Thresholds: []report.Threshold{{Workflow: "shop", Expr: "errors < 1%", Of: "errors", Value: 6_900, OK: true}, {Workflow: "shop", Expr: "latency.p99 < 1ms", Of: "latency", Value: 4_500_000}},
		Run: &report.Run{
			Command: []string{"run", "shop.star", "--set", "target=http://10.0.0.1 x", "--vus", "300"}, Version: "v1.2.3", Go: "go1.26", System: "linux/amd64", CPU: "Some CPU", CPUs: 8, Seed: 42,
			Files: []report.SourceFile{{Name: "shop.star", Text: "workflow(\n    name = \"shop\",\n)\n"}},
		},
	}
	for i := range places {
		share := report.Workflow{Name: "shop", Outcome: "COMPLETED"}
		for k := range steps {
			s := stepOf(k+i, 1, width)
			s.Name, s.Buckets = fmt.Sprintf("step_%d", k), ""
			share.Steps = append(share.Steps, s)
		}
		r.Datacenters[fmt.Sprintf("dc-%d", i)] = report.Datacenter{Outcome: "COMPLETED", DurationNS: w.DurationNS, Figures: &report.Figures{Totals: w.Totals, Requested: w.Totals, Workflows: []report.Workflow{share}, Workers: workersOf(w.Totals, i)}}
	}
	return r
}

// workersOf shares the totals among workers, a number of them in trouble.
func workersOf(all report.Totals, troubled int) []report.Worker {
	half := report.Totals{Started: all.Started / 2, Sent: all.Sent / 2, OK: all.OK / 2, Failed: all.Failed / 2, TimedOut: all.TimedOut / 2}
	out := []report.Worker{
		{Name: "worker-1", State: "DONE", CoresTotal: 8, Cores: 4, VUs: 150, Totals: half, RateMilli: 2_500_000, LateP99NS: 230_000, BusyMaxPPM: 420_000},
		{Name: "worker-2", State: "DONE", CoresTotal: 8, Cores: 4, VUs: 150, Totals: half, RateMilli: 2_500_000, LateP99NS: 12_000, BusyMaxPPM: 380_000},
	}
	if troubled > 0 {
		out[1].Lost, out[1].Saturated, out[1].BusyMaxPPM, out[1].LateP99NS = 1, true, 990_000, 41_000_000
		out = append(out, report.Worker{Name: "worker-3", State: "LOST", CoresTotal: 8, Lost: 2}, report.Worker{Others: 936, State: "DONE", Cores: 900, VUs: 9})
	}
	return out
}

// hour is the largest run that people look at often.
func hour() *report.Result { return resultOf(20, 3, 500, 7200*time.Millisecond) }

// TestStructure: all that a page says of a small result, without its style and script.
func TestStructure(t *testing.T) {
	got := render(t, resultOf(2, 2, 12, 100*time.Millisecond))
	same(t, "small.html", got)
}

// same compares a page with a golden file, without the parts that all pages share.
func same(t *testing.T, name, got string) {
	t.Helper()
	for _, own := range []string{style, script, html.EscapeString(policy())} {
		if !strings.Contains(got, own) {
			t.Fatalf("the page lacks its own %.40q", own)
		}
		got = strings.Replace(got, own, "...", 1)
	}
	reporttest.Golden(t, "testdata/"+name, got)
}

// TestHourIsSmall: 20 steps, 3 datacenters and an hour, with every chart drawn.
func TestHourIsSmall(t *testing.T) {
	got := render(t, hour())
	t.Logf("%d KiB", len(got)>>10)
	if n, want := strings.Count(got, `<svg class="plot"`), 4+20*4; n != want {
		t.Errorf("%d charts, want %d", n, want)
	}
	if strings.Contains(got, "The result is large") {
		t.Error("something was left out of a usual run")
	}
}

// TestSaturated: the page says that figures are the generator's before it shows them.
func TestSaturated(t *testing.T) {
	r := resultOf(1, 1, 5, time.Second)
	r.Generator.Saturated, r.Workflows[0].Generator.Saturated = true, true
	got := render(t, r)
	said, figures := strings.Index(got, "These figures are the generator"), strings.Index(got, `class="facts"`)
	if said < 0 || said > figures {
		t.Errorf("the warning is at %d, the figures at %d: want it before them", said, figures)
	}
}

func TestUnansweredExecutorIsNamed(t *testing.T) {
	r := resultOf(1, 1, 5, time.Second)
	g := &r.Workflows[0].Generator
	g.Silent, g.Unanswered = 1, []report.Unanswered{{Workflow: "shop", Worker: "w2", Core: 1, Requests: 37, Kind: "dns", Example: "no such host"}}
	if got := render(t, r); !strings.Contains(got, "not one of the 37 requests of the executor on core 1 of w2 was answered, though others were (dns): no such host") {
		t.Error("the page does not name the executor")
	}
}

// hostile is text that wants to be a part of the page.
const hostile = "</script></style></title></pre><img src=x onerror=alert(1)>\"'><script>alert(2)</script>{{.}}"

// TestHostileText: wherever text from outside stands, it adds no element and no attribute.
func TestHostileText(t *testing.T) {
	shape := func(text string) map[string]int {
		r := resultOf(2, 2, 5, time.Second)
		poison(r, text)
		return shapeOf(t, render(t, r))
	}
	want, got := shape(strings.Repeat("x", len(hostile))), shape(hostile)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hostile text changes what the page is made of (-harmless +hostile):\n%s", diff)
	}
	if got["script"] != 1 || got["img"] != 0 {
		t.Errorf("%d scripts, %d images: want 1, 0", got["script"], got["img"])
	}
}

// shapeOf counts elements and attributes.
func shapeOf(t *testing.T, page string) map[string]int {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode {
			seen[n.Data]++
			for _, a := range n.Attr {
				seen[n.Data+" "+a.Key]++
			}
		}
	}
	return seen
}

// poison puts a text wherever one can be.
func poison(r *report.Result, text string) {
	bad := []report.Error{{Kind: text, Count: 3, Example: text + "!"}}
	r.Job, r.Name, r.Outcome, r.Error, r.StartedAt = text, text, text, text, text
	r.Run.Command = []string{text, text}
	r.Run.Version, r.Run.Go, r.Run.System, r.Run.CPU = text, text, text, text
	r.Run.Files = []report.SourceFile{{Name: text, Text: text, Cut: true}}
	for i := range r.Thresholds {
		r.Thresholds[i].Expr, r.Thresholds[i].Workflow, r.Thresholds[i].Of = text, text, text
	}
	for i := range r.Workflows {
		w := &r.Workflows[i]
		w.Name, w.Outcome, w.Error, w.Logs, w.Tags = text, text, text, []string{text}, map[string]string{text: text}
		w.Checks[0].Name, w.Checks[0].Errors, w.Metrics[0].Name, w.Metrics[0].Errors = text, bad, text, bad
		w.Lost[0].Worker, w.Lost[0].Reason, w.Series[0].Tag, w.Series[0].Value = text, text, text, text
		w.Actions = []report.Check{{Name: text, Failed: 3, Errors: bad}}
		w.Generator.Silent, w.Generator.Unanswered = 1, []report.Unanswered{{Workflow: text, Worker: text, Requests: 3, Kind: text, Example: text}}
		for k := range w.Steps {
			s := &w.Steps[k]
			s.Name, s.Kind, s.Errors, s.Statuses = fmt.Sprint(text, k), text, bad, map[string]uint64{text: 3}
			s.PhasesNS[text] = s.PhasesNS["wait"]
		}
	}
	c := r.Datacenters["dc-0"]
	c.Outcome, c.Error = text, text
	c.Workers[0].Name, c.Workers[0].State = text, text
	c.Workflows[0].Name, c.Workflows[0].Steps[0].Name = text, text+"0"
	delete(r.Datacenters, "dc-0")
	r.Datacenters[text] = c
}

// TestHugeResult: the page cuts what is too large, and says so.
func TestHugeResult(t *testing.T) {
	r := hour()
	w := &r.Workflows[0]
	long := strings.Repeat("<\"&'>", 200)
	for i := range 2_000 {
		name := fmt.Sprint(i, long)
		w.Steps[0].Errors = append(w.Steps[0].Errors, report.Error{Kind: name, Count: 5, Example: "!" + name})
		w.Logs = append(w.Logs, name)
		w.Lost = append(w.Lost, report.Lost{Worker: name, Reason: name})
		c := r.Datacenters["dc-1"]
		c.Workers = append(c.Workers, report.Worker{Name: name, State: name, Lost: 1})
		r.Datacenters["dc-1"] = c
		w.Checks = append(w.Checks, report.Check{Name: name, Failed: 1})
		w.Steps[1].Statuses[fmt.Sprint(i%1000, long)] = 1
		r.Thresholds = append(r.Thresholds, report.Threshold{Expr: name})
		r.Datacenters[fmt.Sprint("dc ", i, long)] = report.Datacenter{Outcome: name, Error: name}
	}
	for range 40 {
		w.Steps = append(w.Steps, w.Steps[:5]...)
		r.Run.Files = append(r.Run.Files, report.SourceFile{Name: long, Text: strings.Repeat("<", 64<<10)})
	}
	for range 22 {
		r.Workflows = append(r.Workflows, *w)
	}
	got := render(t, r)
	for _, told := range []string{"The result is large", "kinds more", "lines more", "steps more", "workflows more", "datacenters more"} {
		if !strings.Contains(got, told) {
			t.Errorf("nothing says %q", told)
		}
	}
}

// TestMergeKeepsSums: however a course is made shorter, nothing is lost of its counts, and
// the worst estimate stays.
func TestMergeKeepsSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var courses []report.Course
		want := point{p50: -1, p99: -1}
		for range rapid.IntRange(1, 4).Draw(t, "courses") {
			c := report.Course{WidthNS: 100 << rapid.IntRange(0, 20).Draw(t, "doublings")}
			at := int64(0)
			for range rapid.IntRange(0, 40).Draw(t, "windows") {
				w := report.Window{SinceNS: at * c.WidthNS, Started: rapid.Uint64Range(0, 9).Draw(t, "n"), P99NS: rapid.Uint64().Draw(t, "p99")}
				w.OK, w.Failed, w.TimedOut, w.P50NS = w.Started, w.Started, w.Started, w.P99NS
				at += rapid.Int64Range(1, 1000).Draw(t, "gap")
				c.Windows = append(c.Windows, w)
				want.add(&w)
			}
			courses = append(courses, c)
		}
		most := rapid.IntRange(1, 600).Draw(t, "most")
		c := merge(courses, rapid.Int64Range(0, 1<<40).Draw(t, "lasted"), most)
		got := point{p50: -1, p99: -1}
		for i := range c.points {
			p := &c.points[i]
			got.add(&report.Window{Started: p.Started, OK: p.OK, Failed: p.Failed, TimedOut: p.TimedOut})
			got.p50, got.p99 = max(got.p50, p.p50), max(got.p99, p.p99)
		}
		if got != want || len(c.points) > most {
			t.Fatalf("%d points with %+v, want at most %d with %+v", len(c.points), got, most, want)
		}
	})
}

// TestSteadyLoadEndsSteady: a rate that does not change is drawn so to the end, wherever in
// a window the load ended.
func TestSteadyLoadEndsSteady(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const each, window = 1_000_000, 100_000_000 // a request every millisecond
		lasted := rapid.Int64Range(window, 60*window).Draw(t, "requests") / each * each
		c := report.Course{WidthNS: window}
		for at := int64(0); at < lasted; at += window {
			n := uint64(min(window, lasted-at) / each)
			c.Windows = append(c.Windows, report.Window{SinceNS: at, Started: n, OK: n})
		}
		m := merge([]report.Course{c}, lasted, rapid.IntRange(1, 100).Draw(t, "most"))
		if len(m.points) > 1 && m.last < m.width/2 {
			t.Fatalf("the last column covers %d of %d: too little to tell a rate", m.last, m.width)
		}
		for i, rate := range m.perSecond(func(p *point) uint64 { return p.OK }) {
			if rate < 999_000 || rate > 1_001_000 {
				t.Fatalf("column %d of %d shows %d thousandths a second, want 1000 a second", i, len(m.points), rate)
			}
		}
	})
}

// TestMergedQuantiles: where windows tell their latencies, those of a column are of all of them, and
// not of the worst. Their bands are as high as the buckets of the coarsest course.
func TestMergedQuantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var courses []report.Course
		var all []uint64
		coarsest := 0
		for range rapid.IntRange(1, 3).Draw(t, "courses") {
			halved := rapid.IntRange(0, 3).Draw(t, "halved")
			coarsest = max(coarsest, halved)
			c := report.Course{WidthNS: 100, PerOctave: stats.FineMost >> halved}
			if halved == 3 && rapid.Bool().Draw(t, "older") {
				c.PerOctave = 0
			}
			for i := range rapid.Int64Range(1, 10).Draw(t, "windows") {
				w := report.Window{SinceNS: 100 * i, P99NS: 1}
				for bucket := 1<<halved - 1; bucket < stats.LatencyBuckets; bucket += 1 << halved {
					if n := rapid.Uint64Range(0, 5).Draw(t, "n"); n > 0 {
						w.Buckets += report.Buckets(fmt.Sprintf("%d:%d ", stats.LatencyBound(bucket), n))
						for range n {
							all = append(all, stats.LatencyBound(bucket))
						}
					}
				}
				if w.Buckets != "" {
					c.Windows = append(c.Windows, w)
				}
			}
			courses = append(courses, c)
		}
		slices.Sort(all)
		got := merge(courses, 0, 1)
		if len(all) == 0 {
			return
		}
		if got.fine() != stats.FineMost>>coarsest {
			t.Fatalf("%d bands an octave, want %d", got.fine(), stats.FineMost>>coarsest)
		}
		for _, q := range []struct {
			percent int
			of      func(*point) int
		}{{50, func(p *point) int { return p.p50 }}, {99, func(p *point) int { return p.p99 }}} {
			low := got.lows(q.of)[0]
			from, to := got.bandOf(low)
			exact := all[(len(all)*q.percent+99)/100-1]
			if from != low || exact < from && from > 1 || exact >= to || to-from > max(from, 2048)/uint64(got.fine()) {
				t.Fatalf("%d %% lies between %d and %d, want %d in a band of an octave's part in %d", q.percent, from, to, exact, got.fine())
			}
		}
	})
}

func TestRateLabels(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.5: "0.5", 1.5: "1.5", 0.005: "0.005", 20: "20", 1500: "1,500", 1_500_000: "1,500,000"} {
		if got := rateLabel(v); got != want {
			t.Errorf("%v is labelled %s, want %s", v, got, want)
		}
	}
}

// TestBandsSayHowFine: the note of a chart and the pointer say as much as the course knows.
func TestBandsSayHowFine(t *testing.T) {
	for _, tt := range []struct {
		fine int
		want string
	}{{8, "within 12.5 %,"}, {4, "within 25 %,"}, {2, "within 50 %,"}, {1, "within a factor of two,"}, {0, "within a factor of two,"}} {
		c := report.Course{WidthNS: 100, PerOctave: tt.fine, Windows: []report.Window{{OK: 1, P50NS: 5_000_000, P99NS: 5_000_000, Buckets: "8388607:1"}}}
		figures := overTime([]report.Course{c}, stretch{lasted: 100, most: 10}, nil)
		f := figures[len(figures)-1]
		if !strings.Contains(f.Note, tt.want) || !strings.Contains(f.Hover, fmt.Sprintf(`"per":%d`, max(tt.fine, 1))) {
			t.Errorf("%d buckets: %q, %s: want %q", tt.fine, f.Note, f.Hover, tt.want)
		}
	}
}

// TestOddResults: the page shows values that no run writes but a file can contain.
func TestOddResults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := resultOf(2, 2, 3, time.Second)
		s := &r.Workflows[0].Steps[0]
		n := rapid.SampledFrom([]uint64{0, 1, 1 << 40, 1<<64 - 1})
		s.Course.WidthNS = rapid.SampledFrom([]int64{-1, 0, 1, 1 << 62, 1<<63 - 1}).Draw(t, "width")
		s.Course.PerOctave = rapid.SampledFrom([]int{-1, 0, 1, 3, 8, 1 << 62}).Draw(t, "buckets of an octave")
		for i := range s.Course.Windows {
			w := &s.Course.Windows[i]
			w.SinceNS = rapid.SampledFrom([]int64{-1 << 63, -1, 0, 1, 1 << 62, 1<<63 - 1}).Draw(t, "since")
			w.Started, w.OK, w.Failed, w.P50NS, w.P99NS = n.Draw(t, "started"), n.Draw(t, "ok"), n.Draw(t, "failed"), n.Draw(t, "p50"), n.Draw(t, "p99")
		}
		s.LatencyNS = report.Distribution{Count: n.Draw(t, "count"), Mean: n.Draw(t, "mean"), Max: n.Draw(t, "max")}
		s.PhasesNS["wait"] = report.Distribution{Count: n.Draw(t, "waits"), Mean: n.Draw(t, "wait")}
		s.Buckets = rapid.SampledFrom([]report.Buckets{"", "x", "0:1", "1:1", "18446744073709551615:1", "5:281474976710655 6:281474976710655"}).Draw(t, "buckets")
		b, err := Render(r)
		if err != nil || strings.Contains(string(b), "NaN") || strings.Contains(string(b), "Inf") {
			t.Fatalf("%v; or the page says NaN or Inf", err)
		}
	})
}

// TestWorkflowsAreListed: a workflow that never began is listed with its state and its reason, and no
// page says that it ran on no core for no time.
func TestWorkflowsAreListed(t *testing.T) {
	r := resultOf(1, 1, 3, time.Second)
	if got := render(t, r); strings.Contains(got, "<caption>Workflows") {
		t.Error("a list of the only workflow, which ran")
	}
	ran := r.Workflows[0]
	ran.Name, ran.Turn = "second", report.Turn{BeganNS: int64(8 * time.Second)}
	r.Workflows = append(r.Workflows, ran,
		report.Workflow{Name: "third", Outcome: "CANCELLED", VUs: 4, Error: "local: second failed"},
		report.Workflow{Name: "fourth", Outcome: "TIMED_OUT", VUs: 4, Error: "local: its cores never became free"})
	got := render(t, r)
	for _, row := range []string{
		`<td class="good">✓ completed</td><th scope="row">second</th><td class="n ">8.0s</td>`,
		`<td class="warn">! cancelled</td><th scope="row">third<small>local: second failed</small></th><td class="n ">never</td><td class="n ">–</td><td class="n ">–</td>`,
		`<td class="bad">✗ timed out</td><th scope="row">fourth<small>local: its cores never became free</small></th><td class="n ">never</td>`,
		"4 virtual users · never began",
	} {
		if !strings.Contains(got, row) {
			t.Errorf("the page lacks %s", row)
		}
	}
	if strings.Contains(got, "on 0 cores") {
		t.Error("a workflow ran on 0 cores")
	}
}

// TestSinks: a result's sinks have a row each, in the words of a status; rows that came late are marks of the charts at the
// time of the workflow, and so are lost datacenters. A result without sinks is silent about them.
func TestSinks(t *testing.T) {
	r := resultOf(2, 2, 60, time.Second)
	r.Workflows[0].BeganNS = 5e9
	for name, c := range r.Datacenters {
		for i := range c.Workflows {
			c.Workflows[i].BeganNS, c.Workflows[i].DurationNS = 5e9, 40e9
		}
		r.Datacenters[name] = c
	}
	if page := render(t, r); strings.Contains(page, "Where the rows went") || strings.Contains(page, `class="during`) {
		t.Error("a page without sinks tells of sinks")
	}
	r.Sinks = []report.Sink{
		{Name: "house", Kind: "postgres", Delivered: 1234, ThroughNS: 20e9, Behind: 44, BehindNS: 44e9, Error: "connection refused", Late: []report.Late{{FromNS: 35e9, UntilNS: 65e9}, {FromNS: 66e9, UntilNS: 90e9}}},
		{Name: "hook", Kind: "webhook", Delivered: 9, Lost: 7, Rejected: 6, PerhapsTwice: 5, Done: true},
		{Name: "lake", Done: true, Delivered: 1},
	}
	page := render(t, r)
	for _, want := range []string{
		"Where the rows went", "house<small>postgres</small>", "! behind", "1,234", ">20.0s<", "44.0s<small>was late 35.0s to 1m05s, 1m06s to 1m30s</small>", "connection refused",
		"✗ lacks rows", "✓ complete", `<td class="n bad">7</td><td class="n bad">6</td><td class="n warn">5</td>`, "■ rows came late to a sink",
		`<line class="during sink" x1="50.00%" x2="100.00%"`, `<line class="event sink" x1="50.00%" x2="50.00%"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	if n := strings.Count(page, `<line class="during sink"`); n != strings.Count(page, `<text class="event sink"`) || n == 0 || strings.Contains(page, `x1="101`) {
		t.Errorf("%d times, and %d signs", n, strings.Count(page, `<text class="event sink"`))
	}
	lost := strings.Count(page, `<line class="event lost"`)
	for name, c := range r.Datacenters {
		c.Outcome = "FAILED"
		r.Datacenters[name] = c
		break
	}
	if now := strings.Count(render(t, r), `<line class="event lost"`); now <= lost {
		t.Errorf("%d marks of losses, %d before a datacenter was lost", now, lost)
	}
}
