package scenarios_test

import (
	"testing"

	"hyperscale/scenarios"
)

// A register is proved by many worlds, of which these are the smallest.
func TestRegisters(t *testing.T) {
	for _, name := range []string{"register", "register-beyond"} {
		s, err := scenarios.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(30) {
			if r := s.Run(scenarios.Options{Seed: seed}); r.Outcome != scenarios.OK {
				t.Errorf("%s, seed %d: %s: %s", name, seed, r.Outcome, r.Detail)
			}
		}
	}
}
