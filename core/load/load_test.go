package load

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
)

func drawOpen(t *rapid.T) *message.WorkflowPlan {
	p := &message.WorkflowPlan{Name: "w", VUs: rapid.Uint64Range(1, 300).Draw(t, "vus"), Poisson: rapid.Bool().Draw(t, "poisson")}
	p.RatePer = rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute, time.Hour}).Draw(t, "per")
	most := uint64(200_000)
	if p.RatePer > 0 {
		most *= uint64(p.RatePer / time.Second)
	}
	rate := rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64Range(0, most))
	p.Rate = rate.Draw(t, "rate")
	for range rapid.IntRange(0, 5).Draw(t, "stages") {
		s := message.StagePlan{Rate: rate.Draw(t, "to")}
		s.Duration = time.Duration(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1, int64(3*time.Second))).Draw(t, "for"))
		p.Duration += s.Duration
		p.Stages = append(p.Stages, s)
	}
	if p.Stages == nil {
		p.Duration = time.Duration(rapid.Int64Range(0, int64(3*time.Second)).Draw(t, "duration"))
	}
	return p
}

func all(a *Arrivals) (list []Arrival) {
	for x, ok := a.Next(); ok; x, ok = a.Next() {
		list = append(list, x)
	}
	return list
}

// iterations returns the exact area below a curve until t, in iterations.
func iterations(c *Curve, per, t int64) *big.Rat {
	sum := new(big.Rat)
	for _, s := range c.segments {
		x := min(t-int64(s.start), int64(s.length))
		if x <= 0 {
			break
		}
		slope := new(big.Rat).SetFrac64(int64(s.to)-int64(s.from), 2*int64(s.length))
		slope.Mul(slope, new(big.Rat).SetInt64(x))
		slope.Add(slope, new(big.Rat).SetInt64(int64(s.from)))
		sum.Add(sum, slope.Mul(slope, new(big.Rat).SetInt64(x)))
	}
	return sum.Quo(sum, new(big.Rat).SetInt64(1000*per))
}

// Even arrivals: k is due in the nanosecond in which the area below the curve reaches k, so the
// count never differs from the area by one.
func TestEvenArrivalsFollowTheCurve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawOpen(t)
		p.Poisson = false
		per := int64(max(p.RatePer, time.Second))
		if p.RatePer > 0 {
			per = int64(p.RatePer)
		}
		c := NewRate(p)
		list := all(NewArrivals(p, 1, 0, p.VUs))
		if got := Count(p); got != uint64(len(list)) {
			t.Fatalf("Count is %d, there are %d", got, len(list))
		}
		total := iterations(&c, per, int64(c.End()))
		if low := new(big.Rat).SetInt64(int64(len(list))); low.Cmp(total) < 0 || low.Sub(low, big.NewRat(1, 1)).Cmp(total) >= 0 {
			t.Fatalf("%d arrivals, the area is %v", len(list), total.FloatString(6))
		}
		for i, a := range list {
			k := new(big.Rat).SetInt64(int64(a.K))
			if int(a.K) != i || iterations(&c, per, int64(a.Due)).Cmp(k) > 0 || iterations(&c, per, int64(a.Due)+1).Cmp(k) <= 0 {
				t.Fatalf("arrival %d is %+v", i, a)
			}
			if i > 0 && a.Due < list[i-1].Due || a.Due >= c.End() {
				t.Fatalf("arrival %d is due at %v, the one before at %v, the end is %v", i, a.Due, list[max(i-1, 0)].Due, c.End())
			}
		}
	})
}

// The arrivals of all parts of a partition are all arrivals, each with its user.
func TestPartsArePartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawOpen(t)
		if rapid.Bool().Draw(t, "steady") {
			p.Rate, p.RatePer, p.Stages, p.Duration = 50_000, time.Second, nil, 2*time.Second
		}
		whole := all(NewArrivals(p, 7, 0, p.VUs))
		spread := NewSpread(p.VUs)
		cuts := append(rapid.SliceOfN(rapid.Uint64Range(0, p.VUs), 0, 6).Draw(t, "cuts"), 0, p.VUs)
		slices.Sort(cuts)
		var parts []Arrival
		for i := 1; i < len(cuts); i++ {
			first, n := cuts[i-1], cuts[i]-cuts[i-1]
			part := all(NewArrivals(p, 7, first, n))
			if !p.Poisson {
				if want := spread.Share(Count(p), first, n); want != uint64(len(part)) {
					t.Fatalf("users %d+%d have %d arrivals, Share says %d", first, n, len(part), want)
				}
			}
			for _, a := range part {
				if a.User < first || a.User >= first+n || a.User != spread.User(a.K) {
					t.Fatalf("%+v went to users %d+%d", a, first, n)
				}
			}
			parts = append(parts, part...)
		}
		slices.SortFunc(parts, func(a, b Arrival) int { return int(a.K) - int(b.K) })
		if !slices.Equal(whole, parts) {
			t.Fatalf("%d arrivals became %d", len(whole), len(parts))
		}
	})
}

