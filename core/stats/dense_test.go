package stats

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/message"
)

// Many series and histograms add up as if each was added to the sum of those before it, whatever
// their widths and buckets are.
func TestManyAddUpAsPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var pairs message.Windows
		var all dense
		var flat Histogram
		var many sparse
		var spare []byte
		for range rapid.IntRange(0, 3*fewParts).Draw(t, "parts") {
			w := course(drawHappenings(t, "happenings"))
			for range rapid.IntRange(0, 3).Draw(t, "blunt") {
				w = blunt(w)
			}
			if rapid.IntRange(0, 20).Draw(t, "dropped") == 20 {
				w = message.Windows{Dropped: true}
			}
			if err := all.merge(w); err != nil {
				t.Fatal(err)
			}
			var err error
			if pairs, err = mergeWindows(pairs, w); err != nil {
				t.Fatal(err)
			}
			h := recorded(drawValues(t, "values"))
			flat.Merge(h)
			if err := many.merge(h.Wire(), &spare); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(pairs, all.sum()); diff != "" {
			t.Errorf("series (-pairs +sum):\n%s", diff)
		}
		if diff := cmp.Diff(flat.Wire(), many.wire()); diff != "" {
			t.Errorf("histograms (-merged +sum):\n%s", diff)
		}
	})
}

// A part that no node writes is refused wherever it stands.
func TestABadPartAmongManyIsRefused(t *testing.T) {
	for at := range 2 * fewParts {
		for _, bad := range []*message.Stats{
			{Steps: []message.StepStats{{Name: "home", Kind: message.StepRequest, Windows: message.Windows{Width: WindowWidth, Data: []byte{0}}}}},
			{Activity: message.Windows{Width: time.Nanosecond, Data: []byte{1}}},
			{Steps: []message.StepStats{{Name: "home", Kind: message.StepRequest, Latency: message.Histogram{Count: 1}}}},
		} {
			var parts []*message.Stats
			for i := range 2 * fewParts {
				parts = append(parts, part("home", uint64(i%3+1)))
			}
			parts[at] = bad
			if _, err := Sum(parts); !errors.Is(err, ErrWindows) && !errors.Is(err, ErrHistogram) {
				t.Errorf("bad part %d %+v: %v", at, bad, err)
			}
		}
	}
}

// A sum of many rejects what one reader rejects, and nothing else: it checks a message while it adds it up.
func TestASumOfManyRejectsWhatAReaderRejects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, w := recorded(drawValues(t, "values")).Wire(), course(drawHappenings(t, "happenings"))
		var all dense
		var many sparse
		var spare []byte
		for range 2 * fewParts {
			if err := errors.Join(many.merge(recorded([]uint64{1, 5}).Wire(), &spare), all.merge(course([]happening{{latency: 5}}))); err != nil {
				t.Fatal(err)
			}
		}
		damage(t, "bucket", h.Buckets)
		damage(t, "window", w.Data)
		_, bad := FromWire(h)
		if got := many.merge(h, &spare); (got == nil) != (bad == nil) {
			t.Errorf("the sum says %v of a histogram, a reader %v: %+v", got, bad, h)
		}
		_, bad = Intervals(w)
		if got := all.merge(w); (got == nil) != (bad == nil) {
			t.Errorf("the sum says %v of a series, a reader %v: %+v", got, bad, w)
		}
	})
}

// damage changes a byte, or none.
func damage(t *rapid.T, what string, b []byte) {
	if len(b) > 0 && rapid.Bool().Draw(t, "damage a "+what) {
		b[rapid.IntRange(0, len(b)-1).Draw(t, what)] = rapid.Byte().Draw(t, what+" becomes")
	}
}

// The figures of many executors, as a manager adds them up.
func BenchmarkSumOfMany(b *testing.B) {
	for _, parts := range []int{2, 100, 1000} {
		b.Run(fmt.Sprint("parts=", parts), func(b *testing.B) {
			var all []*message.Stats
			for i := range parts {
				var h Histogram
				var w Windows
				for k := range 2000 {
					at, v := time.Duration(k)*30*time.Millisecond, uint64(2_000_000+(i+k)*k*97%6_000_000)
					h.Record(v)
					w.At(at).OK++
					w.Record(at, v)
				}
				all = append(all, &message.Stats{Steps: []message.StepStats{{Name: "home", Kind: message.StepRequest, OK: 2000, Latency: h.Wire(), Service: h.Wire(), Windows: w.Wire()}}})
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Sum(all); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
