// Package hostiletest runs servers that others wrote, for tests: a codec that only our own servers
// understand may share its mistakes with them.
//
// It is for tests alone: no command imports it. Each test has its own server, on a free port.
//
// Invariants:
//
//	HOSTILETEST-1 In CI (HYPERSCALE_CI) a missing program is a failure. Elsewhere it skips the test.
//	HOSTILETEST-2 A server ends with its test, also with one that fails.
//
// Example:
//
//	python := hostiletest.Python(t, "websockets")
//	server := hostiletest.Start(t, python, "-c", script)
//	port := server.Line() // that the script prints
//	... test ...
//	counts := server.Stop() // what the script prints at the end of its input
//
// Read program.go, names.go.
package hostiletest
