package roster

import (
	"maps"
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Worker is what is known of one worker. Its fields change by methods of its roster only.
type Worker struct {
	Number   uint64 // of its timer
	Peer     node.Peer
	Stream   node.StreamID // zero while there is none
	Draining bool
	Suspect  bool   // as the membership has it: nothing new is given to it
	Total    uint32 // cores
	Reported uint32 // free cores of its last heartbeat or refusal, at most Total
	Sequence uint64 // of its last heartbeat on this stream, zero before the first
	Running  []message.ShardRef
	listed   map[message.ShardID]message.Fence // the same, by shard
	given    map[message.ShardID]Given         // live attempts
	shards   []message.ShardID                 // of given, in their order; nil: they have changed
}

// Given is an attempt that a worker was given.
type Given struct {
	Fence message.Fence
	Cores uint32
}

// Free is what it reported, less what it was given since.
func (w *Worker) Free() uint32 {
	n := w.Reported
	//lint:orderfree a difference does not depend on the order of what is taken
	for id, g := range w.given {
		if f, ok := w.listed[id]; !ok || f != g.Fence {
			n -= min(n, g.Cores)
		}
	}
	return n
}

// Lists returns the fence under which its last heartbeat lists a shard.
func (w *Worker) Lists(id message.ShardID) (message.Fence, bool) {
	f, ok := w.listed[id]
	return f, ok
}

// Has says that it was given a shard under this fence and still has it.
func (w *Worker) Has(id message.ShardID, f message.Fence) bool {
	g, ok := w.given[id]
	return ok && g.Fence == f
}

// Given returns the shards that it was given, in their order. The list is not to be changed.
func (w *Worker) Given() []message.ShardID {
	if w.shards == nil && len(w.given) > 0 {
		w.shards = slices.SortedFunc(maps.Keys(w.given), message.ShardID.Compare)
	}
	return w.shards
}

// Stands says that it can be sent to.
func (w *Worker) Stands() bool { return w != nil && w.Stream != 0 }

// able says that it can be given shards.
func (w *Worker) able() bool { return w.Stands() && !w.Draining && !w.Suspect }
