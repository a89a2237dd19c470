// Package vigil watches that the work of a manager begins once nothing is missing for it.
//
// It places, ends and frees nothing: core/manager tells the gates of the longest wait, and they
// prefer other managers for new subjobs. What waits for cores, for a time, for another workflow or for
// a gate's word lacks something, and is not overdue. It sums up free cores from the workers' own
// heartbeats, not from the rankings by which the manager places, so that it finds a fault there.
//
// Invariants:
//
//	VIGIL-1 Time counts only while the manager was awake.
//	VIGIL-2 A wait begins anew when as many shards as before do not wait any more.
//
// Read vigil.go.
package vigil
