package roster

import (
	"cmp"
	"maps"
	"slices"

	"hyperscale/core/admission"
	"hyperscale/core/manager/place"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Roster holds the workers of a datacenter.
type Roster struct {
	workers map[node.ID]*Worker
	sorted  []*Worker                      // the same by name; nil after a change
	streams map[node.StreamID]*Worker      // nil until its first heartbeat
	unmet   map[node.StreamID]node.Instant // streams without a worker: when each last carried a message
	ranking place.Ranking                  // of the workers that can receive shards
	held    int                            // workers that are kept for a workflow
	seats   place.Ranking                  // of free seats, of the same workers
	loaded  int                            // workers that have too much to do to take shards
	tripped int                            // workers whose circuit is open
	number  uint64                         // of the last worker
}

// New returns an empty roster.
func New() *Roster {
	return &Roster{workers: map[node.ID]*Worker{}, streams: map[node.StreamID]*Worker{}, unmet: map[node.StreamID]node.Instant{}}
}

// Of returns the worker of an ID, or nil.
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

// All returns the workers by name. The caller must not change it.
func (r *Roster) All() []*Worker {
	if r.sorted == nil {
		r.sorted = slices.SortedFunc(maps.Values(r.workers), func(a, b *Worker) int { return cmp.Compare(a.Peer.ID, b.Peer.ID) })
	}
	return r.sorted
}

// Len counts the workers.
func (r *Roster) Len() int { return len(r.workers) }

// Heartbeat stores a worker's heartbeat. It returns false if the heartbeat is not newer than
// the last.
func (r *Roster) Heartbeat(w *Worker, hb *message.WorkerHeartbeat) bool {
	if hb.Sequence <= w.Sequence {
		return false
	}
	w.Sequence = hb.Sequence
	says := told{
		draining: hb.Draining, total: hb.CoresTotal, free: min(hb.CoresFree, hb.CoresTotal), seats: min(hb.SeatsFree, hb.CoresTotal*message.CoreSeats),
		slots: admission.Slots{Used: uint64(hb.SlotsUsed), Max: uint64(hb.SlotsMax)},
	}
	same := slices.Equal(w.Running, hb.Running)
	if same && says == w.told() {
		return true // most heartbeats: the rankings stay
	}
	w.Draining, w.Total, w.Reported, w.Seats, w.Slots, w.Running = says.draining, says.total, says.free, says.seats, says.slots, hb.Running
	if !same {
		w.list()
	}
	r.rank(w)
	return true
}

// Hold notes the workflow that a worker is kept for.
func (r *Roster) Hold(w *Worker, h Held) {
	if w.Held.Job != (message.JobID{}) {
		r.held--
	}
	if w.Held = h; h.Job != (message.JobID{}) {
		r.held++
	}
}

// HeldBut returns a worker that is kept for another workflow than one; nil: there is none.
func (r *Roster) HeldBut(job message.JobID, workflow uint32) *Worker {
	if r.held > 0 {
		for _, w := range r.All() {
			if w.Held.Job != (message.JobID{}) && !w.Held.Of(job, workflow) {
				return w
			}
		}
	}
	return nil
}

// Refused stores the free cores and seats that a refusal names.
func (r *Roster) Refused(w *Worker, refusal *message.ShardRefused) {
	w.Reported, w.Seats = min(refusal.CoresFree, w.Total), min(refusal.SeatsFree, w.Total*message.CoreSeats)
	r.rank(w)
}

// Spare records until when a worker that refused a shard for its load gets none; zero: it may get
// some again.
func (r *Roster) Spare(w *Worker, until node.Instant) {
	w.Spared = until
	r.rank(w)
}

// Loaded counts the workers that could take shards if they had less to do.
func (r *Roster) Loaded() int { return r.loaded }

// Drains records that a worker takes no new shard.
func (r *Roster) Drains(w *Worker) {
	w.Draining = true
	r.rank(w)
}

// Suspect records whether the membership suspects a worker.
func (r *Roster) Suspect(w *Worker, suspect bool) {
	w.Suspect = suspect
	r.rank(w)
}

// Give records that a worker gets a shard.
func (r *Roster) Give(w *Worker, id message.ShardID, g Given) {
	w.given[id], w.shards = g, nil
	r.rank(w)
}

// Take takes a shard back from a worker. With the fence of a former attempt it does not affect
// the current one.
func (r *Roster) Take(from node.ID, id message.ShardID, f message.Fence) {
	if w := r.workers[from]; w != nil && w.Has(id, f) {
		delete(w.given, id)
		w.shards = nil
		r.rank(w)
	}
}

// Ranking ranks the workers that can receive shards; only the roster changes it.
func (r *Roster) Ranking() *place.Ranking { return &r.ranking }

// Seats ranks the same workers by their free seats.
func (r *Roster) Seats() *place.Ranking { return &r.seats }

// rank updates the rankings after a change of a worker.
func (r *Roster) rank(w *Worker) {
	w.reckon()
	r.count(w, w.Able() && w.Loaded())
	if w.Able() && !w.Loaded() && w.tripped == 0 {
		r.ranking.Set(place.Worker{ID: w.Peer.ID, Free: w.Free(), Total: w.Total})
		r.seats.Set(place.Worker{ID: w.Peer.ID, Free: w.FreeSeats(), Total: w.Total})
	} else {
		r.ranking.Remove(w.Peer.ID)
		r.seats.Remove(w.Peer.ID)
	}
}

// count updates the number of loaded workers.
func (r *Roster) count(w *Worker, loaded bool) {
	if w.counted == loaded {
		return
	}
	if w.counted = loaded; loaded {
		r.loaded++
	} else {
		r.loaded--
	}
}
