// Package place chooses the workers that run shards. It ranks workers by their free cores, cuts
// a workflow into shards, and finds another worker for a shard that lost one.
//
// It does not know why a worker may receive shards (the roster does), sends nothing and
// sets no timer. It draws from the stream of random numbers that its caller passes.
//
// Source: Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing" (2001):
// of two random workers of the better half the better one.
//
// Invariants:
//
//	PLACE-1 A ranking orders workers by free cores, those with the most first, and by name
//	        among equals: no order of insertion shows.
//	PLACE-2 A cut gives each worker at most one shard, within its free cores. Its shards
//	        have all cores that are wanted and each virtual user once.
//	PLACE-3 A shard returns to a worker that failed it only when no other worker can ever
//	        run it, or when it has waited long enough.
//	PLACE-4 A change of one worker, a choice, and each shard of a cut cost O(log workers).
//	PLACE-5 Each workflow of a job that may run beside another gets what it needs at least,
//	        or shares cores with it. None waits while a core is free or shared by its job.
//
// Read ranking.go, tree.go, choose.go, cut.go, share.go.
package place
