// Package cores hands out the cores of one machine: it knows which are free, which
// execution holds each, and which execution gets them next.
//
// It starts nothing and knows no fence: core/worker decides which execution may ask.
//
// Source: DESIGN.md, "The unit of dispatch".
//
// Invariants:
//
//	CORES-1 A core is free or has one holder, from its reservation until its release.
//	CORES-2 A reservation gets all cores that it asks for or none, the lowest first. What is
//	        not free now is owed to it by earlier executions of its own shard.
//	CORES-3 A core that such an execution releases goes to the holder that it is owed to,
//	        and to no other. A shard owes cores to one holder at most.
//
// Example, with 2 cores:
//
//	c.Reserve(Holder{shard, 1}, 2) // true: cores 0 and 1
//	c.Reserve(Holder{shard, 2}, 2) // true: owed 2
//	c.Free()                       // 0
//	c.Release(Holder{shard, 1})
//	c.Of(Holder{shard, 2})         // 0, 1
//
// Read cores.go.
package cores
