package grpc

import (
	"bytes"
	"compress/gzip"
	"strings"

	"hyperscale/runtime/protocol/http1"
)

// statuses are answers whose status is odd, missing or in the wrong place.
func statuses() []Entry {
	trailing := func(name string, kind http1.Kind, fields ...string) Entry {
		return answers(name, kind, func(c *Conn, id uint32) {
			c.head(id)
			c.data(id, 0, evil())
			c.trailers(id, fields...)
		})
	}
	only := func(name string, kind http1.Kind, fields ...string) Entry {
		return answers(name, kind, func(c *Conn, id uint32) {
			c.headers(id, flagEnd, append([]string{":status", "200", "content-type", "application/grpc"}, fields...)...)
		})
	}
	return []Entry{
		trailing("trailers without a status", http1.KindProtocol, "x", "y"),
		trailing("a status that is no number", http1.KindProtocol, "grpc-status", "OK"),
		trailing("an empty status", http1.KindProtocol, "grpc-status", ""),
		trailing("a negative status", http1.KindProtocol, "grpc-status", "-1"),
		trailing("a status of 2^32", http1.KindProtocol, "grpc-status", "4294967296"),
		trailing("status 99", "server UNKNOWN", "grpc-status", "99"),
		trailing("a failure behind a message", "server INTERNAL", "grpc-status", "13"),
		trailing("a status whose text is no UTF-8", "server ABORTED", "grpc-status", "10", "grpc-message", "%ff%fe\xff"),
		trailing("a text of 8 KiB", "server ABORTED", "grpc-status", "10", "grpc-message", strings.Repeat("x", 8<<10)),
		trailing("a text of broken escapes", "server ABORTED", "grpc-status", "10", "grpc-message", "%%%2%zz%"),
		trailing("two statuses, the first good", http1.KindNone, "grpc-status", "0", "grpc-status", "13"),
		only("trailers only, a failure", "server UNAVAILABLE", "grpc-status", "14"),
		only("trailers only, OK", http1.KindProtocol, "grpc-status", "0"),
		only("trailers only, without a status", http1.KindProtocol),
		answers("the status in the head", http1.KindProtocol, func(c *Conn, id uint32) {
			c.headers(id, 0, ":status", "200", "content-type", "application/grpc", "grpc-status", "0")
			c.data(id, flagEnd, evil())
		}),
		answers("no trailers", http1.KindProtocol, func(c *Conn, id uint32) {
			c.head(id)
			c.data(id, flagEnd, evil())
		}),
		answers("a trailer that is a pseudo-header", http1.KindProtocol, func(c *Conn, id uint32) {
			c.head(id)
			c.data(id, 0, evil())
			c.trailers(id, ":status", "200", "grpc-status", "0")
		}),
		answers("trailers in three frames", http1.KindNone, func(c *Conn, id uint32) {
			c.head(id)
			c.data(id, 0, evil())
			b := block("grpc-status", "0", "x", "y")
			c.frame(typeHeaders, flagEnd, id, b[:3])
			c.frame(typeContinuation, 0, id, b[3:7])
			c.frame(typeContinuation, flagEndHeaders, id, b[7:])
		}),
	}
}

