// Package ssh has hostile SSH servers, for SFTP and SCP: each plays one behaviour on its first connection, and is
// well-behaved ever after.
//
// It is not part of the product, and no server of files: it knows one file, Path, with the content Next.
//
// Source: docs of the protocol in runtime/protocol/island/ssh; RFC 4251 to 4254.
//
// Invariants:
//
//  1. An entry says what its server does and which failure a client must report.
//  2. The operation behind the hostile one gets the right answer: on another connection, or on the same one if
//     the server only told an error.
//
// Example:
//
//	s, err := ssh.Start(&entry)
//	client(s.URL(), ssh.Password, s.HostKey())
//
// Read entry.go, server.go, files.go, copies.go; connections.go, packets.go, lines.go have the entries.
package ssh
