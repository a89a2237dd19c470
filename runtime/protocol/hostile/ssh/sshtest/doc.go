// Package sshtest runs the SSH servers of others for tests: sshd of OpenSSH, and dropbear.
//
// It is not part of the product, and no server of its own. Each server has a port, keys and a folder of its
// own, and logs what clients do.
//
// Source: sshd_config(5), sftp-server(8), dropbear(8).
//
// Invariants:
//
//  1. A server that is missing fails a test of CI and skips any other.
//  2. No user's files change: dropbear, which reads keys only in its user's home, sees another one in a mount
//     of its own.
//
// Example:
//
//	s := sshtest.Start(t, "MaxSessions 1")
//	client(s.URL(), s.Key("ed25519"), s.KnownHosts("ed25519"))
//
// Read server.go.
package sshtest
