// Package amqp is a catalogue of AMQP servers that are hostile, broken, or odd but right, for tests of the
// engine. A client asks each of them for an operation: a publication that is confirmed, or a message of a queue.
//
// It is not the codec (runtime/protocol/amqp is), and it shares no code with that: what it reads and writes
// follows the specification on its own.
//
// Each entry is one behaviour and what a client must conclude from it. A server plays its entry once, on its
// first connection, and behaves well afterwards, so that the same run shows whether the next operation is
// right.
//
// Invariants:
//
//	HOSTILEAMQP-1 Nothing that a test concludes depends on how fast the machine is. A client needs its
//	              deadline only for entries whose Want waits.
//	HOSTILEAMQP-2 A server never reads or writes beyond Close, and Close leaves nothing.
//	HOSTILEAMQP-3 Every operation that reached the server whole is counted. What the client itself does
//	              against the protocol is in Breach.
//
// Example:
//
//	for _, e := range amqp.All() {
//		s, err := amqp.Start(&e)
//		... ask s.URL() until s.Proved() is closed, compare with e.Want ...
//		s.Close()
//	}
//
// Read entry.go, frames.go, session.go, server.go; the families of the catalogue: greetings.go, answers.go.
package amqp
