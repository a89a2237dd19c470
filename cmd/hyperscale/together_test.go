package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
