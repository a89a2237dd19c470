// Package compare says what differs between two runs, by how much, and whether that is
// noise.
//
// It reads no files, prints nothing (runtime/ui draws a Comparison, cmd/hyperscale encodes
// it) and knows nothing of what differs from run to run: it sees one run of each kind.
//
// Source: quantiles are bounded by order statistics (David and Nagaraja, Order
// Statistics, 7.1), proportions by Wilson's interval, differences by Zou and Donner's
// recovery of variances (Statistics in Medicine 27, 2008), dependence by batch means.
// docs/compare.md has the assumptions and the error rates, measured by simulation_test.go.
//
// Invariants:
//
//	COMPARE-1 A file compared with itself has no change and no regression.
//	COMPARE-2 When the files change places, better becomes worse and the other way round.
//	COMPARE-3 All intervals of a pair hold together with 1 - alpha: each has alpha / tests
//	          (Bonferroni), whatever hangs together with what.
//	COMPARE-4 Nothing is worse or better that moved by less than the tolerance, nor by as much as
//	          chance can do.
//	COMPARE-5 The same files give the same comparison: what is simulated has a fixed seed.
//	COMPARE-6 No result that report.Decode accepts makes it panic.
//
// Read comparison.go (the shape), compare.go, cautions.go, curve.go, interval.go, design.go.
package compare
