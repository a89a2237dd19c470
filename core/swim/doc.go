// Package swim keeps one node's view of its group: which members are alive, suspect, dead or
// have left. It is SWIM with all of Lifeguard.
//
// It does not elect (core/election) or own (core/lease). It does not say how a role acts on a
// death: it passes each outcome once, with Take.
//
// Source: SWIM (Das, Gupta, Motivala 2002), Lifeguard (arXiv 1707.00788). It departs from
// them by a cap, by quarters, and by Additions (config.go). Members compare their lists by a
// sum and exchange them only where the sums differ.
//
//	UNKNOWN -> ALIVE          this node heard it, or heard of it
//	ALIVE   -> SUSPECT        a probe failed, here or at another member
//	SUSPECT -> ALIVE          its own word, under a higher incarnation
//	ALIVE, SUSPECT -> DEAD    the suspicion ended, here or at another member
//	ALIVE, SUSPECT -> LEFT    its own word
//	DEAD, LEFT -> ALIVE       a higher incarnation; -> REMOVED after ReapAge
//
// Invariants:
//
//	SWIM-1 News merge by (incarnation, state): in any order, any number of times, they give
//	       one view.
//	SWIM-2 A suspicion's deadline never moves later.
//	SWIM-3 Only a higher incarnation outlives a death, and only its own node raises it; the
//	       node's incarnation is its upper half.
//	SWIM-4 An answer counts if it names this round's sequence and target, and comes from
//	       the target or from a member that was asked.
//	SWIM-5 A seed that no message has come from is unconfirmed, and never suspected.
//	SWIM-6 Every message but a list has at most 1,200 bytes of body.
//	SWIM-7 A death that a node learns has the outcome of one that it saw.
//	SWIM-8 A node publishes a verdict only if another member confirmed the suspicion. Missing
//	       confirmations prove more about the node than about the suspect.
//	SWIM-9 A node sends at most so many bytes of lists in any time, whatever others request.
//
// A role calls Start at InputStart. It passes each input to Receive, Opened, Broken or Fire,
// which return whether it was the group's, and then calls Take. A stream that a peer opens to
// exchange lists looks like any other: SwimList arrives on it, Receive answers there, and its
// opener closes it.
//
// Layers, each calls those below it alone. Group dispatches, probes and compares lists.
// tracker moves members from state to state, and gossiper spreads news. members and health
// are values.
//
// Read config.go, group.go, member.go, names.go, members.go, slab.go, order.go, health.go,
// scale.go, gossip.go, news.go, suspicion.go, end.go, probe.go, relay.go, pace.go,
// exchange.go, sizes.go, rest.go.
package swim
