// Package throttle limits how many jobs a gate dispatches in a second, by how long dispatched jobs
// take to run and by what managers refuse: additive increase, multiplicative decrease (Chiu and Jain,
// 1989).
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
//	THROTTLE-4 A burst of refusals lowers the rate once, and not below what managers take. From then
//	           on a second's worth of dispatches at most is without an answer, and a period adds a
//	           quarter of the rate at most, until the rate is at its bound and keeps nothing back.
//	THROTTLE-5 Managers that are back, while jobs wait for them, have four dispatches without an
//	           answer, and one more for each answer that comes about as soon as the quickest, for a
//	           minute or until a second's worth may be. The rate stays.
//
// Read throttle.go.
package throttle
