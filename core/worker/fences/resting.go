package fences

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Resting are shards without an execution, in the order in which they came to rest.
type Resting struct {
	most int
	age  time.Duration
	list []Rest
}

// Rest is a shard that has no execution since an instant.
type Rest struct {
	Shard message.ShardID
	Since node.Instant
}

// NewResting returns none, with room for as many, each for an age.
func NewResting(most int, age time.Duration) *Resting { return &Resting{most: most, age: age} }

// Add files a shard. One that was dispatched since it was filed is filed again.
func (r *Resting) Add(s message.ShardID, now node.Instant) {
	r.list = append(r.list, Rest{s, now})
}

// Due takes the oldest out, if it is beyond the bounds.
func (r *Resting) Due(now node.Instant) (oldest Rest, is bool) {
	if len(r.list) == 0 || len(r.list) <= r.most && now.Sub(r.list[0].Since) < r.age {
		return Rest{}, false
	}
	oldest, r.list = r.list[0], r.list[1:]
	return oldest, true
}

// Len counts them.
func (r *Resting) Len() int { return len(r.list) }

// All returns those that are filed. The caller does not change the list.
func (r *Resting) All() []Rest { return r.list }
