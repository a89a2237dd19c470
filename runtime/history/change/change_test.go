package change

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// Student's distribution, against its table.
func TestTails(t *testing.T) {
	for _, c := range []struct{ t, df, want float64 }{
		{12.706, 1, 0.05}, {2.101, 18, 0.05}, {2.878, 18, 0.01}, {3.922, 18, 0.001}, {3.551, 40, 0.001}, {0, 5, 1},
	} {
		if got := tails(c.t, c.df); math.Abs(got-c.want) > 0.004*c.want {
			t.Errorf("beyond %v at %v degrees: %.6g, want %.6g", c.t, c.df, got, c.want)
		}
	}
}

// level makes runs around a level, in a band of 3 % on both sides.
func level(r *rand.Rand, all []float64, runs int, of float64) []float64 {
	for range runs {
		all = append(all, of*(1+0.03*(2*r.Float64()-1)))
	}
	return all
}

func TestFind(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	two := level(r, level(r, level(r, nil, 30, 100), 20, 120), 40, 90)
	alone := append(level(r, nil, 20, 100), 140)
	for _, c := range []struct {
		name   string
		values []float64
		want   []int
	}{
		{"nothing", nil, nil},
		{"one run", []float64{5}, nil},
		{"equal runs", []float64{5, 5, 5, 5, 5, 5, 5, 5, 5, 5}, nil},
		{"equal runs, then others", []float64{5, 5, 5, 5, 5, 6, 6, 6}, []int{5}},
		{"two shifts over more than one window", two, []int{30, 50}},
		{"one run beyond all noise, at the end", alone, []int{20}},
		{"the same run, one run before the end", append(alone[:len(alone):len(alone)], 100), nil},
		{"two runs, too few before them", []float64{100, 100.1, 140, 140.1}, nil},
		{"a shift below the effect", []float64{100, 100.1, 100, 100.1, 100, 100.1, 102, 102.1, 102, 102.1, 102, 102.1}, nil},
	} {
		var got []int
		for _, p := range Find(c.values, Default()) {
			got = append(got, p.At)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: points at %v, want %v", c.name, got, c.want)
		}
	}
	p := Find(two, Default())[0]
	if math.Abs(p.Before-100) > 2 || math.Abs(p.After-120) > 2 || p.P >= 0.0005 || p.Behind != 60 {
		t.Errorf("the first point is %+v", p)
	}
}

// A share may be zero: its effect is a difference.
func TestLinear(t *testing.T) {
	o := Default()
	o.Linear, o.Effect = true, 0.01
	values := []float64{0, 0, 0, 0, 0, 0, 0.02, 0.021, 0.02}
	if got := Find(values, o); len(got) != 1 || got[0].At != 6 || got[0].Before != 0 {
		t.Errorf("points %+v, want one at 6", got)
	}
	o.Effect = 0.05
	if got := Find(values, o); len(got) > 0 {
		t.Errorf("an effect of 0.05 lets %+v pass", got)
	}
}

// TestBars measures what the manual says: how soon a shift is found, and how often one is seen in
// noise. The seeds are fixed.
func TestBars(t *testing.T) {
	band := func(r *rand.Rand) float64 { return 1 + 0.03*(2*r.Float64()-1) }
	normal := func(r *rand.Rand) float64 { return math.Exp(0.03 * r.NormFloat64()) }
	for _, c := range []struct {
		noise               string
		draw                func(*rand.Rand) float64
		within3, within4    int // of 1,000 series, at least
		placed              int
		falseMost, falseFew int // points in 20,000 runs
	}{
		{"a band of 3 % on both sides", band, 900, 930, 980, 10, 1},
		{"normal, a deviation of 3 %", normal, 150, 240, 800, 20, 10},
	} {
		within := map[int]int{}
		placed := 0
		for seed := range 1000 {
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			var v []float64
			for i := range 60 {
				v = append(v, c.draw(r)*(1+0.05*float64(min(max(i-39, 0), 1))))
			}
			for behind := 1; behind <= 4; behind++ {
				from := max(0, 40+behind-50)
				if near(Find(v[from:40+behind], Default()), 40-from) {
					within[behind]++
					break
				}
			}
			if near(Find(v[10:], Default()), 30) {
				placed++
			}
		}
		wrong := noisePoints(c.draw)
		within3 := within[1] + within[2] + within[3]
		within4 := within3 + within[4]
		t.Logf("%s: of 1,000 shifts of 5 %% found within 3 runs %d, within 4 %d, placed within 3 runs at last %d; %d points in 20,000 runs of noise", c.noise, within3, within4, placed, wrong)
		if within3 < c.within3 || within4 < c.within4 || placed < c.placed || wrong > c.falseMost || wrong < c.falseFew {
			t.Errorf("%s: found %d and %d, placed %d, %d false: want %+v", c.noise, within3, within4, placed, wrong, c)
		}
	}
}

// near reports a point within three runs of a place.
func near(points []Point, at int) bool {
	for _, p := range points {
		if p.At >= at-3 && p.At <= at+3 {
			return true
		}
	}
	return false
}

// noisePoints counts the points that a reader of 20 series sees of 1,000 runs without a shift.
func noisePoints(draw func(*rand.Rand) float64) (wrong int) {
	for seed := range 20 {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		var v []float64
		var told []Point
		for range 1000 {
			v = append(v, draw(r))
			from := max(0, len(v)-50)
			for _, p := range Find(v[from:], Default()) {
				p.At += from
				if !near(told, p.At) {
					told = append(told, p)
					wrong++
				}
			}
		}
	}
	return wrong
}

func BenchmarkFind(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	v := level(r, level(r, nil, 500, 100), 500, 110)
	for b.Loop() {
		Find(v, Default())
	}
}
