package http2

import "hyperscale/runtime/protocol/http1"

// What HTTP/3 takes over from HTTP/2: numbers and strings of header blocks, and what a field means.

// AppendInteger encodes n behind the high bits of first (RFC 7541, 5.1).
func AppendInteger(b []byte, first byte, prefix uint, n int) []byte {
	return appendInteger(b, first, prefix, n)
}

// Integer reads a number whose first byte gives the low prefix bits; b is not empty. It has 32 bits at most.
func Integer(b []byte, prefix uint) (uint64, []byte, *http1.Error) { return integer(b, prefix) }

// AppendHuffman encodes text, and HuffmanLen is the number of bytes of its code.
func AppendHuffman(b []byte, text string) []byte { return appendHuffman(b, text) }

// HuffmanLen is the number of bytes of text's code.
func HuffmanLen(text string) int { return huffmanLen(text) }

// DecodeHuffman appends what src says; false if it is no code or badly padded.
func DecodeHuffman(dst, src []byte) ([]byte, bool) { return decodeHuffman(dst, src) }

// CutLine takes one "name: value" line of a head that http1 rendered; the empty line has no name.
func CutLine(b []byte) (name, value string, rest []byte) { return cutLine(b) }

// Sent reports whether a field of HTTP/1.1 goes over HTTP/2 and HTTP/3; the name is in lower case.
func Sent(name, value string) bool { return sent(name, value) }

// Head collects the fields of one head or of trailers, and judges them.
type Head struct{ head head }

// Reset begins a head; the collector gets its fields, nil: none does.
func (h *Head) Reset(trailer bool, c *http1.Collector) { h.head.reset(trailer, c) }

// Field takes a field. Its error says that the whole block is beyond a bound.
func (h *Head) Field(name, value []byte) *http1.Error {
	if err := h.head.count(len(name) + len(value)); err != nil {
		return err
	}
	c := classOfName(name)
	m := meaningOf(c, value)
	if c == classBad {
		m.number = whyBad(name)
	}
	if h.head.collector != nil {
		h.head.collect(name, value)
	}
	h.head.cookies = h.head.cookies || m.class == classCookie
	h.head.field(m)
	return nil
}

// Status is that of the head, 0 if it has none.
func (h *Head) Status() int { return h.head.status }

// Length is its content-length, -1 if it has none.
func (h *Head) Length() int64 { return h.head.length }

// Bad says why the fields make the message malformed; nil: they do not.
func (h *Head) Bad() *http1.Error { return h.head.bad }

// Cookies reports whether some field sets a cookie.
func (h *Head) Cookies() bool { return h.head.cookies }