// squeezed is a text as gzip.
func squeezed(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(b) // a buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

// messages are answers whose messages are odd or broken.
func messages() []Entry {
	body := func(name string, kind http1.Kind, b []byte) Entry {
		return answers(name, kind, func(c *Conn, id uint32) {
			c.head(id)
			c.body(id, b)
			c.trailers(id, "grpc-status", "0")
		})
	}
	coded := func(name, coding string, kind http1.Kind, b []byte) Entry {
		return answers(name, kind, func(c *Conn, id uint32) {
			c.headers(id, 0, ":status", "200", "content-type", "application/grpc", "grpc-encoding", coding)
			c.body(id, framed(1, b))
			c.trailers(id, "grpc-status", "0")
		}).zipped()
	}
	nested := text(Evil)
	for range 4000 {
		head := []byte{2<<3 | 2}
		n := len(nested)
		for ; n >= 128; n >>= 7 {
			head = append(head, byte(n)|128)
		}
		nested = append(append(head, byte(n)), nested...)
	}
	corrupt := squeezed(text(Evil))
	corrupt[len(corrupt)-6] ^= 0xff
	return []Entry{
		body("no message", http1.KindProtocol, nil),
		body("two messages", http1.KindProtocol, append(evil(), evil()...)),
		body("a message cut by the end", http1.KindTruncated, evil()[:7]),
		body("a head cut by the end", http1.KindTruncated, evil()[:3]),
		body("a message, and half a head", http1.KindTruncated, append(evil(), 0, 0)),
		body("a length of 4 GiB", http1.KindTooLarge, []byte{0, 0xff, 0xff, 0xff, 0xff, 'x'}),
		answers("a length of 4 GiB, and no end", http1.KindTooLarge, func(c *Conn, id uint32) {
			c.head(id)
			c.data(id, 0, []byte{0, 0xff, 0xff, 0xff, 0xff, 'x'})
		}),
		body("a message of 20 MiB", http1.KindTooLarge, framed(0, make([]byte, 20<<20))),
		body("a flag of 2", http1.KindProtocol, append([]byte{2}, evil()[1:]...)),
		body("a compressed message without an encoding", http1.KindProtocol, framed(1, text(Evil))),
		body("HTML", http1.KindProtocol, []byte("<html>no gRPC here</html>")),
		body("a message that is no protobuf", http1.KindNone, framed(0, []byte{1<<3 | 2, 200, 'x'})).reading(http1.KindProtocol),
		body("a field of a type that nothing has", http1.KindNone, framed(0, []byte{1<<3 | 7})).reading(http1.KindProtocol),
		body("a text that is no UTF-8", http1.KindNone, framed(0, text("\xff\xfe"))).reading(http1.KindProtocol),
		body("a message 4,000 deep", http1.KindNone, framed(0, nested)).reading(http1.KindProtocol),
		body("an empty message", http1.KindNone, framed(0, nil)),
		coded("a message as gzip", "gzip", http1.KindNone, squeezed(text(Evil))),
		coded("a message of a coding that nothing knows", "br", http1.KindNone, text(Evil)).reading(http1.KindEncoding),
		coded("a message that is no gzip", "gzip", http1.KindNone, text(Evil)).reading(http1.KindEncoding),
		coded("a gzip whose checksum is wrong", "gzip", http1.KindNone, corrupt).reading(http1.KindEncoding),
		coded("half of a gzip", "gzip", http1.KindNone, squeezed(text(Evil))[:12]).reading(http1.KindEncoding),
		coded("a gzip that grows to 64 MiB", "gzip", http1.KindNone, squeezed(make([]byte, 64<<20))).reading(http1.KindBomb),
		coded("a compressed message, and the coding identity", "identity", http1.KindProtocol, text(Evil)),
		answers("a message, a byte a frame", http1.KindNone, func(c *Conn, id uint32) {
			c.head(id)
			for _, one := range evil() {
				c.data(id, 0, []byte{one})
			}
			c.trailers(id, "grpc-status", "0")
		}),
		answers("a message in padded frames", http1.KindNone, func(c *Conn, id uint32) {
			c.head(id)
			c.data(id, flagPadded, append(append([]byte{3}, evil()...), 0, 0, 0))
			c.trailers(id, "grpc-status", "0")
		}),
	}
}

// heads are answers that begin in another way than one of gRPC.
func heads() []Entry {
	head := func(name string, kind http1.Kind, fields ...string) Entry {
		return answers(name, kind, func(c *Conn, id uint32) {
			c.headers(id, 0, fields...)
			c.data(id, 0, evil())
			c.trailers(id, "grpc-status", "0")
		})
	}
	return []Entry{
		head("content type text/html", http1.KindProtocol, ":status", "200", "content-type", "text/html"),
		head("content type application/json", http1.KindProtocol, ":status", "200", "content-type", "application/json"),
		head("content type application/grpc-web", http1.KindProtocol, ":status", "200", "content-type", "application/grpc-web"),
		head("no content type", http1.KindProtocol, ":status", "200"),
		head("content type application/grpc+proto", http1.KindNone, ":status", "200", "content-type", "application/grpc+proto"),
		head("content type with a parameter", http1.KindNone, ":status", "200", "content-type", "application/grpc;charset=utf-8"),
		head("a header name in capitals", http1.KindProtocol, ":status", "200", "Content-Type", "application/grpc"),
		head("no :status", http1.KindProtocol, "content-type", "application/grpc"),
		head("a content-length that is wrong", http1.KindProtocol, ":status", "200", "content-type", "application/grpc", "content-length", "3"),
		answers("502 with HTML", "server UNAVAILABLE", func(c *Conn, id uint32) {
			c.headers(id, 0, ":status", "502", "content-type", "text/html")
			c.data(id, flagEnd, []byte("<html>Bad Gateway</html>"))
		}),
		answers("401 alone", "server UNAUTHENTICATED", func(c *Conn, id uint32) { c.headers(id, flagEnd, ":status", "401") }),
		answers("404 alone", "server UNIMPLEMENTED", func(c *Conn, id uint32) { c.headers(id, flagEnd, ":status", "404") }),
		answers("204 alone", "server UNKNOWN", func(c *Conn, id uint32) { c.headers(id, flagEnd, ":status", "204") }),
		answers("an interim head before", http1.KindNone, func(c *Conn, id uint32) {
			c.headers(id, 0, ":status", "103", "link", "x")
			c.head(id)
			c.data(id, 0, evil())
			c.trailers(id, "grpc-status", "0")
		}),
		answers("a second head", http1.KindProtocol, func(c *Conn, id uint32) {
			c.head(id)
			c.head(id)
		}),
	}
}
