package stage

import "testing"

// TestCrowdIsWhatOptionsSay: a size that a person gives replaces what the seed draws, in worlds that
// have a crowd.
func TestCrowdIsWhatOptionsSay(t *testing.T) {
	for _, seed := range []uint64{1, 2, 3} {
		s := &Stage{Options: Options{Seed: seed}}
		if n := s.Crowd(600); n < 600/8 || n > 600 {
			t.Errorf("seed %d draws %d of 600", seed, n)
		}
		if s.Options.Crowd = 10_000; s.Crowd(600) != 10_000 {
			t.Errorf("seed %d makes %d of 10,000", seed, s.Crowd(600))
		}
	}
	for _, c := range []struct {
		most, members int
		ok            bool
	}{{600, 0, true}, {600, 8, true}, {600, 10_000, true}, {600, 7, false}, {600, -1, false}, {600, 10_001, false}, {0, 0, true}, {0, 100, false}} {
		if err := (Scenario{Name: "w", Most: c.most}).CheckCrowd(c.members); (err == nil) != c.ok {
			t.Errorf("a crowd of %d in a world of %d: %v", c.members, c.most, err)
		}
	}
}
