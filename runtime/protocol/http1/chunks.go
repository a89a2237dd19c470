package http1

import "bytes"

// Limits of what a client keeps or reads from a peer.
const (
	MaxHeadBytes = 64 << 10 // a whole head, or a whole trailer section
	MaxHeadLines = 1000     // fields of a head, or of a trailer section
	MaxChunkLine = 4 << 10  // one chunk-size line with its extensions
	MaxInterim   = 16       // 1xx responses before the final one

	// MaxBodyDiscarded bounds a body that is not kept; time bounds it long before.
	MaxBodyDiscarded = 1 << 40

	// maxChunkWaste is how many bytes of framing may exceed the payload. Sixteen bytes a chunk
	// and twice its data are free, so only floods of tiny chunks with long extensions reach it.
	maxChunkWaste = 16 << 10

	carryKept = 512 // capacity of a line buffer that survives a response
)

var (
	errHeadLarge  = &Error{KindTooLarge, "the head or trailers exceed 64 KiB"}
	errHeadLines  = &Error{KindTooLarge, "the head or trailers have more than 1000 fields"}
	errChunkLine  = &Error{KindTooLarge, "a chunk's size line exceeds 4 KiB"}
	errChunkWaste = &Error{KindTooLarge, "chunk framing outweighs the data"}
	errChunkSize  = &Error{KindProtocol, "a chunk's size is not a hexadecimal number"}
	errChunkHuge  = &Error{KindTooLarge, "a chunk's size exceeds 1 TiB"}
	errChunkEnd   = &Error{KindProtocol, "a chunk is not followed by CR LF"}
)

// lines cuts a byte stream into lines and keeps only a line that was cut in two.
type lines struct {
	carry []byte // the beginning of an unfinished line
	used  uint32 // bytes of finished lines since the last clear
	count uint16 // fields since the last clear
}

func (l *lines) clear() {
	if cap(l.carry) > carryKept {
		l.carry = nil
	}
	l.carry = l.carry[:0]
	l.used, l.count = 0, 0
}

// next returns the next line of b without its end and how many bytes it took. ok is
// false while the line is unfinished. The line is valid until the next call.
func (l *lines) next(b []byte, limit int) (line []byte, n int, ok bool) {
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		if int(l.used)+len(l.carry)+len(b) > limit {
			return nil, 0, true
		}
		l.carry = append(l.carry, b...)
		return nil, len(b), false
	}
	n = end + 1
	if int(l.used)+len(l.carry)+n > limit {
		return nil, 0, true
	}
	l.used += uint32(len(l.carry) + n)
	line = b[:n]
	if len(l.carry) > 0 {
		line = append(l.carry, line...)
		l.carry = line[:0]
	}
	line = line[:len(line)-1]
	if len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	return line, n, true
}

// Chunks decodes a chunked body, of a response or of a request, however it is cut.
// The zero value awaits the first chunk.
type Chunks struct {
	lines
	left  int64 // bytes of the current chunk (or of a sized body) still to come
	waste int32 // framing bytes ahead of the payload, see maxChunkWaste
	part  chunkPart
}

type chunkPart uint8

const (
	chunkSize chunkPart = iota
	chunkData
	chunkEnd
	chunkTrailer
)

// Clear makes the decoder await a first chunk.
func (c *Chunks) Clear() {
	c.lines.clear()
	c.left, c.waste, c.part = 0, 0, chunkSize
}

// Next decodes a part of b, which is not empty. It returns the number of decoded bytes, the
// body bytes among them (a part of b), and whether the body and its trailers have ended. Call
// it again with the rest. It checks trailers and drops them, never merges them.
func (c *Chunks) Next(b []byte) (n int, data []byte, done bool, err error) {
	switch c.part {
	case chunkData:
		n = int(min(c.left, int64(len(b))))
		c.left -= int64(n)
		if c.left == 0 {
			c.part = chunkEnd
		}
		return n, b[:n], false, nil
	case chunkEnd:
		n, err = c.lineEnd(b)
		return n, nil, false, err
	case chunkSize:
		n, err = c.sizeLine(b)
		return n, nil, false, err
	}
	n, done, err = c.trailer(b)
	return n, nil, done, err
}

func (c *Chunks) lineEnd(b []byte) (int, error) {
	// A bare line feed is not enough: if a size is one too large, the data would end with the
	// carriage return, unnoticed.
	const end = "\r\n"
	for i := len(c.carry); i < len(end) && i-len(c.carry) < len(b); i++ {
		if b[i-len(c.carry)] != end[i] {
			return 0, errChunkEnd
		}
	}
	_, n, ok := c.next(b[:min(len(b), len(end)-len(c.carry))], MaxChunkLine)
	if ok {
		c.used, c.part = 0, chunkSize
	}
	return n, nil
}

func (c *Chunks) sizeLine(b []byte) (int, error) {
	line, n, ok := c.next(b, MaxChunkLine)
	if !ok {
		return n, nil
	}
	if n == 0 {
		return 0, errChunkLine
	}
	c.used = 0
	size, err := parseChunkSize(line)
	if err != nil {
		return n, err
	}
	c.waste = int32(max(0, int64(c.waste)+int64(len(line)+2)-16-2*size))
	if c.waste > maxChunkWaste {
		return n, errChunkWaste
	}
	c.left, c.part = size, chunkData
	if size == 0 {
		c.part = chunkTrailer
	}
	return n, nil
}

func (c *Chunks) trailer(b []byte) (int, bool, error) {
	line, n, ok := c.next(b, MaxHeadBytes)
	switch {
	case !ok:
		return n, false, nil
	case n == 0:
		return 0, false, errHeadLarge
	case len(line) == 0:
		return n, true, nil
	}
	if c.count++; c.count > MaxHeadLines {
		return n, false, errHeadLines
	}
	if isFold(line) {
		return n, false, checkValue(line)
	}
	_, _, err := splitField(line)
	return n, false, err
}

// parseChunkSize reads the hexadecimal size; blanks and extensions may follow it.
func parseChunkSize(line []byte) (int64, error) {
	var size int64
	i := 0
	for ; i < len(line); i++ {
		digit := hexDigit(line[i])
		if digit < 0 {
			break
		}
		if size = size<<4 | int64(digit); size > MaxBodyDiscarded {
			return 0, errChunkHuge
		}
	}
	if i == 0 {
		return 0, errChunkSize
	}
	rest := trimBlank(line[i:])
	if len(rest) > 0 && rest[0] != ';' {
		return 0, errChunkSize
	}
	return size, checkValue(rest)
}

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
