package http1

// Cookies takes the values of Set-Cookie fields as they arrive. One can serve many parsers that
// one goroutine feeds: the goroutine reads it after each Feed. It is separate from Collector
// because every answer may set one, also answers that are not collected.
type Cookies struct {
	bytes []byte
	ends  []int
}

// cookiesMax bounds the cookies of one Feed; a jar keeps no more per host anyway.
const cookiesMax = 128

// Len is how many came since Reset.
func (c *Cookies) Len() int { return len(c.ends) }

// At returns the i-th; it is valid until Reset.
func (c *Cookies) At(i int) []byte {
	from := 0
	if i > 0 {
		from = c.ends[i-1]
	}
	return c.bytes[from:c.ends[i]]
}

// Reset forgets them.
func (c *Cookies) Reset() { c.bytes, c.ends = c.bytes[:0], c.ends[:0] }

// Add takes one value.
func (c *Cookies) Add(value []byte) {
	if len(c.ends) < cookiesMax {
		c.bytes = append(c.bytes, value...)
		c.ends = append(c.ends, len(c.bytes))
	}
}

// Common is what parsers of one goroutine share: the destination of Set-Cookie fields, the
// largest body, and the last heads. The largest body is in bytes and does not change; 0 means
// each parser's own limit.
type Common struct {
	Cookies
	BodyMax int64
	memos   memos
}

// Share makes the parser obey c, for as long as it lives.
func (p *Parser) Share(c *Common) { p.common = c }
