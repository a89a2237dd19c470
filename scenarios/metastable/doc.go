// Package metastable plays failures that stay after what caused them has gone: a cluster at 90 %
// load, a short trigger, and a loop that feeds itself.
//
// It is no scenario: nothing in it is right or wrong. It uses the machines of production in the
// simulator. Their handlers cost so much that a few requests a second are 90 % of a node's time.
//
// Sources: Huang et al., "Metastable Failures in the Wild" (OSDI 2022), and its experiments
// (github.com/lexiangh/Metastability, Retry_Metastability).
//
// A cell is a loop, a trigger, its depth and its length. It recovers if, from some moment on, 99 %
// of the share of before is answered in time again, and that moment is within the bound: 10 s or
// two of the loop's longest timeout. A guard is a setting of production; without guards the same
// machines have waits without backoff and lanes without a bound.
//
// Invariants:
//
//	META-1 One cell has one outcome, in any process.
//	META-2 A cell with guards differs from the one without in settings, and in the deadlines of
//	       requests, alone.
//
// Example:
//
//	o := metastable.Play(metastable.Cell{Loop: "retry", Trigger: "capacity", Depth: 4, Length: time.Second, Guards: true})
//
// Read cell.go, loops.go (the worlds), play.go (one cell), grid.go (all of them, and the border),
// osdi.go (the published experiment), then picture.go.
package metastable
