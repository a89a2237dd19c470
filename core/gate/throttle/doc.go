// Package throttle limits how many jobs a gate dispatches in a second, by how long dispatched jobs
// take to run: additive increase, multiplicative decrease (Chiu and Jain, 1989).
//
// It dispatches nothing, measures nothing and sets no timer: core/gate does, and passes the time. It
// never touches a job that a manager has accepted: neither its users nor its cores nor its rate.
//
// Invariants:
//
//	THROTTLE-1 The rate is at least one dispatch a second, and at most the bound.
//	THROTTLE-2 A period in which more than one of a hundred dispatches took longer than the target
//	           halves the rate. Every other period adds a tenth of the bound.
//	THROTTLE-3 In any second the gate dispatches at most two seconds' worth of the bound.
//
// Read throttle.go.
package throttle
