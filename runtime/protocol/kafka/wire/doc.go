// Package wire reads and writes the fields of Kafka's requests and answers, before its flexible versions.
//
// It knows no request: runtime/protocol/kafka and runtime/protocol/kafka/group do.
//
// Source: kafka.apache.org/protocol, "Protocol primitive types".
//
// Invariants:
//
//	KAFKAWIRE-1 No input makes a Reader panic. Behind a field that is not whole all others are zero, and Bad says so.
//	KAFKAWIRE-2 A list has no more elements than its bytes have room for.
//
// Example:
//
//	r := wire.Reader{B: body}
//	number, name := r.Int16(), r.Text()
//
// Read wire.go.
package wire
