package admission

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// onStep returns the longest duration up to d that the histogram keeps exactly.
func onStep(d time.Duration) time.Duration { return floor(step(d)) }

// calmDetector has seen four ticks of a latency.
func calmDetector(base time.Duration) *Detector {
	d := &Detector{}
	for range warmUp + 1 {
		d.Observe(base)
		d.Tick()
	}
	return d
}

// Each bound belongs to the level above it.
func TestBoundsOfLevels(t *testing.T) {
	const (
		unit = time.Duration(1 << 21) // whole multiples of it are steps
		base = 32 * unit
	)
	for _, c := range []struct {
		about string
		p99   time.Duration
		share Share
		want  Level
	}{
		{"what it always was", base, 0, Calm},
		{"delta just below a fifth", 38 * unit, 0, Calm},
		{"delta beyond a fifth", 39 * unit, 0, Busy},
		{"delta just below a half", 47 * unit, 0, Busy},
		{"delta of a half", 48 * unit, 0, Stressed},
		{"delta just below one", 63 * unit, 0, Stressed},
		{"delta of one", 64 * unit, 0, Overloaded},
		{"share just below the first bound", base, 699_999, Calm},
		{"share at the first bound", base, 700_000, Busy},
		{"share just below the second bound", base, 849_999, Busy},
		{"share at the second bound", base, 850_000, Stressed},
		{"share just below the third bound", base, 949_999, Stressed},
		{"share at the third bound", base, 950_000, Overloaded},
		{"the worst wins", 48 * unit, 700_000, Stressed},
		{"both are overloaded", 64 * unit, 950_000, Emergency},
	} {
		d := calmDetector(base)
		d.Observe(c.p99)
		if got := d.Tick(c.share, 0); got != c.want {
			t.Errorf("%s: %v with %d millionths is %v, want %v", c.about, c.p99, c.share, got, c.want)
		}
	}
	for _, c := range []struct {
		p99  time.Duration
		want Level
	}{{199 * time.Millisecond, Calm}, {200 * time.Millisecond, Busy}, {499 * time.Millisecond, Busy}, {500 * time.Millisecond, Stressed}, {1999 * time.Millisecond, Stressed}, {2 * time.Second, Overloaded}} {
		if got := over(int64(c.p99), absoluteBounds()); got != c.want {
			t.Errorf("%v is %v, want %v", c.p99, got, c.want)
		}
	}
}

// The first ticks know no baseline, and 1 ms is the least one.
func TestWarmUpAndFloor(t *testing.T) {
	d := &Detector{}
	for i, p99 := range []time.Duration{10 * time.Microsecond, 100 * time.Millisecond, 10 * time.Microsecond} {
		d.Observe(p99)
		if got := d.Tick(); got != Calm {
			t.Errorf("tick %d of the warm-up is %v", i, got)
		}
	}
	d = calmDetector(50 * time.Microsecond)
	d.Observe(1100 * time.Microsecond)
	if got := d.Tick(); got != Calm {
		t.Errorf("50 us that become 1.1 ms are %v", got)
	}
}

// The level rises at once and falls by one step after ten calm ticks, without samples too.
func TestFallsByOneStep(t *testing.T) {
	d := calmDetector(10 * time.Millisecond)
	d.Observe(time.Minute) // a process that was paused
	if got := d.Tick(); got != Overloaded {
		t.Fatalf("a sample of a minute is %v", got)
	}
	for want := Overloaded; want > Calm; want-- {
		for i := range calmTicks {
			if d.Level() != want {
				t.Fatalf("%v after %d calm ticks at %v", d.Level(), i, want)
			}
			d.Tick()
		}
	}
	if d.Level() != Calm {
		t.Errorf("the level ends at %v", d.Level())
	}
}

// twin is the detector in floats, over sorted samples.
type twin struct {
	baseline float64
	deltas   []float64
	ticks    int
	level    Level
	calm     int
	close    bool // a value was too near to a bound to tell floats from integers
}

func (w *twin) over(v float64, bounds ...float64) Level {
	l := Calm
	for _, b := range bounds {
		w.close = w.close || math.Abs(v-b) < 1e-4*max(1, b)
		if v >= b {
			l++
		}
	}
	return l
}

