package managers

import (
	"testing"

	"hyperscale/scenarios/stage"
)

// TestHintsSpareRefusals: with hints, a dispatch finds a worker full at most a fourth as often as
// without.
func TestHintsSpareRefusals(t *testing.T) {
	var dispatched, refused [2]int
	for seed := range uint64(4) {
		for k, deaf := range []bool{false, true} {
			w := crowdWorld(crowd{deaf: deaf, told: func(d, r int) { dispatched[k], refused[k] = dispatched[k]+d, refused[k]+r }})
			if r := w.Run(stage.Options{Seed: seed + 1}); r.Outcome != stage.OK {
				t.Fatalf("seed %d, deaf %v: %s", r.Seed, deaf, r.Detail)
			}
		}
	}
	t.Logf("refused: %d of %d dispatches with hints, %d of %d without", refused[0], dispatched[0], refused[1], dispatched[1])
	if refused[1] == 0 || 4*refused[0]*dispatched[1] > refused[1]*dispatched[0] {
		t.Errorf("%d of %d dispatches are refused with hints, %d of %d without: want a fourth at most", refused[0], dispatched[0], refused[1], dispatched[1])
	}
}
