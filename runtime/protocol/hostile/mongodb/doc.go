// Package mongodb is a catalogue of MongoDB servers that are hostile, broken, or odd but right, for tests of the
// engine. A client asks each of them for one command: a find whose cursor it reads to the end.
//
// It is not the codec (runtime/protocol/mongodb is), and it shares no code with that: what it reads and writes
// follows the protocol on its own.
//
// Each entry is one behaviour and what a client must conclude from it. A server plays its entry once, and behaves
// well afterwards, so that the same run shows whether the next operation is right.
//
// Invariants:
//
//	HOSTILEMONGODB-1 Nothing that a test concludes depends on how fast the machine is. A client needs its deadline
//	                 only for entries whose Want Waits.
//	HOSTILEMONGODB-2 A server never reads or writes beyond Close, and Close leaves nothing.
//	HOSTILEMONGODB-3 Every find that reached the server whole is counted. What the client itself does against the
//	                 protocol is in Breach.
//
// Example:
//
//	for _, e := range mongodb.All() {
//		s, err := mongodb.Start(&e)
//		... ask s.URL() until s.Proved() is closed, compare with e.Want ...
//		s.Close()
//	}
//
// Read entry.go, session.go, server.go; the families of the catalogue: greetings.go, answers.go.
package mongodb
