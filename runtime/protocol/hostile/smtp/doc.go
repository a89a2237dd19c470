// Package smtp is a catalogue of hostile mail servers, and a server that plays each.
//
// It knows no client: a test asks it by whatever path it holds, and compares what came of that with Want. A
// server is hostile at one command of its first connection, and behaves well ever after.
//
// Source: RFC 5321, and what servers were seen to do.
//
// Invariants:
//
//	HOSTILESMTP-1 Each entry says how the operation must end, and how the next one.
//	HOSTILESMTP-2 Messages counts those that came whole, and Accepted those of them that were answered by 250.
//
// Example:
//
//	for _, e := range smtp.All() {
//		s, err := smtp.Start(&e)
//		send(s.URL(), e.Recipients)
//	}
//
// Read entry.go, entries.go, server.go, acts.go.
package smtp
