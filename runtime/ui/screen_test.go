package ui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/report/reporttest"
)

func plan() *message.Plan {
	return &message.Plan{Workflows: []message.WorkflowPlan{{Name: "shop", VUs: 64, Duration: 10 * time.Second, Thresholds: []message.Threshold{
		{Expr: "home.latency.p99 < 250ms", Step: "home", Of: message.OfLatency, Quantile: 990_000, Op: message.OpBelow, Bound: 250_000_000},
		{Expr: "errors < 0.1%", Of: message.OfErrors, Op: message.OpBelow, Bound: 1000},
		{Expr: "home.rate > 1000/s", Step: "home", Of: message.OfRate, Op: message.OpAbove, Bound: 1_000_000},
	}}}}
}

func model(until time.Duration) *Model {
	m := NewModel("shop.star", plan())
	for at := 500 * time.Millisecond; at <= until; at += 500 * time.Millisecond {
		m.Apply(story(at, "local"))
	}
	return m
}

// cluster is a job that is watched, in two datacenters, with a worker lost.
func cluster() *Model {
	m := NewModel("", &message.Plan{})
	for at := 500 * time.Millisecond; at <= 5*time.Second; at += 500 * time.Millisecond {
		s := story(at, "east", "west")
		s.Datacenters[1].Error = "waits to hear of it after a take-over"
		s.Datacenters[1].Workflows[0].Lost = []message.LostAttempt{{Attempt: 1, Worker: "worker-2", Reason: "silent for 5.0s", Started: 12_345, Counted: true, Until: 12 * time.Second, Unreported: 5308 * time.Millisecond}}
		trouble(s.Datacenters[1].Workers)
		m.Apply(s)
	}
	return m
}

// trouble is what befalls two workers.
func trouble(w []message.WorkerShare) {
	w[0].State, w[0].Saturated, w[0].BusyMax, w[0].Late = message.WorkerDraining, true, 970_000, 48*time.Millisecond
	w[1] = message.WorkerShare{Node: "worker-2", State: message.WorkerLost, CoresTotal: 4, Lost: 1}
}

// large is a job in three datacenters, the first with more workers than it reports.
func large() *Model {
	m := NewModel("", &message.Plan{})
	for at := 500 * time.Millisecond; at <= 5*time.Second; at += 500 * time.Millisecond {
		s := story(at, "eu-central-1", "us-east-1", "日本")
		d := &s.Datacenters[0]
		d.Workers = workersOf(&d.Workflows[0], 65)
		last := &d.Workers[64]
		last.Node, last.Others, last.State, last.Cores, last.CoresTotal = "", 936, message.WorkerAway, 936, 3744
		trouble(s.Datacenters[2].Workers)
		m.Apply(s)
	}
	return m
}

// long is a job of many steps, each with failures.
func long() *Model {
	m := NewModel("shop.star", &message.Plan{})
	for at := time.Second; at <= 2*time.Second; at += time.Second {
		s := story(at, "local")
		steps := &s.Datacenters[0].Workflows[0].Stats.Steps
		first := (*steps)[0]
		for i := range 30 {
			step := first
			step.Name = fmt.Sprintf("page_%d", i+1)
			*steps = append(*steps, step)
		}
		m.Apply(s)
	}
	return m
}

var colours = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// marked makes colours legible: <36|text>.
func marked(s string) string {
	return colours.ReplaceAllStringFunc(s, func(c string) string {
		if code := colours.FindStringSubmatch(c)[1]; code != "0" {
			return "<" + code + "|"
		}
		return ">"
	})
}

// within says what is wrong with a screen of a size.
func within(text string, s Style, height int) error {
	lines := strings.Split(text, "\n")
	if len(lines) > height {
		return fmt.Errorf("%d lines, want at most %d", len(lines), height)
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("it is not UTF-8: %q", text)
	}
	for _, line := range lines {
		line = colours.ReplaceAllString(line, "")
		if width := displaywidth.String(line); width > s.Width {
			return fmt.Errorf("%d columns, want at most %d: %q", width, s.Width, line)
		}
		for _, r := range line {
			if unicode.IsControl(r) || s.ASCII && r >= utf8.RuneSelf {
				return fmt.Errorf("%q is in %q", r, line)
			}
		}
	}
	return nil
}

