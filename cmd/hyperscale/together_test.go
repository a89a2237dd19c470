package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"hyperscale/runtime/report"
)

// visits is a target that remembers when each path was asked for.
type visits struct {
	mu sync.Mutex
	at map[string][]time.Time
}

func (v *visits) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.at[r.URL.Path] = append(v.at[r.URL.Path], time.Now())
}

// together runs a file with the real command and returns its result and what the target saw.
func together(t *testing.T, cores int, text string) (*report.Result, map[string][]time.Time) {
	t.Helper()
	v := &visits{at: map[string][]time.Time{}}
	server := httptest.NewServer(v)
	t.Cleanup(server.Close)
	folder := t.TempDir()
	file, out := filepath.Join(folder, "w.star"), filepath.Join(folder, "result.json")
	if err := os.WriteFile(file, []byte("target = param(\"target\")\n"+text), 0o644); err != nil {
		t.Fatal(err)
	}
	p := start(t, "run", file, "--set", "target="+server.URL, "--cores", fmt.Sprint(cores), "--ui", "none", "--out", "json="+out)
	if code := p.code(); code != 0 {
		t.Fatalf("it exits with %d:\n%s", code, p.out.String())
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	r := &report.Result{}
	if err := json.Unmarshal(data, r); err != nil {
		t.Fatal(err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return r, v.at
}

// The requests of two workflows, on one core and on two, have all values of a counter, and each of
// them once.
func TestCountersAreExact(t *testing.T) {
	const most = 3000
	for _, cores := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d cores", cores), func(t *testing.T) {
			_, at := together(t, cores, fmt.Sprintf(`
orders = counter("orders", most = %d, start = 7)
def order(vu):
    return vu.http.get(target + "/%%d" %% vu.next(orders))
workflow(name = "a", vus = 5, duration = "1m", steps = [step("order", order)])
workflow(name = "b", vus = 20, duration = "1m", steps = [step("order", order)])
`, most))
			for path, times := range at {
				if len(times) != 1 {
					t.Errorf("%s was asked for %d times", path, len(times))
				}
			}
			for i := range most {
				if at[fmt.Sprintf("/%d", 7+i)] == nil {
					t.Errorf("no request has the value %d", 7+i)
				}
			}
			if len(at) != most {
				t.Errorf("the requests have %d values, want %d", len(at), most)
			}
		})
	}
}

// All users, on one core and on the executors of two, go on within 200 ms of the last one that comes,
// again and again, and the result counts their waits.
func TestUsersGoOnTogether(t *testing.T) {
	const users = 40
	for _, cores := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d cores", cores), func(t *testing.T) {
			r, at := together(t, cores, fmt.Sprintf(`
rush = barrier("rush", users = %d, timeout = "10s")
def visit(vu):
    vu.sleep("%%dms" %% (10 + 10 * vu.id))
    vu.http.get(target + "/came/%%d" %% vu.iteration)
    if not vu.wait(rush):
        fail("the others did not come")
    return vu.http.get(target + "/went/%%d" %% vu.iteration)
workflow(name = "w", vus = %d, iterations = %d, cores = %d, steps = [step(visit)])
`, users, users, 3*users, cores))
			var came, went int
			for round := 1; ; round++ {
				in, out := at[fmt.Sprintf("/came/%d", round)], at[fmt.Sprintf("/went/%d", round)]
				if len(in)+len(out) == 0 {
					break
				}
				came, went = came+len(in), went+len(out)
				if len(in) != users || len(out) != users {
					t.Fatalf("%d users come in round %d, and %d go on", len(in), round, len(out))
				}
				last := slices.MaxFunc(in, time.Time.Compare)
				first, end := slices.MinFunc(out, time.Time.Compare), slices.MaxFunc(out, time.Time.Compare)
				if first.Before(last) || end.Sub(last) > time.Second {
					t.Errorf("round %d: the first goes on %v after the last has come, the last one %v", round, first.Sub(last), end.Sub(last))
				}
				t.Logf("round %d: they go on within %v to %v", round, first.Sub(last), end.Sub(last))
			}
			if came != 3*users || went != 3*users {
				t.Errorf("%d users have come, and %d have gone on", came, went)
			}
			b := r.Workflows[0].Barriers
			if len(b) != 1 || b[0].Name != "rush" || b[0].Released != 3*users || b[0].TimedOut+b[0].Ended != 0 {
				t.Errorf("the result counts %+v", b)
			}
		})
	}
}
