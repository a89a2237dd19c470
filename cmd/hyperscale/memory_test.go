package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
)

// fullFile has memory before its clock starts: nine tenths of its executor's budget. Its setup then
// waits for the target.
const fullFile = `
piece = "x" * (1 << 20)

def fill(vu):
    vu.vars["full"] = ["%%d" %% i + piece for i in range(225)]
    vu.http.get(%[1]q + "/wait")

def user(vu):
    return vu.http.get(%[1]q + "/user/%%d" %% vu.id)

workflow(name = "full", vus = 8, duration = "2s", timeout = "2m", memory = "256MiB", setup = fill, steps = [step(user)])
`

// runawayFile keeps more with each iteration.
const runawayFile = `
def keep(vu):
    vu.vars["kept"] = vu.vars.get("kept", []) + [str(vu.iteration) + "x" * (1 << 20)]
    return vu.http.get(%q)

workflow(name = "runaway", vus = 4, duration = "10m", timeout = "1m", cores = 1, %s steps = [step(keep)])
`

// TestMemoryBudgets: an executor near its budget begins no new virtual user, and the result says so. One
// beyond is ended, its machine is not at fault, and the job says which budget it was.
func TestMemoryBudgets(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	users, release := map[string]bool{}, make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			<-release
			return
		}
		mu.Lock()
		defer mu.Unlock()
		users[r.URL.Path] = true
	}))
	defer s.Close()
	c := startClusterIn(t, t.TempDir(), 1, "--set", "exec.memory_max=300MiB")

	watch, out := c.watch(c.submit(write(t, "full.star", fmt.Sprintf(fullFile, s.URL))))
	c.workers[0].await(`memory-level .*level=throttled`)
	time.Sleep(2 * time.Second) // the order is on its way to the executor, which does nothing but wait for it and the target
	close(release)
	watch.expect(command.ExitGood)
	mu.Lock()
	seen := len(users)
	mu.Unlock()
	r := readResult(t, out)
	g := r.Generator
	if r.Outcome != "COMPLETED" || seen != 1 || g.Throttles == 0 || g.ThrottledNS == 0 || g.Held != 7 || !g.Pressed || g.MemoryMax != 256<<20 || g.MemoryBytes < 85*g.MemoryMax/100 || g.CPUNS == 0 {
		t.Errorf("%s after %d users, generator %+v", r.Outcome, seen, g)
	}

	for _, bound := range []struct{ memory, budget, remedy string }{
		{`memory = "128MiB",`, "its budget of 128 MiB", `raise its memory = "..."`},
		{"", "its budget of 300 MiB", "exec.memory_max"},
	} {
		c.cores(1)
		watch, out = c.watch(c.submit(write(t, "runaway.star", fmt.Sprintf(runawayFile, s.URL, bound.memory))))
		watch.expect(command.ExitFailed)
		if r := readResult(t, out); r.Outcome != "FAILED" || len(r.Workflows[0].Lost) != 0 || !strings.Contains(r.Workflows[0].Error, bound.budget) || !strings.Contains(r.Workflows[0].Error, bound.remedy) || r.Generator.MemoryBytes < r.Generator.MemoryMax {
			t.Errorf("%q: %s, lost %+v, %s, generator %+v", bound.memory, r.Outcome, r.Workflows[0].Lost, r.Workflows[0].Error, r.Generator)
		}
	}
	c.cores(1)
	judge(t, c.dir)
}
