// Package retry says when a node tries again to reach a peer that failed it, for all roles.
//
// It is for tries that fail: a stream that breaks, a round without an answer, a refusal. What a
// node owes a peer with a standing stream (a result, a cancellation, a dispatch) it repeats on a
// fixed beat, which never gives up: that is no retry. A file that a silent peer must get is such
// a debt too, so its waits grow and have no jitter.
//
// Backoff spreads the tries of one request. It does not bound their sum: the more requests fail, the
// more come back, on top of what is asked anew. So a node that asks much has a Budget over all its
// requests (as in Finagle and Envoy): in any span that ends with a try again, these are a share of what
// it asked in that span, or a least number.
//
// What fails because its peer is broken is not to be tried at all for a while: that is a Circuit.
//
// Invariants:
//
//	BACKOFF-1 The bound of a wait doubles with each try, from Base to Cap, without overflow.
//	BACKOFF-2 A wait is between Least and the bound, from which half it is drawn as Kind says.
//	BACKOFF-3 Two nodes that fail at the same instant draw from their own randomness.
//	BACKOFF-4 Within a budget: in the span that ends with a try again there are at most max(Least, asks / Asks) of them.
//	BACKOFF-5 A node that waits as long as Wait says may try again, and no wait is longer than 1.1 spans.
//	CIRCUIT-1 A circuit opens at the failure that makes Failures within Window, none of which is
//	          older than what last worked.
//	CIRCUIT-2 An open circuit lets one request through in each Reset. What works closes it, and a
//	          failure begins Reset anew.
//
// Read backoff.go, budget.go, then circuit.go.
package retry
