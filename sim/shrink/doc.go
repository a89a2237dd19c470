// Package shrink makes a failing run small: it keeps only the faults that the failure needs.
//
// It plays nothing and knows no world: its caller says whether a run still fails in the same
// way. It does not search for other failures either.
//
// Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing
// Input" (delta debugging), over faults. Then, fault by fault, fewer nodes,
// shorter times, rounder numbers, as QuickCheck's shrinkers do.
//
// Invariants:
//
//	SHRINK-1 A run that Shrink returns failed when it was played, or is the one it was given.
//	SHRINK-2 Every step makes the run simpler: fewer faults, else fewer nodes, else a
//	         shorter or rounder time or value. So it ends, if only by Stop.
//	SHRINK-3 Nothing is played twice.
//	SHRINK-4 Unless it was stopped, no fault of the result can be left out alone.
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
