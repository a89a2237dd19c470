package retry

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/node"
)

// Each wait is within its bounds, and the bound doubles up to the cap, for any number of tries.
func TestWaitsAreWithinTheirBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		span := rapid.OneOf(rapid.Int64Range(1, int64(time.Hour)), rapid.Int64Range(1, math.MaxInt64-1))
		b := Backoff{Base: time.Duration(span.Draw(t, "base")), Kind: Kind(rapid.IntRange(0, 1).Draw(t, "kind"))}
		b.Cap = max(b.Base, time.Duration(span.Draw(t, "cap")))
		b.Least = time.Duration(rapid.Int64Range(0, int64(b.Base)).Draw(t, "least"))
		r := node.NewRand(rapid.Uint64().Draw(t, "seed"), "n", node.PurposeJitter)
		before := time.Duration(0)
		for tries := range 80 {
			bound := b.Bound(tries)
			want := b.Cap
			if tries == 0 {
				want = b.Base
			} else if before <= b.Cap/2 {
				want = 2 * before
			}
			if bound != want {
				t.Fatalf("%+v: the bound of try %d is %v behind %v", b, tries, bound, before)
			}
			least := b.Least
			if b.Kind == Equal {
				least = bound / 2
			}
			if w := b.Next(r, tries); w < least || w > bound {
				t.Fatalf("%+v: try %d waits %v, want %v to %v", b, tries, w, least, bound)
			}
			before = bound
		}
		if w := b.After(before); w != b.Cap {
			t.Fatalf("%+v: behind %v it waits %v", b, before, w)
		}
		if w := b.After(0); w != b.Base {
			t.Fatalf("%+v: the first wait is %v", b, w)
		}
	})
}

// Waits fill their range: no tenth of it gets less than half of its part of many draws, nor more
// than twice as much. A node's draws are not those of another.
func TestWaitsAreSpread(t *testing.T) {
	const draws = 2000
	for _, kind := range []Kind{Full, Equal} {
		b := Backoff{Base: time.Second, Cap: time.Minute, Kind: kind}
		a, z := node.NewRand(1, "a", node.PurposeJitter), node.NewRand(1, "z", node.PurposeJitter)
		var tenths [10]int
		same := 0
		for range draws {
			w := b.Next(a, 3)
			if w == b.Next(z, 3) {
				same++
			}
			low := time.Duration(0)
			if kind == Equal {
				low = 4 * time.Second
			}
			tenths[min(9, int(10*(w-low)/(8*time.Second-low)))]++
		}
		for i, n := range tenths {
			if n < draws/20 || n > draws/5 {
				t.Errorf("kind %d: %d of %d waits are in tenth %d", kind, n, draws, i)
			}
		}
		if same > 1 {
			t.Errorf("kind %d: two nodes draw the same wait %d times", kind, same)
		}
	}
}
