// Package cassandra is the output that keeps rows in a table of Apache Cassandra, and of what speaks its protocol.
//
// It is no driver: it speaks to one coordinator at a time, knows no ring, and sends the few frames that rows need.
//
// Source: the native protocol of Cassandra, version 4 (CQL BINARY PROTOCOL v4), which versions 2.2 to 5.0 and ScyllaDB take.
//
// Invariants:
//
//	CQL-1 The write time of a row is the start of its job and the revision of its version: a repeated row changes nothing, and an
//	      older row replaces no newer one.
//	CQL-2 A partition has the rows of one job on one day.
//	CQL-3 No text of a row is part of a statement: all are bound values.
//	CQL-4 A row that a server never takes is rejected alone: the others of its batch are delivered.
//	CQL-5 A password leaves this machine within TLS alone.
//
// Read table.go, frame.go, conn.go, cassandra.go, back.go.
package cassandra
