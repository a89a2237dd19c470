// Package ping sends one request and reports everything about it: `hyperscale ping`.
//
// It is not the load engine and shares no connection with it. It shows what the engine drops
// for speed: which server resolved a name, every address tried, the chain of certificates. It
// shares the codecs, so that it rejects what they reject.
//
// Source: the phases are those of core/message, which a load test reports for its latency.
//
// Invariants:
//
//	PING-1 It sends one request. A second connection shows only whether TLS resumes, after
//	       the answer, and carries no request. Of a cluster it greets one server after the
//	       other, and asks the first one that serves.
//	PING-2 Phases follow each other without a gap: they add up to Total.
//	PING-3 A failure has a kind of http1.Kinds, and the report shows all that was known
//	       before it.
//	PING-4 It shows a certificate that it rejects.
//
// Read ping.go, phases.go, connect.go, secure.go, talk.go, postgres.go, lookup.go, cluster.go, picture.go.
package ping
