package redis

import "slices"

// preparing says whether what is queued only prepares for the operation that is asked for.
type preparing bool

// Prepares sets it.
func (p *preparing) Prepares(is bool) { *p = preparing(is) }

// Owes implements codec.Phased.
func (p *preparing) Owes() bool { return bool(*p) }

// outbox holds a connection's outgoing bytes.
type outbox struct {
	bytes   []byte // queued since all were gone last
	lent    bool   // bytes are an operation's own
	sent    int    // of bytes
	departs []departure
}

// departure is commands that count when the bytes up to its end are gone.
type departure struct {
	start, end int // in bytes
	commands   int
	count      *uint64
}

// lend queues bytes that do not change until they are gone, unless others wait before them.
func (o *outbox) lend(p *Pool, b []byte) {
	if len(o.bytes) == 0 {
		o.bytes, o.lent = b, true
		return
	}
	o.bytes = append(o.own(p), b...)
}

// own returns the queued bytes in a buffer of the pool.
func (o *outbox) own(p *Pool) []byte {
	if o.bytes == nil || o.lent {
		o.bytes, o.lent = append(p.buffer(), o.bytes...), false
	}
	return o.bytes
}

// left returns what is not written.
func (o *outbox) left() []byte { return o.bytes[o.sent:] }

// wrote notes that so many more bytes are gone.
func (o *outbox) wrote(p *Pool, n int) {
	o.sent += n
	at := 0
	for at < len(o.departs) && o.departs[at].end <= o.sent {
		*o.departs[at].count += uint64(o.departs[at].commands)
		at++
	}
	if at > 0 {
		o.departs = slices.Delete(o.departs, 0, at)
	}
	if o.sent >= len(o.bytes) {
		o.drop(p)
	}
}

// drop forgets the bytes. Of operations that are written in part it counts the whole commands.
func (o *outbox) drop(p *Pool) {
	for _, d := range o.departs {
		if d.start < o.sent {
			n, _ := countCommands(o.bytes[d.start:o.sent])
			*d.count += uint64(n)
		}
	}
	clear(o.departs)
	if !o.lent {
		p.free(o.bytes)
	}
	o.bytes, o.lent, o.sent, o.departs = nil, false, 0, o.departs[:0]
}
