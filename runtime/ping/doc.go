// Package ping sends one request and tells everything about it: `hyperscale ping`.
//
// It is not the load engine and shares no connection with it: what is thrown away there
// for speed (who answered a name, every address tried, the chain of certificates) is what
// this one is for. It shares the codecs, so that what they refuse is refused here too.
//
// Source: the phases are those of core/message, in which a load test tells its latency.
//
// Invariants:
//
//	PING-1 One request is sent. A second connection is made only to see whether TLS resumes,
//	       after the answer, and carries none.
//	PING-2 Phases follow each other without a gap: they add up to Total.
//	PING-3 A failure has a kind of http1.Kinds, and all that was learnt before it is told.
//	PING-4 A certificate that is refused is shown all the same.
//
// Read ping.go, connect.go, secure.go, talk.go, lookup.go, picture.go.
package ping
