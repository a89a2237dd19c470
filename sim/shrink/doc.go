// Package shrink makes a failing run small: what is left of its faults is what
// the failure needs.
//
// It plays nothing and knows no world: whoever calls it says whether a run still
// fails in the same way. It does not search for other failures either.
//
// Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing
// Input" (delta debugging), over faults; then, fault by fault, fewer nodes,
// shorter times, rounder numbers, as QuickCheck's shrinkers do.
//
// Invariants:
//
//	SHRINK-1 What Shrink returns has failed when it was played, or is what it was given.
//	SHRINK-2 Every step makes the run simpler: fewer faults, else fewer nodes, else a
//	         shorter or rounder time or value. So it ends, if only by Stop.
//	SHRINK-3 Nothing is played twice.
//	SHRINK-4 When it was not stopped, no fault of the result can be left out alone.
//
// Example:
//
//	small, plays := shrink.Shrink(shrink.Run{Faults: r.Faults, Broken: r.Broken}, shrink.Options{
//		Fails: func(faults []sim.Fault) (time.Duration, bool) { ... },
//		Stop:  func() bool { return time.Since(start) > budget },
//	})
//
// Read shrink.go, then simpler.go.
package shrink