func TestScreens(t *testing.T) {
	waiting := NewModel("shop.star", &message.Plan{})
	waiting.Apply(&message.JobStatus{State: message.JobQueued, Position: 3, Reason: "no free cores: 8 of 8 are busy", Elapsed: 4 * time.Second})
	busy, starting := model(7*time.Second), NewModel("shop.star", plan())
	plain, coloured, ascii := Style{}, Style{Color: true}, Style{ASCII: true}
	for _, row := range []struct {
		name          string // of the golden
		model         *Model
		width, height int
		style         Style
		view          View
	}{
		{"80x24", busy, 80, 24, plain, View{}},
		{"80x24-colour", busy, 80, 24, coloured, View{}},
		{"80x24-ascii", busy, 80, 24, ascii, View{}},
		{"80x24-ascii-colour", busy, 80, 24, Style{Color: true, ASCII: true}, View{}},
		{"120x40", busy, 120, 40, plain, View{}},
		{"120x40-colour", busy, 120, 40, coloured, View{}},
		{"120x40-ascii", busy, 120, 40, ascii, View{}},
		{"200x60", busy, 200, 60, plain, View{}},
		{"200x60-colour", busy, 200, 60, coloured, View{}},
		{"200x60-ascii", busy, 200, 60, ascii, View{}},
		{"40x10", busy, 40, 10, plain, View{}}, // lines only
		{"72x16", busy, 72, 16, plain, View{}}, // the smallest whole one
		{"starting", starting, 80, 24, plain, View{}},
		{"queued", waiting, 80, 24, plain, View{}},
		{"recent", busy, 80, 24, plain, View{Recent: true, Note: "stopping: ctrl-c once more ends at once"}},
		{"help", busy, 80, 24, plain, View{Help: true}},
		{"tab-steps", busy, 80, 24, plain, View{Tab: tabSteps}},
		{"tab-steps-wide", busy, 120, 24, plain, View{Tab: tabSteps}},
		{"tab-errors", busy, 80, 24, plain, View{Tab: tabErrors}},
		{"scrolled", long(), 80, 24, plain, View{Scroll: 3}},
		{"scrolled-steps", long(), 80, 24, plain, View{Tab: tabSteps, Scroll: 99}},
		{"tab-thresholds", busy, 80, 24, plain, View{Tab: tabThresholds}},
		{"tab-generator", busy, 80, 24, plain, View{Tab: tabGenerator}},
		{"tab-places", cluster(), 80, 24, plain, View{Tab: tabPlaces, Leaves: true}},
		{"tab-places-120x40", cluster(), 120, 40, coloured, View{Tab: tabPlaces}},
		{"tab-places-200x60", large(), 200, 60, plain, View{Tab: tabPlaces}},
		{"tab-places-large", large(), 80, 24, ascii, View{Tab: tabPlaces}},
		{"tab-places-scrolled", large(), 80, 24, plain, View{Tab: tabPlaces, Scroll: 55}},
		{"watched", cluster(), 80, 24, plain, View{Leaves: true}},
		{"page", busy, 80, 24, plain, View{Page: "http://127.0.0.1:8089/"}},
		{"page-40x10", busy, 40, 10, plain, View{Page: "http://127.0.0.1:8089/"}},
	} {
		row.style.Width = row.width
		got := Screen(row.model, row.style, row.view, row.height)
		if err := within(got, row.style, row.height); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
		reporttest.Golden(t, "testdata/"+"screen-"+row.name+".txt", marked(got)+"\n")
	}
}

// hostile draws difficult names: wide, combining, joined, right-to-left, controls, not UTF-8.
func hostile(t *rapid.T, what string) string {
	return rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"", "home", "日本語の名前", "e\u0301\u0301\u0301", "👨\u200d👩\u200d👧", "❤\ufe0f", "1\ufe0f\u20e3", "🇩🇪🇯", "\u202eevil", "\x1b[2J\x07\r\n", "\xff\xfe", "한\u1100\u1161", strings.Repeat("w", 300)}),
	).Draw(t, what)
}

