// Package http2 is the load engine's HTTP/2 client codec: the client's side of one
// connection, from a request's bytes made once to responses read many times.
//
// It is not a client: it owns no socket, no clock, no goroutine, no retry and no pool,
// and it decompresses no body. It follows RFC 9113 and RFC 7541. It departs in this:
// requests use no dynamic table, so that an operation serves every connection; values with blanks
// at their ends are accepted; more than one stream waits for the server's SETTINGS.
//
// Invariants:
//
//	HTTP2-1 However the bytes of a connection are cut, the outcome is the same, as long as
//	        Output is written in time.
//	HTTP2-2 No input makes the decoder panic, and what it keeps is bounded: a head of
//	        http1.MaxHeadBytes, a dynamic table of 4,096 bytes, a body of the collector's limit,
//	        Config.Output and what answers queue beyond it, idleMost frames that carry nothing.
//	HTTP2-3 A response that came whole, and the request that it answers, allocate nothing.
//	HTTP2-4 A stream ends once: in Done, in Failed, or in Cancel. A fault of the connection fails
//	        every open stream; a fault of a stream fails that one.
//	HTTP2-5 Kinds refused_stream and goaway mean that the server never processed the request.
//	HTTP2-6 Every error has an http1.Kind; the engine groups by it.
//
// A turn of the loop: Feed what was read, Open what is due (from the handler, too), then
// write Output once and say how much with Sent.
//
//	var op codec.Operation
//	http2.Render(&op, &call)
//	var c http2.Conn
//	c.Reset(http2.Config{Streams: 16})
//	c.Open(&op, tag, &sent)
//	n, err := socket.Write(c.Output())
//	c.Sent(n)
//	err = c.Feed(received, handler)
//
// Conn wires values that decide: the outbox has what to write, flow has the windows, the intake
// cuts frames, the headerBlock decodes, each stream judges its response.
//
// Read codes.go, call.go, conn.go, outbox.go, flow.go, body.go, streams.go; frame.go, head.go, data.go,
// settings.go, control.go; then HPACK: hpack.go, table.go, meaning.go, static.go, huffman.go.
package http2
