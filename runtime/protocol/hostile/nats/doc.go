// Package nats is a catalogue of NATS servers that are hostile, broken, or odd but right, for tests of the
// engine. A client asks each of them for an operation: a request, or a publication that something confirms.
//
// It is not the codec (runtime/protocol/nats is), and it shares no code with that: what it reads and writes
// follows the client protocol on its own.
//
// Each entry is one behaviour and what a client must conclude from it. A server plays its entry once, on its
// first connection, and behaves well afterwards, so that the same run shows whether the next operation is
// right.
//
// Invariants:
//
//	HOSTILENATS-1 Nothing that a test concludes depends on how fast the machine is. A client needs its
//	              deadline only for entries whose Want is Late.
//	HOSTILENATS-2 A server never reads or writes beyond Close, and Close leaves nothing.
//	HOSTILENATS-3 Every message that reached the server whole is counted. What the client itself does against
//	              the protocol is in Breach.
//
// Example:
//
//	for _, e := range nats.All() {
//		s, err := nats.Start(&e)
//		... send to s.URL() until s.Proved() is closed, compare with e.Want ...
//		s.Close()
//	}
//
// Read entry.go, session.go, server.go; the families of the catalogue: greetings.go, answers.go;
// pulls.go: servers that sessions pull from.
package nats
