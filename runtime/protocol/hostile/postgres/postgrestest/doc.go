// Package postgrestest runs the real PostgreSQL for tests: a cluster of its own, in a directory and
// on a port of the test.
//
// It asks by psql and shares no code with the codec, so that what the server counts judges what the
// codec counts. PostgreSQL does not run as root: then the server is the user postgres.
//
// A test that calls Start fails in CI if PostgreSQL is missing, and is skipped elsewhere. A start
// takes a second; the tests of a package share one server.
//
// Example:
//
//	s := postgrestest.Start(t)
//	before := s.Count()
//	... run against s.URL("app") ...
//	transactions := s.Count().Transactions - before.Transactions
//
// Read server.go.
package postgrestest
