package stats

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/message"
)

// TestSpansOfManyAreThoseOfOne: what several count, in any order, adds up to what one would have
// counted.
func TestSpansOfManyAreThoseOfOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cuts := rapid.SliceOfNDistinct(rapid.Map(rapid.IntRange(1, 50), func(n int) time.Duration { return time.Duration(n) }), 0, 6, rapid.ID[time.Duration]).Draw(t, "cuts")
		slices.Sort(cuts)
		whole := NewSpans(cuts)
		parts := []*Spans{NewSpans(cuts), NewSpans(cuts), NewSpans(cuts)}
		ends := map[time.Duration]uint64{} // by the begin of the span
		for _, at := range rapid.SliceOf(rapid.Int64Range(0, 60)).Draw(t, "ends") {
			v := rapid.Uint64Range(0, 400).Draw(t, "latency")
			sent := rapid.Bool().Draw(t, "sent")
			for _, s := range []*Spans{whole, parts[rapid.IntRange(0, 2).Draw(t, "part")]} {
				one := s.At(time.Duration(at))
				one.OK, one.Failed = one.OK+v%2, one.Failed+1-v%2
				one.Record(v, sent, v/2)
				one.RecordMetric(v)
			}
			var from time.Duration
			for _, cut := range cuts {
				if time.Duration(at) >= cut {
					from = cut
				}
			}
			ends[from]++
		}
		var all []*message.Stats
		for _, p := range parts {
			all = append(all, &message.Stats{Spans: []message.StepSpans{{Step: "s", Spans: p.Wire()}}})
		}
		got, err := Sum(all)
		if err != nil {
			t.Fatal(err)
		}
		want := whole.Wire()
		if d := cmp.Diff(want, append([]message.Span(nil), got.Spans[0].Spans...)); d != "" {
			t.Fatal(d)
		}
		for i, one := range want {
			if n := one.OK + one.Failed; one.Latency.Count != n || n != ends[one.From] || i > 0 && one.From < want[i-1].Until {
				t.Fatalf("span %+v behind %+v, want %d", one, want[max(0, i-1)], ends[one.From])
			}
		}
		if len(ends) != len(want) {
			t.Fatalf("ends are in %d spans, want %d", len(want), len(ends))
		}
	})
}

func TestSumRejectsSpansThatOverlap(t *testing.T) {
	for _, bad := range [][]message.Span{
		{{From: 0, Until: 2}, {From: 1, Until: 3}},
		{{From: 0}, {From: 1, Until: 3}},
		{{From: 2, Until: 3}, {From: 0, Until: 4}},
		{{From: 1, Until: 1}},
		{{From: -1, Until: 1}},
		{{From: 0, Until: 2}, {From: 0, Until: 3}},
	} {
		if _, err := Sum([]*message.Stats{{Spans: []message.StepSpans{{Step: "s", Spans: bad}}}}); !errors.Is(err, ErrSpans) {
			t.Errorf("%+v: got %v", bad, err)
		}
	}
	many := make([]message.Span, SpansMax+1)
	for i := range many {
		many[i] = message.Span{From: time.Duration(i), Until: time.Duration(i + 1)}
	}
	if _, err := Sum([]*message.Stats{{Spans: []message.StepSpans{{Step: "s", Spans: many}}}}); !errors.Is(err, ErrSpans) {
		t.Errorf("%d spans: got %v", len(many), err)
	}
}
