// Package mqtt is a catalogue of MQTT servers that are hostile, broken, or odd but right, for tests of the
// engine. A client connects by version 5, unless an entry says otherwise, and sends each of them a message.
//
// It is not the codec (runtime/protocol/mqtt is), and it shares no code with that: what it reads and writes
// follows the standard on its own.
//
// Each entry is one behaviour and what a client must conclude from it. A server plays its entry once, on its
// first connection, and behaves well afterwards, so that the same run shows whether the next operation is
// right.
//
// Invariants:
//
//	HOSTILEMQTT-1 Nothing that a test concludes depends on how fast the machine is. A client needs its
//	              deadline only for entries that it Waits for.
//	HOSTILEMQTT-2 A server never reads or writes beyond Close, and Close leaves nothing.
//	HOSTILEMQTT-3 Every message that reached the server whole is counted. What the client itself does against
//	              the protocol is in Breach.
//
// Example:
//
//	for _, e := range mqtt.All() {
//		s, err := mqtt.Start(&e)
//		... send to s.URL() until s.Proved() is closed, compare with e.Want ...
//		s.Close()
//	}
//
// Read entry.go, session.go, server.go; the families of the catalogue: greetings.go, answers.go, sessions.go.
package mqtt
