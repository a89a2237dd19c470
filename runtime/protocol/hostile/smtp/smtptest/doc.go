// Package smtptest starts a mail server for tests: aiosmtpd, in python3, with TLS and every way to prove a user.
//
// It is for tests alone, and never relies on a server that happens to run. A missing program is red where
// HYPERSCALE_CI is set, and skips elsewhere.
//
// Invariants:
//
//	SMTPTEST-1 Count is what the server itself says that it has accepted.
//
// Example:
//
//	s := smtptest.Start(t)
//	run(t, s.URL())
//	if s.Count() != ok {
//		t.Error("they differ")
//	}
//
// Read server.go, server.py.
package smtptest
