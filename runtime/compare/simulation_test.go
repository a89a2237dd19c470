package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/report"
)

// world is how a simulated target answers. A window's requests are slower by one
// factor, which wanders from window to window; now and then it stands still.
type world struct {
	name     string
	requests int     // of a run, on average
	windows  int     // of 100 ms
	spread   float64 // of the logarithm of a latency
	slow     float64 // share of requests of a second kind, ten times as slow
	wander   float64 // of the logarithm of a window's factor
	memory   float64 // part of the factor that remains in the next window
	stalls   float64 // chance of a stall in a window: its requests wait up to 100 ms
	errors   float64 // share of errors
	scale    float64 // of every latency; 0: 1
	tail     float64 // of those that are slower than 98 % of all; 0: 1
	steps    int     // 0: 1
}

// run is one run's result, made as a real one is.
func (w *world) run(rng *rand.Rand) *report.Result {
	flow := message.WorkflowResult{Name: "w", State: message.WorkflowCompleted, VUs: 10}
	length := time.Duration(w.windows) * stats.WindowWidth
	for step := range max(w.steps, 1) {
		var h stats.Histogram
		var windows stats.Windows
		s := message.StepStats{Name: fmt.Sprint("s", step), Kind: message.StepRequest}
		factor := w.wander * rng.NormFloat64()
		for i := range w.windows {
			factor = w.memory*factor + w.wander*math.Sqrt(1-w.memory*w.memory)*rng.NormFloat64()
			at := windows.At(time.Duration(i) * stats.WindowWidth)
			mean := float64(w.requests/w.windows) * math.Exp(-factor)
			n := uint64(max(0, math.Round(mean+math.Sqrt(mean)*rng.NormFloat64())))
			wait := 0.0
			if rng.Float64() < w.stalls {
				wait = 100e6
			}
			for range n {
				v := w.latency(rng) * math.Exp(factor)
				v += max(0, wait*rng.Float64())
				h.Record(uint64(v))
				windows.Record(time.Duration(i)*stats.WindowWidth, uint64(v))
				s.Started, at.Started = s.Started+1, at.Started+1
				if rng.Float64() < w.errors {
					s.Failed, at.Failed = s.Failed+1, at.Failed+1
				} else {
					s.OK, at.OK = s.OK+1, at.OK+1
				}
			}
		}
		s.Latency, s.Windows = h.Wire(), windows.Wire()
		flow.Stats.Steps = append(flow.Stats.Steps, s)
	}
	flow.Stats.Elapsed = length
	r, err := report.Build(&message.Result{State: message.JobCompleted, Duration: length, Workflows: []message.WorkflowResult{flow}}, time.Time{})
	if err != nil {
		panic(err)
	}
	for i := range r.Workflows[0].Steps {
		s := &r.Workflows[0].Steps[i]
		s.RateMilli = report.Rate(s.OK+s.Failed, length)
	}
	return r
}

func (w *world) latency(rng *rand.Rand) float64 {
	z := rng.NormFloat64()
	v := 5e6 * math.Exp(w.spread*z)
	if rng.Float64() < w.slow {
		v *= 10
	}
	if w.tail > 0 && z > 2.0537 { // 98 % are below
		v *= w.tail
	}
	if w.scale > 0 {
		v *= w.scale
	}
	return v
}

// called counts in how many pairs something was found.
type called struct{ pairs, regressions, at99, improvements int }

func (c called) String() string {
	share := func(n int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(c.pairs)) }
	return fmt.Sprintf("%d pairs: regressions %s, at p99 %s, improvements %s", c.pairs, share(c.regressions), share(c.at99), share(c.improvements))
}

func simulate(t *testing.T, before, after *world, o Options, pairs int) (c called) {
	t.Helper()
	rng := rand.New(rand.NewPCG(6, uint64(len(before.name))))
	for range pairs {
		got, err := Compare(File{"a", before.run(rng)}, []File{{"b", after.run(rng)}}, o)
		if err != nil {
			t.Fatal(err)
		}
		c.pairs++
		switch got.Verdict {
		case Regression:
			c.regressions++
		case Improvement:
			c.improvements++
		}
		for _, change := range got.Pairs[0].Steps[0].Latency {
			if change.Figure == "p99" && change.Verdict == Worse {
				c.at99++
			}
		}
	}
	return c
}

// worlds are without a difference, and each has a variant with one of 10 %.
func worlds() []world {
	return []world{
		{name: "independent", requests: 100_000, windows: 100, spread: 0.5},
		{name: "independent, heavy tail", requests: 100_000, windows: 100, spread: 1},
		{name: "independent, 2,000 requests", requests: 2_000, windows: 50, spread: 0.5, errors: 0.01},
		{name: "independent, two kinds of answer", requests: 100_000, windows: 100, spread: 0.3, slow: 0.05},
		{name: "independent, 10 steps", requests: 10_000, windows: 100, spread: 0.5, steps: 10, errors: 0.01},
		{name: "wandering by 5 %", requests: 100_000, windows: 300, spread: 0.5, wander: 0.05, memory: 0.8},
		{name: "wandering by 20 %", requests: 100_000, windows: 300, spread: 0.5, wander: 0.2, memory: 0.8},
		{name: "wandering slowly by 20 %", requests: 100_000, windows: 300, spread: 0.5, wander: 0.2, memory: 0.98},
		{name: "stalls", requests: 100_000, windows: 300, spread: 0.5, stalls: 0.02},
	}
}

// TestErrorRates measures how often pairs without a difference are called regressions, and how
// often those with one are. It uses few pairs, or HYPERSCALE_COMPARE_PAIRS of them.
// docs/compare.md has the figures of 1,000.
func TestErrorRates(t *testing.T) {
	pairs, large := 12, false
	if text := os.Getenv("HYPERSCALE_COMPARE_PAIRS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("HYPERSCALE_COMPARE_PAIRS=%q: write how many pairs to simulate", text)
		}
		pairs, large = n, true
	}
	for _, w := range worlds() {
		t.Run(w.name, func(t *testing.T) { errorRates(t, w, pairs, large) })
	}
}

func errorRates(t *testing.T, w world, pairs int, large bool) {
	if !large && w.requests*max(w.steps, 1) > 20_000 {
		w.requests /= 10
	}
	same := simulate(t, &w, &w, Default(), pairs)
	t.Logf("no difference:           %v", same)
	// A twentieth, and what chance adds to so many pairs.
	if most := 0.05*float64(pairs) + 3*math.Sqrt(0.05*0.95*float64(pairs)); float64(same.regressions) > most {
		t.Errorf("%v: want at most 5 %%", same)
	}
	slower, tail := w, w
	slower.scale, tail.tail = 1.1, 1.1
	if large {
		floorless := Default()
		floorless.TolerancePPM = 1
		t.Logf("without a tolerance:     %v", simulate(t, &w, &w, floorless, pairs))
		t.Logf("all 10 %% slower:         %v", simulate(t, &w, &slower, Default(), pairs))
	}
	if !large && w.name != "independent" {
		return
	}
	found := simulate(t, &w, &tail, Default(), pairs)
	t.Logf("slowest 2 %%, 10 %% slower: %v", found)
	if w.name == "independent" && float64(found.at99) < 0.95*float64(pairs) && large {
		t.Errorf("10 %% slower at p99: %v: want at least 95 %% found", found)
	}
	if w.name == "independent" && found.at99 == 0 {
		t.Errorf("10 %% slower at p99: %v: want some found, however few requests", found)
	}
}
