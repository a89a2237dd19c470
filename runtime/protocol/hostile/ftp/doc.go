// Package ftp is a catalogue of hostile FTP servers, each with what a client must conclude.
//
// It is not part of the product: tests play it. Each server is hostile on its first connection, and answers well
// on every other one.
//
// Source: RFC 959 (FTP), 2428 (EPSV), 4217 (TLS).
//
// Invariants:
//
//  1. A server is hostile once at each place.
//  2. A file is counted when the server has sent it whole and said so, or has it whole.
//
// Example:
//
//	for _, e := range ftp.All() {
//		s, err := ftp.Start(&e)
//		client(s.URL(), e.Want.Kind)
//	}
//
// Read entry.go, entries.go, acts.go, server.go.
package ftp
