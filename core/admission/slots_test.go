package admission

import (
	"testing"

	"pgregory.net/rapid"
)

// Slots refuse from four fifths of their bound on, and are near from seven tenths until less than
// six tenths are used: to the unit, whatever the bound.
func TestSlotsAreExactAtTheirBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Slots{Max: rapid.OneOf(rapid.Uint64Range(1, 30), rapid.Uint64Range(1, 1<<32-1)).Draw(t, "bound")}
		fifths := []uint64{4 * s.Max / 5, (4*s.Max + 4) / 5, 7 * s.Max / 10, (7*s.Max + 9) / 10, 6 * s.Max / 10, (6*s.Max + 9) / 10}
		s.Used = rapid.SampledFrom(fifths).Draw(t, "about") + rapid.Uint64Range(0, 2).Draw(t, "more")
		s.Used -= min(s.Used, 1)
		if got := s.Refuse(); got != (5*s.Used >= 4*s.Max) {
			t.Fatalf("of the slots %d of %d refuse: %v", s.Used, s.Max, got)
		}
		if got := s.Near(false); got != (10*s.Used >= 7*s.Max) {
			t.Fatalf("of the slots %d of %d become near: %v", s.Used, s.Max, got)
		}
		if got := s.Near(true); got != (10*s.Used >= 6*s.Max) {
			t.Fatalf("of the slots %d of %d stay near: %v", s.Used, s.Max, got)
		}
	})
	for _, c := range []struct {
		used, most   uint64
		refuse, near bool
	}{{0, 0, false, false}, {5, 0, false, false}, {69, 100, false, false}, {70, 100, false, true}, {79, 100, false, true}, {80, 100, true, true}, {204, 256, false, true}, {205, 256, true, true}, {1, 1, true, true}, {3, 4, false, true}} {
		if s := (Slots{c.used, c.most}); s.Refuse() != c.refuse || s.Near(false) != c.near {
			t.Errorf("of the slots %d of %d: refuse %v, near %v", c.used, c.most, s.Refuse(), s.Near(false))
		}
	}
}
