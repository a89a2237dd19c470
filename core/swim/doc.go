// Package swim keeps one node's view of its group: who is alive, suspect, dead
// or has left. It is SWIM with Lifeguard whole.
//
// It does not say who leads (core/election), who owns what (core/lease), nor what
// a role does about a death: it hands over outcomes, once, with Take.
//
// Source: SWIM (Das, Gupta, Motivala 2002), Lifeguard (arXiv 1707.00788). Departs
// from them by a cap, quarters, and Additions; lists are
// compared by a sum and exchanged only where it differs.
//
//	UNKNOWN -> ALIVE          it was heard, or heard of
//	ALIVE   -> SUSPECT        a probe failed, here or at another
//	SUSPECT -> ALIVE          it said so itself, under a higher incarnation
//	ALIVE, SUSPECT -> DEAD    the suspicion ended, here or at another
//	ALIVE, SUSPECT -> LEFT    its own word
//	DEAD, LEFT -> ALIVE       a higher incarnation; -> REMOVED after ReapAge
//
// Invariants:
//
//	SWIM-1 News are merged by (incarnation, state): in any order, any number of times,
//	       they come to one view.
//	SWIM-2 A suspicion's deadline never moves later.
//	SWIM-3 A death is outlived by a higher incarnation only, and raised by its own node
//	       alone; the node's incarnation is its upper half.
//	SWIM-4 An answer counts if it names this round's sequence and target, and comes from
//	       the target or from one who was asked.
//	SWIM-5 A seed that was never heard is unconfirmed, and never suspected.
//	SWIM-6 All but lists is within 1,200 bytes of body.
//	SWIM-7 A death that is learnt has the outcome of one that was seen.
//	SWIM-8 A node tells others a verdict only if another member confirmed the suspicion:
//	       confirmations that never come prove more about the node than about the suspect.
//
// A role calls Start at InputStart; Receive, Opened, Broken or Fire with each input,
// which say whether it was the group's; and Take after each. A stream that somebody
// else opens for an exchange of lists is like any other to the role: SwimList comes
// on it, Receive answers there, its opener closes it.
//
// Layers, of which each calls those below it alone: Group dispatches, probes and
// compares lists; tracker moves members from state to state; gossiper tells the others;
// members and health are values.
//
// Read config.go, group.go, member.go, members.go, order.go, health.go, scale.go,
// gossip.go, news.go, suspicion.go, end.go, probe.go, relay.go, exchange.go, sizes.go,
// rest.go.
package swim