func (w *twin) tick(samples []time.Duration, share float64) {
	latency := Calm
	p99 := 0.0
	if len(samples) > 0 {
		slices.Sort(samples)
		p99 = samples[len(samples)-1-len(samples)/100].Seconds()
		w.ticks++
		latency = w.over(p99*1000, 200, 500, 2000)
		if w.ticks > 3 {
			base := max(w.baseline, 0.001)
			delta := (p99 - base) / base
			w.deltas = append(w.deltas, delta)
			latency = max(latency, w.over(delta, .2, .5, 1))
			if delta > .2 && w.slope() > .1 {
				latency = Overloaded
			}
		}
	}
	shares := w.over(share, .7, .85, .95)
	worst := max(latency, shares)
	if latency == Overloaded && shares == Overloaded {
		worst = Emergency
	}
	if worst >= w.level {
		w.level, w.calm = worst, 0
	} else if w.calm++; w.calm == 10 {
		w.level, w.calm = w.level-1, 0
	}
	if len(samples) > 0 && w.ticks == 1 {
		w.baseline = p99
	} else if len(samples) > 0 && w.level < Stressed {
		w.baseline += 0.1 * (p99 - w.baseline)
	}
}

func (w *twin) slope() float64 {
	last := w.deltas[max(0, len(w.deltas)-20):]
	if len(last) < 3 {
		return 0
	}
	n := float64(len(last))
	var x, y, xx, xy float64
	for i, d := range last {
		x, y, xx, xy = x+float64(i), y+d, xx+float64(i*i), xy+float64(float64(i)*d)
	}
	slope := (float64(n*xy) - float64(x*y)) / (float64(n*xx) - float64(x*x))
	w.close = w.close || math.Abs(slope-.1) < 1e-4
	return slope
}

// The detector decides as its twin does.
func TestDetectorIsItsTwin(t *testing.T) {
	reached := map[Level]bool{}
	rapid.Check(t, func(t *rapid.T) {
		d, w := &Detector{}, &twin{}
		// Baselines that move: a tick is near the last one, and now and then far away.
		around := rapid.Float64Range(0.0002, 0.3).Draw(t, "latency")
		for i := range rapid.IntRange(1, 80).Draw(t, "ticks") {
			factor := rapid.SampledFrom([]float64{1, 1, 1, 1.02, 1.15, 1.3, 1.7, 3, 0.5, 0}).Draw(t, "factor")
			samples := make([]time.Duration, rapid.IntRange(0, 250).Draw(t, "samples"))
			for k := range samples {
				samples[k] = onStep(time.Duration(around * factor * float64(time.Second) * (1 - float64(k%7)/100)))
				d.Observe(samples[k])
			}
			share := rapid.SampledFrom([]Share{0, 0, 0, 0, 690_000, 710_000, 860_000, 990_000}).Draw(t, "share")
			d.Tick(0, share)
			w.tick(samples, float64(share)/million)
			if w.close {
				return
			}
			if d.Level() != w.level {
				t.Fatalf("tick %d: %v with baseline %v, the twin has %v with %v s", i, d.Level(), d.baseline, w.level, w.baseline)
			}
			reached[d.Level()] = true
		}
	})
	for l := Calm; l < Levels; l++ {
		if !reached[l] {
			t.Errorf("no draw reached %v", l)
		}
	}
}

// A latency that rises from tick to tick is an overload before it has doubled. A rise within a
// fifth of the baseline is none.
func TestTrend(t *testing.T) {
	d := calmDetector(10 * time.Millisecond)
	base := d.baseline
	for i, want := range []Level{Calm, Calm, Overloaded} {
		d.Observe(base + time.Duration(i)*base*19/100)
		if got := d.Tick(); got != want {
			t.Errorf("tick %d with delta %d %% is %v, want %v", i, i*19, got, want)
		}
	}
	d = &Detector{}
	for i, tenths := range []time.Duration{100, 100, 100, 60, 90, 113} {
		d.Observe(tenths * time.Millisecond / 10)
		if got := d.Tick(); got != Calm {
			t.Errorf("tick %d of a latency that recovers is %v", i, got)
		}
	}
}

// The histogram's p99 is at most 1/32 below the exact one, and never above it.
func TestQuantileOfATick(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := rapid.SliceOfN(rapid.Int64Range(0, int64(130*time.Second)), 1, 400).Draw(t, "samples")
		h := &histogram{}
		for _, s := range samples {
			h.add(time.Duration(s))
		}
		got, _ := h.take()
		slices.Sort(samples)
		exact := time.Duration(samples[len(samples)-1-len(samples)/100])
		if got > exact || exact-got > exact/steps {
			t.Fatalf("p99 %v, exactly %v", got, exact)
		}
		if _, ok := h.take(); ok {
			t.Fatal("samples outlive their tick")
		}
	})
}

func ExampleDetector() {
	d := calmDetector(10 * time.Millisecond)
	d.Observe(25 * time.Millisecond)
	fmt.Println(d.Tick(ShareOf(300, 2000)))
	// Output: overloaded
}
