package model

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/stats"
)

// drawWide is a distribution with more buckets than ValuesMax, more often than not.
func drawWide(t *rapid.T) *stats.Histogram {
	h := drawHistogram(t)
	for range rapid.IntRange(0, 6).Draw(t, "slopes") {
		from := rapid.Float64Range(0, 9).Draw(t, "from")
		wide := rapid.Float64Range(0, 3).Draw(t, "wide")
		n := rapid.IntRange(1, 400).Draw(t, "buckets")
		weight := rapid.Uint64Range(1, 1000).Draw(t, "weight")
		for i := range n {
			h.RecordN(uint64(math.Pow(10, from+wide*float64(i)/float64(n))), weight+uint64(i))
		}
	}
	return h
}

func atRank(all []Value, rank uint64) uint64 {
	for _, v := range all {
		if rank <= v.Count {
			return v.Nanos
		}
		rank -= v.Count
	}
	return 0
}

// Values keep each request, the sum, and the quantiles that people look at to 1 %: 1,000 distributions.
func TestValues(t *testing.T) {
	wide := 0
	one := func(t *rapid.T) {
		h := drawWide(t)
		all, err := Values(h.Wire())
		hold(t, err == nil && len(all) <= ValuesMax, "%d values, %v", len(all), err)
		buckets, seen, sum := 0, uint64(0), 0.0
		h.Each(func(uint64, uint64) { buckets++ })
		if buckets > ValuesMax {
			wide++
			hold(t, len(all) > ValuesMax/2, "%d values of %d buckets", len(all), buckets)
		} else {
			same(t, buckets, len(all))
		}
		for i, v := range all {
			seen, sum = seen+v.Count, sum+float64(v.Nanos)*float64(v.Count)
			hold(t, i == 0 || v.Nanos > all[i-1].Nanos, "value %d of %d is %d behind %d", i, len(all), v.Nanos, all[max(i-1, 0)].Nanos)
		}
		same(t, h.Count(), seen)
		if seen == 0 {
			return
		}
		hold(t, math.Abs(sum-float64(h.Sum())) <= 0.01*float64(h.Sum())+float64(len(all)), "sum %v, want %d", sum, h.Sum())
		for _, ppm := range []uint32{1, 500_000, 900_000, 950_000, 990_000, 999_000, 1_000_000} {
			want, got := float64(h.Quantile(ppm)), float64(atRank(all, max(1, uint64(math.Ceil(float64(seen)*float64(ppm)/1e6)))))
			if ppm == 1 {
				want, got = float64(h.Min()), float64(all[0].Nanos)
			}
			hold(t, math.Abs(got-want) <= 0.01*want, "quantile %d is %v, want %v", ppm, got, want)
		}
	}
	for range 10 { // a check draws 100
		rapid.Check(t, one)
	}
	if wide < 100 && !testing.Short() {
		t.Fatalf("%d distributions had more than %d buckets", wide, ValuesMax)
	}
}

// A sample is each request of a few, and the thousandths of many.
func TestSample(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawWide(t)
		all, err := Sample(h.Wire())
		hold(t, err == nil && slices.IsSorted(all), "%v", err)
		if h.Count() <= 1000 {
			same(t, int(h.Count()), len(all))
			return
		}
		same(t, 1001, len(all))
		for _, i := range []int{1, 500, 900, 950, 990, 999, 1000} {
			same(t, h.Quantile(uint32(i)*1000), all[i])
		}
	})
	h := new(stats.Histogram)
	h.RecordN(200, 3)
	h.Record(100)
	all, err := Sample(h.Wire())
	hold(t, err == nil, "%v", err)
	same(t, []uint64{100, 200, 200, 200}, all)
}
