package fences

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Resting holds shards without an execution, in the order in which they lost it.
type Resting struct {
	most int
	age  time.Duration
	list []Rest
}

// Rest is a shard that has had no execution since an instant.
type Rest struct {
	Shard message.ShardID
	Since node.Instant
}

// NewResting returns an empty list with bounds on number and age.
func NewResting(most int, age time.Duration) *Resting { return &Resting{most: most, age: age} }

// Add adds a shard. A shard that runs again gets another entry afterwards.
func (r *Resting) Add(s message.ShardID, now node.Instant) {
	r.list = append(r.list, Rest{s, now})
}

// Due removes the oldest, if it is beyond the bounds.
func (r *Resting) Due(now node.Instant) (oldest Rest, is bool) {
	if len(r.list) == 0 || len(r.list) <= r.most && now.Sub(r.list[0].Since) < r.age {
		return Rest{}, false
	}
	oldest, r.list = r.list[0], r.list[1:]
	return oldest, true
}

// Len counts the shards.
func (r *Resting) Len() int { return len(r.list) }

// All returns the entries. The caller must not change the list.
func (r *Resting) All() []Rest { return r.list }
