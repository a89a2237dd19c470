package stats

import (
	"errors"
	"fmt"
	"testing"

	"hyperscale/core/message"
)

func measuresOf(list ...message.Measure) *message.Stats {
	return &message.Stats{Steps: []message.StepStats{{Name: "feed", Kind: message.StepRequest, Measures: message.Measures{List: list}}}}
}

// Sums of measures keep the order of their names, add counts, and merge times exactly.
func TestMeasuresAddUp(t *testing.T) {
	gap := func(values ...uint64) message.Measure {
		return message.Measure{Name: "event_gap", Kind: message.MeasureTimes, Times: recorded(values).Wire()}
	}
	events := func(n uint64) message.Measure {
		return message.Measure{Name: "events", Kind: message.MeasureCount, Count: n}
	}
	sum, err := Sum([]*message.Stats{measuresOf(gap(1, 5), events(3)), measuresOf(), measuresOf(events(4)), measuresOf(gap(7))})
	if err != nil {
		t.Fatal(err)
	}
	got := sum.Steps[0].Measures.List
	if len(got) != 2 || got[0].Name != "event_gap" || got[1].Count != 7 {
		t.Fatalf("got %+v", got)
	}
	h, err := FromWire(got[0].Times)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, h, recorded([]uint64{1, 5, 7}))
	again, err := Sum([]*message.Stats{&sum})
	if err != nil || fmt.Sprint(again.Steps[0].Measures) != fmt.Sprint(sum.Steps[0].Measures) {
		t.Errorf("a sum of one: got %+v, %v, want %+v", again.Steps[0].Measures, err, sum.Steps[0].Measures)
	}
}

func TestMeasuresThatDoNotAddUp(t *testing.T) {
	m := message.Measure{Name: "events", Kind: message.MeasureCount, Count: 1}
	other := m
	other.Kind = message.MeasureTimes
	var many []message.Measure
	for i := range MeasuresMax + 1 {
		m.Name = fmt.Sprintf("m%02d", i)
		many = append(many, m)
	}
	m.Name = "events"
	broken := message.Measure{Name: "b", Kind: message.MeasureTimes, Times: message.Histogram{Count: 3}}
	for _, tt := range []struct {
		name  string
		parts []*message.Stats
	}{
		{"two kinds", []*message.Stats{measuresOf(m), measuresOf(other)}},
		{"too many", []*message.Stats{measuresOf(many...)}},
		{"no such histogram", []*message.Stats{measuresOf(broken)}},
	} {
		if _, err := Sum(tt.parts); !errors.Is(err, ErrParts) && !errors.Is(err, ErrHistogram) {
			t.Errorf("%s: got error %v", tt.name, err)
		}
	}
}

// Fit makes times coarser in a copy, keeps counts, and what is bare has counts alone.
func TestFitKeepsCountsOfMeasures(t *testing.T) {
	var values []uint64
	for i := range uint64(4000) {
		values = append(values, i*i)
	}
	s := measuresOf(message.Measure{Name: "event_gap", Kind: message.MeasureTimes, Times: recorded(values).Wire()},
		message.Measure{Name: "events", Kind: message.MeasureCount, Count: 9})
	before := SizeOf(s)
	shared := *s
	fitted := shared
	Fit(&fitted, before/2)
	if SizeOf(&fitted) > before/2 || SizeOf(&shared) != before {
		t.Fatalf("got %d of %d bytes, and the original has %d", SizeOf(&fitted), before, SizeOf(&shared))
	}
	gap, count := fitted.Steps[0].Measures.List[0].Times, fitted.Steps[0].Measures.List[1].Count
	if gap.Count != 4000 || gap.Max != values[3999] || count != 9 {
		t.Errorf("got %d times up to %d, and a count of %d", gap.Count, gap.Max, count)
	}
	Bare(&fitted.Steps[0])
	if bare := fitted.Steps[0].Measures.List; bare[0].Times.Count != 0 || bare[1].Count != 9 || s.Steps[0].Measures.List[0].Times.Count != 4000 {
		t.Errorf("bare: %+v", bare)
	}
}
