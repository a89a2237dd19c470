package outbox

import (
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Outbox holds results, oldest end first.
type Outbox struct {
	most  int
	items []*Item
}

// New returns an empty outbox. It is full with the given number of results, but takes more,
// since running shards will end.
func New(most int) *Outbox { return &Outbox{most: most} }

// Len counts the results.
func (o *Outbox) Len() int { return len(o.items) }

// Full says that the worker must take no further work.
func (o *Outbox) Full() bool { return len(o.items) >= o.most }

// All returns the results, oldest end first. The caller must not change the list.
func (o *Outbox) All() []*Item { return o.items }

// Add adds the result of an execution that ended now.
func (o *Outbox) Add(x *Item) { o.items = append(o.items, x) }

// Remove removes a result, if it is there.
func (o *Outbox) Remove(x *Item) {
	o.items = slices.DeleteFunc(o.items, func(other *Item) bool { return other == x })
}

// Clear removes all results.
func (o *Outbox) Clear() { o.items = nil }

// Of returns the results of a manager.
func (o *Outbox) Of(manager node.ID) (all []*Item) {
	for _, x := range o.items {
		if x.Manager == manager {
			all = append(all, x)
		}
	}
	return all
}

// Evictable is the oldest result whose manager is not connected, or nil.
func (o *Outbox) Evictable(connected []node.ID) *Item {
	for _, x := range o.items {
		if !slices.Contains(connected, x.Manager) {
			return x
		}
	}
	return nil
}

// Pending counts the results that their managers may still take soon: those of connected ones, and
// those that ended within a time. A manager that is away for longer has given their shards up.
func (o *Outbox) Pending(connected []node.ID, now node.Instant, within time.Duration) (n int) {
	for _, x := range o.items {
		if now.Sub(x.Ended) < within || slices.Contains(connected, x.Manager) {
			n++
		}
	}
	return n
}

// Expired is the oldest result, if it has waited for so long, or nil.
func (o *Outbox) Expired(now node.Instant, age time.Duration) *Item {
	if len(o.items) == 0 || now.Sub(o.items[0].Ended) < age {
		return nil
	}
	return o.items[0]
}

// Refs lists the attempts whose results wait.
func (o *Outbox) Refs() (all []message.ShardRef) {
	for _, x := range o.items {
		all = append(all, message.ShardRef{Shard: x.Result.Shard, Fence: x.Result.Fence})
	}
	return all
}
