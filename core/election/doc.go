// Package election chooses at most one leader a term among a group's configured
// voters.
//
// A leader here decides nothing about jobs: they are owned by registers
// (core/lease), one by one. It does what needs doing once in a group. It is not a
// membership either: a majority is one of the configured voters, dead or alive.
//
// Source: Ongaro, "Consensus: Bridging Theory and Practice" (2014): 3.4 elections,
// 4.2.3 pre-vote and voters that keep to a living leader, 6.2 a leader that hears no
// majority steps down; without a log. Eligibility by local health after Lifeguard
// (arXiv 1707.00788). DESIGN.md has the state machine.
//
// Invariants:
//
//	ELECTION-1 (T5) A voter votes once a term, also across restarts and torn writes: term
//	           and vote are synced before the answer.
//	ELECTION-2 A pre-vote changes nothing durable, and is granted only by who has heard no
//	           leader for TimeoutMin.
//	ELECTION-3 A majority is more than half of the configured voters, whoever lives.
//	ELECTION-4 No two nodes Lead at one instant, while clocks drift within 1 %: a leader
//	           counts from when it sent the beats that a majority answered, a voter from when
//	           it heard one, or voted, or started; the first is shorter.
//	ELECTION-5 Answers count within TimeoutMax of the question, by the asker's own clock.
//	ELECTION-6 A voter without a disk record is silent until no vote that it may have given
//	           can count any more, then takes the highest term of enough others that every
//	           majority it was in is among them, and votes only beyond that. It is a voter at
//	           once if none of the others remembers a term either: a group is founded by all.
//	           In a group that was recovered from one disk (core/lease), a word of that disk
//	           will do, given once an epoch to each voter's disk; terms begin anew above all
//	           of the epochs before, so that votes which nobody remembers hinder nobody, and
//	           who is of an older epoch votes in none of them. Questions and answers count in
//	           the epoch in which they were asked; a voter whose registers do not know theirs
//	           answers no question and founds no group.
//	ELECTION-7 Who is unfit, leads or led too often of late, or drains, does not stand; but
//	           after three timeouts without a leader anybody does that does not drain.
//
// Layers, of which each calls those below it alone: Election dispatches, stands, votes
// and joins; leadership says who leads; admissions and record are what the disk has;
// seat says who all are.
//
// Read config.go, seat.go, store.go, epoch.go, leadership.go, lead.go, election.go
// (messages, timers), stand.go, follow.go, vote.go, join.go, sizes.go, rest.go.
package election
