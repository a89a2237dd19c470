// Package postgres is a catalogue of PostgreSQL servers that are hostile, broken, or odd but right, for
// tests of the codec and of the engine. A client asks each of them for an operation: one statement, which
// is parsed at each use.
//
// It is not the codec (runtime/protocol/postgres is), and it shares no code with that: what it reads
// and writes follows PostgreSQL's manual on its own.
//
// Each entry is one behaviour and what a client must conclude from it. A server plays its entry
// once, on its first connection, and behaves well afterwards, so that the same run shows whether
// the next operation is right.
//
// Invariants:
//
//	HOSTILEPOSTGRES-1 Nothing that a test concludes depends on how fast the machine is. A client
//	                  needs its deadline only for entries whose Want is Late.
//	HOSTILEPOSTGRES-2 A server never reads or writes beyond Close, and Close leaves nothing.
//	HOSTILEPOSTGRES-3 What the client itself does against the protocol is in Breach.
//
// Example:
//
//	for _, e := range postgres.All() {
//		s, err := postgres.Start(&e)
//		... ask s.Address() until s.Proved() is closed, compare with e.Want ...
//		s.Close()
//	}
//
// Read entry.go, session.go, server.go; the families of the catalogue: greetings.go, answers.go.
package postgres
