// Package schedule says which virtual user of one process begins which iteration, and when.
//
// It reads no clock and sends nothing: runtime/engine asks Next what begins now and reports
// each end with Ended. It does not compute arrivals, shares or curves, which core/load does,
// and it does not know what an iteration is made of.
//
// Source: docs/workflows.md, "Load". A closed workflow has active users that begin again when
// they have ended and thought. An open one has arrivals: each takes a free user, and none
// waits in memory, because the next arrival is all that is kept.
//
// Invariants:
//
//	SCHED-1 Of an open workflow each arrival that is due begins once, or is dropped and counted.
//	SCHED-2 What the process itself missed by more than 5 ms it owes: these arrivals wait for a
//	        free user, and later arrivals do not.
//	SCHED-3 No more iterations are under way than there are users. A user leaves between two
//	        iterations, and Left returns it once each time.
//	SCHED-4 The weighted step and the think time of an iteration are a function of the seed, the
//	        user's number in the workflow and the iteration's number.
//	SCHED-5 Next and Ended allocate nothing once their queues have their size.
//
// Example:
//
//	s := schedule.New(schedule.Config{Plan: plan, VUs: 64, Duration: time.Minute})
//	for next, ok := s.Next(now); ok; next, ok = s.Next(now) {
//		// begin the iteration of user next.VU
//	}
//	// wait until s.Wake(), or for an end: s.Ended(vu, now)
//
// Read starts.go, schedule.go, active.go, arrivals.go.
package schedule
