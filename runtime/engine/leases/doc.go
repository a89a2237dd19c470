// Package leases keeps what a process of a load has leased of a unique feed or of a counter: a
// block, and the one behind it.
//
// It knows no iterations and no functions: runtime/engine takes one row for each iteration, and one
// value for each call.
//
// Source: DESIGN.md, "Manager".
//
// Invariants:
//
//	LEASES-1 Take returns each of what the lessor gave once, in its order.
//	LEASES-2 At most one request is open. The next one goes out while half of the block is left, for
//	         as many as should last half a second.
//	LEASES-3 Nothing is ready once the lessor has said that none is left and all is taken.
//
// Example:
//
//	for l.Ready(now) {
//		use(l.Take())
//	}
//
// Read leases.go.
package leases
