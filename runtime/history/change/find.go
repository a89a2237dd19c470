package change

import (
	"math"
	"slices"
)

// Options say what counts as a change.
type Options struct {
	Chance float64 // that a split at which nothing changed passes, 0 < Chance < 1
	Sure   float64 // the same where fewer than three runs stand behind the split
	Effect float64 // least change of the mean: a share of it, or the difference itself if Linear
	Linear bool    // compare values, not their logarithms: for shares, which may be zero
	Window int     // runs that one look covers
}

// Default are those of the manual.
//
// An effect of 5 % would lose half of all shifts of 5 %, as the means that are seen are smaller as
// often as larger.
func Default() Options { return Options{Chance: 0.0005, Sure: 0.0001, Effect: 0.03, Window: 50} }

// Bounds of a split.
const (
	sideLeast   = 3 // runs on each side
	beforeLeast = 5 // before the last one or two
)

// looks divides the chance of a cut that is the best of a stretch's many: ten, not their number, as
// neighbouring cuts say nearly the same. It was measured: normal noise makes 0.9 to 1.25 points in 1,000 runs,
// and 4.5 if nothing is divided.
const looks = 10

// Noise is bounded if the kurtosis of so many runs is below: 1.8 in a band, 3 if normal. Then so many times the chance
// passes. It was measured: noise of a band makes 0.15 to 0.3 points in 1,000 runs, and 0.1 without this.
const (
	boundedLeast    = 20
	boundedKurtosis = 2.1
	boundedShare    = 7
)

// Point is a run at which the level changed.
type Point struct {
	At     int     // index of the first run of the new level
	Before float64 // mean of the runs before it, back to the last point, a geometric one unless Linear
	After  float64 // of the runs from it on, up to the next point
	P      float64 // chance that such a difference is none
	Behind int     // runs from it to the end of the series
}

// Find returns the points in ascending order. Values must be above zero unless Linear.
func Find(values []float64, o Options) []Point {
	f := finder{o: o, x: make([]float64, len(values))}
	for i, v := range values {
		f.x[i] = v
		if !o.Linear {
			f.x[i] = math.Log(max(v, math.SmallestNonzeroFloat64))
		}
	}
	var cuts []int
	for from := 0; from < len(values); from += max(o.Window/2, 1) {
		until := min(from+o.Window, len(values))
		cuts = f.split(cuts, from, until)
		if until == len(values) {
			break
		}
	}
	slices.Sort(cuts)
	return f.proved(slices.Compact(cuts))
}

type finder struct {
	o Options
	x []float64
}

// split adds the cuts of a stretch: the best one, then those of both its sides.
func (f *finder) split(cuts []int, from, until int) []int {
	at, p := f.best(from, until)
	if at < 0 || p >= f.bar(from, at, until) {
		if at = f.tail(from, until); at < 0 {
			return cuts
		}
	}
	cuts = f.split(cuts, from, at)
	return f.split(append(cuts, at), at, until)
}

// tail returns the cut before the last runs of the series that passes by most; -1: none does. Noise among so few moves
// the greatest energy away from where they begin.
func (f *finder) tail(from, until int) (at int) {
	at = -1
	if until < len(f.x) {
		return at
	}
	least := 1.0
	for k := max(until-sideLeast, from+beforeLeast); k < until; k++ {
		if share := f.judge(from, k, until) / f.bar(from, k, until); share < least {
			at, least = k, share
		}
	}
	return at
}

// bar is the chance below which a cut passes.
func (f *finder) bar(from, at, until int) float64 {
	bar := f.o.Chance
	switch behind := until - at; {
	case behind < sideLeast:
		bar = f.o.Sure
	case behind > sideLeast: // a cut inside is the best of many
		bar /= looks
	}
	if until-at >= sideLeast && bounded(f.x[from:at], f.x[at:until]) {
		bar *= boundedShare
	}
	return bar
}

// bounded reports whether the noise around both levels has thinner tails than a normal one. Student's t is too careful
// there, as the mean of three such runs does not stray as far.
func bounded(a, b []float64) bool {
	if len(a)+len(b) < boundedLeast {
		return false
	}
	var two, four float64
	for _, side := range [2][]float64{a, b} {
		m := mean(side)
		for _, v := range side {
			square := (v - m) * (v - m)
			two += square
			four += square * square
		}
	}
	n := float64(len(a) + len(b))
	return two > 0 && four*n < boundedKurtosis*two*two
}

// best returns the cut of a stretch whose sides differ most, by E-divisive's energy of means, and
// its chance. At the end of the series a side may be shorter.
func (f *finder) best(from, until int) (at int, p float64) {
	at, p = -1, 1
	most := 0.0
	var whole float64
	for _, v := range f.x[from:until] {
		whole += v
	}
	var before float64
	for k := from + 1; k < until; k++ {
		before += f.x[k-1]
		m, n := float64(k-from), float64(until-k)
		if !f.allowed(k-from, until-k, until) {
			continue
		}
		d := (whole-before)/n - before/m
		if energy := m * n / (m + n) * d * d; energy > most {
			most, at = energy, k
		}
	}
	if at >= 0 {
		p = f.judge(from, at, until)
	}
	return at, p
}

// allowed bounds the sides of a cut.
func (f *finder) allowed(before, behind, until int) bool {
	if behind < sideLeast {
		return until == len(f.x) && before >= beforeLeast
	}
	return before >= sideLeast
}

// judge is the chance of a cut's difference under Student's t on both sides; 1 if the effect is
// too small.
func (f *finder) judge(from, at, until int) float64 {
	a, b := f.x[from:at], f.x[at:until]
	if !f.large(mean(a), mean(b)) {
		return 1
	}
	return pooled(a, b)
}

// large reports whether two means differ by the effect.
func (f *finder) large(before, after float64) bool {
	if f.o.Linear {
		return math.Abs(after-before) >= f.o.Effect
	}
	return math.Abs(math.Expm1(after-before)) >= f.o.Effect
}

// proved drops the weakest cut until each that is left passes against its neighbours' stretches.
func (f *finder) proved(cuts []int) []Point {
	for {
		points, weakest := f.points(cuts), -1
		for i := range points {
			failed := points[i].P >= f.bar(f.begin(cuts, i), points[i].At, min(f.end(cuts, i), points[i].At+f.o.Window))
			if failed && (weakest < 0 || points[i].P > points[weakest].P) {
				weakest = i
			}
		}
		if weakest < 0 {
			return points
		}
		cuts = slices.Delete(cuts, weakest, weakest+1)
	}
}

// begin is where the stretch before a cut begins.
func (f *finder) begin(cuts []int, i int) int {
	from := cuts[i] - f.o.Window
	if i > 0 {
		from = max(from, cuts[i-1])
	}
	return max(from, 0)
}

// end is where the stretch behind a cut ends.
func (f *finder) end(cuts []int, i int) int {
	if i+1 < len(cuts) {
		return cuts[i+1]
	}
	return len(f.x)
}

func (f *finder) points(cuts []int) []Point {
	all := make([]Point, len(cuts))
	for i, at := range cuts {
		from, until := f.begin(cuts, i), min(f.end(cuts, i), at+f.o.Window)
		all[i] = Point{At: at, Before: f.value(f.x[from:at]), After: f.value(f.x[at:until]), P: f.judge(from, at, until), Behind: len(f.x) - at}
	}
	return all
}

// value is the mean in the unit of the values.
func (f *finder) value(x []float64) float64 {
	if f.o.Linear {
		return mean(x)
	}
	return math.Exp(mean(x))
}
