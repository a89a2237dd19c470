package engine

import (
	"context"
	"runtime"
	"testing"
	"time"
)

type cost struct{ requests, mallocs uint64 }

// mallocs counts all allocations of a run, those of a target in this process included.
func mallocs(t *testing.T, url string, d time.Duration) cost {
	var before, after runtime.MemStats
	w := flow(get("a", url+"/"), get("b", url+"/"), get("c", url+"/", 0, 1))
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
	short, long := mallocs(t, s.URL(), 200*time.Millisecond), mallocs(t, s.URL(), 600*time.Millisecond)
	requests := float64(long.requests) - float64(short.requests)
	more := float64(long.mallocs) - float64(short.mallocs)
	if requests < 1000 || more/requests > 0.01 {
		t.Errorf("%v more requests made %v more allocations, want none", requests, more)
	}
}
