package fences

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

func drawFence(t *rapid.T) message.Fence {
	n := rapid.Uint64Range(1, 2)
	return message.Fence{JobEpoch: n.Draw(t, "job"), SubjobEpoch: n.Draw(t, "subjob"), Attempt: rapid.Uint64Range(0, 3).Draw(t, "attempt")}
}

func drawShard(t *rapid.T) message.ShardID {
	return message.ShardID{Ordinal: rapid.Uint32Range(0, 5).Draw(t, "shard")}
}

// The twin keeps every refusal, and searches for the shards that were first refused last.
func TestRefusalsCoverWhatIsNotHigher(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 4).Draw(t, "bound")
		r := NewRefusals(most)
		var all []message.ShardRef // refusals since the shard was last forgotten
		var order []message.ShardID
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			s, f := drawShard(t), drawFence(t)
			covered := slices.ContainsFunc(all, func(old message.ShardRef) bool { return old.Shard == s && old.Fence.Compare(f) >= 0 })
			if r.Cover(s, f) != covered {
				t.Fatalf("%v %v is covered: %v, want %v by %v", s, f, !covered, covered, all)
			}
			if rapid.Bool().Draw(t, "look only") {
				continue
			}
			r.Add(s, f)
			if !slices.Contains(order, s) {
				order = append(order, s)
			}
			all = append(all, message.ShardRef{Shard: s, Fence: f})
			for len(order) > most {
				all = slices.DeleteFunc(all, func(old message.ShardRef) bool { return old.Shard == order[0] })
				order = order[1:]
			}
			if r.Len() != len(order) || r.Leak() != 0 {
				t.Fatalf("%d refusals are remembered, %d of them in one list alone, want %d", r.Len(), r.Leak(), len(order))
			}
		}
	})
}

// Resting shards are due in their order: each at its age, or as soon as there are more than the
// bound.
func TestRestingShardsAreDueByAgeAndNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most, age := rapid.IntRange(1, 4).Draw(t, "bound"), time.Duration(rapid.IntRange(1, 9).Draw(t, "age"))*time.Second
		r := NewResting(most, age)
		var all []Rest
		now := node.Instant(1)
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "wait") {
				now = now.Add(time.Duration(rapid.IntRange(0, 4).Draw(t, "seconds")) * time.Second)
			} else {
				s := drawShard(t)
				r.Add(s, now)
				all = append(all, Rest{s, now})
			}
			for len(all) > 0 && (len(all) > most || now >= all[0].Since.Add(age)) {
				if got, due := r.Due(now); !due || got != all[0] {
					t.Fatalf("%v is due: %v, want %v", got, due, all[0])
				}
				all = all[1:]
			}
			if got, due := r.Due(now); due {
				t.Fatalf("%v is due, of %v", got, all)
			}
			if r.Len() != len(all) || !slices.Equal(r.All(), all) {
				t.Fatalf("%v rest, want %v", r.All(), all)
			}
		}
	})
}
