package node_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/node"
)

// Every recorded seed depends on these numbers: a new generator would change the meaning of all
// of testdata/regressions.
func TestRandIsTheSameForEver(t *testing.T) {
	r := node.NewRand(42, "gate-1", node.PurposeJitter)
	for i, want := range goldenDraws() {
		if got := r.Uint64(); got != want {
			t.Fatalf("draw %d: got %#x, want %#x", i, got, want)
		}
	}
}

func TestRandStreamsAreIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		a := node.NewRand(seed, "a", node.PurposeJitter)
		want := node.NewRand(seed, "a", node.PurposeJitter)
		other := node.NewRand(seed, "a", node.PurposeID)
		if a.Uint64() == other.Uint64() {
			t.Fatal("two purposes draw the same")
		}
		want.Uint64()
		for range rapid.IntRange(0, 5).Draw(t, "draws") {
			other.Uint64()
		}
		if got, want := a.Uint64(), want.Uint64(); got != want {
			t.Fatalf("draws of another purpose shifted this one: %#x, want %#x", got, want)
		}
	})
}

func TestRandStaysInItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := node.NewRand(rapid.Uint64().Draw(t, "seed"), "n", node.PurposeToy)
		n := rapid.Uint64Min(1).Draw(t, "n")
		if got := r.N(n); got >= n {
			t.Fatalf("N(%d) = %d", n, got)
		}
		low := time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, "low"))
		high := low + time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, "more"))
		if got := r.Duration(low, high); got < low || got > high {
			t.Fatalf("Duration(%v, %v) = %v", low, high, got)
		}
	})
}

func TestTimerKeysKeepTheirNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.Uint64().Draw(t, "n"), rapid.Uint64().Draw(t, "m")
		k := node.KeyN(node.PartGate, 3, n)
		if k.N() != n {
			t.Fatalf("got %d, want %d", k.N(), n)
		}
		if o := node.KeyN(node.PartGate, 3, m); (k.Digest() == o.Digest()) != (n == m) {
			t.Fatalf("keys %d and %d: digests %x and %x", n, m, k.Digest(), o.Digest())
		}
	})
}

func goldenDraws() []uint64 {
	return []uint64{0x689834f90215b7ae, 0xbdcc4377f0813f2d, 0xcc23ff5466a0c6af}
}
