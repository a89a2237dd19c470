package pace_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/manager/pace"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// The pace admits as the simplest model does: a list of what is out, and one of what waits. No more
// is out than the bounds say, what waits goes in its order, and what no worker answers makes room.
func TestPaceIsAModels(t *testing.T) {
	type out struct {
		d    pace.Dispatch
		size int
		at   node.Instant
	}
	rapid.Check(t, func(t *rapid.T) {
		b := pace.Bounds{Count: rapid.IntRange(1, 4).Draw(t, "count"), Bytes: 100, Patience: 10}
		p := pace.New(b)
		var outs []out
		var waits []pace.Dispatch
		var now node.Instant
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 4).Draw(t, "time")))
			outs = slices.DeleteFunc(outs, func(o out) bool { return now.Sub(o.at) >= b.Patience })
			d := pace.Dispatch{Shard: message.ShardID{Ordinal: uint32(rapid.IntRange(0, 7).Draw(t, "shard"))}}
			if next, ok := p.Next(); ok && rapid.Bool().Draw(t, "next") {
				d = next
			}
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				outs = slices.DeleteFunc(outs, func(o out) bool { return o.d == d })
				p.Answered(d)
			case 1:
				if len(waits) > 0 {
					waits = waits[1:]
					p.Skip()
				}
			default:
				size, sum := rapid.IntRange(1, 120).Draw(t, "size"), 0
				for _, o := range outs {
					sum += o.size
				}
				again := slices.ContainsFunc(outs, func(o out) bool { return o.d == d })
				fits := len(outs) == 0 || len(outs) < b.Count && sum+size <= b.Bytes
				turn := len(waits) == 0 || waits[0] == d
				if got := p.Admit(d, size, now); got != (again || fits && turn) {
					t.Fatalf("with %v out and %v waiting, %v of %d bytes is admitted: %v", outs, waits, d, size, got)
				}
				switch {
				case again:
				case fits && turn:
					waits = slices.DeleteFunc(waits, func(o pace.Dispatch) bool { return o == d })
					outs = append(outs, out{d, size, now})
				case !slices.Contains(waits, d):
					waits = append(waits, d)
				}
			}
			next, ok := p.Next()
			if p.Waiting() != len(waits) || ok != (len(waits) > 0) || ok && next != waits[0] {
				t.Fatalf("%d waiting, the next %v; want %v", p.Waiting(), next, waits)
			}
		}
	})
}

func BenchmarkPace(b *testing.B) {
	b.ReportAllocs()
	p := pace.New(pace.Default())
	for n := 0; b.Loop(); n++ {
		d := pace.Dispatch{Shard: message.ShardID{Ordinal: uint32(n)}}
		p.Admit(d, 1000, 0)
		p.Answered(pace.Dispatch{Shard: message.ShardID{Ordinal: uint32(n - 200)}})
	}
}
