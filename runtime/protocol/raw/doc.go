// Package raw carries exchanges of bytes over one TCP connection: bytes out, and one answer whose end
// a framing describes.
//
// It knows no protocol: what goes out is what a workflow wrote, and an answer is a line, a number of
// bytes, what comes before a text, what a length before it counts, or all until the end of the
// connection. A *Conn is a codec.Dialogue without greeting and without goodbye.
//
// Invariants, beside those of codec.Dialogue:
//
//	RAW-1 However the bytes of an answer are cut, it is the same answer, or the same error.
//	RAW-2 Bytes behind an answer, and bytes that no exchange waits for, are reported as a message of
//	      their own, so that the connection closes: they never answer the next exchange.
//	RAW-3 An announced length reserves nothing before its bytes have come, and no answer grows beyond
//	      the limit.
//
// Example:
//
//	c := raw.New(0)
//	c.Expect(raw.Until("\n"))
//	_ = c.Send(codec.MessageBinary, []byte("ping\n"), &sent)
//	err := c.Feed(received, listener)
//
// Read conn.go, framing.go.
package raw
