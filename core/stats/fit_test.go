package stats

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
)

// TestCoarsenErrsUpwards: a coarse histogram is valid and has the same exact figures. Its
// quantiles are the fine ones' or too high by at most a bucket.
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

// noisy returns the figures of many steps with widely spread latencies.
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

// phased is noisy with phases and a course over time.
func phased(steps int) *message.Stats {
	s := noisy(steps)
	var w Windows
	for at := range 60_000 * time.Millisecond / WindowWidth {
		one := w.At(at * WindowWidth)
		one.Started++
		one.OK++
		w.Record(at*WindowWidth, uint64(at)<<20)
	}
	for i := range s.Steps {
		step := &s.Steps[i]
		step.Phases = []message.PhaseTimes{{Phase: message.PhaseSend, Time: step.Service}, {Phase: message.PhaseWait, Time: step.Latency}}
		step.Windows = w.Wire()
	}
	return s
}

// TestFitLosesTheLeastFirst: the shape of windows before the windows, then the precision of phases,
// and that before the precision of what thresholds read.
func TestFitLosesTheLeastFirst(t *testing.T) {
	whole := SizeOf(phased(10))
	before := 0
	for share := 99; share > 0; share-- {
		s := phased(10)
		shared := *s
		Fit(s, whole*share/100)
		if !reflect.DeepEqual(phased(10), &shared) {
			t.Fatal("what others share was changed")
		}
		step, fine := &s.Steps[9], &phased(10).Steps[9]
		lost := 0
		for i, is := range []bool{
			fineness(t, step.Windows) < FineMost || step.Windows.Width > fine.Windows.Width, step.Windows.Dropped,
			len(step.Phases[1].Time.Buckets) < len(fine.Phases[1].Time.Buckets), len(step.Latency.Buckets) < len(fine.Latency.Buckets),
		} {
			if is {
				lost = i + 1
			}
		}
		if lost < before || lost == 0 {
			t.Fatalf("at %d %% stage %d came after %d", share, lost, before)
		}
		if lines := len(s.Logs) - 1; lines != max(0, lost-1) {
			t.Fatalf("stage %d: the log tells of %d losses: %q", lost, lines, s.Logs)
		}
		if _, err := Sum([]*message.Stats{s, phased(10)}); err != nil {
			t.Fatal(err)
		}
		before = lost
	}
	if before != 4 {
		t.Errorf("the last stage was %d, want 4", before)
	}
}

func fineness(t testing.TB, in message.Windows) int {
	t.Helper()
	n, err := Fineness(in)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestFitBluntsAndWidensInTurn: the less room, the coarser the buckets or the windows, and neither
// is worse by more than one halving.
func TestFitBluntsAndWidensInTurn(t *testing.T) {
	whole := busy(20, 5)
	size, halvings, seen := SizeOf(whole), 0, map[[2]int]bool{}
	for left := 100; left > 4; left-- {
		s := *whole
		Fit(&s, size*left/100)
		w := s.Steps[0].Windows
		if w.Dropped {
			break
		}
		blunted, widened := 0, 0
		for n := fineness(t, w); n < FineMost; n *= 2 {
			blunted++
		}
		for n := w.Width; n > WindowWidth; n /= 2 {
			widened++
		}
		if blunted+widened < halvings || blunted < min(widened, fineBits) || blunted > widened+1 {
			t.Errorf("in %d %% of the room, buckets are halved %d times, windows doubled %d times, after %d in all", left, blunted, widened, halvings)
		}
		halvings = blunted + widened
		seen[[2]int{blunted, widened}] = true
		if _, err := Sum([]*message.Stats{&s, whole}); err != nil {
			t.Fatal(err)
		}
	}
	if !seen[[2]int{0, 0}] || !seen[[2]int{1, 0}] || !seen[[2]int{1, 1}] || !seen[[2]int{2, 2}] {
		t.Errorf("halvings of buckets and windows: %v, want each in turn", seen)
	}
}

// TestCoursesFitAResult says what a usual workflow keeps in half a frame.
func TestCoursesFitAResult(t *testing.T) {
	for _, tt := range []struct {
		steps, fine int
		width       time.Duration
	}{{1, 8, WindowWidth}, {10, 8, WindowWidth}, {20, 4, 2 * WindowWidth}} {
		s := busy(tt.steps, 50)
		t.Logf("%d steps: %d bytes of a course of 512 windows, %d in all", tt.steps, len(s.Steps[0].Windows.Data), SizeOf(s))
		Fit(s, message.FrameMax/2)
		w := s.Steps[0].Windows
		if got := fineness(t, w); got < tt.fine || w.Width > tt.width || w.Dropped {
			t.Errorf("%d steps: %d buckets an octave in windows of %v, dropped %v, want %d, %v", tt.steps, got, w.Width, w.Dropped, tt.fine, tt.width)
		}
	}
}

// TestTheLargestCourseTravels: what uses all buckets of all windows fits a frame, and its receiver
// reads it.
func TestTheLargestCourseTravels(t *testing.T) {
	var w Windows
	for at := range WindowsMax {
		for i := range LatencyBuckets {
			for range 3 {
				w.Record(time.Duration(at)*WindowWidth, LatencyBound(i))
			}
		}
	}
	s := &message.Stats{Steps: []message.StepStats{{Name: "s", Kind: message.StepRequest, Windows: w.Wire()}}}
	if n := len(s.Steps[0].Windows.Data); n < 200<<10 || n > message.FrameMax {
		t.Errorf("%d bytes before it must fit", n)
	}
	Fit(s, message.FrameMax/2)
	data, err := (&message.ExecProgress{Stats: *s}).MarshalMsg(nil)
	if err != nil {
		t.Fatal(err)
	}
	var got message.ExecProgress
	if _, err := got.UnmarshalMsg(data); err != nil {
		t.Fatal(err)
	}
	if all, err := Intervals(got.Stats.Steps[0].Windows); err != nil || len(all) != WindowsMax || fineness(t, got.Stats.Steps[0].Windows) != FineMost {
		t.Errorf("%d windows with %d buckets an octave, %v: want %d with %d", len(all), fineness(t, got.Stats.Steps[0].Windows), err, WindowsMax, FineMost)
	}
}

// busy has courses of 512 windows with so many latencies each, of spread, and their distributions.
func busy(steps, ends int) *message.Stats {
	values, s := spread(), new(message.Stats)
	for i := range steps {
		var w Windows
		var h Histogram
		for k := range WindowsMax * ends {
			at, v := time.Duration(k/ends)*WindowWidth, values[(k*7+i)%len(values)]
			w.At(at).OK++
			w.Record(at, v)
			h.Record(v)
		}
		s.Steps = append(s.Steps, message.StepStats{Name: fmt.Sprintf("step_%d", i), Kind: message.StepRequest, Started: h.Count(), OK: h.Count(), Latency: h.Wire(), Service: h.Wire(), Windows: w.Wire()})
	}
	return s
}

func TestBare(t *testing.T) {
	s := phased(2)
	Bare(&s.Steps[0])
	if size, most := SizeOf(s)/2, SizeOf(phased(2))*3/4/2; size > most || !s.Steps[0].Windows.Dropped || s.Steps[0].OK == 0 {
		t.Errorf("%d bytes a step are left, want at most %d, the counts, and word of what is gone", size, most)
	}
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
		if size := SizeOf(s); size > message.FrameMax/2 {
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