// The turns of all executors are all numbers, each once.
func TestTurnsArePartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vus := rapid.Uint64Range(1, 200).Draw(t, "vus")
		cuts := append(rapid.SliceOfN(rapid.Uint64Range(0, vus), 0, 6).Draw(t, "cuts"), 0, vus)
		slices.Sort(cuts)
		cuts = slices.Compact(cuts)
		const most = 500
		var seen [most]int
		for i := 1; i < len(cuts); i++ {
			turns := NewTurns(vus, cuts[i-1], cuts[i]-cuts[i-1])
			for turns.Peek() < most {
				seen[turns.Next()]++
			}
		}
		for k, n := range seen {
			if n != 1 {
				t.Fatalf("number %d is taken %d times", k, n)
			}
		}
	})
}

// Of any hundred consecutive arrivals every range of users has its share, plus or minus a few.
func TestSharesAreEven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vus := rapid.OneOf(rapid.Uint64Range(1, 200), rapid.Uint64Range(1, 100_000_000)).Draw(t, "vus")
		s := NewSpread(vus)
		n := rapid.Uint64Range(1, vus).Draw(t, "n")
		first := rapid.Uint64Range(0, vus-n).Draw(t, "first")
		from := rapid.Uint64Range(0, 1<<40).Draw(t, "from")
		got := float64(s.Share(from+100, first, n) - s.Share(from, first, n))
		if want := 100 * float64(n) / float64(vus); math.Abs(got-want) > 8 {
			t.Fatalf("users %d+%d of %d got %v of 100 arrivals from %d, want about %.1f", first, n, vus, got, from, want)
		}
	})
}

// Each number of users up to a thousand has a stride that spreads.
func TestEveryStrideSpreads(t *testing.T) {
	worst := 0.0
	for vus := uint64(1); vus <= 1000; vus++ {
		s := NewSpread(vus)
		seen := make([]bool, vus)
		for k := range vus {
			u := s.User(k)
			if seen[u] || s.Rank(u) != k {
				t.Fatalf("%d users: %d comes twice, or its rank %d is not %d", vus, u, s.Rank(u), k)
			}
			seen[u] = true
		}
		for _, n := range []uint64{(vus + 1) / 2, (vus + 3) / 4, (vus + 9) / 10} {
			for from := uint64(0); from < vus; from += 1 + vus/8 {
				got := float64(s.Share(from+100, 0, n) - s.Share(from, 0, n))
				worst = max(worst, math.Abs(got-100*float64(n)/float64(vus)))
			}
		}
	}
	if worst > 8 {
		t.Errorf("a share is off by %v", worst)
	}
}

func TestShareCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vus := rapid.Uint64Range(1, 500).Draw(t, "vus")
		s := NewSpread(vus)
		first, n := rapid.Uint64Range(0, vus+3).Draw(t, "first"), rapid.Uint64Range(0, vus+3).Draw(t, "n")
		total := rapid.Uint64Range(0, 3*vus).Draw(t, "total")
		var want uint64
		for k := range total {
			if u := s.User(k); u >= first && u < first+n {
				want++
			}
		}
		if got := s.Share(total, first, n); got != want {
			t.Fatalf("%d of users %d+%d of %d: got %d, want %d", total, first, n, vus, got, want)
		}
	})
}

// Active users: At returns the exact value, rounded, and Next finds each change.
func TestActiveUsers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &message.WorkflowPlan{VUs: 50}
		for range rapid.IntRange(0, 5).Draw(t, "stages") {
			p.Stages = append(p.Stages, message.StagePlan{Duration: time.Duration(rapid.Int64Range(0, 300).Draw(t, "for")), VUs: rapid.Uint64Range(0, 50).Draw(t, "to")})
		}
		if p.Stages == nil {
			p.Duration = 100
		}
		c := NewActive(p)
		next, value, more := c.Next(0)
		for at := time.Duration(1); at < c.End()+2; at++ {
			if more && at == next {
				if value == c.At(at-1) {
					t.Fatalf("Next says %d at %v, as before", value, at)
				}
				if c.At(at) != value {
					t.Fatalf("at %v: At says %d, Next %d", at, c.At(at), value)
				}
				next, value, more = c.Next(at)
			} else if c.At(at) != c.At(at-1) {
				t.Fatalf("at %v: from %d to %d, Next says %v, %v", at, c.At(at-1), c.At(at), next, more)
			}
		}
		var from, start int64
		for _, s := range p.Stages {
			for x := range int64(s.Duration) {
				want := new(big.Rat).SetFrac64((int64(s.VUs)-from)*x, int64(s.Duration))
				want.Add(want, new(big.Rat).SetInt64(from)).Sub(want, new(big.Rat).SetUint64(c.At(time.Duration(start+x))))
				if want.Abs(want).Cmp(big.NewRat(1, 2)) > 0 {
					t.Fatalf("at %d: %d is off by %v", start+x, c.At(time.Duration(start+x)), want)
				}
			}
			from, start = int64(s.VUs), start+int64(s.Duration)
		}
	})
}

