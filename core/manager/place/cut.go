package place

import "hyperscale/core/node"

// Shard is the part of a workflow that one worker gets.
type Shard struct {
	Worker node.ID
	Cores  uint32
	First  uint64 // first virtual user
	VUs    uint64
}

// Cut divides cores and virtual users over workers, one shard each, evenly by cores. It does
// not change the ranking. The caller must ask for at least one core, not for more than are
// free, and have at least as many users.
func (r *Ranking) Cut(draw *node.Rand, cores, users uint64) []Shard {
	if cores == 0 || cores > r.free || users < cores {
		node.Bug("place: cut %d users over %d cores, of which %d are free", users, cores, r.free)
	}
	var cut []Shard
	var taken []Worker
	share, rest := users/cores, users%cores
	for left, first := cores, uint64(0); left > 0; {
		w := r.root.at(choose(draw, r.Len(), r.root.atLeast(1, &r.visits)), &r.visits)
		r.Remove(w.ID)
		taken = append(taken, w)
		n := min(left, uint64(w.Free))
		left -= n
		s := Shard{Worker: w.ID, Cores: uint32(n), First: first, VUs: share*n + rest*n/cores}
		if left == 0 {
			s.VUs = users - first
		}
		first += s.VUs
		cut = append(cut, s)
	}
	for _, w := range taken {
		r.Set(w)
	}
	return cut
}
