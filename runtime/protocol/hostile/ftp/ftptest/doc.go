// Package ftptest runs vsftpd for tests.
//
// It is not part of the product, and no server of its own. Each server has a port and a folder of its own, and
// logs each file as xferlog does.
//
// Source: vsftpd.conf(5), xferlog(5).
//
// Invariants:
//
//  1. A server that is missing fails a test of CI and skips any other.
//  2. It serves the anonymous user alone, with a password that it checks, so that no account is needed.
//
// Example:
//
//	s := ftptest.Start(t, "")
//	client(s.URL(), s.Dir)
//	completed, cut := s.Logged("o")
//
// Read server.go.
package ftptest
