// Package ring orders the members of a configured set for each job: which member
// should own it first, and which ones take over after that.
//
// It proves nothing: a register (core/lease) decides ownership. The ring makes all members
// try in one order, so that claims seldom collide. It does not know which members live: it
// orders every configured address, and its callers skip the dead.
//
// Source: Karger et al., "Consistent Hashing and Random Trees" (1997), with 150
// virtual nodes a member.
//
// Invariants:
//
//	RING-1 One set of addresses, written in any order, gives one order for a job, in
//	       every process, for ever: it is SHA-256 of text.
//	RING-2 Order names every member once.
//	RING-3 Minimal movement: without one member, the order of the others stays. A new
//	       member is inserted into the existing orders.
//
// Shares of the jobs are random. With 150 points their standard deviation is
// sqrt((1 - 1/n)/150) of the mean: 7 to 8 % for 3 to 9 members. The promise is 10 %. In one
// set of a hundred some member is 25 % off, and only more points would change that. A bound
// on each member's load would need counts on which all agree. The order of a job would then
// no longer follow from the set.
//
// Read ring.go.
package ring
