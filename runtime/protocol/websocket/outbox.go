package websocket

import "slices"

// outbox holds a connection's outgoing bytes. Long payloads that do not change wait as they are
// and are masked in pieces, so that a slow server costs a piece a connection.
type outbox struct {
	pool    *Pool
	bytes   []byte // of the pool, while there are some
	sent    int    // of bytes
	gone    uint64 // bytes written in all
	waiting []piece
	waits   int // bytes that wait
	departs []departure
}

// piece is what is left of a frame.
type piece struct {
	payload []byte
	mask    uint32
}

// departure is a message that counts when all bytes up to its end are gone.
type departure struct {
	end   uint64
	count *uint64
}

// pieceMost is how much of a long payload is masked at once.
const pieceMost = 32 << 10

// left is how many bytes are not written.
func (o *outbox) left() int { return len(o.bytes) - o.sent + o.waits }

// frame queues a frame. A payload that is lent does not change until it is gone.
func (o *outbox) frame(first byte, payload []byte, with uint32, lent bool) {
	if o.bytes == nil {
		o.bytes = o.pool.buffer(min(len(payload), pieceMost) + headMost + maskLen)
	}
	if len(o.waiting) > 0 {
		o.wait(appendHead(nil, first, len(payload), with), 0)
		if !lent {
			payload = slices.Clone(payload)
		}
		o.wait(payload, with)
		return
	}
	o.bytes = appendHead(o.pool.reserve(o.bytes, headMost+maskLen), first, len(payload), with)
	if lent && len(payload) > pieceMost {
		o.wait(payload, with)
		return
	}
	o.render(payload, with)
}

func (o *outbox) wait(payload []byte, with uint32) {
	o.waiting = append(o.waiting, piece{payload, with})
	o.waits += len(payload)
}

func (o *outbox) render(payload []byte, with uint32) uint32 {
	n := len(o.bytes)
	o.bytes = o.pool.reserve(o.bytes, len(payload))[:n+len(payload)]
	return mask(o.bytes[n:], payload, with)
}

// counts makes what is queued by now a message that counts.
func (o *outbox) counts(count *uint64) {
	if count != nil {
		o.departs = append(o.departs, departure{o.gone + uint64(o.left()), count})
	}
}

// output returns what to write next.
func (o *outbox) output() []byte {
	for len(o.waiting) > 0 && len(o.bytes)-o.sent < pieceMost {
		w := &o.waiting[0]
		n := min(len(w.payload), pieceMost)
		w.mask = o.render(w.payload[:n], w.mask)
		w.payload = w.payload[n:]
		o.waits -= n
		if len(w.payload) == 0 {
			o.waiting = slices.Delete(o.waiting, 0, 1)
		}
	}
	return o.bytes[o.sent:]
}

// wrote notes that so many bytes of the output are gone.
func (o *outbox) wrote(n int) {
	o.gone += uint64(n)
	if o.sent += n; o.sent >= len(o.bytes) {
		o.bytes, o.sent = o.bytes[:0], 0
		if len(o.waiting) == 0 {
			o.release()
		}
	} else if o.sent > len(o.bytes)/2 {
		o.bytes, o.sent = o.bytes[:copy(o.bytes, o.bytes[o.sent:])], 0
	}
	at := 0
	for at < len(o.departs) && o.departs[at].end <= o.gone {
		*o.departs[at].count++
		at++
	}
	if at > 0 {
		o.departs = slices.Delete(o.departs, 0, at)
	}
}

// release gives the buffer back.
func (o *outbox) release() {
	o.pool.free(o.bytes)
	o.bytes, o.sent = nil, 0
}

// reset drops what is queued.
func (o *outbox) reset(pool *Pool) {
	if o.pool != nil {
		o.release()
	}
	clear(o.waiting)
	clear(o.departs)
	*o = outbox{pool: pool, waiting: o.waiting[:0], departs: o.departs[:0]}
}
