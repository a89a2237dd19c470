// Package load says when each iteration of a workflow begins, and which virtual user begins
// it. So executors that never talk to each other make one load.
//
// It is not an engine: it reads no clock and begins nothing. It does not check plans:
// core/plan does. A plan beyond its bounds is bounded here and does no harm.
//
// Source: docs/workflows.md, "Load". The spreading is a Weyl sequence by the golden
// section: every interval has its share of any stretch (the three-distance theorem).
// Poisson processes are made by inversion.
//
// Arrival k of a workflow is due at T(k). That is when the area below its rate's curve
// reaches k (even arrivals), or the sum of k+1 exponential draws (Poisson). It is for
// virtual user s(k) = k * stride mod VUs, and the executor of that user begins it. A busy
// user leaves it to any other user of its executor. rank is the inverse of s. In a closed
// workflow with stages, user u is active while rank(u) is below the curve.
//
// Invariants:
//
//	LOAD-1 Integers only. All of it is a function of the plan and the seed: the same
//	       in every executor, on every machine.
//	LOAD-2 However the users are cut, each arrival begins once: the arrivals of the
//	       shares are a partition of all arrivals. So are iterations.
//	LOAD-3 At any time the number of even arrivals that were due differs from the
//	       area below the curve by less than one; T never falls.
//	LOAD-4 An executor's share of any stretch of arrivals is off by a few, whatever
//	       the stretch and the cut are.
//	LOAD-5 Only the functions called New allocate.
//
// Example:
//
//	a := load.NewArrivals(plan, seed, firstVU, vus)
//	for arrival, ok := a.Next(); ok; arrival, ok = a.Next() {
//		// at arrival.Due begin iteration number arrival.K
//	}
//
// Read spread.go, curve.go, area.go, arrivals.go, turns.go, exponential.go,
// mix.go. core/load/schedule says from these which iteration begins now.
package load