// Long and fast curves stay exact: a month, ten million a second.
func TestLargeCurves(t *testing.T) {
	p := &message.WorkflowPlan{VUs: 1, Rate: 36e12, RatePer: time.Hour, Stages: []message.StagePlan{{Duration: 31 * 24 * time.Hour}}}
	a := NewArrivals(p, 0, 0, 1)
	c := NewRate(p)
	for _, k := range []uint64{0, 1, 1e6, 1e12, Count(p) - 1} {
		a.k, a.sum = k, product(k, a.one)
		got, ok := a.Next()
		exact := new(big.Rat).SetUint64(k)
		if !ok || iterations(&c, int64(time.Hour), int64(got.Due)).Cmp(exact) > 0 || iterations(&c, int64(time.Hour), int64(got.Due)+1).Cmp(exact) <= 0 {
			t.Errorf("arrival %d is due at %v, %v", k, got.Due, ok)
		}
	}
	if _, ok := a.Next(); ok {
		t.Error("there are more than Count says")
	}
}

// The logarithm is correct to a billionth, and its draws have an exponential distribution: mean
// and variance 1, and the shares above 1, 2, 3 and 4.
func TestExponentialDraws(t *testing.T) {
	table := newLogarithms()
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		u := r.Uint64() >> r.UintN(50)
		got, want := float64(table.minusLog(u))/(1<<48), -math.Log(float64(u|1)/(1<<64))
		if math.Abs(got-want) > 2e-9 {
			t.Fatalf("-ln(%d / 2^64) is %.12f, want %.12f", u, got, want)
		}
	}
	if got := table.minusLog(1<<64 - 1); got > 1000 {
		t.Errorf("of nearly 1 it is %d", got)
	}
	const n = 1_000_000
	var sum, squares float64
	var above [5]float64
	for k := range uint64(n) {
		e := float64(table.draw(99, k, 1e9)) / 1e9
		sum, squares = sum+e, squares+e*e
		for i := 1; i < 5; i++ {
			if e > float64(i) {
				above[i]++
			}
		}
	}
	if mean := sum / n; math.Abs(mean-1) > 0.004 {
		t.Errorf("mean %v", mean)
	}
	if second := squares / n; math.Abs(second-2) > 0.02 {
		t.Errorf("second moment %v", second)
	}
	for i := 1; i < 5; i++ {
		if want := math.Exp(-float64(i)); math.Abs(above[i]/n-want) > 4*math.Sqrt(want/n) {
			t.Errorf("above %d: %v, want %v", i, above[i]/n, want)
		}
	}
}

func TestMix(t *testing.T) {
	p := &message.WorkflowPlan{Steps: []message.StepPlan{{}, {Weight: 3}, {}, {Weight: 1}}}
	m := NewMix(p)
	var got [4]int
	for i := range uint64(8) {
		got[m.Pick(i<<61)]++
	}
	if got != [4]int{0, 6, 0, 2} || m.Empty() {
		t.Errorf("picked %v", got)
	}
	if none := NewMix(&message.WorkflowPlan{}); !none.Empty() {
		t.Error("no weights, and not empty")
	}
}

func benchmarkArrivals(b *testing.B, p *message.WorkflowPlan, n uint64) {
	a := NewArrivals(p, 1, 0, n)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := a.Next(); !ok {
			b.Fatal("no more")
		}
	}
}

func steady(poisson bool) *message.WorkflowPlan {
	return &message.WorkflowPlan{VUs: 10_000, Rate: 5e6, Duration: 31 * 24 * time.Hour, Poisson: poisson}
}

func ramp() *message.WorkflowPlan {
	return &message.WorkflowPlan{VUs: 10_000, Stages: []message.StagePlan{{Duration: 31 * 24 * time.Hour, Rate: 1e8}}}
}

func BenchmarkEven(b *testing.B)         { benchmarkArrivals(b, steady(false), 10_000) }
func BenchmarkEvenOneOf100(b *testing.B) { benchmarkArrivals(b, steady(false), 100) }
func BenchmarkPoisson(b *testing.B)      { benchmarkArrivals(b, steady(true), 10_000) }
func BenchmarkRamp(b *testing.B)         { benchmarkArrivals(b, ramp(), 10_000) }

func BenchmarkShare(b *testing.B) {
	s := NewSpread(99_999_989)
	b.ReportAllocs()
	for b.Loop() {
		s.Share(1<<40+12345, 1000, 50_000_000)
	}
}

func BenchmarkNextActive(b *testing.B) {
	c := NewActive(&message.WorkflowPlan{Stages: []message.StagePlan{{Duration: time.Hour, VUs: 1_000_000}}})
	at := time.Duration(0)
	b.ReportAllocs()
	for b.Loop() {
		at, _, _ = c.Next(at)
	}
}

// An arrival allocates nothing.
func TestArrivalsAllocateNothing(t *testing.T) {
	for _, p := range []*message.WorkflowPlan{steady(false), steady(true), ramp()} {
		a := NewArrivals(p, 1, 0, 3000)
		if n := testing.AllocsPerRun(1000, func() { a.Next() }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}
