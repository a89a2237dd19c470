package mysql

// outbox holds a connection's outgoing bytes.
type outbox struct {
	bytes []byte // of the pool: queued since all were gone last
	sent  int    // of bytes
}

// own returns the queued bytes, to append to.
func (o *outbox) own(p *Pool) []byte {
	if o.bytes == nil {
		o.bytes = p.buffer()
	}
	return o.bytes
}

// left returns what is not written.
func (o *outbox) left() []byte { return o.bytes[o.sent:] }

// wrote notes that so many more bytes are gone.
func (o *outbox) wrote(p *Pool, n int) {
	if o.sent += n; o.sent >= len(o.bytes) {
		o.drop(p)
	}
}

// drop forgets the bytes.
func (o *outbox) drop(p *Pool) {
	p.free(o.bytes)
	o.bytes, o.sent = nil, 0
}
