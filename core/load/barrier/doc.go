// Package barrier is the side of a process in a barrier: the virtual users that wait for others.
//
// It decides no release: the manager that holds the subjob does (core/manager/subjob), from the
// reports of all processes. It knows no time: its caller says when a wait is over.
//
//	process                              manager
//	   |--- Report{1, arrived 2} ----------->|  another process has a third wait, of three
//	   |<-- Answer{1, released 2} -----------|  once a majority has it
//
// A wait whose time is over asks to leave, and ends by the answer: either the manager had released
// it before it knew, then it is released with the others, or it counts no more.
//
//  1. Two wait at a barrier of two, and the manager releases both.
//  2. One of them is over before the answer is here, and would leave by itself.
//  3. The other one would be released alone.
//
// Invariants:
//
//	BARRIER-1 As many waits are released as the manager says, each once. While the manager answers
//	          before Abandon, none of them has ended otherwise.
//	BARRIER-2 An answer that is late or comes twice changes nothing.
//	BARRIER-3 A manager that subtracts what left and what it released from what arrived never
//	          counts a wait that has ended by an answer.
//
// Example:
//
//	q.Arrive(7)
//	report, _ := q.Report()
//	for _, end := range q.Take(barrier.Answer{Number: report.Number, Released: 1}) { ... }
//
// Read barrier.go.
package barrier
