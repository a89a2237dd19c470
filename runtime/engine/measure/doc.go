// Package measure counts what a run of the engine sends and receives. An Account belongs to a
// step, Times to a request, and Generator says how well the engine itself does.
//
// It sends nothing and reads no socket. It is not a store: core/stats has the histograms, and
// core/message the shape of a result.
//
// Source: DESIGN.md, "Engine"; core/stats.
//
// Invariants:
//
//	MEAS-1 Started == OK + Failed + TimedOut + Cancelled for each step when a run has ended;
//	       before that, the difference is in flight.
//	MEAS-2 The phases of a request follow each other without a gap. They add up to its latency,
//	       which runs from the intended start. The windows in time add up to the counts.
//	MEAS-3 Counting allocates nothing once an account has seen its kinds of errors.
//	MEAS-4 One goroutine uses all of it but the Reporter. The Reporter passes figures to a slow
//	       listener on a goroutine of its own, and replaces waiting ones by newer ones.
//
// Example:
//
//	var t measure.Times
//	t.Begin(due)
//	slot.AddTo(&t, clock.Tick())
//	account.Answered(status, &t)
//
// Read clock.go, phases.go, account.go, paths.go, generator.go, machine.go, judge.go, reporter.go.
package measure
