// Package cores hands out the cores of one machine: it knows which are free, which
// executions hold each, and which execution gets them next.
//
// It starts nothing and knows no fence: core/worker decides which execution may ask.
//
// Source: DESIGN.md, "Worker".
//
// Invariants:
//
//	CORES-1 A core is free, or has one holder, or has holders that share it: shards of one job
//	        (TenancyJob), or at most message.CoreSeats light shards of any job (TenancyLight).
//	        A holder of TenancyMachine has all cores.
//	CORES-2 A reservation gets all cores that it asks for or none. What is not free now is owed
//	        to it by earlier executions of its own shard.
//	CORES-3 A core that such an execution releases goes to the holder that it is owed to,
//	        and to no other. A shard owes cores to one holder at most.
//	CORES-4 A light shard takes the core that the fewest light shards share, before it takes a
//	        free one. Shards of a job take free cores first, then those with the fewest of them.
//
// Example, with 2 cores:
//
//	two := Want{Cores: 2}
//	c.Reserve(Holder{shard, 1}, two) // true: cores 0 and 1
//	c.Reserve(Holder{shard, 2}, two) // true: owed 2
//	c.Free()                         // 0
//	c.Release(Holder{shard, 1})
//	c.Of(Holder{shard, 2})           // 0, 1
//
// Read cores.go.
package cores
