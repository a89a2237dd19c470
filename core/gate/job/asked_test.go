package job

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/node"
)

// While the stream that carried a dispatch stands, the gate repeats it after the patience alone, and
// the patience doubles up to its bound. A new stream, or a shorter patience, starts anew. What a manager
// refused is forgotten.
func TestStreamsThatStandCarryADispatchOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const first = 40 * time.Second
		var r Round
		now, want, base := node.Instant(time.Hour), time.Duration(0), first
		stream := node.StreamID(1)
		until, asked := node.Instant(0), false
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 1000).Draw(t, "pass")) * time.Second)
			if has := asked && now < until; r.Has("m1", stream, now) != has || r.Has("m1", stream+1, now) || r.Has("m2", stream, now) {
				t.Fatalf("%+v at %v: m1 has the dispatch on stream %d: want %v, and nothing else", r, now, stream, has)
			}
			switch rapid.SampledFrom([]string{"send", "break", "refuse", "reclaim"}).Draw(t, "what") {
			case "refuse":
				r.Refused("m1")
				asked, want, base = false, 0, first
			case "break":
				stream++
				until, want, base = 0, 0, first
			case "reclaim":
				if base != first/20 {
					want, base = 0, first/20
				}
				fallthrough
			case "send":
				fresh := r.Note("m1", stream, now, base, func(low, high time.Duration) time.Duration {
					want = min(max(base, 2*want), patienceMax*base)
					if low != want || high != want+want/4 {
						t.Fatalf("the patience is %v to %v, want %v and a quarter", low, high, want)
					}
					return rapid.SampledFrom([]time.Duration{low, high}).Draw(t, "spread")
				})
				if fresh == asked || !r.Was("m1") || r.Was("m2") {
					t.Fatalf("%+v: m1 is asked for the first time: %v", r, fresh)
				}
				asked, until = true, r.Asked[0].Until
				if until < now.Add(want) {
					t.Fatalf("a repeat comes %v later, want %v", until.Sub(now), want)
				}
			}
		}
	})
}
