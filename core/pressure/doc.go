// Package pressure decides how often a node's peers report figures to it, and how long a
// peer obeys.
//
// It is no admission (core/admission): it refuses nothing, and no order, result or change of a state
// waits for it. Figures are cumulative, so a later report loses nothing but time.
//
// Source: AD-23 of the second specification has four levels. There is one interval here, of two rules:
//
//	by number  as many peers as report, at most PerSecond reports a second: known before the first one
//	by wait    each second in which reports waited for longer than WaitMax doubles the interval;
//	           CalmAfter seconds in which none waited for half of that halve it
//
// A level that leaves out parts of a report is not built. A report replaces the one before, so what it
// leaves out vanishes from the sum, and figures that were shown would fall.
//
// Invariants:
//
//	PRESSURE-1 An interval is at most Most, and zero (as often as the peer likes) unless it is above
//	           Base.
//	PRESSURE-2 Without waits the interval is the one by number within Levels times CalmAfter seconds.
//	PRESSURE-3 A Word that was not repeated counts for Lifetime: the interval of a dead node does not
//	           slow down reports to its successor.
//
// Read gauge.go, word.go.
package pressure
