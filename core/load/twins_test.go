package load

import (
	"math"
	"math/big"
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/message"
)

// A mix picks each step as often as its weight says. Its model is the list of all steps, each
// as often as its weight.
func TestMixAgainstItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &message.WorkflowPlan{}
		var list []int
		for i := range rapid.IntRange(0, 6).Draw(t, "steps") {
			w := rapid.Uint32Range(0, 5).Draw(t, "weight")
			p.Steps = append(p.Steps, message.StepPlan{Weight: w})
			for range w {
				list = append(list, i)
			}
		}
		m := NewMix(p)
		if m.Empty() != (len(list) == 0) {
			t.Fatalf("of %d weighed steps it says empty: %v", len(list), m.Empty())
		}
		if m.Empty() {
			return
		}
		n := uint64(len(list))
		draws := []uint64{rapid.Uint64().Draw(t, "draw"), math.MaxUint64}
		for k := range n { // the first draw of each unit of weight, and the last one of the unit before
			first, rest := bits.Div64(k, 0, n)
			if rest > 0 {
				first++
			}
			draws = append(draws, first, first-1)
		}
		for _, draw := range draws {
			at := new(big.Int).Mul(new(big.Int).SetUint64(draw), big.NewInt(int64(n)))
			if want, got := list[at.Rsh(at, 64).Int64()], m.Pick(draw); got != want {
				t.Fatalf("%d of %v picks step %d, want %d", draw, p.Steps, got, want)
			}
		}
	})
}

// A workflow is open if it has a rate at any time.
func TestOpenIsARateAtAnyTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawOpen(t)
		most := p.Rate
		for _, s := range p.Stages {
			most = max(most, s.Rate)
		}
		if Open(p) != (most > 0) {
			t.Fatalf("its highest rate is %d, and it is open: %v", most, Open(p))
		}
	})
}

// areaOf returns twice the area below a segment after x, times its length.
func areaOf(s *segment, x uint64) *big.Int {
	n := func(v uint64) *big.Int { return new(big.Int).SetUint64(v) }
	height := new(big.Int).Mul(n(2*s.from), n(s.length))
	slope := new(big.Int).Sub(n(s.to), n(s.from))
	return height.Add(height, slope.Mul(slope, n(x))).Mul(height, n(x))
}

// The search for a time by its area gives the same result from any start: the last time at
// which the area does not exceed the target. The rate there lies on the line, rounded down.
func TestSearchesEndWhereTheyShould(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.Uint64Range(0, 9), rapid.Uint64Range(0, 1<<rapid.IntRange(4, 50).Draw(t, "bits")))
		s := &segment{length: rapid.Uint64Range(1, 1<<rapid.IntRange(1, 59).Draw(t, "long")).Draw(t, "length"), from: value.Draw(t, "from"), to: value.Draw(t, "to")}
		if s.from+s.to == 0 {
			return
		}
		whole := product(s.from+s.to, s.length)
		x := rapid.Uint64Range(0, s.length-1).Draw(t, "x")
		target := s.area(x) // of a time within it, rounded down to an area
		area := new(big.Int).Div(areaOf(s, x), new(big.Int).SetUint64(s.length))
		a := wide{new(big.Int).Rsh(area, 64).Uint64(), new(big.Int).And(area, new(big.Int).SetUint64(math.MaxUint64)).Uint64()}
		if !a.less(whole) {
			return
		}
		near := rapid.OneOf(rapid.Uint64Range(0, s.length), rapid.Uint64Range(x-min(x, 3), x+3)).Draw(t, "near")
		got := s.reach(a, near)
		scaled := new(big.Int).Mul(area, new(big.Int).SetUint64(s.length))
		if areaOf(s, got).Cmp(scaled) > 0 || got+1 < s.length && areaOf(s, got+1).Cmp(scaled) <= 0 {
			t.Fatalf("%+v: an area of %v is reached at %d from %d; there it is %v, then %v", s, scaled, got, near, areaOf(s, got), areaOf(s, got+1))
		}
		if want := areaOf(s, x); big192(target).Cmp(want) != 0 {
			t.Fatalf("the area after %d is %v, want %v", x, big192(target), want)
		}
		slope := new(big.Int).Sub(new(big.Int).SetUint64(s.to), new(big.Int).SetUint64(s.from))
		up := slope.Sign() >= 0
		slope.Mul(slope.Abs(slope), new(big.Int).SetUint64(x)).Div(slope, new(big.Int).SetUint64(s.length))
		want := s.from + slope.Uint64()
		if !up {
			want = s.from - slope.Uint64()
		}
		if got := s.rate(x); got != want {
			t.Fatalf("%+v: the rate after %d is %d, want %d", s, x, got, want)
		}
	})
}

func big192(a wider) *big.Int {
	sum := new(big.Int).SetUint64(a.hi)
	for _, n := range []uint64{a.mid, a.lo} {
		sum.Lsh(sum, 64).Add(sum, new(big.Int).SetUint64(n))
	}
	return sum
}

// Division rounds down, and a result beyond 64 bits becomes the highest number.
func TestDivisionAgainstItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := wide{rapid.Uint64().Draw(t, "hi") >> rapid.IntRange(0, 63).Draw(t, "shift"), rapid.Uint64().Draw(t, "lo")}
		by := rapid.Uint64Range(1, math.MaxUint64).Draw(t, "by")
		want := new(big.Int).Lsh(new(big.Int).SetUint64(a.hi), 64)
		want.Add(want, new(big.Int).SetUint64(a.lo)).Div(want, new(big.Int).SetUint64(by))
		most := new(big.Int).SetUint64(math.MaxUint64)
		if want.Cmp(most) > 0 {
			want = most
		}
		if got := a.over(by); got != want.Uint64() {
			t.Fatalf("%+v over %d is %d, want %v", a, by, got, want)
		}
	})
}

// A logarithm equals that of floats, to one part in a billion, also next to 1 where it rounds
// to nothing. Ranks invert users, and no user is beyond the bound.
func TestLogarithmsAgainstFloats(t *testing.T) {
	table := newLogarithms()
	rapid.Check(t, func(t *rapid.T) {
		u := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(math.MaxUint64-1<<20, math.MaxUint64)).Draw(t, "u") >> rapid.SampledFrom([]int{0, 0, 1, 7, 40, 63}).Draw(t, "shift")
		got := float64(table.minusLog(u)) / (1 << 48)
		want := 64*math.Ln2 - math.Log(float64(u|1))
		if u > math.MaxUint64-1<<40 {
			want = float64(math.MaxUint64-u) / (1 << 63) / 2
		}
		if math.Abs(got-want) > 1e-7*want+1e-7 {
			t.Fatalf("of %d it is %v, want %v", u, got, want)
		}
	})
}

func TestSpreadHasEachUserOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vus := rapid.OneOf(rapid.Uint64Range(0, 300), rapid.Uint64Range(vusMax-1, vusMax+1)).Draw(t, "vus")
		s := NewSpread(vus)
		if want := min(max(vus, 1), vusMax); s.VUs() != want {
			t.Fatalf("of %d users %d are there, want %d", vus, s.VUs(), want)
		}
		u := rapid.Uint64Range(0, s.VUs()-1).Draw(t, "user")
		if k := s.Rank(u); k >= s.VUs() || s.User(k) != u || s.User(k+s.VUs()) != u {
			t.Fatalf("pass %d is user %d's, and user %d's rank", k, s.User(k), u)
		}
	})
}