func hostileStatus(t *rapid.T, sequence uint64) *message.JobStatus {
	count := rapid.Uint64()
	s := &message.JobStatus{
		Name: hostile(t, "name"), Reason: hostile(t, "reason"), Sequence: sequence, State: message.JobState(rapid.IntRange(0, 13).Draw(t, "state")),
		Elapsed: time.Duration(rapid.Int64().Draw(t, "elapsed")), Position: rapid.Uint32Range(0, 2).Draw(t, "position"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "datacenters") {
		w := loaded(time.Duration(rapid.IntRange(0, 300).Draw(t, "at"))*10*time.Millisecond, hostile(t, "workflow"))
		w.Stats.Elapsed, w.Stats.Active = time.Duration(rapid.Int64().Draw(t, "clock")), count.Draw(t, "active")
		w.State = message.WorkflowState(rapid.IntRange(0, 9).Draw(t, "state"))
		w.Stats.Generator.Dropped, w.Stats.Generator.Waited, w.Stats.Generator.BusyMax = count.Draw(t, "dropped"), count.Draw(t, "waited"), rapid.Uint32().Draw(t, "busy")
		for i := range w.Stats.Steps {
			step := &w.Stats.Steps[i]
			step.Name = hostile(t, "step")
			if rapid.Bool().Draw(t, "counts") {
				step.OK, step.Failed, step.Sent, step.TimedOut = count.Draw(t, "ok"), count.Draw(t, "failed"), count.Draw(t, "sent"), count.Draw(t, "late")
			}
			step.Errors = append(step.Errors, message.ErrorCount{Kind: hostile(t, "kind"), Count: count.Draw(t, "count"), Example: hostile(t, "example")})
		}
		s.Datacenters = append(s.Datacenters, message.DatacenterResult{Name: hostile(t, "datacenter"), Error: hostile(t, "error"), Workflows: []message.WorkflowResult{w}, Workers: hostileWorkers(t)})
	}
	return s
}

func hostileWorkers(t *rapid.T) (out []message.WorkerShare) {
	count := rapid.Uint64()
	for range rapid.IntRange(0, 3).Draw(t, "workers") {
		out = append(out, message.WorkerShare{
			Node: hostile(t, "worker"), State: message.WorkerState(rapid.IntRange(0, 12).Draw(t, "stands")), Others: rapid.Uint32().Draw(t, "others"), CoresTotal: rapid.Uint32().Draw(t, "cores"),
			OK: count.Draw(t, "ok"), TimedOut: count.Draw(t, "timed out"), Active: count.Draw(t, "active"), Late: time.Duration(rapid.Int64().Draw(t, "late")), BusyMax: rapid.Uint32().Draw(t, "busy"),
		})
	}
	return out
}

// A small screen gives up a failure or a step before the URL of the live page.
func TestSmallScreensShowThePage(t *testing.T) {
	const page = "http://127.0.0.1:8089/"
	for height := 5; height < 12; height++ { // four lines say how the job goes
		if got := Screen(model(7*time.Second), Style{Width: 40}, View{Page: page}, height); !strings.Contains(got, page) || strings.Count(got, "\n") >= height {
			t.Errorf("of %d lines:\n%s", height, got)
		}
	}
}

// For any statuses, sizes and views: a screen stays within its size and lets no control
// character through.
func TestScreensStayWithinTheirSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := NewModel(hostile(t, "file"), &message.Plan{})
		if rapid.Bool().Draw(t, "planned") {
			p := plan()
			p.Workflows[0].Name, p.Workflows[0].Thresholds[1].Expr = hostile(t, "workflow"), hostile(t, "expr")
			p.Workflows[0].Duration = time.Duration(rapid.Int64Min(0).Draw(t, "planned"))
			m = NewModel(hostile(t, "file"), p)
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "statuses") {
			m.Apply(hostileStatus(t, uint64(i)))
		}
		side := rapid.OneOf(rapid.IntRange(1, 250), rapid.SampledFrom([]int{1, 2, 40, 71, 72, 80, 120}))
		s := Style{Width: side.Draw(t, "width"), Color: rapid.Bool().Draw(t, "colour"), ASCII: rapid.Bool().Draw(t, "ascii")}
		v := View{Leaves: true, Note: hostile(t, "note"), Page: hostile(t, "page")}
		for _, key := range rapid.SliceOfN(rapid.SampledFrom([]string{"tab", "left", "1", "3", "6", "9", "j", "k", "G", "pgdown", "b", "w", "?", "esc", "x"}), 0, 6).Draw(t, "keys") {
			v = v.press(key, 7, 9)
		}
		height := side.Draw(t, "height")
		if err := within(Screen(m, s, v, height), s, height); err != nil {
			t.Fatalf("%dx%d: %v", s.Width, height, err)
		}
	})
}

