package scenarios_test

import (
	"testing"

	"hyperscale/scenarios"
)

// Every world of voters passes, and is the same with every message encoded.
func TestElections(t *testing.T) {
	for _, name := range []string{
		"vote-amnesia", "forgotten-vote", "leader-lost", "leader-drained", "lone-voter", "shrinking-quorum", "even-split",
		"partial-partition", "symmetric-start", "paused-leader", "flapping-leader", "isolated-majorities", "election-storm",
	} {
		t.Run(name, func(t *testing.T) {
			s, err := scenarios.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			for seed := uint64(1); seed <= 5; seed++ {
				plain := s.Run(scenarios.Options{Seed: seed})
				if plain.Outcome != scenarios.OK {
					t.Errorf("seed %d: %s: %s", seed, plain.Outcome, plain.Detail)
				}
				if wire := s.Run(scenarios.Options{Seed: seed, Wire: true}); wire.Hash != plain.Hash {
					t.Errorf("seed %d: with every message encoded the hash is %x, without %x", seed, wire.Hash, plain.Hash)
				}
			}
		})
	}
}
