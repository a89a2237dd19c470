package engine

import (
	"context"
	"runtime"
	"testing"
	"time"

	"hyperscale/core/message"
)

type cost struct{ requests, mallocs uint64 }

// mallocs counts all allocations of a run, those of a target in this process included.
func mallocs(t *testing.T, url string, d time.Duration, change func(*message.WorkflowPlan)) cost {
	var before, after runtime.MemStats
	w := flow(get("a", url+"/"), get("b", url+"/"), get("c", url+"/", 0, 1))
	change(w.Plan)
	runtime.ReadMemStats(&before)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 8, Duration: d})
	runtime.ReadMemStats(&after)
	var n uint64
	for _, s := range r.Stats.Steps {
		n += s.OK
	}
	return cost{n, after.Mallocs - before.Mallocs}
}

func TestRequestsOnTheLoopAllocateNothing(t *testing.T) {
	s := serve(t, nil)
	for name, change := range map[string]func(*message.WorkflowPlan){
		"closed":   func(*message.WorkflowPlan) {},
		"open":     func(p *message.WorkflowPlan) { p.Rate, p.Poisson = 10_000_000, true },
		"pooled":   func(p *message.WorkflowPlan) { p.Connections = 4 },
		"thinking": func(p *message.WorkflowPlan) { p.Think, p.ThinkMax = 0, time.Millisecond },
	} {
		var requests, more float64
		good := false
		for range 5 { // on a busy machine the longer run may do less, or let histograms grow
			short, long := mallocs(t, s.URL(), 100*time.Millisecond, change), mallocs(t, s.URL(), 400*time.Millisecond, change)
			requests = float64(long.requests) - float64(short.requests)
			more = float64(long.mallocs) - float64(short.mallocs)
			if good = requests >= 1000 && more <= 200+requests/100; good { // windows and histograms grow now and then
				break
			}
		}
		if !good {
			t.Errorf("%s: %v more requests made %v more allocations, want none", name, requests, more)
		}
	}
}