// Rows that do not fit are reached by keys, and no key goes beyond the last.
func TestRowsScroll(t *testing.T) {
	m, s := long(), Style{Width: 80}
	v := View{Tab: tabErrors}
	_, most := draw(m, s, v, 16)
	if most == 0 {
		t.Fatal("all rows fit: nothing is tested")
	}
	for range 300 {
		v = v.press("j", 8, most)
	}
	if got := Screen(m, s, v, 16); v.Scroll != most || !strings.Contains(got, "200: ") {
		t.Errorf("scrolled to %d of %d:\n%s", v.Scroll, most, got)
	}
	if v = v.press("G", 8, most).press("pgup", 8, most).press("g", 8, most); v.Scroll != 0 {
		t.Errorf("g scrolls to %d", v.Scroll)
	}
	if v = v.press("left", 8, most).press("tab", 8, most).press("tab", 8, most); v.Tab != tabThresholds {
		t.Errorf("left and twice tab lead from errors to %s", tabNames[v.Tab])
	}
}

// A watched job looks like one that was started here as soon as its plan has arrived. Its first
// status carries the plan, even if it is older than the one on the screen.
func TestWatchedJobsLearnTheirPlan(t *testing.T) {
	for _, first := range []bool{true, false} {
		watched, here := NewModel("", &message.Plan{}), NewModel("shop.star", plan())
		for at := time.Second; at <= 3*time.Second; at += time.Second {
			s := story(at, "local")
			here.Apply(s)
			if first == (at == time.Second) && at < 3*time.Second {
				s.Plan = plan().Workflows
			}
			if s.Plan != nil && !first {
				s.Sequence = 0
			}
			watched.Apply(s)
		}
		for tab := range tabNames {
			s, v := Style{Width: 120}, View{Tab: tab}
			if diff := cmp.Diff(Screen(here, s, v, 40), Screen(watched, s, v, 40)); first && diff != "" {
				t.Errorf("%s (-here +watched):\n%s", tabNames[tab], diff)
			}
		}
		if got := Screen(watched, Style{Width: 120}, View{Tab: tabThresholds}, 40); !strings.Contains(got, "✗ errors < 0.1%") {
			t.Errorf("no threshold is told:\n%s", got)
		}
	}
}

// A late watcher sees the time before: statuses carry it.
func TestPastIsDrawn(t *testing.T) {
	var windows stats.Windows
	for at := range 20 {
		w := windows.At(time.Duration(at) * time.Second)
		w.OK, w.Failed = 100, 20
		windows.Record(time.Duration(at)*time.Second, 5_000_000)
	}
	s := story(20*time.Second, "local")
	steps := s.Datacenters[0].Workflows[0].Stats.Steps
	for i := range steps {
		steps[i].Windows = windows.Wire()
	}
	m := NewModel("", &message.Plan{})
	m.Apply(s)
	if len(m.Points) < 15 {
		t.Fatalf("%d points of 20 s", len(m.Points))
	}
	p := m.Points[3]
	if p.RateMilli < 200_000 || p.FailMilli < 30_000 || p.P99 < 4_000_000 || p.P99 > 9_000_000 {
		t.Errorf("two steps with 120 ends a window are told as %+v", p)
	}
}

