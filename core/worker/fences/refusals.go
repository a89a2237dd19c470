package fences

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Refusals are the highest fences that were refused of some shards.
type Refusals struct {
	most    int
	highest map[message.ShardID]message.Fence
	order   []message.ShardID // of the first refusal of each
}

// NewRefusals returns none, with room for as many shards.
func NewRefusals(most int) *Refusals {
	return &Refusals{most: most, highest: map[message.ShardID]message.Fence{}}
}

// Add remembers a refusal.
func (r *Refusals) Add(s message.ShardID, f message.Fence) {
	old, known := r.highest[s]
	if !known {
		if len(r.order) >= r.most {
			delete(r.highest, r.order[0])
			r.order = r.order[1:]
		}
		r.order = append(r.order, s)
	}
	if !known || old.Less(f) {
		r.highest[s] = f
	}
}

// Cover says that this fence of the shard, or a higher one, was refused.
func (r *Refusals) Cover(s message.ShardID, f message.Fence) bool {
	old, known := r.highest[s]
	return known && !old.Less(f)
}

// Len counts the shards.
func (r *Refusals) Len() int { return max(len(r.highest), len(r.order)) }

// Leak counts what one of the two lists has alone.
func (r *Refusals) Leak() int { return node.Leak(len(r.highest), len(r.order)) }
