package history

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/runtime/report"
)

// begin is when the first run of a test began.
var begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// resultOf makes the n-th run of a test, whose requests took ns.
func resultOf(n int, ns uint64, change ...func(*report.Result)) *report.Result {
	step := report.Step{
		Name: "pay", Kind: "request", Totals: report.Totals{Started: 100, OK: 98, Failed: 1, TimedOut: 1}, RateMilli: 10_000, Statuses: map[string]uint64{"200": 98},
		LatencyNS: report.Distribution{Count: 98, P50: ns, P90: ns, P95: ns, P99: ns, P999: ns, Max: ns, Min: ns, Mean: ns}, Buckets: report.Buckets(fmt.Sprintf("%d:98", ns)),
	}
	r := &report.Result{
		Schema: report.Schema, Job: fmt.Sprintf("job-%05d", n), Name: "checkout.star", Outcome: "COMPLETED", StartedAt: begin.Add(time.Duration(n) * time.Hour).Format(time.RFC3339), DurationNS: int64(time.Minute),
		Totals: step.Totals, Requested: step.Totals, Datacenters: map[string]report.Datacenter{"local": {Outcome: "COMPLETED"}},
		Workflows:  []report.Workflow{{Name: "w", Outcome: "COMPLETED", VUs: 5, Cores: 1, DurationNS: int64(time.Minute), Totals: step.Totals, Steps: []report.Step{step}}},
		Thresholds: []report.Threshold{{Workflow: "w", Expr: "pay.p99 < 1s", Of: "latency", Value: int64(ns), OK: true}},
		Run:        &report.Run{Command: []string{"run", "checkout.star"}, Version: "1", Loads: []report.Load{{Workflow: "w", Text: "5 VUs, 1m0s"}}},
	}
	for _, f := range change {
		f(r)
	}
	return r
}

func saturated(r *report.Result) { r.Generator.Saturated = true }
func ended(outcome string) func(*report.Result) {
	return func(r *report.Result) { r.Outcome = outcome }
}
func under(load string) func(*report.Result) {
	return func(r *report.Result) { r.Run.Loads[0].Text = load }
}
func given(args ...string) func(*report.Result) {
	return func(r *report.Result) { r.Run.Command = append(r.Run.Command, args...) }
}

func openIn(t *testing.T, file string) *Store {
	t.Helper()
	s, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // a test may have closed it
	return s
}

func newStore(t *testing.T) *Store {
	t.Helper()
	return openIn(t, filepath.Join(t.TempDir(), "new folder", "history.db"))
}