// A late watcher sees the time before of all workflows: those of one layer together, layers behind each other.
func TestPastOfManyWorkflowsIsDrawn(t *testing.T) {
	ran := func(name string, seconds int, each uint64) message.WorkflowResult {
		var windows stats.Windows
		for at := range seconds {
			windows.At(time.Duration(at) * time.Second).OK = each
		}
		n := uint64(seconds) * each
		step := message.StepStats{Name: "home", Kind: message.StepRequest, Started: n, Sent: n, OK: n, Windows: windows.Wire()}
		return message.WorkflowResult{Name: name, State: message.WorkflowRunning, VUs: 1, Cores: 1, Stats: message.Stats{Elapsed: time.Duration(seconds) * time.Second, Steps: []message.StepStats{step}}}
	}
	first := ran("first", 10, 50)
	first.State = message.WorkflowCompleted
	s := &message.JobStatus{
		Name: "w", Sequence: 1, State: message.JobRunning, Elapsed: 30 * time.Second,
		Plan:        []message.WorkflowPlan{{Name: "first"}, {Name: "a", Layer: 1}, {Name: "b", Layer: 1}},
		Datacenters: []message.DatacenterResult{{Name: "x", Workflows: []message.WorkflowResult{first, ran("a", 20, 100), ran("b", 20, 30)}}},
	}
	m := NewModel("", &message.Plan{})
	m.Apply(s)
	if len(m.Points) < 25 {
		t.Fatalf("%d points of 30 s", len(m.Points))
	}
	before := time.Duration(0)
	for _, p := range m.Points {
		want := uint64(130_000)
		if p.At <= 10*time.Second {
			want = 50_000
		}
		if p.RateMilli != want || p.At-p.Took != before {
			t.Errorf("from %v to %v: %d/1000 requests a second, want %d from %v on", p.At-p.Took, p.At, p.RateMilli, want, before)
		}
		before = p.At
	}
}

// A long run stays whole: points become fewer, their span does not.
func TestPointsAreBounded(t *testing.T) {
	m := NewModel("", &message.Plan{})
	for i := range 5 * pointsMax {
		m.flow("w").now.Elapsed = time.Duration(i+1) * time.Second
		m.keep(Point{RateMilli: 5000, P99: uint64(i)})
	}
	var took time.Duration
	for _, p := range m.Points {
		if took += p.Took; p.RateMilli != 5000 {
			t.Fatalf("a mean of 5/s is %d", p.RateMilli)
		}
	}
	if n := len(m.Points); n > pointsMax || n < pointsMax/2 || took != 5*pointsMax*time.Second {
		t.Errorf("%d points span %v", n, took)
	}
}

func TestOnlyASCII(t *testing.T) {
	for _, row := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, false}, {map[string]string{"LANG": "C"}, true}, {map[string]string{"LANG": "C.UTF-8"}, false}, {map[string]string{"LANG": "en_US.utf8"}, false},
		{map[string]string{"LANG": "de_DE.UTF-8", "LC_ALL": "POSIX"}, true}, {map[string]string{"LANG": "C", "LC_CTYPE": "C.UTF-8"}, false}, {map[string]string{"TERM": "linux", "LANG": "C.UTF-8"}, true},
	} {
		if got := onlyASCII(func(name string) string { return row.env[name] }); got != row.want {
			t.Errorf("%v: got %v, want %v", row.env, got, row.want)
		}
	}
}

func BenchmarkFrame(b *testing.B) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			m, s := model(7*time.Second), Style{Width: size[0], Color: true}
			b.ReportAllocs()
			for b.Loop() {
				Screen(m, s, View{}, size[1])
			}
		})
	}
}

// BenchmarkStatus measures one status, including its sample.
func BenchmarkStatus(b *testing.B) {
	m, at := NewModel("shop.star", plan()), time.Duration(0)
	one, two := story(time.Second, "local"), story(3*time.Second, "local")
	b.ReportAllocs()
	for b.Loop() {
		at += 2 * time.Second
		one.Sequence, one.Elapsed, two.Sequence, two.Elapsed = uint64(at), at, uint64(at)+1, at+time.Second
		m.Apply(one)
		m.Apply(two)
	}
}
