// Package codec is the contract between the load engine's loop and a protocol: what the loop
// calls on one connection's state machine, and what that machine reports.
//
// A codec is bytes in, bytes out. It owns no socket, no clock and no goroutine, and retries
// nothing. The loop pools connections, writes, reads, keeps the time and counts; it knows no
// frame. So a new protocol needs a Protocol and a Conn, and the loop stays as it is. HTTP/1.1
// carries one request at a time and has its own path in runtime/engine/pool.
//
// Invariants:
//
//	CODEC-1 However the bytes that Feed takes are cut, the handler hears the same.
//	CODEC-2 An operation ends once: in Done, in Failed, or in Cancel. Its tag is not named again.
//	CODEC-3 A count that Open was given grows by one when the kernel has the whole operation, and
//	        never for one of which a part is not sent.
//	CODEC-4 Close fails every open operation. After an error of Feed none is open.
//	CODEC-5 A connection that is not usable opens nothing, now or later.
//
// Example:
//
//	conn := protocol.Begin(nil)
//	id := conn.Open(&operation, tag, &sent)
//	n, err := socket.Write(conn.Output())
//	conn.Sent(n)
//	conn.Taken()
//	err = conn.Feed(received, handler)
//
// A protocol whose sides send messages when they like, WebSocket, is a Dialogue: dialogue.go. It opens
// by an HTTP upgrade, at once, or by a Greeting in rounds that Rounds bounds: greeting.go. A Securer is
// a greeting with TLS in its middle, as PostgreSQL and MySQL have it.
//
// A dialogue whose server takes a silent client for dead is Lively: the loop lets it speak in time.
//
// A Trunk is a dialogue that carries several exchanges at once, for users that share connections.
//
// Read codec.go, dialogue.go, trunk.go; conformance_test.go holds every codec against the invariants.
package codec
