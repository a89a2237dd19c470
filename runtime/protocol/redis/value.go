package redis

import (
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// begins notes that a value begins that is no error: it may be a hit.
func (c *Conn) begins(null bool) {
	in := &c.in
	if in.aside > 0 {
		return
	}
	in.idle = 0
	c.separate()
	depth := len(in.stack)
	if depth > 1 {
		return
	}
	of := c.reads()
	if of == readsNothing || (of == readsElements) != (depth == 1) {
		return
	}
	if null {
		c.outcome.Misses++
	} else {
		c.outcome.Hits++
	}
}

// ends notes that a value is whole, and with it perhaps the aggregates around it.
func (c *Conn) ends(on codec.Listener) *http1.Error {
	in := &c.in
	if int64(len(c.view)) > c.most {
		return errLarge(c.most)
	}
	if len(in.stack) == 0 {
		c.answered(on)
		return nil
	}
	top := &in.stack[len(in.stack)-1]
	if c.shows() && top.kind == typeMap && top.had%2 == 0 {
		c.view = quoteKey(c.view, top.key)
	}
	top.had++
	if top.left > 0 {
		if top.left--; top.left == 0 {
			return c.closes(on)
		}
	}
	return nil
}

// closes ends the innermost aggregate. It calls itself by ends once a level at most.
func (c *Conn) closes(on codec.Listener) *http1.Error {
	in := &c.in
	last := len(in.stack) - 1
	t := in.stack[last].kind
	if c.shows() {
		c.view = append(c.view, closing(t))
	}
	in.stack = in.stack[:last]
	if in.hidden == last+1 {
		in.hidden = 0
	}
	if in.aside == last+1 {
		in.aside = 0
		return nil // a push is no answer, and an attribute's value follows
	}
	if t == typeAttribute {
		return nil // inside another one
	}
	return c.ends(on)
}
