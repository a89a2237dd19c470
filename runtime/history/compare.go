package history

import (
	"cmp"
	"fmt"
	"slices"

	"hyperscale/runtime/compare"
)

// Compare compares a run with an earlier one, by the exact histograms of both.
func (s *Store) Compare(base, run *Run, o compare.Options) (*compare.Comparison, error) {
	before, err := s.Result(base.Job)
	if err != nil {
		return nil, err
	}
	now, err := s.Result(run.Job)
	if err != nil {
		return nil, err
	}
	return compare.Compare(compare.File{Name: base.Title(), Result: before}, []compare.File{{Name: run.Title(), Result: now}}, o)
}

// Unjudged says why a comparison with a run is no ground for a judgement; empty: it is one.
func (r *Run) Unjudged() string {
	switch {
	case r.Saturated:
		return fmt.Sprintf("the generator of run %d was saturated or starved, so its figures are the generator's own", r.Number)
	case r.Outcome != completed:
		return fmt.Sprintf("run %d ended %s", r.Number, r.Outcome)
	}
	return ""
}

// Median finds, of the newest good runs before one, that whose p99 is the median. Of an even
// number it is the lower one of the middle two.
func (s *Store) Median(of *Run, most int) (*Run, error) {
	good, err := s.Good(of, most)
	if err != nil {
		return nil, err
	}
	if len(good) == 0 {
		return s.LastGood(of) // its error says what is missing
	}
	slices.SortStableFunc(good, func(a, b Run) int { return cmp.Compare(a.P99, b.P99) })
	return &good[(len(good)-1)/2], nil
}
