package membership

import (
	"os"
	"strconv"
	"testing"
	"testing/synctest"
)

// number reads an environment variable that holds a number.
func number(t *testing.T, name string, least, usual int) int {
	s := os.Getenv(name)
	if s == "" {
		return usual
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < least {
		t.Fatalf("%s = %q must be a number from %d", name, s, least)
	}
	return n
}

// TestBesideMemberlist prints the comparison of as many seeds as
// HYPERSCALE_BENCH_SEEDS says, from HYPERSCALE_BENCH_FIRST on. The peer's outcomes
// are kept in the file that HYPERSCALE_BENCH_CACHE names.
func TestBesideMemberlist(t *testing.T) {
	kept, err := openCache()
	if err != nil {
		t.Fatal(err)
	}
	first := number(t, "HYPERSCALE_BENCH_FIRST", 0, 0)
	var ours, peer []outcome
	for seed := uint64(first); seed < uint64(first+number(t, "HYPERSCALE_BENCH_SEEDS", 1, 2)); seed++ {
		p := draw(seed)
		mine, err := runOurs(p)
		if err != nil {
			t.Fatal(err)
		}
		theirs, known := kept.Outcomes[seed]
		if !known {
			synctest.Test(t, func(t *testing.T) {
				if theirs, err = runPeer(p); err != nil {
					t.Fatal(err)
				}
			})
			if err := kept.keep(seed, theirs); err != nil {
				t.Fatal(err)
			}
		}
		ours, peer = append(ours, mine), append(peer, theirs)
		t.Logf("seed %d: ours %+v, memberlist %+v", seed, mine, theirs)
	}
	tell(os.Stdout, ours, peer)
}
