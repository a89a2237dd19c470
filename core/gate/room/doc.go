// Package room says which of a node's bounds are near, so that operators see a bound before it
// rejects a request.
//
// It rejects nothing and emits nothing: core/gate does.
//
// Invariants:
//
//	ROOM-1 A bound is near once 80 % of it are used, and until less than 75 % are: one that
//	       is used to 80 % and a little less in turn is reported once.
//	ROOM-2 A bound that is used up is near.
//
// Read room.go.
package room
