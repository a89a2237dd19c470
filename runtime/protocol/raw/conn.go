package raw

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// Conn is the client's side of one connection.
type Conn struct {
	framing Framing
	waits   bool   // for an answer
	in      []byte // of an answer that is not whole
	limit   uint64 // of an answer

	out     []byte
	gone    int // of out
	departs []departure
}

// departure is a message that counts when all bytes up to its end are gone.
type departure struct {
	end   int // in out
	count *uint64
}

var _ codec.Unnamed = (*Conn)(nil)

// New returns the state of a new connection. Limit bounds an answer in bytes; 0:
// http1.BodyLimitDefault.
func New(limit int64) *Conn {
	if limit <= 0 {
		limit = http1.BodyLimitDefault
	}
	return &Conn{limit: uint64(limit)}
}

// keptMost is what an idle connection keeps of its buffers.
const keptMost = 4 << 10

// Expect says where the answer of the next exchange ends.
func (c *Conn) Expect(f Framing) {
	c.framing, c.waits = f, f.kind != kindNone
	c.clear()
}

func (c *Conn) clear() {
	if c.in = c.in[:0]; cap(c.in) > keptMost {
		c.in = nil
	}
}

// Send implements codec.Dialogue: the bytes go out as they are.
func (c *Conn) Send(_ codec.MessageKind, payload []byte, sent *uint64) error {
	if c.gone == len(c.out) {
		c.out, c.gone = c.out[:0], 0
	}
	c.out = append(c.out, payload...)
	if sent != nil {
		c.departs = append(c.departs, departure{len(c.out), sent})
	}
	return nil
}

// Ping implements codec.Dialogue: nothing answers.
func (c *Conn) Ping(uint64) {}

// Leave implements codec.Dialogue: there is no goodbye but the end of the connection.
func (c *Conn) Leave(uint16, string) {}

// Output implements codec.Dialogue.
func (c *Conn) Output() []byte { return c.out[c.gone:] }

// Sent implements codec.Dialogue.
func (c *Conn) Sent(n int) {
	c.gone += n
	at := 0
	for at < len(c.departs) && c.departs[at].end <= c.gone {
		*c.departs[at].count++
		at++
	}
	c.departs = slices.Delete(c.departs, 0, at)
	if c.gone == len(c.out) {
		if c.out, c.gone = c.out[:0], 0; cap(c.out) > keptMost {
			c.out = nil
		}
	}
}

// Unsent implements codec.Dialogue.
func (c *Conn) Unsent() int { return len(c.out) - c.gone }

// Feed implements codec.Dialogue.
func (c *Conn) Feed(b []byte, on codec.Listener) error {
	if len(b) == 0 {
		return nil
	}
	if !c.waits {
		on.Message(codec.MessageBinary, b)
		return nil
	}
	seen := len(c.in)
	if seen > 0 {
		c.in = append(c.in, b...)
		b = c.in
	}
	at := c.framing.find(b, seen)
	switch {
	case at.to-at.from > c.limit:
		c.waits = false
		return &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("the answer is longer than %d bytes", c.limit)}
	case !at.whole:
		if seen == 0 {
			c.in = append(c.in, b...)
		}
		return nil
	}
	c.waits = false
	on.Message(codec.MessageBinary, b[at.from:at.to])
	if rest := b[at.end:]; len(rest) > 0 {
		on.Message(codec.MessageBinary, rest)
	}
	c.clear()
	return nil
}

// Ends implements codec.Unnamed.
func (c *Conn) Ends(on codec.Listener) {
	if c.waits && c.framing.kind == kindClosed {
		c.waits = false
		on.Message(codec.MessageBinary, c.in)
		c.clear()
	}
}

// End implements codec.Dialogue.
func (c *Conn) End(err error) error {
	switch {
	case !errors.Is(err, io.EOF):
		return err
	case len(c.in) > 0:
		return &http1.Error{Kind: http1.KindTruncated, Detail: fmt.Sprintf("the server closed the connection after %d bytes of its answer", len(c.in))}
	}
	return &http1.Error{Kind: http1.KindClosed, Detail: "the server closed the connection before it answered"}
}

// Rest implements codec.Dialogue: each byte is content.
func (c *Conn) Rest() {}

// Release implements codec.Dialogue.
func (c *Conn) Release() { c.in, c.out, c.departs, c.gone = nil, nil, nil, 0 }

// Over implements codec.Dialogue: only the end of the connection ends it.
func (c *Conn) Over() bool { return false }
