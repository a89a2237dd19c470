package place

import (
	"slices"

	"hyperscale/core/node"
)

// choose returns a rank below n. It takes the better half of those that have free cores,
// and of two random ones of it the better one: near the best, without every manager
// choosing the same.
func choose(draw *node.Rand, n, free int) int {
	half := max(1, min((n+1)/2, free))
	if half == 1 {
		return 0
	}
	return min(draw.Int(half), draw.Int(half))
}

// Again chooses a worker with so many free cores for a shard, but none that failed it
// while there is another, busy or not. A shard that has waited takes any. False: there
// is none.
func (r *Ranking) Again(draw *node.Rand, cores uint32, failed []node.ID, waited bool) (node.ID, bool) {
	fit, bad := r.root.atLeast(cores, &r.visits), 0
	var skip []int // ranks of those that failed it, of those that fit
	for i, id := range failed {
		w, known := r.known[id]
		if !known || slices.Contains(failed[:i], id) {
			continue
		}
		bad++
		if w.Free >= cores {
			skip = append(skip, r.root.rank(w, &r.visits))
		}
	}
	if fit == len(skip) && (waited || bad == r.Len()) {
		skip = nil
	}
	n := fit - len(skip)
	if n == 0 {
		return "", false
	}
	rank := choose(draw, n, n)
	slices.Sort(skip)
	for _, s := range skip {
		if s <= rank {
			rank++
		}
	}
	return r.root.at(rank, &r.visits).ID, true
}
