package http1

import "slices"

// BodyLimitDefault bounds a kept body. Less would cut real API answers; more would let
// 1,000 VUs that each keep one fill the machine.
const BodyLimitDefault = 16 << 20

// bodyFirst bounds the memory that a Content-Length alone can reserve.
const bodyFirst = 64 << 10

// Collector keeps the head and body of one response for function steps and checks. It reuses
// its buffers, so bytes that its methods return are valid until the next Reset. The zero value
// keeps up to BodyLimitDefault bytes.
type Collector struct {
	Limit    int64 // largest body in bytes; 0 means not set, BodyLimitDefault
	HeadOnly bool  // the body is not kept
	Body     []byte
	Tap      Tap  // reads the body as it comes; nil: nothing does
	Trailing bool // over HTTP/2 trailers are kept, behind the head's fields

	raw      []byte
	fields   []span
	trailers int // index of the first one; 0: none came
}

// span places one field in raw; the value follows the name at once.
type span struct{ name, value, end uint32 }

// Tap reads a body while it comes, and may have enough of it.
type Tap interface {
	Piece(b []byte) // of the body, valid only during the call
	// Look is called after each read that brought pieces. Enough says that the rest of the answer
	// does not matter.
	Look() (enough bool)
}

// Reset forgets the response and keeps the buffers, unless a rare large body grew them.
func (c *Collector) Reset() {
	if cap(c.Body) > bodyFirst*4 {
		c.Body = nil
	}
	c.Body = c.Body[:0]
	c.ResetHead()
}

// ResetHead forgets the head alone: that of an interim response.
func (c *Collector) ResetHead() {
	c.raw = c.raw[:0]
	c.fields = c.fields[:0]
	c.trailers = 0
}

// BeginTrailers says that the fields which follow are trailers.
func (c *Collector) BeginTrailers() { c.trailers = len(c.fields) }

// HeadFields is how many of the fields are the head's.
func (c *Collector) HeadFields() int {
	if c.trailers > 0 {
		return c.trailers
	}
	return len(c.fields)
}

// Len is the number of header fields.
func (c *Collector) Len() int { return len(c.fields) }

// At returns the i-th field as it was sent.
func (c *Collector) At(i int) (name, value []byte) {
	s := c.fields[i]
	return c.raw[s.name:s.value], c.raw[s.value:s.end]
}

// Head is a copy of a response's head.
type Head struct {
	raw    []byte
	fields []span
}

// Len is the number of header fields.
func (h *Head) Len() int { return len(h.fields) }

// At returns the i-th field as it was sent.
func (h *Head) At(i int) (name, value []byte) {
	s := h.fields[i]
	return h.raw[s.name:s.value], h.raw[s.value:s.end]
}

// Copy returns a copy of the response that stays valid after the next Reset.
func (c *Collector) Copy() (h Head, body []byte) {
	all := make([]byte, 0, len(c.raw)+len(c.Body))
	all = append(append(all, c.raw...), c.Body...)
	n := len(c.raw)
	return Head{raw: all[:n:n], fields: slices.Clone(c.fields)}, all[n:]
}

// Header returns the first value of a field, whatever the case of its name.
func (c *Collector) Header(name string) (string, bool) {
	for i := range c.fields {
		if n, v := c.At(i); foldEqual(n, name) {
			return string(v), true
		}
	}
	return "", false
}

// Headers returns all values of a field, in the order in which they came.
func (c *Collector) Headers(name string) []string {
	var all []string
	for i := range c.fields {
		if n, v := c.At(i); foldEqual(n, name) {
			all = append(all, string(v))
		}
	}
	return all
}

// BodyLimit is the largest body that is taken, in bytes.
func (c *Collector) BodyLimit() int64 {
	switch {
	case c.HeadOnly:
		return MaxBodyDiscarded
	case c.Limit <= 0:
		return BodyLimitDefault
	}
	return c.Limit
}

// AddBody keeps a piece of the body.
func (c *Collector) AddBody(b []byte) {
	if c.Tap != nil {
		c.Tap.Piece(b)
	}
	if !c.HeadOnly {
		c.Body = append(c.Body, b...)
	}
}

// AddField keeps a copy of one header field.
func (c *Collector) AddField(name, value []byte) {
	s := span{name: uint32(len(c.raw))}
	c.raw = append(c.raw, name...)
	s.value = uint32(len(c.raw))
	c.raw = append(c.raw, value...)
	s.end = uint32(len(c.raw))
	c.fields = append(c.fields, s)
}

// foldField continues the last value: an obsolete fold reads as one space.
func (c *Collector) foldField(more []byte) {
	if len(c.fields) == 0 {
		return
	}
	c.raw = append(append(c.raw, ' '), more...)
	c.fields[len(c.fields)-1].end = uint32(len(c.raw))
}

// ExpectBody reserves room for a body with a stated length, as far as that is credible.
func (c *Collector) ExpectBody(length int64) {
	if want := min(length, bodyFirst); int64(cap(c.Body)) < want && !c.HeadOnly {
		c.Body = make([]byte, 0, want)
	}
}

// foldEqual compares ASCII text without regard to case.
func foldEqual(b []byte, name string) bool {
	if len(b) != len(name) {
		return false
	}
	for i := range b {
		if lower(b[i]) != lower(name[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
