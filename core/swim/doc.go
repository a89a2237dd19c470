// Package swim keeps one node's view of its group: who is alive, suspect, dead
// or has left. It is SWIM with Lifeguard whole.
//
// It does not say who leads (core/election), who owns what (core/lease), nor what
// a role does about a death: it hands over outcomes, once, with Take.
//
// Source: SWIM (Das, Gupta, Motivala 2002), Lifeguard (Dadgar, Phillips, Currey,
// arXiv 1707.00788). Departs from them: suspicions have a cap and local health
// stretches by quarters (Config has both sets of formulas); a timer that fires
// late judges nobody; lists are compared by a sum and exchanged only where it
// differs.
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
//	S1 News are merged by (incarnation, state): in any order, any number of times,
//	   they come to one view.
//	S2 A suspicion's deadline never moves later.
//	S3 An incarnation is raised by its own node alone; a death is outlived only by
//	   a higher one. The node's own incarnation is its upper half, so every start
//	   outlives what was said of the last.
//	S4 An answer counts if it names the sequence and the target of this round and
//	   comes from the target or from one who was asked.
//	S5 A seed that was never heard is unconfirmed, and never suspected.
//	S6 All but lists is within 1,200 bytes of body.
//	S7 A death that is learnt has the outcome of one that was seen.
//
// A role hands over inputs, then takes outcomes:
//
//	group.Start(env)                           // at InputStart
//	if group.Receive(env, in) || group.Opened(env, in) || group.Broken(env, in) ...
//	if group.Fire(env, in.Timer) ...
//	for _, c := range group.Take() { ... }     // after each of them
//
// A stream that somebody else opens for an exchange of lists is an opened stream
// like any other to the role: SwimList comes on it, Receive answers there, and its
// opener closes it.
//
// Read config.go, group.go, member.go, news.go, suspicion.go, probe.go, relay.go,
// gossip.go, exchange.go, end.go, scale.go.
package swim
