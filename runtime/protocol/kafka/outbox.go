package kafka

import "slices"

// outbox holds a connection's outgoing bytes.
type outbox struct {
	bytes   []byte // queued since all were gone last
	sent    int    // of bytes
	departs []departure
}

// departure is a record that counts when the bytes up to its end are gone.
type departure struct {
	end   int // in bytes
	count *uint64
}

// left returns what is not written.
func (o *outbox) left() []byte { return o.bytes[o.sent:] }

// wrote notes that so many more bytes are gone.
func (o *outbox) wrote(n int) {
	o.sent += n
	at := 0
	for at < len(o.departs) && o.departs[at].end <= o.sent {
		*o.departs[at].count++
		at++
	}
	o.departs = slices.Delete(o.departs, 0, at)
	if o.sent < len(o.bytes) {
		return
	}
	if o.bytes, o.sent = o.bytes[:0], 0; cap(o.bytes) > bufferKept {
		o.bytes = nil
	}
}
