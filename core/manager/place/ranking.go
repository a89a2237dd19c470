package place

import (
	"cmp"

	"hyperscale/core/node"
)

// Worker is a worker that can receive shards.
type Worker struct {
	ID    node.ID
	Free  uint32 // cores without a shard
	Total uint32 // all of its cores
}

// compare ranks workers: the most free cores first, then by name.
func (w Worker) compare(o Worker) int {
	return cmp.Or(cmp.Compare(o.Free, w.Free), cmp.Compare(w.ID, o.ID))
}

// Ranking keeps the workers that can receive shards in the order of their free cores. Its zero
// value is empty.
type Ranking struct {
	known       map[node.ID]Worker
	root        *tree
	free, total uint64
	visits      uint64 // of workers, in all walks so far
}

// Set adds a worker, or moves it to the rank of its free cores.
func (r *Ranking) Set(w Worker) {
	old, known := r.known[w.ID]
	if known && old == w {
		return
	}
	r.Remove(w.ID)
	if r.known == nil {
		r.known = map[node.ID]Worker{}
	}
	r.known[w.ID] = w
	r.free, r.total = r.free+uint64(w.Free), r.total+uint64(w.Total)
	r.root = r.root.insert(w, &r.visits)
}

// Remove removes a worker, if it is ranked.
func (r *Ranking) Remove(id node.ID) {
	w, known := r.known[id]
	if !known {
		return
	}
	delete(r.known, id)
	r.free, r.total = r.free-uint64(w.Free), r.total-uint64(w.Total)
	r.root = r.root.remove(w, &r.visits)
}

// Has says that a worker is ranked.
func (r *Ranking) Has(id node.ID) bool {
	_, known := r.known[id]
	return known
}

// Len counts the workers.
func (r *Ranking) Len() int { return r.root.len() }

// Visits counts the visits of workers in all calls so far.
func (r *Ranking) Visits() uint64 { return r.visits }

// Cores sums the free cores, and all cores.
func (r *Ranking) Cores() (free, total uint64) { return r.free, r.total }
