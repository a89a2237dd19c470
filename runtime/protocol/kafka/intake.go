package kafka

import (
	"encoding/binary"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// intake is what came of an answer that is not whole.
type intake struct {
	held []byte
}

// Feed takes the next bytes from the broker. The listener may call every method but Feed and Release. After
// an error the connection can only be closed.
func (c *Conn) Feed(b []byte, on codec.Listener) error {
	if c.broken != nil {
		return c.broken
	}
	in := &c.in
	whole := len(in.held) == 0
	if !whole {
		in.held = append(in.held, b...)
		b = in.held
	}
	n, err := c.take(b, on)
	if err != nil {
		c.broken, in.held = err, nil
		return err
	}
	if whole {
		in.held = append(in.held, b[n:]...)
		return nil
	}
	if in.held = append(in.held[:0], in.held[n:]...); len(in.held) == 0 && cap(in.held) > bufferKept {
		in.held = nil
	}
	return nil
}

// take takes whole answers, and returns how many bytes they have.
func (c *Conn) take(b []byte, on codec.Listener) (used int, err *http1.Error) {
	for c.broken == nil && len(b)-used >= 4 {
		rest := b[used:]
		size := int64(int32(binary.BigEndian.Uint32(rest)))
		switch {
		case size < 4:
			return used, errSize
		case size > c.most:
			return used, errLarge(size, c.most)
		case len(rest) >= 8:
			if err := c.wanted(int32(binary.BigEndian.Uint32(rest[4:]))); err != nil {
				return used, err
			}
		}
		if int64(len(rest)) < 4+size {
			return used, nil
		}
		used += 4 + int(size)
		if err := c.answered(rest[8:4+size], on); err != nil {
			return used, err
		}
	}
	return used, nil
}

// wanted checks the number of the answer that comes.
func (c *Conn) wanted(number int32) *http1.Error {
	switch {
	case !c.asked.open:
		return errUnasked
	case c.number != number:
		return errNumber(number, c.number)
	}
	return nil
}

// answered takes the answer to the open request.
func (c *Conn) answered(body []byte, on codec.Listener) *http1.Error {
	a := c.asked
	c.asked = asked{of: a.of}
	r := reader{b: body}
	c.outcome, c.body = Outcome{}, c.body[:0]
	switch a.of {
	case apiProduce:
		c.produced(&r, &a)
	case apiMetadata:
		c.learnt(&r, a.topics)
	case apiOffsets:
		c.located(&r, &a)
	case apiFetch:
		if err := c.fetched(&r, &a); err != nil && !r.bad {
			return err
		}
	}
	if r.bad {
		return errShort(a.of)
	}
	if a.of == apiProduce && c.outcome.Err != nil && c.producer != nil {
		c.left = true // whether the broker has counted the record is not known: the next one is a new producer's
	}
	on.Message(codec.MessageText, c.body)
	c.outcome = Outcome{}
	return nil
}
