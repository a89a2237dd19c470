package roster

import "hyperscale/core/node"

// Rests reports what workers hold at rest: no shard, and all their cores are free. The workers
// themselves remain while they are registered.
func (r *Roster) Rests(tell node.Tell) {
	given, running, taken, streams := 0, 0, 0, 0
	//lint:orderfree sums
	for _, w := range r.workers {
		given += max(len(w.given), len(w.shards))
		running += max(len(w.Running), len(w.listed))
		taken += int(w.Total) - int(w.Free())
		if w.Stream != 0 {
			streams++
		}
	}
	tell("manager/attempts at workers", given, 0)
	tell("manager/attempts that workers list", running, 0)
	tell("manager/cores that are taken", taken, 0)
	tell("manager/streams without a worker", max(node.Leak(len(r.streams), streams), len(r.unmet)), 0)
}

// Sizes reports what the roster holds, next to its bounds.
func (r *Roster) Sizes(tell node.Tell, most int) {
	tell("manager/workers", len(r.workers), most)
	tell("manager/streams", len(r.streams), 2*most)
}
