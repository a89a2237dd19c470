// Package quic carries HTTP/3 over connections of QUIC, which goroutines of quic-go serve beside the loop.
//
// It is no codec: runtime/protocol/http3 knows frames, and this package knows streams. It is the only user
// of quic-go, whose API moves with each version. The loop reads the UDP socket of each connection, feeds the
// library, opens streams and writes requests; goroutines read the responses, and what they read is an event
// for the loop. It follows RFC 9000. It leaves out 0-RTT, which a ping asks for alone, migration, datagrams, path MTU discovery and
// segmentation offload: packets have 1,280 bytes.
//
// Invariants:
//
//	QUIC-1 No method of the loop's waits. What the library does not take at once a goroutine writes.
//	QUIC-2 A request counts as written when the library has all of it.
//	QUIC-3 Events of a stream keep their order. What waits for the loop is bounded: beyond unreadMost the
//	       readers wait, and the library's windows with them.
//	QUIC-4 Nothing is tried again: a connection that ends is one error.
//	QUIC-5 Close says goodbye to the server with a code, and its goroutines end with it. The socket is closed
//	       behind the library's last write.
//
// Example:
//
//	link, err := quic.Dial(crew, tag, quic.Socket{FD: fd, Peer: peer}, config)
//	link.Feed(datagram)
//	for _, tag := range crew.Take(nil) { up, err := link.Look(); err = link.Take(connection.Take) }
//
// Read link.go, events.go, explain.go, visit.go.
package quic
