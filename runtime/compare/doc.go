// Package compare says what differs between two runs, by how much, and whether that is
// noise.
//
// It reads no files and prints nothing: runtime/ui draws a Comparison, cmd/hyperscale encodes
// it. It cannot know what varies from run to run: it sees one run of each kind.
//
// Source: order statistics bound quantiles (David and Nagaraja, Order Statistics, 7.1).
// Wilson's interval bounds proportions, Zou and Donner's recovery of variances bounds
// differences (Statistics in Medicine 27, 2008). Batch means show dependence. docs/compare.md has the
// assumptions and the error rates, which simulation_test.go measures.
//
// Invariants:
//
//	COMPARE-1 A file compared with itself has no change and no regression.
//	COMPARE-2 When the files change places, better becomes worse and the other way round.
//	COMPARE-3 All intervals of a pair hold together with 1 - alpha: each has alpha / tests
//	          (Bonferroni), whatever depends on what.
//	COMPARE-4 A figure is worse or better only if it moved by at least the tolerance, and by
//	          more than chance can do.
//	COMPARE-5 The same files give the same comparison: simulations have a fixed seed.
//	COMPARE-6 No result that report.Decode accepts makes it panic.
//
// Read comparison.go (the shape), compare.go, cautions.go, curve.go, interval.go, design.go.
package compare
