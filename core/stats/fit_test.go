package stats

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/message"
)

// TestCoarsenErrsUpwards: a coarse histogram is one, with the same exact figures, and
// its quantiles are the fine ones' or too high by no more than a bucket.
func TestCoarsenErrsUpwards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fine := recorded(drawValues(t, "values"))
		bits := rapid.IntRange(1, subBits).Draw(t, "bits")
		coarse, err := FromWire(coarsen(fine.Wire(), bits))
		if err != nil {
			t.Fatal(err)
		}
		if coarse.Count() != fine.Count() || coarse.Sum() != fine.Sum() || coarse.Min() != fine.Min() || coarse.Max() != fine.Max() {
			t.Fatalf("count, sum, min, max are %d, %d, %d, %d, want %d, %d, %d, %d", coarse.Count(), coarse.Sum(), coarse.Min(), coarse.Max(),
				fine.Count(), fine.Sum(), fine.Min(), fine.Max())
		}
		for _, ppm := range []uint32{0, 1, 250_000, 500_000, 990_000, million} {
			got, want := coarse.Quantile(ppm), fine.Quantile(ppm)
			if got < want || got-want > want>>(subBits-bits)+1<<bits {
				t.Fatalf("quantile %d is %d, want %d or little more", ppm, got, want)
			}
		}
	})
}

// noisy is what many steps with widely spread latencies measured.
func noisy(steps int) *message.Stats {
	var h Histogram
	for v := uint64(1_000_000); v < 4_000_000_000; v += v >> 8 {
		h.RecordN(v, 3)
	}
	s := &message.Stats{Generator: message.Generator{Lag: h.Wire()}, Logs: []string{"first"}}
	for i := range steps {
		s.Steps = append(s.Steps, message.StepStats{
			Name: fmt.Sprintf("step_%d", i), Kind: message.StepRequest, Started: h.Count(), OK: h.Count(), Latency: h.Wire(), Service: h.Wire(),
		})
	}
	return s
}

func TestFit(t *testing.T) {
	small := noisy(10)
	before := noisy(10)
	Fit(small, message.FrameMax)
	if !reflect.DeepEqual(before, small) {
		t.Error("what fits was changed")
	}
	for _, steps := range []int{150, 1000} {
		s := noisy(steps)
		shared := *s
		Fit(s, message.FrameMax/2)
		if size := sizeOf(s); size > message.FrameMax/2 {
			t.Errorf("%d steps: %d bytes are left, want at most %d", steps, size, message.FrameMax/2)
		}
		if len(s.Logs) != 2 || !strings.HasPrefix(s.Logs[0], "percentiles are up to ") || s.Logs[1] != "first" {
			t.Errorf("%d steps: the log %q does not begin with what was lost", steps, s.Logs)
		}
		if !reflect.DeepEqual(noisy(steps), &shared) {
			t.Errorf("%d steps: what others share was changed", steps)
		}
		sum, err := Sum([]*message.Stats{s, noisy(steps)})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := sum.Steps[0].Latency.Count, sum.Steps[0].OK; got != want {
			t.Errorf("%d steps: %d latencies in the sum, want %d", steps, got, want)
		}
	}
}
