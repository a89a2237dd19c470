package report

import (
	"fmt"
	"maps"
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/plan"
)

func buildMeasures(in []message.Measure) (map[string]Measure, error) {
	if len(in) == 0 {
		return nil, nil
	}
	out := map[string]Measure{}
	for i := range in {
		m := Measure{Count: in[i].Count}
		if in[i].Kind == message.MeasureTimes || in[i].Kind == message.MeasureAmounts {
			d, err := buildDistribution(in[i].Times)
			if err != nil {
				return nil, fmt.Errorf("measure %s: %w", in[i].Name, err)
			}
			if m.Count, m.TimesNS = d.Count, &d; in[i].Kind == message.MeasureAmounts {
				m.TimesNS, m.AmountMilli = nil, &d
			}
		}
		out[in[i].Name] = m
	}
	return out, nil
}

// MeasureNames lists the measures of a step in the order of their protocol.
func (s *Step) MeasureNames() (names []string) {
	for _, m := range plan.Measures() {
		if _, has := s.Measures[m.Name]; has {
			names = append(names, m.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Measures)) {
		if !slices.Contains(names, name) {
			names = append(names, name) // of a newer executor
		}
	}
	return names
}
