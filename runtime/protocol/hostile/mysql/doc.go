// Package mysql is a catalogue of MySQL servers that are hostile, broken, or odd but right, for tests
// of the codec and of the engine. A client asks each of them for an operation: a statement.
//
// It is not the codec (runtime/protocol/mysql is), and it shares no code with that: what it reads and
// writes, and how it checks proofs, follows the protocol's manual on its own.
//
// Each entry is one behaviour and what a client must conclude from it. A server plays its entry once,
// on its first connection, and behaves well afterwards, so that the same run shows whether the next
// operation is right.
//
// Invariants:
//
//	HOSTILEMYSQL-1 Nothing that a test concludes depends on how fast the machine is. A client needs its
//	               deadline only for entries whose Want is Late.
//	HOSTILEMYSQL-2 A server never reads or writes beyond Close, and Close leaves nothing.
//	HOSTILEMYSQL-3 Every statement that reached the server whole is counted. What the client itself does
//	               against the protocol is in Breach.
//
// Example:
//
//	for _, e := range mysql.All() {
//		s, err := mysql.Start(&e)
//		... ask s.URL() until s.Proved() is closed, compare with e.Want ...
//		s.Close()
//	}
//
// Read entry.go, packets.go, session.go, server.go; the families of the catalogue: greetings.go,
// answers.go, odd.go. Package mysqltest runs the real server.
package mysql
