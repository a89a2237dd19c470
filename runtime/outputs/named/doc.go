// Package named reads the sinks that a configuration names: its section `outputs`.
//
// It opens no place: Sink.Open does not either, and a shell (package outputs) checks it. It reads no file:
// runtime/config does, and a sink's secrets are read by its kind, anew for each connection.
//
// Source: docs/outputs.md, "A cluster delivers".
//
// Invariants:
//
//	NAMED-1 A job names sinks by name alone: no address and no secret of a sink is part of a job, a record or an answer.
//	NAMED-2 Read reports all faults of all sinks, each with its key, its value and a remedy, and no secret.
//	NAMED-3 Gates whose sinks have the same names, kinds and windows have the same Digest, and no others do.
//
// Example:
//
//	outputs:
//	  warehouse:
//	    kind: postgres
//	    address: postgres://load@db.internal/load?sslmode=verify-full
//	    password_file: /run/secrets/warehouse
//	    default: true
//
// Read named.go, schema.go.
package named
