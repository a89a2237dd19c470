package place

import (
	"cmp"
	"slices"

	"hyperscale/core/node"
)

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
	return Share(r.pick(draw, cores), users)
}

// Share divides virtual users over shards, evenly by their cores.
func Share(cut []Shard, users uint64) []Shard {
	cores := uint64(0)
	for _, s := range cut {
		cores += uint64(s.Cores)
	}
	share, rest, first := users/cores, users%cores, uint64(0)
	for i := range cut {
		n := uint64(cut[i].Cores)
		cut[i].First, cut[i].VUs = first, share*n+rest*n/cores
		if i == len(cut)-1 {
			cut[i].VUs = users - first
		}
		first += cut[i].VUs
	}
	return cut
}

// pick chooses workers for cores, each once.
func (r *Ranking) pick(draw *node.Rand, cores uint64) []Shard {
	var cut []Shard
	var taken []Worker
	for left := cores; left > 0; {
		w := r.root.at(choose(draw, r.Len(), r.root.atLeast(1, &r.visits)), &r.visits)
		r.Remove(w.ID)
		taken = append(taken, w)
		n := min(left, uint64(w.Free))
		left -= n
		cut = append(cut, Shard{Worker: w.ID, Cores: uint32(n)})
	}
	for _, w := range taken {
		r.Set(w)
	}
	return cut
}

// Join divides cores and virtual users over workers whose free cores do not suffice: the rest runs
// on cores that shards of the same job share, first where the fewest of them run.
func (r *Ranking) Join(draw *node.Rand, cores, users uint64, shared []Sharing) []Shard {
	var cut []Shard
	if free := min(cores, r.free); free > 0 {
		cut, cores = r.pick(draw, free), cores-free
	}
	slices.SortStableFunc(shared, func(a, b Sharing) int {
		return cmp.Or(cmp.Compare(uint64(a.Executors)*uint64(b.Cores), uint64(b.Executors)*uint64(a.Cores)), cmp.Compare(a.Worker, b.Worker))
	})
	for _, s := range shared {
		if n := min(cores, uint64(s.Cores)); n > 0 {
			cut, cores = append(cut, Shard{Worker: s.Worker, Cores: uint32(n)}), cores-n
		}
	}
	if cores > 0 {
		node.Bug("place: %d cores more than there are free and shared", cores)
	}
	return Share(cut, users)
}

// Sharing is a worker on which shards of a job share cores.
type Sharing struct {
	Worker    node.ID
	Cores     uint32 // that they share
	Executors uint32 // of them
}
