package engine

import (
	"runtime"
	"testing"
	"time"

	"hyperscale/runtime/target"
)

// raced says that frames are larger than usual because of the race detector.
var raced bool

// A waiting function has a stack of at most 8 KiB: the engine works for it elsewhere.
func TestFunctionsThatWaitAreSmall(t *testing.T) {
	const n = 1000
	s := serve(t, func(c *target.Config) { c.StallEvery, c.StallFor = 1, time.Second })
	w := loadFile(t, s.URL(), `
def get(vu):
    return vu.http.get("TARGET/" + str(vu.id), headers = {"Accept": "text/html"})

def is_ok(vu, get):
    return get.status == 200

workflow(name = "test", vus = 1, duration = "1s", steps = [step(get), check(is_ok, after = ["get"])])
`)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	measured := make(chan struct{})
	go func() {
		defer close(measured)
		for until := time.Now().Add(5 * time.Second); s.Stats().Requests < n && time.Now().Before(until); {
			time.Sleep(10 * time.Millisecond)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
	}()
	r := run(t, t.Context(), Config{Workflow: w, VUs: n, Timeout: 30 * time.Second})
	<-measured
	stack, heap := (after.StackInuse-before.StackInuse)/n, (after.HeapAlloc-before.HeapAlloc)/n
	t.Logf("each takes %d bytes of stack and, with what the target has of it, %d of heap", stack, heap)
	if r.Stats.Steps[1].OK != n || !raced && stack > 9<<10 || heap > 6<<10 {
		t.Errorf("%d were ok, want %d with at most 9 KiB of stack and 6 of heap", r.Stats.Steps[1].OK, n)
	}
}
