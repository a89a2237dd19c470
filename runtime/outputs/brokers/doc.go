// Package brokers is the output that sends each row as a message: Kafka.
//
// It knows no topic but one, and reads nothing back. The codec of the load engine speaks to brokers.
//
// Source: docs/outputs.md; runtime/protocol/kafka.
//
// Invariants:
//
//	RECORDS-1 Rows with one key go to one partition, in the order in which they came: the newest is the last.
//	RECORDS-2 A try that follows another sends only rows that no broker has acknowledged.
//	RECORDS-3 A connection whose broker reports an error is closed: the next one is another producer.
//	RECORDS-4 A row that a broker never takes is rejected alone: the others of its batch are delivered.
//
// Read kafka.go, address.go.
package brokers
