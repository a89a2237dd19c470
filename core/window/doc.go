// Package window derives, in one place, how long one node may act upon another's word, and how long that other one waits
// before it believes that the first has stopped.
//
// It holds no state and reads no clock: core/gate, core/manager and core/worker do.
//
// Source: DESIGN.md, "Ownership"; Gray and Cheriton, "Leases" (1989).
//
// Clock rates lie within [1-r, 1+r] of real time; a reading lags its clock by less than g. The chain of a part's load:
//
//	gate      receives a heartbeat at 0, answers it, and names the part
//	manager   sent that heartbeat before 0: it acts while its clock says less than D(1-r) - g since then, so before D
//	worker    sent the heartbeat that the manager's last act answers before that act: its deadline comes R later by its clock,
//	          which it reads with g, so within (R + g)/(1-r)
//	executor  ends within E/(1-r) of that deadline, by the same clock (E is node.ExecutorEnd)
//
// So nothing sends load from D + (R + E + g)/(1-r) on, in real time, and the gate counts that by a clock that may be fast:
//
//	Hold     = floor(D(1-r)) - g                      manager, since it sent the heartbeat
//	Stopped  = ceil((R + E + g)/(1-r))                real time, since the manager's last act
//	Patience = ceil(Stopped (1+r)) + g, in whole g    manager, since its last act, before it gives a shard to another worker
//	Guard    = ceil((D + Stopped)(1+r)) + g, likewise gate, since it last named the part, before another datacenter has it
//
// Invariants:
//
//	WINDOW-1 While clocks keep to r, a shard's load has stopped when Patience has passed since its manager last renewed or
//	         dispatched it, and a part's load has when Guard has passed since a gate last named the part, whatever crashed,
//	         restarted, or was late in between.
//	WINDOW-2 Neither is longer than the worst case by more than a reading and a rounding.
//
// Read window.go.
package window
