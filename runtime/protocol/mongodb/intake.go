package mongodb

import (
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// Feed takes what was read.
func (c *Conn) Feed(b []byte, on codec.Listener) error {
	if c.broken != nil {
		return c.broken
	}
	for len(b) > 0 {
		whole, rest, err := c.gather(b)
		if err == nil && whole != nil {
			err = c.answered(whole, on)
		}
		if err != nil {
			c.broken = err
			return err
		}
		b = rest
	}
	return nil
}

// gather returns the next message if it is whole, and what follows it in b. A message that came in one piece
// is not copied.
func (c *Conn) gather(b []byte) (whole, rest []byte, err *http1.Error) {
	if c.asked.stage == stageNone {
		return nil, nil, errUnasked
	}
	left := max(0, c.most-c.asked.size)
	if len(c.held) == 0 {
		n, err := length(b, left, c.most)
		if err != nil || n > 0 && n <= len(b) {
			return b[:n:n], b[n:], err
		}
		c.held = c.pool.take()
	}
	if len(c.held) < 4 {
		n := min(4-len(c.held), len(b))
		c.held, b = append(c.held, b[:n]...), b[n:]
	}
	n, err := length(c.held, left, c.most)
	if err != nil || n == 0 {
		return nil, b, err
	}
	take := min(n-len(c.held), len(b))
	c.held, b = append(c.held, b[:take]...), b[take:]
	if len(c.held) < n {
		return nil, b, nil
	}
	return c.held, b, nil
}

// answered takes a whole message.
func (c *Conn) answered(b []byte, on codec.Listener) *http1.Error {
	if c.Unsent() > 0 {
		return errEarly
	}
	body, err := documentOf(b, c.number)
	if err != nil {
		return err
	}
	c.asked.size += int64(len(b))
	done, err := c.takes(body)
	c.pool.free(c.held)
	if c.held = nil; err != nil {
		return err
	}
	if done {
		c.ended(on)
	}
	return nil
}

// ended reports that the operation has ended.
func (c *Conn) ended(on codec.Listener) {
	was := c.asked
	c.asked = asked{}
	if was.stage == stagePing {
		on.Pong(was.payload)
		return
	}
	if was.keeps && was.of.verb == verbReads {
		if c.view == nil {
			c.view = append(c.pool.take(), '[')
		}
		c.view = append(c.view, ']')
	}
	view := c.view
	c.view = nil
	on.Message(codec.MessageText, view)
	c.pool.free(view)
}
