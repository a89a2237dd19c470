// Package fences remembers shards that a worker does not run: the highest fence of each that
// it refused, and those whose last execution is over, until their fences may be forgotten.
//
// It compares fences and counts. core/worker holds the fences of known shards, also on its
// disk.
//
// Source: DESIGN.md, "Jobs and fences".
//
// Invariants:
//
//	FENCES-1 A dispatch at or below one that was refused is covered, for as long as its shard
//	         is among the last that were refused first.
//	FENCES-2 A shard that rests is due after its age, or once there are more than the bound,
//	         the oldest first.
//
// Example: with room for 2, shards 1, 2, 3 are refused in this order; the refusal of shard 1
// is forgotten, however often it came again.
//
// Read refusals.go, resting.go.
package fences
