package engine

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
)

// seen counts requests by their target.
type seen struct {
	mu    sync.Mutex
	count map[string]int
}

func (s *seen) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count[r.URL.Query().Get("id")]++
}

func (s *seen) all() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.count)
}

func fed(t *testing.T, rows int, feed, more string) (*workflow.Workflow, *seen) {
	t.Helper()
	s := &seen{count: map[string]int{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	var data strings.Builder
	data.WriteString("id,name\n")
	for i := range rows {
		fmt.Fprintf(&data, "r%d,\"n \"\"%d\"\"\"\n", i, i)
	}
	p, err := workflow.Load(message.Program{Main: "main.star", Files: []message.File{{Name: "rows.csv", Data: []byte(data.String())}, {Name: "main.star", Data: []byte(`
def call(vu):
    return vu.http.get("` + server.URL + `/?id=" + vu.row["id"])
def same(vu, plain):
    return vu.row["id"][1:] in vu.row["name"] or "%s has %s" % (vu.row["id"], vu.row["name"])
workflow(name = "w", feed = feed.csv("rows.csv", ` + feed + `), ` + more + `)`)}}})
	if err != nil {
		t.Fatal(err)
	}
	return p.Workflow("w"), s
}

// Processes share rows without leases as they share iterations: each row once if they end with
// the feed, again and again if they start over.
func TestRowsAreDealt(t *testing.T) {
	const rows = 200
	for _, test := range []struct {
		name, feed, more string
		iterations       uint64 // of all processes; 0: as many as there are rows
		each             int    // how often each row is taken at least
	}{
		{"stop", `at_end = "stop"`, `vus = 7, duration = "1m"`, 0, 1},
		{"shuffled", `order = "shuffled", at_end = "stop"`, `vus = 7, duration = "1m"`, 0, 1},
		{"cycle", ``, `vus = 7, iterations = 410`, 410, 2},
		{"open", `at_end = "stop"`, `vus = 50, rate = "2000/s", duration = "1m"`, 0, 1},
		{"iterations", `at_end = "fail"`, `vus = 7, iterations = 200`, 200, 1},
	} {
		for _, steps := range []string{"plain", "function"} {
			t.Run(test.name+", "+steps, func(t *testing.T) {
				w, seen := fed(t, rows, test.feed, test.more+", steps = [step(call)]")
				if steps == "plain" {
					w = withPlain(t, seen, rows, test.feed, test.more)
				}
				var taken uint64
				vus := w.Plan.VUs
				for _, part := range [][2]uint64{{0, vus / 3}, {vus / 3, vus - vus/3}} {
					r := run(t, t.Context(), Config{Workflow: w, VUs: part[1], FirstVU: part[0], Duration: w.Plan.Duration, Seed: 5, Timeout: time.Minute})
					if r.State != message.WorkflowCompleted {
						t.Fatalf("ended %v: %s", r.State, r.Error)
					}
					taken += r.Stats.Rows
				}
				want := test.iterations
				if want == 0 {
					want = rows
				}
				if taken != want || len(seen.all()) != rows {
					t.Errorf("took %d rows, %d different ones, want %d and %d", taken, len(seen.all()), want, rows)
				}
				for id, n := range seen.all() {
					if n < test.each || n > test.each+1 || test.iterations == 0 && n != 1 {
						t.Errorf("row %s was taken %d times", id, n)
					}
				}
			})
		}
	}
}

// withPlain is the same workflow as a request without a function, and a check.
func withPlain(t *testing.T, s *seen, rows int, feed, more string) *workflow.Workflow {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	steps := fmt.Sprintf(`steps = [step("plain", http.get("%s/?id=${id}&n=${name}")), check(same, after = ["plain"])]`, server.URL)
	w, _ := fed(t, rows, feed, more+", "+steps)
	return w
}

// A workflow that must fail at the end of its rows fails then, not before.
func TestRowsRunOut(t *testing.T) {
	w, seen := fed(t, 30, `at_end = "fail"`, `vus = 3, duration = "1m", steps = [step(call)]`)
	r := run(t, t.Context(), Config{Workflow: w, VUs: 3, Duration: time.Minute, Timeout: time.Minute})
	if r.State != message.WorkflowFailed || !strings.Contains(r.Error, `feed "rows.csv" has no more rows, 30 were taken here`) || len(seen.all()) < 27 {
		t.Errorf("ended %v, %q, after %d rows", r.State, r.Error, len(seen.all()))
	}
}

// lessor leases its rows in blocks that arrive late; of a counter as of the feed.
type lessor struct {
	mu     sync.Mutex
	left   uint64
	first  uint64
	late   time.Duration
	most   uint64
	answer map[uint32]*[2]uint64
	wake   func()
	asked  int
}

func (l *lessor) OnAnswer(wake func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wake = wake
}

func (l *lessor) Ask(of uint32, want uint64) {
	time.AfterFunc(l.late, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		n := min(want, l.left, l.most)
		if l.answer == nil {
			l.answer = map[uint32]*[2]uint64{}
		}
		l.answer[of] = &[2]uint64{l.first, n}
		l.first, l.left, l.asked = l.first+n, l.left-n, l.asked+1
		if l.wake != nil {
			l.wake()
		}
	})
}

func (l *lessor) Answer(of uint32) (first, count uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.answer[of]
	if a == nil {
		return 0, 0, false
	}
	delete(l.answer, of)
	return a[0], a[1], true
}

// Each leased row is taken once, however late blocks arrive. When no rows are left, the run
// ends well.
func TestLeasedRows(t *testing.T) {
	for _, late := range []time.Duration{0, 20 * time.Millisecond} {
		for _, load := range []string{`vus = 5, duration = "1m"`, `vus = 5, rate = "500/s", duration = "1m"`} {
			w, seen := fed(t, 300, `order = "shuffled", unique = True`, load+`, steps = [step(call)]`)
			l := &lessor{left: 120, first: 100, late: late, most: 17}
			r := run(t, t.Context(), Config{Workflow: w, VUs: 5, Duration: time.Minute, Timeout: time.Minute, Lessor: l})
			if r.State != message.WorkflowCompleted || r.Stats.Rows != 120 || len(seen.all()) != 120 || r.Duration > 20*time.Second {
				t.Errorf("late by %v, %s: %v %s after %v, took %d rows, %d different ones", late, load, r.State, r.Error, r.Duration, r.Stats.Rows, len(seen.all()))
			}
			if l.wake != nil {
				t.Error("it would still wake the loop")
			}
		}
	}
}

// A lessor that never answers delays a run, but not beyond its time.
func TestLessorIsSilent(t *testing.T) {
	w, seen := fed(t, 300, `unique = True`, `vus = 5, duration = "1s", steps = [step(call)]`)
	l := &lessor{left: 1000, most: 8}
	done := time.AfterFunc(100*time.Millisecond, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.late = time.Hour
	})
	defer done.Stop()
	l.late = 20 * time.Millisecond
	r := run(t, t.Context(), Config{Workflow: w, VUs: 5, Duration: 300 * time.Millisecond, Timeout: time.Minute, Lessor: l})
	if r.State != message.WorkflowCompleted || r.Stats.Rows == 0 || uint64(len(seen.all())) != r.Stats.Rows || r.Duration > 5*time.Second {
		t.Errorf("%v after %v, took %d rows, the server saw %d", r.State, r.Duration, r.Stats.Rows, len(seen.all()))
	}
}
