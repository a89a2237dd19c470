// Package ring orders the members of a configured set for each job: who is to own
// it first, and who takes over in which order.
//
// It does not know who is alive and it proves nothing: ownership is decided by a
// register (core/lease). The ring only makes everybody try in the same order, so
// that claims seldom meet. Every address counts that is configured; the dead are
// skipped where the order is used.
//
// Source: Karger et al., "Consistent Hashing and Random Trees" (1997), with 150
// virtual nodes a member.
//
// Invariants:
//
//	RING-1 The same set of addresses, in whatever order it is written, gives the same
//	       order for a job in every process, for ever: it is SHA-256 of text.
//	RING-2 Order names every member once.
//	RING-3 Minimal movement: without one member, the order of the others is what it
//	       was; a new member is inserted into the orders there were.
//
// Shares of the jobs are random: with 150 points, their standard deviation is
// sqrt((1 - 1/n)/150) of the mean, 7 to 8 % for 3 to 9 members. That is the spread
// that is promised, 10 %; in one set in a hundred some member is 25 % off, and only
// more points would change that. A bound on each member's load would need counts
// that all agree on, and then the order of a job would not follow from the set.
//
// Read ring.go.
package ring
