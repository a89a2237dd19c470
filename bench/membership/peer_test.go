package membership

import (
	"os"
	"strconv"
	"testing"
	"testing/synctest"
)

// TestBesideMemberlist prints the comparison of as many seeds as
// HYPERSCALE_BENCH_SEEDS says.
func TestBesideMemberlist(t *testing.T) {
	seeds := 2
	if s := os.Getenv("HYPERSCALE_BENCH_SEEDS"); s != "" {
		var err error
		if seeds, err = strconv.Atoi(s); err != nil || seeds < 1 {
			t.Fatalf("HYPERSCALE_BENCH_SEEDS = %q must be a number from 1", s)
		}
	}
	var ours, peer []outcome
	for seed := range uint64(seeds) {
		p := draw(seed)
		mine, err := runOurs(p)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			theirs, err := runPeer(p)
			if err != nil {
				t.Fatal(err)
			}
			ours, peer = append(ours, mine), append(peer, theirs)
			t.Logf("seed %d: ours %+v, memberlist %+v", seed, mine, theirs)
		})
	}
	tell(os.Stdout, ours, peer)
}
