// Package retry says when a node tries again to reach a peer that failed it, for all roles.
//
// It is for tries that fail: a stream that breaks, a round without an answer, a refusal. What a
// node owes a peer with a standing stream (a result, a cancellation, a dispatch) it repeats on a
// fixed beat, which never gives up: that is no retry. A file that a silent peer must get is such
// a debt too, so its waits grow and have no jitter.
//
// Invariants:
//
//	BACKOFF-1 The bound of a wait doubles with each try, from Base to Cap, without overflow.
//	BACKOFF-2 A wait is between Least and the bound, from which half it is drawn as Kind says.
//	BACKOFF-3 Two nodes that fail at the same instant draw from their own randomness.
//
// Read backoff.go.
package retry
