package roster

import (
	"fmt"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Registered is the outcome of a stream's first heartbeat.
type Registered struct {
	Worker    *Worker       // nil: refused
	Why       string        // reason of the refusal
	Left      node.StreamID // its former stream, which the caller closes; zero if none
	Fresh     bool          // no heartbeat of this incarnation came before
	Restarted bool          // it had an earlier incarnation, which lost the shards that this one does not list
}

// Register handles the first heartbeat of a stream. It registers the worker if it is known or
// if there are fewer workers than most.
func (r *Roster) Register(peer node.Peer, stream node.StreamID, most int) Registered {
	w := r.workers[peer.ID]
	if w == nil && len(r.workers) >= most {
		return Registered{Why: fmt.Sprintf("%d workers are registered, which is the bound: raise manager.workers_max, or split the datacenter", len(r.workers))}
	}
	if w != nil && (peer.Incarnation < w.Peer.Incarnation || peer.Incarnation == w.Peer.Incarnation && peer.Addr != w.Peer.Addr) {
		return Registered{Why: fmt.Sprintf("the worker at %s has this name: give the one at %s an --id of its own", w.Peer.Addr, peer.Addr)}
	}
	out := Registered{Fresh: w == nil}
	if w == nil {
		r.number++
		w = &Worker{Number: r.number, Peer: peer, given: map[message.ShardID]Given{}}
		r.workers[peer.ID], r.sorted = w, nil
	}
	out.Worker, out.Left = w, w.Stream
	delete(r.streams, w.Stream)
	out.Restarted = w.Peer.Incarnation != peer.Incarnation
	out.Fresh = out.Fresh || out.Restarted
	w.Peer, w.Stream, w.Sequence = peer, stream, 0
	r.Hold(w, Held{})
	r.streams[stream] = w
	delete(r.unmet, stream)
	r.rank(w)
	return out
}

// Drop forgets a worker, and returns the stream that the caller must close, if any.
func (r *Roster) Drop(w *Worker) node.StreamID {
	delete(r.streams, w.Stream)
	delete(r.workers, w.Peer.ID)
	r.sorted = nil
	r.ranking.Remove(w.Peer.ID)
	r.seats.Remove(w.Peer.ID)
	r.Hold(w, Held{})
	r.count(w, false)
	if w.circuit.Worked() {
		r.tripped--
	}
	return w.Stream
}
