// Package schedule says which virtual user of one process begins which iteration, and when.
//
// It reads no clock and sends nothing: runtime/engine asks Next what begins now and reports
// each end with Ended. It does not compute arrivals, shares or curves, which core/load does,
// and it does not know what an iteration consists of.
//
// Source: docs/workflows.md, "Load". A closed workflow has active users, which end an
// iteration, think and begin again. An open one has arrivals. Each arrival takes a free
// user, and none waits in memory, because the schedule keeps the next arrival alone.
//
// Invariants:
//
//	SCHED-1 Of an open workflow each arrival that is due begins once, or is dropped and counted.
//	SCHED-2 What the process itself missed by more than 5 ms it owes: these arrivals wait for a
//	        free user, and later arrivals do not.
//	SCHED-3 No more iterations are under way than there are users. A user leaves between two
//	        iterations, and Left returns it once each time.
//	SCHED-4 An iteration's weighted step and think time are a function of the seed, of the
//	        user's number in the workflow and of the iteration's number.
//	SCHED-5 A process that joins begins what is due from then on, as one that was there before.
//	SCHED-6 With iterations of each user, no user begins more than its own, and without a join
//	        each begins exactly so many unless the time ends before.
//	SCHED-7 Next and Ended allocate nothing once their queues have their size.
//	SCHED-8 While it is held, no user begins that has not begun, unless nothing is under way. What
//	        that puts off is counted. A hold ends no iteration, and a run ends all the same.
//
// Example:
//
//	s := schedule.New(schedule.Config{Plan: plan, VUs: 64, Duration: time.Minute})
//	for next, ok := s.Next(now); ok; next, ok = s.Next(now) {
//		// begin the iteration of user next.VU
//	}
//	// wait until s.Wake(), or for an end: s.Ended(vu, now)
//
// Read starts.go, schedule.go, active.go, arrivals.go, join.go, hold.go.
package schedule
