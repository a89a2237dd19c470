// Package relational is the output that keeps rows in tables of SQL: PostgreSQL, TimescaleDB, MySQL and SQLite.
//
// It is no history: runtime/history keeps results of runs for commands, in tables of its own. It reaches a team's PostgreSQL by
// the driver of this package.
//
// Invariants:
//
//	SQL-1 A batch is one transaction. A repeated row changes nothing, and a row replaces one of its key only if its
//	      version is not smaller.
//	SQL-2 No text of a row is part of a statement: all are arguments.
//	SQL-3 Tables are made if they are not there, and never dropped or emptied.
//	SQL-4 A row that a database rejects is rejected alone: the others of its batch are delivered.
//
// Read tables.go, sink.go, sqlite.go, server.go, wire.go, postgres.go, pgconn.go, driver.go, timescale.go, mysql.go, back.go.
package relational
