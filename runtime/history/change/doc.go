// Package change finds the runs at which a figure's level changed, in a series of one figure over
// many runs.
//
// It reads no history and knows no steps: runtime/history has both. It does not say why a level
// changed.
//
// Source: E-divisive with means (Matteson and James, 2014): the split of a window with the greatest
// energy between its sides. Student's t replaces the permutations, as in Fleming and others
// (Hunter, ICPE 2023). It departs from Hunter in two ways: a point near the end needs three runs
// behind it or a stronger proof, and the chance that a split of many passes is divided among them.
//
// Invariants:
//
//	CHANGE-1 The same values give the same points: there is no randomness.
//	CHANGE-2 A point has at least three runs on each side. The last two runs of a series are a
//	         point at Options.Sure alone.
//	CHANGE-3 At each point the means of both sides differ by the effect or more.
//
// Example:
//
//	for _, p := range change.Find(p99s, change.Default()) {
//		fmt.Println(p.At, p.Before, p.After)
//	}
//
// Read find.go, then student.go.
package change
