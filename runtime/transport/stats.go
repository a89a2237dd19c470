package transport

import "sync/atomic"

// Stats counts what a transport has done so far, and what is open.
type Stats struct {
	Accepted     uint64 // connections taken
	AcceptErrors uint64
	Crowded      uint64 // closed for a newer one: too many had not said Hello
	Full         uint64 // refused: as many clients, or nodes, as this node takes
	Refused      uint64 // handshakes and datagrams of nodes that do not fit
	Garbage      uint64 // bytes that are no frame, on connections and in datagrams
	Slow         uint64 // handshakes that took too long
	Handshakes   uint64 // those that ended in another way
	Opened       uint64 // streams
	Broken       uint64 // streams, also those that never opened
	QueueFull    uint64 // streams broken because the peer was too slow
	LaneFull     uint64 // streams broken because this node was too slow
	MessagesIn   uint64 // on streams
	MessagesOut  uint64
	BytesIn      uint64
	BytesOut     uint64

	Datagrams Datagrams

	Streams   int
	Strangers int
}

// Datagrams are those of a transport so far.
type Datagrams struct {
	In      uint64
	Out     uint64
	Dropped uint64 // no room, no address, or the socket refused
	Large   uint64 // above message.DatagramMax, refused
}

type counters struct {
	accepted, acceptErrors, crowded, full, refused, garbage, slow, handshakes atomic.Uint64
	opened, broken, queueFull, laneFull                                       atomic.Uint64
	messagesIn, messagesOut, bytesIn, bytesOut                                atomic.Uint64
	datagramsIn, datagramsOut, datagramsDropped, datagramsLarge               atomic.Uint64
}

// Stats may be called from any goroutine.
func (t *Transport) Stats() Stats {
	c := &t.counters
	t.mu.Lock()
	streams, strangers := len(t.streams), len(t.unknown)
	t.mu.Unlock()
	return Stats{
		Accepted: c.accepted.Load(), AcceptErrors: c.acceptErrors.Load(), Crowded: c.crowded.Load(), Full: c.full.Load(),
		Refused: c.refused.Load(), Garbage: c.garbage.Load(), Slow: c.slow.Load(), Handshakes: c.handshakes.Load(),
		Opened: c.opened.Load(), Broken: c.broken.Load(), QueueFull: c.queueFull.Load(), LaneFull: c.laneFull.Load(),
		MessagesIn: c.messagesIn.Load(), MessagesOut: c.messagesOut.Load(), BytesIn: c.bytesIn.Load(), BytesOut: c.bytesOut.Load(),
		Datagrams: Datagrams{
			In: c.datagramsIn.Load(), Out: c.datagramsOut.Load(), Dropped: c.datagramsDropped.Load(), Large: c.datagramsLarge.Load(),
		},
		Streams: streams, Strangers: strangers,
	}
}
