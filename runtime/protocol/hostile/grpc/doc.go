// Package grpc is a catalogue of hostile gRPC servers: what each does, and what a client must
// conclude.
//
// A server plays one entry: it is hostile to the first call, and behaves well ever after. It writes
// frames of HTTP/2 by hand and shares no code with the codecs. Hostile frames that have nothing to
// do with gRPC are in the catalogue of HTTP servers.
//
// Invariants:
//
//	HOSTILE-GRPC-1 The outcome of an entry follows from its script, not from the machine's speed.
//	HOSTILE-GRPC-2 The answer that behaves well has another text than any hostile one, so that a
//	               client which mixes them up is found out.
//
// Example:
//
//	for _, e := range grpc.All() {
//		s, err := grpc.Start(&e)
//		// ... call s.URL() twice, and compare with e.Want ...
//		s.Close()
//	}
//
// Read entry.go, server.go, answers.go, endings.go.
package grpc
