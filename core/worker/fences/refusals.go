package fences

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Refusals holds the highest refused fence of each shard, for a number of shards.
type Refusals struct {
	most    int
	highest map[message.ShardID]message.Fence
	order   []message.ShardID // by the first refusal of each
}

// NewRefusals returns an empty set with room for so many shards.
func NewRefusals(most int) *Refusals {
	return &Refusals{most: most, highest: map[message.ShardID]message.Fence{}}
}

// Add records a refusal.
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

// Cover says whether the worker refused this fence of the shard, or a higher one.
func (r *Refusals) Cover(s message.ShardID, f message.Fence) bool {
	old, known := r.highest[s]
	return known && !old.Less(f)
}

// Len counts the shards.
func (r *Refusals) Len() int { return max(len(r.highest), len(r.order)) }

// Leak counts the entries that only one of the two lists has.
func (r *Refusals) Leak() int { return node.Leak(len(r.highest), len(r.order)) }
