// Package ftp is the load engine's FTP codec: the client's side of one control connection, and of the data
// connection that an operation may have beside it.
//
// It is not a file client: it owns no socket, no clock, no file and no retry, and connects to no address that a
// server names. Transfers are binary and passive: EPSV, else PASV, of which only the port counts.
// Source: RFC 959 (FTP), 2428 (EPSV), 4217 (TLS).
//
// Invariants:
//
//	FTP-1 However the bytes of both connections are cut, the outcome is the same.
//	FTP-2 No input makes the codec panic, and what it keeps is bounded: a reply by reply.Most, data by
//	      Config.KeepMax.
//	FTP-3 A reply belongs to the command under way. A reply that no command asked for ends the connection,
//	      unless it is 421.
//	FTP-4 A download is whole when the server has said so and the data connection has ended in order, whichever
//	      comes first. An upload is when the server has said so behind its last byte.
//	FTP-5 No byte of data goes out before the server has said 150 or 125, nor behind its refusal.
//	FTP-6 Nothing that the codec shows has the password in it.
//
// Example:
//
//	protocol, err := ftp.New(ftp.Config{User: "app", Password: password, Explicit: true})
//	greeting := protocol.Greet()
//	out, used, conn, err := greeting.Hear(nil, received)
//	err = conn.Operate(ftp.Get(reply.Plain("/pub/x")), ftp.Order{Keeps: true})
//	port := conn.Branch().Port // behind each Feed: see codec.Branching
//
// Read protocol.go, greeting.go, operation.go, conn.go, intake.go, data.go, describe.go.
package ftp
