package stage

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/node"
)

// A brief crash ends: a fault of zero length lasts until the world heals.
func TestABriefCrashEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &Stage{Rand: node.NewRand(rapid.Uint64().Draw(t, "seed"), "a test", node.PurposeFault)}
		longest := time.Duration(rapid.Int64Range(1, int64(10*time.Second)).Draw(t, "longest"))
		for range 100 {
			if d := s.Brief(longest); d < time.Millisecond || d > max(longest, time.Millisecond) {
				t.Fatalf("a crash of at most %v lasts %v", longest, d)
			}
		}
	})
}
