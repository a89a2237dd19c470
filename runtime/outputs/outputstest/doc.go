// Package outputstest judges a kind of output against a place that misbehaves.
//
// It is no server: each kind brings its own place, the real one behind a fault where that is possible. Package serverstest
// starts real ones, vendorstest starts what vendors wrote.
//
// Source: what the kinds promise in docs/outputs.md.
//
// Invariants that it judges, behind each fault:
//
//	CRUEL-1 An exact kind has each row once, whatever went wrong.
//	CRUEL-2 One that is at least once has each row, and no more than the shell counts as perhaps twice.
//	CRUEL-3 One that is at most once has no row twice, and lacks no more than the shell counts as lost.
//	CRUEL-4 The report of the shell adds up.
//
// Read cruelty.go, rows.go, relay.go (any protocol over TCP), proxy.go (HTTP), stream.go (TCP without answers).
package outputstest
