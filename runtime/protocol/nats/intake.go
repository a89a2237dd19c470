package nats

import (
	"bytes"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// intake is what came of a line or message that is not whole.
type intake struct {
	held    []byte
	scanned int  // bytes of held that have no line's end
	need    int  // bytes of held without which nothing is whole; 0: a line's end
	idle    int  // control lines in a row
	heard   bool // something came since the operation before was given up
}

// header is the line that begins a message.
type header struct {
	subject, reply []byte
	sid            string
	head, size     int // bytes; the header is a part of the size
}

// Feed takes the next bytes from the server. The listener may call every method but Feed and Release.
// After an error the connection can only be closed.
func (c *Conn) Feed(b []byte, on codec.Listener) error {
	if c.broken != nil {
		return c.broken
	}
	in := &c.in
	in.heard = in.heard || len(b) > 0
	if len(in.held) == 0 {
		n, err := c.take(b, on)
		if err != nil {
			return c.breaks(err)
		}
		if n < len(b) {
			in.held = append(in.held, b[n:]...)
		}
		return nil
	}
	if in.held = append(in.held, b...); len(in.held) < in.need {
		return nil
	}
	n, err := c.take(in.held, on)
	if err != nil {
		return c.breaks(err)
	}
	if in.held = append(in.held[:0], in.held[n:]...); len(in.held) == 0 && cap(in.held) > bufferKept {
		in.held = nil
	}
	return nil
}

func (c *Conn) breaks(err *http1.Error) error {
	c.broken, c.in.held = err, nil
	return err
}

const pong = "PONG\r\n"

// take takes whole lines and messages, and returns how many bytes they have.
func (c *Conn) take(b []byte, on codec.Listener) (used int, err *http1.Error) {
	in := &c.in
	for used < len(b) && c.broken == nil {
		rest := b[used:]
		from := min(in.scanned, len(rest))
		in.need = 0
		if len(rest) >= len(pong) && string(rest[:len(pong)]) == pong { // most of what confirms publications
			c.ops.answer.in = len(pong)
			if err := c.control([]byte("PONG"), nil, on); err != nil {
				return used, err
			}
			in.scanned = 0
			used += len(pong)
			continue
		}
		if !plausible(rest) {
			return used, errNoLine
		}
		end := bytes.IndexByte(rest[from:], '\n')
		if end < 0 {
			if in.scanned = len(rest); in.scanned >= lineMost {
				return used, errLine
			}
			return used, nil
		}
		end += from
		switch {
		case end >= lineMost:
			return used, errLine
		case end == 0 || rest[end-1] != '\r':
			return used, errLineEnd
		}
		n, err := c.line(rest, end+1, on)
		if err != nil {
			return used, err
		}
		if n == 0 {
			in.scanned = end // the line is whole, and its message is not
			return used, nil
		}
		in.scanned = 0
		used += n
	}
	return used, nil
}

// line takes the line that ends at end, and the message behind it; 0: that is not whole.
func (c *Conn) line(b []byte, end int, on codec.Listener) (int, *http1.Error) {
	line := b[:end-2]
	word, rest := cutWord(line)
	heads := string(word) == "HMSG"
	if !heads && string(word) != "MSG" {
		c.ops.answer.in = end
		return end, c.control(word, rest, on)
	}
	m, err := readHeader(rest, heads)
	switch {
	case err != nil:
		return 0, err
	case int64(m.size) > c.most:
		return 0, errLarge(int64(m.size), c.most)
	case len(b) < end+m.size+2:
		c.in.need = end + m.size + 2
		return 0, nil
	}
	if payload := b[end:]; payload[m.size] != '\r' || payload[m.size+1] != '\n' {
		return 0, errEnd
	}
	c.in.idle, c.ops.answer.in = 0, end+m.size+2
	return end + m.size + 2, c.onMessage(&m, b[end:end+m.size], on)
}

// control takes a line without a message.
func (c *Conn) control(word, rest []byte, on codec.Listener) *http1.Error {
	if c.in.idle++; c.in.idle > idleMost {
		return errFlood
	}
	switch string(word) {
	case "PING":
		if len(c.out.left()) > oweMost {
			return errOwes
		}
		c.out.bytes = append(c.out.bytes, "PONG\r\n"...)
	case "PONG":
		return c.onPong(on)
	case "+OK":
	case "-ERR":
		return c.onError(quoted(rest), on)
	case "INFO":
		i, err := readInfo(rest)
		if err != nil {
			return err.(*http1.Error)
		}
		c.payloadMost, c.heads = i.MaxPayload, i.Headers
	default:
		return errNoLine
	}
	return nil
}

// readHeader reads what stands behind MSG or HMSG.
func readHeader(rest []byte, heads bool) (m header, err *http1.Error) {
	var all [5][]byte
	n := 0
	for {
		rest = bytes.TrimLeft(rest, " \t")
		if len(rest) == 0 {
			break
		}
		if n == len(all) {
			return m, errSubject
		}
		end := bytes.IndexAny(rest, " \t")
		if end < 0 {
			end = len(rest)
		}
		all[n], rest = rest[:end], rest[end:]
		n++
	}
	sizes := 1
	if heads {
		sizes = 2
	}
	if n != 2+sizes && n != 3+sizes {
		return m, errSubject
	}
	if m.subject, m.sid = all[0], sidOf(all[1]); n == 3+sizes {
		m.reply = all[2]
	}
	var ok bool
	if m.size, ok = number(all[n-1]); !ok {
		return m, errSize
	}
	if heads {
		if m.head, ok = number(all[n-2]); !ok {
			return m, errSize
		}
		if m.head > m.size {
			return m, errHeadSize
		}
	}
	return m, nil
}

// sidOf returns the number of a subscription: there is one.
func sidOf(b []byte) string {
	if len(b) == 1 && b[0] == '1' {
		return "1"
	}
	return ""
}

const digitsMost = 12 // of a length

// number reads a length.
func number(b []byte) (n int, ok bool) {
	if len(b) == 0 || len(b) > digitsMost {
		return 0, false
	}
	for _, d := range b {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = 10*n + int(d-'0')
	}
	return n, true
}
