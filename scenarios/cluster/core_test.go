package cluster

import (
	"testing"
	"time"

	"hyperscale/scenarios/stage"
)

// A core quorum contains a majority of each group, and every node outside it stays broken.
func TestCoreQuorum(t *testing.T) {
	for seed := range uint64(20) {
		s := newCluster(stage.New(stage.Scenario{Name: "core"}, stage.Options{Seed: seed, Virtual: 5 * time.Minute}))
		s.Build(ReferenceTopology())
		s.CoreQuorum()
		if want := 3 + 2 + 3*2 + 3*coreWorkers; len(s.Core) != want || len(s.Faults) != len(s.Nodes)-want {
			t.Fatalf("seed %d: %d in the core, %d faults, want %d and %d", seed, len(s.Core), len(s.Faults), want, len(s.Nodes)-want)
		}
		for _, f := range s.Faults {
			if f.For != 0 || f.At <= s.Heal {
				t.Errorf("seed %d: %+v ends", seed, f)
			}
		}
	}
}
