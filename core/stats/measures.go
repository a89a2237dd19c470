package stats

import (
	"fmt"
	"slices"
	"strings"

	"hyperscale/core/message"
)

// measureSum is the state of a measure's sum.
type measureSum struct {
	name  string
	kind  message.MeasureKind
	count uint64
	times sparse
}

func (s *stepSum) addMeasure(part *message.Measure, spare *[]byte) error {
	at, found := slices.BinarySearchFunc(s.measures, part.Name, func(m measureSum, name string) int { return strings.Compare(m.name, name) })
	if !found {
		if len(s.measures) == MeasuresMax {
			return fmt.Errorf("more than %d measures: %w", MeasuresMax, ErrParts)
		}
		s.measures = slices.Insert(s.measures, at, measureSum{name: part.Name, kind: part.Kind})
	}
	sum := &s.measures[at]
	if sum.kind != part.Kind {
		return fmt.Errorf("kind is %d in one part and %d in another: %w", sum.kind, part.Kind, ErrParts)
	}
	sum.count = add(sum.count, part.Count)
	return sum.times.merge(part.Times, spare)
}

func wireMeasures(all []measureSum) (out message.Measures) {
	for i := range all {
		m := &all[i]
		out.List = append(out.List, message.Measure{Name: m.name, Kind: m.kind, Count: m.count, Times: m.times.wire()})
	}
	return out
}

// cloneMeasures returns measures that may be written to.
func cloneMeasures(m message.Measures) message.Measures {
	return message.Measures{List: slices.Clone(m.List)}
}
