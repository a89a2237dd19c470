package scenarios_test

import (
	"strings"
	"testing"

	"hyperscale/scenarios"
)

// Many worlds check registers; these are the smallest.
func TestRegisters(t *testing.T) {
	for _, s := range scenarios.All() {
		if !strings.HasPrefix(s.Name, "register") && s.Name != "files" {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			for seed := range uint64(20) {
				if r := s.Run(scenarios.Options{Seed: seed}); r.Outcome != scenarios.OK {
					t.Errorf("seed %d: %s: %s", seed, r.Outcome, r.Detail)
				}
			}
		})
	}
}
