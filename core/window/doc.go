// Package window derives how long a node may act on another's word, and how long the other waits
// until the first has stopped.
//
// It holds no state and reads no clock: core/gate, core/manager and core/worker do.
//
// Source: docs/ownership.md; Gray and Cheriton, "Leases" (1989).
//
// Clock rates lie within [1-r, 1+r] of real time; a reading lags its clock by less than g. The
// chain of a subjob's load:
//
//	gate      receives a heartbeat at 0, answers it, and names the subjob
//	manager   sent that heartbeat before 0. It acts while its clock says less than D(1-r) - g
//	          since then, so before D
//	worker    sent, before the manager's last act, the heartbeat that this act answers. Its
//	          deadline comes R later by its clock, which it reads with g: within (R + g)/(1-r)
//	executor  ends within E/(1-r) of that deadline, by the same clock (E is node.ExecutorEnd)
//
// So no load is sent from D + (R + E + g)/(1-r) on, in real time. The gate counts that by a
// clock that may be fast:
//
//	Hold     = floor(D(1-r)) - g                      manager, since it sent the heartbeat
//	Stopped  = ceil((R + E + g)/(1-r))                real time, since the manager's last act
//	Patience = ceil(Stopped (1+r)) + g, in whole g    manager, since its last act, before it
//	                                                  gives a shard to another worker
//	Guard    = ceil((D + Stopped)(1+r)) + g, likewise gate, since it last named the subjob,
//	                                                  before another datacenter gets it
//
// Invariants, while clocks keep to r, whatever crashes, restarts or is late:
//
//	WINDOW-1 A shard's load has stopped when Patience has passed since its manager last renewed
//	         or dispatched it. A subjob's load has stopped when Guard has passed since a gate
//	         last named the subjob.
//	WINDOW-2 Neither is longer than the worst case by more than a reading and a rounding.
//
// Read window.go.
package window
