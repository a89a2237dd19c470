// Package http3 is the load engine's HTTP/3 client codec: what requests and responses are on the streams of
// one QUIC connection.
//
// It is not QUIC, which runtime/protocol/island/quic brings, and no client: it owns no socket, no clock, no
// goroutine, no retry and no pool, and it decompresses no body. It follows RFC 9114 and RFC 9204. It departs
// in this: the dynamic table of QPACK has a capacity of 0 in both directions, so that an operation serves
// every connection and no response waits for another stream; a server's limit of a request's head is not
// looked at; it takes no push.
//
// Invariants:
//
//	HTTP3-1 However the bytes of a stream are cut into events, the outcome is the same.
//	HTTP3-2 No input makes it panic, and what it keeps is bounded: a head of http1.MaxHeadBytes, a body of
//	        the collector's limit, a control frame of 16 KiB, idleMost frames that carry nothing.
//	HTTP3-3 A stream ends once: in Done, in Failed, or in Cancel. A fault of the connection fails
//	        every open stream; a fault of a stream fails that one.
//	HTTP3-4 Kinds refused_stream and goaway mean that the server never processed the request.
//	HTTP3-5 A request counts as sent when the library of QUIC has all of it.
//
// Example:
//
//	var op codec.Operation
//	http3.Render(&op, &call)
//	c := protocol.Begin(nil, common).(*http3.Conn)
//	c.Over(transport)
//	c.Open(&op, tag, &sent)
//	err := c.Take(http3.Event{Kind: http3.Fin, Stream: 0, Bytes: received}, handler)
//
// Read errors.go, call.go, conn.go, request.go, server.go; then QPACK: qpack.go, static.go.
package http3
