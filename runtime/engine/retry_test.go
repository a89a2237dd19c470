package engine

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"hyperscale/core/message"
)

// Each request that is sent again is one of its own: it has a count, a status and a failure, and
// the target sees as many.
func TestRetriesAreRequestsOfTheirOwn(t *testing.T) {
	for _, c := range []struct {
		name, call              string
		sick                    int64 // how many requests fail first
		started, ok, failed, re uint64
		good                    bool // the step
	}{
		{"twice, then good", `retry = retry(3, on = [503])`, 2, 3, 1, 2, 2, true},
		{"after a wait", `retry = retry(3, on = ["status"], wait = "5ms")`, 2, 3, 1, 2, 2, true},
		{"no more than it says", `retry = retry(2, on = [503])`, 9, 3, 0, 3, 2, false},
		{"another failure", `retry = retry(3, on = ["connect", "closed", 500])`, 9, 1, 0, 1, 0, false},
		{"none", `timeout = "5s"`, 9, 1, 0, 1, 0, false},
		{"with redirects", `retry = retry(3, on = [503]), redirects = 2`, 2, 3, 1, 2, 2, true},
	} {
		for _, function := range []bool{false, true} {
			var seen atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if seen.Add(1) <= c.sick {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			}))
			file := `
workflow(name = "test", steps = [step("a", http.get("TARGET/", ` + c.call + `)), step("b", http.get("TARGET/b"))])`
			if function {
				file = `
def a(vu):
    return vu.http.get("TARGET/", name = "r", ` + c.call + `)
workflow(name = "test", steps = [step(a), step("b", http.get("TARGET/b"))])`
			}
			r := run(t, t.Context(), Config{Workflow: loadFile(t, s.URL, file), VUs: 1, Timeout: 5 * time.Second})
			row := r.Stats.Steps[0]
			if function {
				if row.Started != 1 || (row.OK == 1) != c.good {
					t.Errorf("%s: the function has %d calls, %d ok", c.name, row.Started, row.OK)
				}
				row = r.Stats.Steps[2]
			}
			got := [4]uint64{row.Started, row.OK, row.Failed, row.Retried}
			if want := [4]uint64{c.started, c.ok, c.failed, c.re}; got != want || uint64(seen.Load()) != c.started+1 {
				t.Errorf("%s, function %v: started, ok, failed, retried are %v, want %v; the target saw %d", c.name, function, got, want, seen.Load()-1)
			}
			statuses := uint64(0)
			for _, st := range row.Statuses {
				statuses += st.Count
			}
			if statuses != c.started {
				t.Errorf("%s, function %v: %d statuses of %d requests", c.name, function, statuses, c.started)
			}
			s.Close()
		}
	}
}

// What waits to be sent again ends with the run: at its end, which is FAILED as nothing worked, and
// when it is cancelled.
func TestRetriesEndWithTheRun(t *testing.T) {
	w := func() string {
		return `
workflow(name = "test", vus = 1, duration = "200ms", steps = [step("a", http.get("http://127.0.0.1:1/", retry = retry(100, wait = "1h")))])`
	}
	for _, cancelled := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		duration := 200 * time.Millisecond
		if cancelled {
			duration = time.Hour
			time.AfterFunc(100*time.Millisecond, cancel)
		}
		began := time.Now()
		r := run(t, ctx, Config{Workflow: loadFile(t, "http://127.0.0.1:1", w()), VUs: 1, Timeout: time.Second, Duration: duration})
		cancel()
		s := r.Stats.Steps[0]
		if s.Started != 1 || s.Failed != 1 || s.Cancelled != 0 || s.Retried != 0 || time.Since(began) > 10*time.Second {
			t.Errorf("cancelled %v: %+v after %v", cancelled, s, time.Since(began))
		}
		if want := map[bool]message.WorkflowState{true: message.WorkflowCancelled, false: message.WorkflowCompleted}[cancelled]; r.State != want {
			t.Errorf("cancelled %v: ends %v", cancelled, r.State)
		}
	}
}
