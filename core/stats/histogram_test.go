package stats

import (
	"errors"
	"slices"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/message"
)

func compare(t interface {
	Helper()
	Fatalf(string, ...any)
}, got, want *Histogram) {
	t.Helper()
	if diff := cmp.Diff(want.Wire(), got.Wire()); diff != "" {
		t.Fatalf("histograms differ (-want +got):\n%s", diff)
	}
}

func recorded(values []uint64) *Histogram {
	h := new(Histogram)
	for _, v := range values {
		h.Record(v)
	}
	return h
}

// drawValues prefers neighbours of powers of two, where buckets change their width.
func drawValues(t *rapid.T, label string) []uint64 {
	value := rapid.Custom(func(t *rapid.T) uint64 {
		if rapid.Bool().Draw(t, "any") {
			return rapid.Uint64().Draw(t, "value") >> rapid.IntRange(0, 63).Draw(t, "shift")
		}
		return uint64(1)<<rapid.IntRange(0, 63).Draw(t, "power") + uint64(rapid.IntRange(-2, 2).Draw(t, "near"))
	})
	return rapid.SliceOfN(value, 0, 200).Draw(t, label)
}

func TestQuantilesAgainstSortedValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := drawValues(t, "values")
		h := recorded(values)
		slices.Sort(values)
		for _, ppm := range []uint32{0, 1, 500_000, 900_000, 990_000, 999_000, 1_000_000, rapid.Uint32Range(0, 2_000_000).Draw(t, "ppm")} {
			got := h.Quantile(ppm)
			if len(values) == 0 {
				if got != 0 {
					t.Fatalf("quantile of nothing: got %d, want 0", got)
				}
				continue
			}
			at := max(1, (len(values)*int(min(ppm, million))+million-1)/million)
			want := values[at-1]
			if got < want || got-want > want/256 || got < values[0] || got > values[len(values)-1] {
				t.Fatalf("quantile %d of %d: got %d, want %d to %d", ppm, values, got, want, want+want/256)
			}
		}
		var sum uint64
		for _, v := range values {
			sum = add(sum, v)
		}
		if h.Count() != uint64(len(values)) || h.Sum() != sum {
			t.Fatalf("got count %d, sum %d, want %d, %d", h.Count(), h.Sum(), len(values), sum)
		}
		if len(values) > 0 && (h.Min() != values[0] || h.Max() != values[len(values)-1] || h.Mean() != sum/uint64(len(values))) {
			t.Fatalf("got min %d, max %d, mean %d of %d", h.Min(), h.Max(), h.Mean(), values)
		}
	})
}

func TestQuantilesOfMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := new(Histogram)
		for _, v := range drawValues(t, "values") {
			h.Record(v)
		}
		ppm := rapid.Uint32Range(0, 2_000_000).Draw(t, "ppm")
		got, err := Quantile(h.Wire(), ppm)
		if want := h.Quantile(ppm); err != nil || got != want {
			t.Fatalf("Quantile(%d) = %d, %v, want %d", ppm, got, err, want)
		}
	})
	if _, err := Quantile(message.Histogram{Count: 2, Buckets: []byte{1, 1}}, 500_000); !errors.Is(err, ErrHistogram) {
		t.Errorf("a damaged one is read: %v", err)
	}
}

func TestQuantilesAgainstHdrHistogram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(1, 3_600_000_000_000), 1000, 1000).Draw(t, "values")
		twin := hdr.New(1, 3_600_000_000_000, 4)
		h := new(Histogram)
		for _, v := range values {
			h.Record(uint64(v))
			if err := twin.RecordValue(v); err != nil {
				t.Fatal(err)
			}
		}
		for _, ppm := range []uint32{1000, 100_000, 500_000, 900_000, 990_000, 999_000, 1_000_000} {
			got, want := h.Quantile(ppm), uint64(twin.ValueAtQuantile(float64(ppm)/10_000))
			if off := max(got, want) - min(got, want); off > want/200+1 {
				t.Fatalf("quantile %d: got %d, HdrHistogram says %d", ppm, got, want)
			}
		}
	})
}

