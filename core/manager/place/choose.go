package place

import (
	"slices"

	"hyperscale/core/node"
)

// choose returns a rank below n. It draws two of the better half of the workers with free cores
// and takes the better one. The result is near the best, and managers do not all choose the
// same.
func choose(draw *node.Rand, n, free int) int {
	half := max(1, min((n+1)/2, free))
	if half == 1 {
		return 0
	}
	return min(draw.Int(half), draw.Int(half))
}

// Again chooses a worker with enough free cores for a shard. It avoids workers that failed the
// shard while there is any other, busy or not; a shard that has waited takes any. It returns
// false if there is none.
func (r *Ranking) Again(draw *node.Rand, cores uint32, failed []node.ID, waited bool) (node.ID, bool) {
	fit, bad := r.root.atLeast(cores, &r.visits), 0
	var skip []int // ranks of the workers that failed it, among those that fit
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
