package smtp

import "encoding/base64"

const (
	codedLine  = 57       // bytes that one line of base64 carries
	codedPiece = 57 << 12 // bytes that one step encodes
	codedPlain = 16 << 10 // bytes of base64 of a message that stand among its other text
)

// Coded is what a file is as base64, one for all messages that carry it. It encodes each piece once, when the first
// message sends it. One goroutine uses it.
type Coded struct {
	data  []byte // not encoded
	lines []byte // encoded, with room for all
	size  int    // of all lines, in bytes
}

// Encode returns the base64 of data, which must not change.
func Encode(data []byte) *Coded { return &Coded{data: data, size: codedSize(len(data))} }

// from returns what is encoded from an offset below the size, and at least one byte.
func (c *Coded) from(at int) []byte {
	if c.lines == nil {
		c.lines = make([]byte, 0, c.size)
	}
	for len(c.lines) <= at {
		n := min(len(c.data), codedPiece)
		c.lines, c.data = appendCoded(c.lines, c.data[:n]), c.data[n:]
	}
	return c.lines[at:]
}

// whole encodes all that is left.
func (c *Coded) whole() []byte {
	if c.size == 0 {
		return nil
	}
	c.from(c.size - 1)
	return c.lines
}

// codedSize is how many bytes appendCoded makes of so many.
func codedSize(n int) int {
	whole, rest := n/codedLine, n%codedLine
	size := whole * (base64.StdEncoding.EncodedLen(codedLine) + 2)
	if rest > 0 {
		size += base64.StdEncoding.EncodedLen(rest) + 2
	}
	return size
}

func appendCoded(dst, body []byte) []byte {
	for len(body) > 0 {
		n := min(len(body), codedLine)
		dst = append(base64.StdEncoding.AppendEncode(dst, body[:n]), "\r\n"...)
		body = body[n:]
	}
	return dst
}

// cut is where a coded file stands in a text that holds no copy of it.
type cut struct {
	at   int // in front of this byte
	file *Coded
}
