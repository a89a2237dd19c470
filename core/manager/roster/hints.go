package roster

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// HintsMax bounds the hints of other managers, and hintsOfOne those about one worker.
const (
	HintsMax   = 1 << 14
	hintsOfOne = 128
)

// hint is what another manager gives a worker for a shard.
type hint struct {
	cores, seats uint32
	until        node.Instant
}

// due is when a hint ends.
type due struct {
	at     node.Instant
	worker node.ID
	shard  message.ShardID
}

// Hint notes what another manager gives a worker for a shard, until an instant that is not before
// those of earlier hints. A worker that lists the shard has it already.
func (r *Roster) Hint(id node.ID, shard message.ShardID, cores, seats uint32, until node.Instant) {
	w := r.workers[id]
	if w == nil || w.Sequence == 0 || len(r.due) >= HintsMax || len(w.hints) >= hintsOfOne {
		return
	}
	if _, listed := w.listed[shard]; listed {
		return
	}
	if w.hints == nil {
		w.hints = map[message.ShardID]hint{}
	}
	w.hints[shard] = hint{min(cores, w.Total), min(seats, w.Total*message.CoreSeats), until}
	r.due = append(r.due, due{until, id, shard})
	r.rank(w)
}

// Expire ends the hints whose time is over.
func (r *Roster) Expire(now node.Instant) {
	n := 0
	for _, d := range r.due {
		if d.at > now {
			break
		}
		n++
		if w := r.workers[d.worker]; w != nil && w.hints[d.shard].until == d.at {
			delete(w.hints, d.shard)
			r.rank(w)
		}
	}
	if n > 0 {
		r.due = slices.Delete(r.due, 0, n)
	}
}

// hinted sums what other managers give it, but for shards that it got from this one: all, or what
// they give shards before one.
func (w *Worker) hinted(before *message.ShardID) (cores uint32, seats int) {
	//lint:orderfree sums
	for id, h := range w.hints {
		if _, own := w.given[id]; !own && (before == nil || id.Compare(*before) < 0) {
			cores, seats = cores+min(h.cores, w.Total-cores), seats+int(h.seats)
		}
	}
	return cores, seats
}
