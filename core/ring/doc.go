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
//	R1 The same set of addresses, in whatever order it is written, gives the same
//	   order for a job in every process, for ever: it is SHA-256 of text.
//	R2 Order names every member once.
//	R3 Minimal movement: without one member, the order of the others is what it
//	   was; a new member is inserted into the orders there were.
//
// Shares are random: with 150 points a member's share of the jobs has a standard
// deviation of about 1/sqrt(150), 8 %, of the mean. TestSpread measures what that
// makes of small sets.
//
// Read ring.go.
package ring
