// Package kafka is the load engine's Kafka codec: the client's side of one connection to a broker, and what
// a client knows of a cluster.
//
// It is not a client: it owns no socket, no clock, no goroutine and no retry. A connection carries one
// operation at a time: Learn asks which broker leads the partitions of a topic, Produce sends a record, or a batch of them, to the
// leader of its partition, Locate asks a leader for offsets, and Fetch for records. The owner of the connections finds the leader by a Layout.
// Source: kafka.apache.org/protocol, KIP-98 (record batches), KIP-152 (SASL), KIP-896 (versions).
//
// Invariants:
//
//	KAFKA-1 However the broker's bytes are cut, the outcome is the same.
//	KAFKA-2 No input makes the codec panic, and what it keeps is bounded: an answer by Config.AnswerMax, and
//	        what an answer says of its lists reserves no memory before its bytes have come.
//	KAFKA-3 An answer belongs to the operation whose number it has. Any other number ends the connection, and
//	        so does an operation that is given up, as a broker answers in order.
//	KAFKA-4 An error of the broker fails the operation, with the kind "server NAME", by Kafka's name of it.
//	KAFKA-5 A record counts as sent when the kernel has its last byte, and never otherwise.
//	KAFKA-6 A record with a key goes to the partition that a Java client chooses for it.
//	KAFKA-7 An error and what Describe writes hold no password.
//	KAFKA-8 A record that came is one of a batch whose checksum is right, and stands at or behind the offset that
//	        was asked for; what a batch has when it is expanded is bounded by Config.AnswerMax.
//
// Example:
//
//	protocol := kafka.New(kafka.Config{Mechanism: kafka.SCRAMSHA256, User: "app", Password: password})
//	greeting := protocol.Greet(random)
//	out, used, conn, err := greeting.Hear(nil, received)
//	operation := kafka.Prepare(kafka.Message{Topic: kafka.Plain("orders"), Value: kafka.Plain("1")})
//	err = conn.Learn("orders", kafka.Order{})
//	err = conn.Feed(received, listener) // Message: see conn.Outcome, whose Layout names leaders
//	err = conn.Produce(operation, partition, kafka.Order{Now: millis, Sent: &sent})
//
// Read protocol.go, wire.go, greeting.go; text.go, operation.go, batch.go, compress.go, murmur.go;
// fetch.go, fetched.go, records.go;
// conn.go, attend.go, outbox.go, intake.go, answers.go, layout.go; code.go, describe.go.
package kafka
