// Package queue decides which job of a gate runs next, and where: a pure scheduler.
//
// It dispatches nothing and knows only each job's turn: core/gate dispatches the jobs that
// Ready returns, persists that, and tells clients their positions. It reads no clock and sets
// no timer.
//
// Source: DESIGN.md, "Gate".
//
// Invariants:
//
//	QUEUE-1 Turns stand by class of importance, then by deadline, then in the order of
//	        acceptance, and each knows its position; a job that returns from a dispatch keeps
//	        its turn. A wait of Bounds.Step raises a job by a class, so that none starves.
//	QUEUE-2 A job that waits for cores keeps its datacenters from those behind it; one whose
//	        datacenter is UNHEALTHY keeps none.
//	QUEUE-3 Only a job in the queue ends by its age or its deadline: one that was dispatched
//	        has waited.
//	QUEUE-4 Jobs that are ready at once never take more free cores than there are.
//	QUEUE-5 One source of clients never takes more than its part of the places.
//	QUEUE-6 A job goes to as many datacenters as it asks for, each with the cores, or to none.
//	        One that names its datacenters goes to no other. One that prefers some goes to
//	        others only while those are UNHEALTHY, or after a minute.
//	QUEUE-7 A job that wants more cores than there are waits for them if scaling can reach them. It
//	        goes to no datacenter that can never have them while others, not UNHEALTHY, can.
//
// Example: a and b are datacenters with 4 free cores each. Job 1 names a and b and needs 8
// in each, so it waits and keeps both. Job 2 needs one core of any datacenter, and waits.
//
// Read turn.go, queue.go, ready.go, choice.go, demand.go, crowd.go.
package queue
