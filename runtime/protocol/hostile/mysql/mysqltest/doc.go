// Package mysqltest runs the real MariaDB for tests: a data directory of its own, on a port of the
// test.
//
// It asks by the client mariadb and shares no code with the codec, so that what the server counts
// judges what the codec counts. What it asks itself it takes out of the counts. As root, the server
// is the user mysql.
//
// A test that calls Start fails in CI if MariaDB is missing, and is skipped elsewhere. A start takes
// three seconds; the tests of a package share one server.
//
// Example:
//
//	s := mysqltest.Start(t)
//	before := s.Count()
//	... run against s.URL("app") ...
//	executed := s.Count().Executed - before.Executed
//
// Read server.go.
package mysqltest
