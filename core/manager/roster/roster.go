package roster

import (
	"cmp"
	"maps"
	"slices"

	"hyperscale/core/manager/place"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Roster is the workers of a datacenter.
type Roster struct {
	workers map[node.ID]*Worker
	sorted  []*Worker                      // the same by name; nil: they have changed
	streams map[node.StreamID]*Worker      // nil until its first heartbeat
	unmet   map[node.StreamID]node.Instant // streams without a worker: when each was last heard
	ranking place.Ranking                  // of the workers that can be given shards
	number  uint64                         // of the last worker
}

// New returns an empty roster.
func New() *Roster {
	return &Roster{workers: map[node.ID]*Worker{}, streams: map[node.StreamID]*Worker{}, unmet: map[node.StreamID]node.Instant{}}
}

// Of returns the worker of a name, or nil.
func (r *Roster) Of(id node.ID) *Worker { return r.workers[id] }

// Numbered returns the worker whose timer has a number, or nil.
func (r *Roster) Numbered(n uint64) *Worker {
	//lint:orderfree each worker has a number of its own
	for _, w := range r.workers {
		if w.Number == n {
			return w
		}
	}
	return nil
}

// All returns the workers by name. It is not to be changed.
func (r *Roster) All() []*Worker {
	if r.sorted == nil {
		r.sorted = slices.SortedFunc(maps.Values(r.workers), func(a, b *Worker) int { return cmp.Compare(a.Peer.ID, b.Peer.ID) })
	}
	return r.sorted
}

// Len counts the workers.
func (r *Roster) Len() int { return len(r.workers) }

// Heartbeat takes what a worker says of itself. False: it says nothing new.
func (r *Roster) Heartbeat(w *Worker, hb *message.WorkerHeartbeat) bool {
	if hb.Sequence <= w.Sequence {
		return false
	}
	w.Sequence, w.Draining = hb.Sequence, hb.Draining
	w.Total, w.Reported = hb.CoresTotal, min(hb.CoresFree, hb.CoresTotal)
	w.Running = hb.Running
	if clear(w.listed); w.listed == nil {
		w.listed = make(map[message.ShardID]message.Fence, len(hb.Running))
	}
	for _, ref := range hb.Running {
		w.listed[ref.Shard] = ref.Fence
	}
	r.rank(w)
	return true
}

// Refused takes the free cores that a refusal names.
func (r *Roster) Refused(w *Worker, free uint32) {
	w.Reported = min(free, w.Total)
	r.rank(w)
}

// Drains notes that a worker takes nothing new.
func (r *Roster) Drains(w *Worker) {
	w.Draining = true
	r.rank(w)
}

// Suspect notes whether the membership suspects a worker.
func (r *Roster) Suspect(w *Worker, suspect bool) {
	w.Suspect = suspect
	r.rank(w)
}

// Give notes that a worker has a shard.
func (r *Roster) Give(w *Worker, id message.ShardID, g Given) {
	w.given[id], w.shards = g, nil
	r.rank(w)
}

// Take takes a shard back from the worker of a name. An attempt that was passed takes
// nothing of the next one.
func (r *Roster) Take(from node.ID, id message.ShardID, f message.Fence) {
	if w := r.workers[from]; w != nil && w.Has(id, f) {
		delete(w.given, id)
		w.shards = nil
		r.rank(w)
	}
}

// Ranking has the workers that can be given shards; it changes by the roster only.
func (r *Roster) Ranking() *place.Ranking { return &r.ranking }

// rank keeps the ranking true to what changed of a worker.
func (r *Roster) rank(w *Worker) {
	if w.able() {
		r.ranking.Set(place.Worker{ID: w.Peer.ID, Free: w.Free(), Total: w.Total})
	} else {
		r.ranking.Remove(w.Peer.ID)
	}
}
