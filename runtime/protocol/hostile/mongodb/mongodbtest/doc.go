// Package mongodbtest starts a MongoDB server for tests: FerretDB, which others wrote, on a PostgreSQL server of its
// own. It is no double of MongoDB in all: it knows no transactions and no sets.
//
// bench/servers/ferretdb builds it, once a checkout.
//
// Invariants:
//
//	MONGODBTEST-1 The server ends with its test, and keeps nothing.
//	MONGODBTEST-2 What counts its documents is not what stored them: psql reads PostgreSQL's tables.
//
// Example:
//
//	s := mongodbtest.Start(t)
//	before := s.Commands()
//	s.Documents("orders")
//
// Read server.go.
package mongodbtest
