package kafka

import (
	"encoding/binary"
	"slices"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/kafka/group"
	"hyperscale/runtime/protocol/kafka/wire"
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
		in.held = append(c.pool.grown(in.held, len(b)), b...)
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
	if n > 0 { // else it would be copied onto itself, once for each piece of a large answer
		in.held = append(in.held[:0], in.held[n:]...)
	}
	if len(in.held) == 0 && cap(in.held) > bufferKept {
		c.pool.spare = append(c.pool.spare, in.held)
		if in.held = nil; len(c.pool.spare) > sparesMost {
			c.pool.spare = slices.Delete(c.pool.spare, 0, 1)
		}
	}
	return nil
}

// sparesMost is how many buffers of large answers a loop keeps.
const sparesMost = 4

// grown returns a buffer with room for n bytes more. It has twice as many as have come at most, whatever the
// answer says of its length, or those of a buffer that has served another answer.
func (p *Pool) grown(held []byte, n int) []byte {
	want := len(held) + n
	if want <= cap(held) {
		return held
	}
	if last := len(p.spare) - 1; last >= 0 && want > bufferKept && cap(p.spare[last]) >= want {
		out := append(p.spare[last], held...)
		p.spare = p.spare[:last]
		return out
	}
	return append(make([]byte, 0, max(2*len(held), want)), held...)
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
	switch next := c.awaits(); {
	case next == 0:
		return errUnasked
	case next != number:
		return errNumber(number, next)
	case next == c.number && len(c.out.left()) > 0:
		return errEarly
	}
	return nil
}

// answered takes the answer to the open request.
func (c *Conn) answered(body []byte, on codec.Listener) *http1.Error {
	if len(c.waits) > 0 && c.awaits() == c.waits[0].number {
		return c.besideAnswered(body)
	}
	a := c.asked
	c.asked = asked{of: a.of}
	r := wire.Reader{B: body}
	c.outcome, c.body = Outcome{}, c.body[:0]
	switch a.of {
	case apiProduce:
		c.produced(&r, &a)
	case apiMetadata:
		if err := c.learnt(&r, a.topics); err != nil {
			return err
		}
	case apiOffsets:
		c.located(&r, &a)
	case apiFetch:
		if err := c.fetched(&r, &a); err != nil && !r.Bad {
			return err
		}
	default:
		c.told(&r, group.API(a.of))
	}
	if r.Bad {
		return errShort(a.of)
	}
	if a.of == apiProduce && c.outcome.Err != nil && c.producer != nil {
		c.left = true // whether the broker has counted the record is not known: the next one is a new producer's
	}
	on.Message(codec.MessageText, c.body)
	c.outcome = Outcome{}
	return nil
}
