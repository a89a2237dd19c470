package engine

import (
	"runtime"
	"testing"

	"hyperscale/core/message"
)

// TestFunctionsAllocateWhatTheyRead counts allocations of iterations of a function step and a
// check: one, the response, if they read only its status.
func TestFunctionsAllocateWhatTheyRead(t *testing.T) {
	s := serve(t, nil)
	for _, c := range []struct {
		name, check string
		most        float64
	}{
		{"status", `get.status == 200`, 1},
		{"body", `get.body != b""`, 6},                                   // the copy of the answer, its index, the value made of it once, a text
		{"headers", `get.headers.get("content-type", "none") != ""`, 30}, // pairs of texts
	} {
		text := `
def get(vu):
    return vu.http.get("TARGET/")

workflow(name = "test", vus = 4, duration = "1s", steps = [step(get), check("c", lambda vu, get: ` + c.check + `, after = ["get"])])
`
		mallocs := func(iterations uint64) float64 {
			w := loadFile(t, s.URL(), text)
			w.Plan.Iterations = iterations
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r := run(t, t.Context(), Config{Workflow: w, VUs: 4, Seed: 1})
			runtime.ReadMemStats(&after)
			if r.State != message.WorkflowCompleted || r.Stats.Steps[1].OK != iterations {
				t.Fatalf("%s: state %v, %+v", c.name, r.State, r.Stats.Steps)
			}
			return float64(after.Mallocs - before.Mallocs)
		}
		const more = 4000
		got := 0.0
		for range 5 { // histograms may grow in the longer run
			if got = (mallocs(1000+more) - mallocs(1000)) / more; got <= c.most+0.1 {
				break
			}
		}
		if got > c.most+0.1 {
			t.Errorf("%s: %.2f allocations an iteration, at most %v wanted", c.name, got, c.most)
		}
	}
}
