// Package redistest runs the real redis-server for tests, on a port of its own.
//
// It is not a client for anything else: it asks one command at a time over a plain connection, and
// shares no code with the codec, so that what the server counts judges what the codec counts.
//
// A test that calls Start fails in CI if redis-server is missing, and is skipped elsewhere.
//
// Example:
//
//	s := redistest.Start(t)
//	... run against s.URL() ...
//	calls := s.Calls() // by command, also those that were rejected
//
// Read server.go, cluster.go.
package redistest