// Bounds of buckets are those of the values, whatever else a histogram holds.
func TestBucketBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Uint64().Draw(t, "value")
		bound := BucketBound(v)
		o, sub := place(v)
		if bo, bsub := place(bound); bound < v || bo != o || bsub != sub || BucketBound(bound) != bound {
			t.Fatalf("the bucket of %d ends at %d", v, bound)
		}
		if bound < 1<<64-1 {
			if no, nsub := place(bound + 1); no == o && nsub == sub {
				t.Fatalf("%d is above the bound of %d, and in its bucket", bound+1, v)
			}
		}
	})
}

func TestMergeIsWhatOneWouldHaveRecorded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawValues(t, "a"), drawValues(t, "b"), drawValues(t, "c")
		left := recorded(a) // (a + b) + c
		left.Merge(recorded(b))
		left.Merge(recorded(c))
		right := recorded(c) // a + (c + b)
		right.Merge(recorded(b))
		whole := recorded(a)
		whole.Merge(right)
		compare(t, left, recorded(slices.Concat(a, b, c)))
		compare(t, whole, left)
		compare(t, right, recorded(slices.Concat(b, c)))
	})
}

func TestRecordNIsManyRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		got, want := new(Histogram), new(Histogram)
		for _, v := range drawValues(t, "values") {
			n := rapid.IntRange(0, 5).Draw(t, "n")
			got.RecordN(v, uint64(n))
			for range n {
				want.Record(v)
			}
		}
		compare(t, got, want)
	})
}

func TestSubIsWhatCameSince(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.SliceOfN(rapid.Uint64Range(0, 1<<50), 0, 100).Draw(t, "before")
		after := rapid.SliceOfN(rapid.Uint64Range(0, 1<<50), 0, 100).Draw(t, "after")
		got := recorded(slices.Concat(before, after)).Sub(recorded(before))
		want := recorded(after)
		if got.Count() != want.Count() || got.Sum() != want.Sum() {
			t.Fatalf("got count %d, sum %d, want %d, %d", got.Count(), got.Sum(), want.Count(), want.Sum())
		}
		if got.Min() > want.Min() || want.Min()-got.Min() > want.Min()/256 || got.Max() < want.Max() || got.Max()-want.Max() > want.Max()/256 {
			t.Fatalf("got %d to %d, want about %d to %d", got.Min(), got.Max(), want.Min(), want.Max())
		}
		if _, err := FromWire(got.Wire()); err != nil {
			t.Fatalf("a difference is no histogram: %v", err)
		}
		// Two histograms that are no states of one still give a valid one.
		odd := recorded(before).Sub(want)
		if _, err := FromWire(odd.Wire()); err != nil {
			t.Fatalf("the difference of strangers is no histogram: %v", err)
		}
	})
}

func TestResetKeepsNothing(t *testing.T) {
	h := recorded([]uint64{1, 1000, 1 << 40})
	h.Reset()
	compare(t, h, new(Histogram))
	h.Record(7)
	compare(t, h, recorded([]uint64{7}))
}

func TestRecordAllocatesNothing(t *testing.T) {
	h := recorded([]uint64{100_000, 200_000, 400_000})
	v := uint64(100_000)
	if allocs := testing.AllocsPerRun(1000, func() {
		v += 10
		h.Record(v)
	}); allocs != 0 {
		t.Errorf("got %v allocations per Record, want 0", allocs)
	}
}

func BenchmarkRecord(b *testing.B) {
	b.ReportAllocs()
	var h Histogram
	v := uint64(1)
	for b.Loop() {
		v = v*6364136223846793005 + 1442695040888963407
		h.Record(v >> 44)
	}
}

func BenchmarkMerge(b *testing.B) {
	b.ReportAllocs()
	var h, other Histogram
	for v := uint64(50_000); v < 100_000_000; v += v / 100 {
		other.Record(v)
	}
	for b.Loop() {
		h.Merge(&other)
	}
}

func BenchmarkFromWire(b *testing.B) {
	b.ReportAllocs()
	var h Histogram
	for v := uint64(50_000); v < 100_000_000; v += v / 100 {
		h.Record(v)
	}
	wire := h.Wire()
	for b.Loop() {
		if _, err := FromWire(wire); err != nil {
			b.Fatal(err)
		}
	}
}