func mustKeep(t *testing.T, s *Store, r *report.Result) *Run {
	t.Helper()
	run, err := s.Keep(r)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// numbers are those of runs.
func numbers(runs []Run) (all []int) {
	for _, r := range runs {
		all = append(all, r.Number)
	}
	return all
}

func wantRuns(t *testing.T, s *Store, name string, want string) {
	t.Helper()
	runs, err := s.Runs(name, 5000)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(numbers(runs)); got != want {
		t.Errorf("runs of %q are %s, want %s", name, got, want)
	}
}

// What is kept is what is read: rows and result file, by another process later.
func TestKeep(t *testing.T) {
	s := newStore(t)
	info, err := os.Stat(s.file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, error %v: its owner alone may read it", info.Mode(), err)
	}
	first := mustKeep(t, s, resultOf(1, 1000))
	mustKeep(t, s, resultOf(2, 1000))
	other := mustKeep(t, s, resultOf(3, 1000, func(r *report.Result) { r.Name = "cart.star" }))
	if first.Title() != "run 1 of checkout.star" || other.Title() != "run 1 of cart.star" {
		t.Errorf("kept as %s and %s", first.Title(), other.Title())
	}
	again, err := s.Keep(resultOf(1, 9999))
	if !errors.Is(err, ErrKept) || again.Number != 1 {
		t.Errorf("the same job once more: %+v, %v", again, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openIn(t, s.file)
	wantRuns(t, s, "", "[1 2 1]")
	wantRuns(t, s, "checkout.star", "[2 1]")
	got, err := s.Find("checkout.star", 1)
	if err != nil {
		t.Fatal(err)
	}
	want := *first
	if *got != want {
		t.Errorf("read\n%+v\nwant\n%+v", *got, want)
	}
	if !got.Good || got.P99 == 0 || got.Failed != 2 || got.Requests != 100 || got.Duration != time.Minute {
		t.Errorf("the run is %+v", got)
	}
	r, err := s.Result(got.Job)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := r.Encode()
	b, _ := resultOf(1, 1000).Encode()
	if !bytes.Equal(a, b) {
		t.Errorf("the result file is\n%s\nwant\n%s", a, b)
	}
	if _, err := s.Find("checkout.star", 9); !errors.Is(err, ErrNone) {
		t.Errorf("run 9: %v", err)
	}
}

// Values of --set are nowhere in the file, and equal ones have one digest.
func TestNoValueOfSetIsKept(t *testing.T) {
	s := newStore(t)
	const mark = "marked-value-4711"
	a := mustKeep(t, s, resultOf(1, 1000, given("--set", "key="+mark, "--set=other="+mark+"-2", "--vus", "5")))
	b := mustKeep(t, s, resultOf(2, 1000, given("--set=other="+mark+"-2", "--set", "key="+mark)))
	c := mustKeep(t, s, resultOf(3, 1000, given("--set", "key="+mark+"-3", "--set", "other="+mark+"-2")))
	if a.LoadDigest != b.LoadDigest || a.Params != b.Params {
		t.Error("the order of --set makes another load")
	}
	if a.LoadDigest == c.LoadDigest || a.Params == c.Params {
		t.Error("another value makes no other load")
	}
	r, err := s.Result(a.Job)
	if err != nil {
		t.Fatal(err)
	}
	if whole, err := r.Encode(); err != nil || bytes.Contains(whole, []byte(mark)) {
		t.Errorf("the result file has the value, error %v", err)
	}
	command := strings.Join(r.Run.Command, " ")
	if !strings.Contains(command, "--set key=hmac:") || !strings.Contains(command, "--set=other=hmac:") || !strings.Contains(command, "--vus 5") || strings.Contains(command, mark) {
		t.Errorf("the command is kept as %s", command)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b2, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b2, []byte(mark)) {
		t.Error("the file has the value")
	}
	if other := newStore(t); mustKeep(t, other, resultOf(1, 1000, given("--set", "key="+mark))).Params == a.Params {
		t.Error("two histories have one digest of a value: it can be looked up")
	}
}

// A parameter of a variable or of a file makes another load as one of --set does, and its value is nowhere either.
func TestParametersThatNoFlagShows(t *testing.T) {
	s := newStore(t)
	const mark = "marked-value-4711"
	of := func(n int, value string) *Run {
		return mustKeep(t, s, resultOf(n, 1000, given("--set", "key=***"), func(r *report.Result) { r.Run.Given = []string{"key=" + value} }))
	}
	a, b, c := of(1, mark), of(2, mark), of(3, mark+"-2")
	if a.LoadDigest != b.LoadDigest || a.LoadDigest == c.LoadDigest || a.Params == c.Params {
		t.Errorf("loads %s, %s and %s: want two alike and another one", a.LoadDigest, b.LoadDigest, c.LoadDigest)
	}
	live := mustKeep(t, s, resultOf(4, 1000, given("--set", "key="+digestMark+mark), func(r *report.Result) { r.Run.Given = []string{"key=" + digestMark + mark} }))
	for _, run := range []*Run{a, live} {
		r, err := s.Result(run.Job)
		if err != nil {
			t.Fatal(err)
		}
		if whole, err := r.Encode(); err != nil || bytes.Contains(whole, []byte(mark)) {
			t.Errorf("the result file has the value, error %v", err)
		}
	}
}

// Loads are the same or not by what was asked, where it ran and the parameters, and nothing else.
func TestLoads(t *testing.T) {
	s := newStore(t)
	base := mustKeep(t, s, resultOf(1, 1000, given("--set", "target=http://127.0.0.1:1234/x")))
	for i, c := range []struct {
		name   string
		same   bool
		change []func(*report.Result)
	}{
		{"another port of this machine", true, []func(*report.Result){given("--set", "target=http://127.0.0.1:99/x")}},
		{"another path", false, []func(*report.Result){given("--set", "target=http://127.0.0.1:1234/y")}},
		{"another port elsewhere", false, []func(*report.Result){given("--set", "target=http://10.0.0.1:1234/x")}},
		{"more users", false, []func(*report.Result){given("--set", "target=http://127.0.0.1:1234/x"), under("6 VUs, 1m0s")}},
		{"another datacenter", false, []func(*report.Result){given("--set", "target=http://127.0.0.1:1234/x"), func(r *report.Result) {
			r.Datacenters = map[string]report.Datacenter{"east": {Outcome: "COMPLETED"}}
		}}},
		{"another program, version and machine", true, []func(*report.Result){given("--set", "target=http://127.0.0.1:1234/x"), func(r *report.Result) {
			r.Run.Files, r.Run.Version, r.Run.CPUs = []report.SourceFile{{Name: "a", SHA256: "b"}}, "2", 99
		}}},
	} {
		run := mustKeep(t, s, resultOf(i+2, 1000, c.change...))
		if got := run.LoadDigest == base.LoadDigest; got != c.same {
			t.Errorf("%s: the same load is %v", c.name, got)
		}
	}
	// Without what was asked, what ran says it.
	old := mustKeep(t, s, resultOf(50, 1000, func(r *report.Result) { r.Run, r.Workflows[0].DurationNS = nil, int64(time.Minute+3*time.Millisecond) }))
	if old.Load != "5 VUs, about 1m0s" {
		t.Errorf("the load of an older file is %q", old.Load)
	}
}

// Runs that say nothing of the target are no baseline, nor are those of another load or a later time.
func TestLastGood(t *testing.T) {
	s := newStore(t)
	mustKeep(t, s, resultOf(1, 1000))
	mustKeep(t, s, resultOf(2, 1000, saturated))
	mustKeep(t, s, resultOf(3, 1000, ended("CANCELLED")))
	mustKeep(t, s, resultOf(4, 1000, under("6 VUs, 1m0s")))
	mustKeep(t, s, resultOf(5, 1000, func(r *report.Result) { r.Thresholds[0].OK = false }))
	now := mustKeep(t, s, resultOf(6, 5000))
	mustKeep(t, s, resultOf(7, 1000))
	base, err := s.LastGood(now)
	if err != nil || base.Number != 1 {
		t.Fatalf("the last good run is %+v, %v: want run 1", base, err)
	}
	if _, err := s.LastGood(base); !errors.Is(err, ErrNone) {
		t.Errorf("before the first run is %v", err)
	}
}

// Bounds take the oldest runs that have no tag, and nothing else.
func TestBounds(t *testing.T) {
	s := newStore(t)
	s.bounds.Runs = 3
	for n := 1; n <= 3; n++ {
		mustKeep(t, s, resultOf(n, 1000))
	}
	if _, err := s.db.Exec("UPDATE hyperscale_run SET tag = 'v1' WHERE number = 1"); err != nil {
		t.Fatal(err)
	}
	mustKeep(t, s, resultOf(4, 1000))
	wantRuns(t, s, "", "[4 3 1]")
	mustKeep(t, s, resultOf(0, 1000)) // older than all, and just kept
	wantRuns(t, s, "", "[4 1 5]")
	for table, want := range map[string]int{"hyperscale_result": 3, "hyperscale_threshold": 3, "hyperscale_file": 3} { //lint:orderfree each by itself
		var got int
		if err := s.db.QueryRow("SELECT count(*) FROM " + table).Scan(&got); err != nil || got != want {
			t.Errorf("%s has %d rows, %v: want %d", table, got, err, want)
		}
	}
	s.bounds = Bounds{Runs: 100, Bytes: 1}
	mustKeep(t, s, resultOf(9, 1000))
	wantRuns(t, s, "", "[6 1]")
}

// A file that is none of ours is named, and stays as it is.
func TestFilesOfOthers(t *testing.T) {
	newer := func(t *testing.T, file string) {
		s := openIn(t, file)
		if _, err := s.db.Exec("UPDATE hyperscale_schema SET version = 99"); err != nil {
			t.Fatal(err)
		}
		_ = s.Close() // what it wrote is read below
	}
	for _, c := range []struct {
		name string
		make func(t *testing.T, file string)
		want error
	}{
		{"text", func(t *testing.T, file string) { write(t, file, strings.Repeat("no database\n", 99)) }, ErrForeign},
		{"a journal of calls", func(t *testing.T, file string) { write(t, file, `{"kind":"call"}`) }, ErrForeign},
		{"another program's database", func(t *testing.T, file string) {
			db, err := sql.Open("sqlite", file)
			if err == nil {
				_, err = db.Exec("CREATE TABLE t (x)")
			}
			if err := errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
		}, ErrForeign},
		{"a newer version's", newer, ErrNewer},
		{"one whose pages are lost", func(t *testing.T, file string) {
			s := openIn(t, file)
			for n := range 50 {
				mustKeep(t, s, resultOf(n, 1000))
			}
			_ = s.Close() // its end is overwritten
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			write(t, file, string(b[:4096])+strings.Repeat("x", len(b)-4096))
		}, ErrDamaged},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "h.db")
			c.make(t, file)
			before, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Open(file)
			if err == nil {
				_, err = s.Keep(resultOf(99, 1))
				_ = s.Close() // the error says what is wrong
			}
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), file) {
				t.Errorf("got %v, want %v with the file's name", err, c.want)
			}
			if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file has changed, %v", err)
			}
		})
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Many openings of a new file at once make one history, and lose no run.
func TestTogether(t *testing.T) {
	const writers, each = 8, 5
	file := filepath.Join(t.TempDir(), "h.db")
	var all sync.WaitGroup
	faults := make(chan error, writers*each)
	for w := range writers {
		all.Go(func() {
			for n := range each {
				faults <- func() error {
					s, err := Open(file)
					if err != nil {
						return err
					}
					_, err = s.Keep(resultOf(w*each+n, 1000))
					return errors.Join(err, s.Close())
				}()
			}
		})
	}
	all.Wait()
	close(faults)
	for err := range faults {
		if err != nil {
			t.Error(err)
		}
	}
	runs, err := openIn(t, file).Runs("", 1000)
	if err != nil {
		t.Fatal(err)
	}
	seen, digests := map[int]bool{}, map[string]bool{}
	for _, r := range runs {
		seen[r.Number], digests[r.LoadDigest] = true, true
	}
	if len(seen) != writers*each || len(digests) != 1 {
		t.Errorf("%d numbers of %d runs, %d digests of one load", len(seen), len(runs), len(digests))
	}
}

func TestDefaultFile(t *testing.T) {
	for _, c := range []struct{ xdg, home, want string }{
		{"/data", "/home/me", "/data/hyperscale/history.db"},
		{"", "/home/me", "/home/me/.local/share/hyperscale/history.db"},
		{"relative", "/home/me", "/home/me/.local/share/hyperscale/history.db"},
		{"", "", ""},
	} {
		t.Setenv("XDG_DATA_HOME", c.xdg)
		t.Setenv("HOME", c.home)
		if got, err := DefaultFile(); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: got %q, %v", c, got, err)
		}
	}
}

// BenchmarkKeep is what a run pays: the file is opened, and the run kept.
func BenchmarkKeep(b *testing.B) {
	file := filepath.Join(b.TempDir(), "h.db")
	n := 0
	for b.Loop() {
		s, err := Open(file)
		if err != nil {
			b.Fatal(err)
		}
		n++
		if _, err := s.Keep(resultOf(n, 1000)); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen opens a history and closes it.
func BenchmarkOpen(b *testing.B) {
	file := filepath.Join(b.TempDir(), "h.db")
	for b.Loop() {
		s, err := Open(file)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
