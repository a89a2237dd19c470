package membership

import (
	"os"
	"testing"
)

// TestOurs plays ours alone, and compares it with what is kept of the peer.
func TestOurs(t *testing.T) {
	kept, err := openCache()
	if err != nil {
		t.Fatal(err)
	}
	var ours, peer []outcome
	for seed := range uint64(number(t, "HYPERSCALE_BENCH_SEEDS", 1, 2)) {
		o, err := runOurs(draw(seed))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("seed %d: %+v", seed, o)
		if theirs, known := kept.Outcomes[seed]; known {
			ours, peer = append(ours, o), append(peer, theirs)
		}
	}
	if len(ours) > 0 {
		tell(os.Stdout, ours, peer)
	}
}
