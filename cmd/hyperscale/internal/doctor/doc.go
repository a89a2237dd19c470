// Package doctor has `hyperscale doctor`: why does a node not join, and what of its machine is in its way.
//
// It starts no node, opens no stream and changes nothing but a file of its own in the data directory, which it removes.
// It judges by what it measures, and says what it could not measure.
//
// Source: docs/operations.md, "Why does it not join".
//
// Invariants:
//
//	DOCTOR-1 Each finding is one line: ok, warn or fail, and of the latter two a remedy.
//	DOCTOR-2 The exit code is that of the worst finding: 0 ok, 1 warn, 2 fail.
//	DOCTOR-3 Peers hear questions alone: no machine of theirs sees an input, and their logs no line.
//
// Read command.go, finding.go, settings.go, peers.go, echoes.go, machine.go, groups.go, disk.go.
package doctor
