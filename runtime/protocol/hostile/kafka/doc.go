// Package kafka is a catalogue of Kafka brokers that are hostile, broken, or odd but right, for tests of the
// engine. A client asks each of them for an operation: a record that the broker acknowledges.
//
// It is not the codec (runtime/protocol/kafka is), and it shares no code with that: what it reads and writes
// follows the protocol on its own.
//
// Each entry is one behaviour and what a client must conclude from it. A broker plays its entry once, and
// behaves well afterwards, so that the same run shows whether the next operation is right.
//
// Invariants:
//
//	HOSTILEKAFKA-1 Nothing that a test concludes depends on how fast the machine is. A client needs its
//	               deadline only for entries whose Want Waits.
//	HOSTILEKAFKA-2 A broker never reads or writes beyond Close, and Close leaves nothing.
//	HOSTILEKAFKA-3 Every record that reached the broker whole is counted. What the client itself does against
//	               the protocol, as a wrong checksum, is in Breach.
//
// Example:
//
//	for _, e := range kafka.All() {
//		s, err := kafka.Start(&e)
//		... send to s.URL() until s.Proved() is closed, compare with e.Want ...
//		s.Close()
//	}
//
// Read entry.go, session.go, server.go, prover.go; the families of the catalogue: greetings.go, answers.go, reads.go, groups.go.
package kafka
