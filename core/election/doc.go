// Package election chooses at most one leader a term among a group's configured voters.
//
// A leader decides nothing about jobs: registers (core/lease) own them, one by one. It does
// what one node of a group must do. It is not a membership: a majority counts the configured
// voters, dead or alive.
//
// Source: Ongaro, "Consensus: Bridging Theory and Practice" (2014). It takes 3.4
// elections, 4.2.3 pre-vote and voters that keep to a living leader, 6.2 a leader without a
// majority steps down. There is no log. Eligibility by local health follows Lifeguard (arXiv 1707.00788).
// docs/ownership.md, "Elections", tells of lost disks and recovered groups.
//
// Invariants:
//
//	ELECTION-1 (T5) A voter votes once a term, also across restarts and torn writes: it
//	           persists term and vote before it answers.
//	ELECTION-2 A pre-vote changes nothing durable. A voter grants it only if it has heard no
//	           leader for TimeoutMin.
//	ELECTION-3 A majority is more than half of the configured voters, alive or not.
//	ELECTION-4 No two nodes Lead at one instant, while clocks drift within 1 %. A leader counts
//	           from when it sent the beats that a majority answered. A voter counts from
//	           when it heard one, or voted, or started. The first is shorter.
//	ELECTION-5 Answers count within TimeoutMax of the question, by the asker's own clock.
//	ELECTION-6 A voter without a disk record stays silent until no vote that it may have given
//	           can count. Then it takes the highest term of enough others that every
//	           majority it was in is among them, and votes only beyond that term. It votes
//	           at once if no other voter remembers a term: all of them found the group.
//	ELECTION-7 A node does not stand if it is unfit, drains, leads, or led too often of late.
//	           After three timeouts without a leader every node stands that does not drain.
//
// In a group that was recovered from one disk (core/lease), one answer of that disk replaces
// the many of ELECTION-6. The disk gives it once an epoch to each voter's disk. Terms begin
// above all of earlier epochs, so forgotten votes hinder no election. A voter of an older
// epoch votes in no term of a newer one. Questions and answers count in their own epoch. A
// voter whose registers do not know their epoch answers no question and founds no group.
//
// Layers, each calls those below it alone. Election dispatches, stands, votes and joins.
// leadership says who leads. admissions and record are what the disk has. seat knows the
// set.
//
// Read config.go, seat.go, store.go, epoch.go, leadership.go, lead.go, election.go
// (messages, timers), trust.go, stand.go, follow.go, vote.go, join.go, sizes.go, rest.go.
package election
