package transport

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"hyperscale/runtime/certs"
	"hyperscale/runtime/seal"
)

// Stats counts what a transport has done so far, and what is open.
type Stats struct {
	Accepted     uint64 // connections taken
	AcceptErrors uint64
	Crowded      uint64 // closed for a newer one: too many had not said Hello
	Full         uint64 // refused: as many clients, or nodes, as this node takes
	Refused      uint64 // handshakes and datagrams of nodes that do not fit
	Garbage      uint64 // bytes that are no frame, on connections and in datagrams
	Unfit        Unfit
	Slow         uint64 // handshakes that took too long
	Handshakes   uint64 // those that ended in another way
	Opened       uint64 // streams
	Broken       uint64 // streams, also those that never opened
	Overflows    Overflows
	MessagesIn   uint64 // on streams
	MessagesOut  uint64
	BytesIn      uint64
	BytesOut     uint64

	Datagrams Datagrams
	Seal      Seal

	Streams   int
	Strangers int
}

// Unfit are messages that reached no machine.
type Unfit struct {
	Skipped   uint64 // of kinds that a newer version added
	Misplaced uint64 // of kinds that the sender's role does not send
}

// Overflows are streams broken for want of room.
type Overflows struct {
	Queue uint64 // the peer was too slow
	Lane  uint64 // this node was too slow
}

// Seal counts what the secrets and the certificates of a cluster open, and what they do not.
type Seal struct {
	Streams   map[seal.ID]int // those that are open, by the secret that seals them; the zero ID: none
	Unsealed  Unsealed
	Certified Certified
}

// Datagrams are those of a transport so far.
type Datagrams struct {
	In      uint64
	Out     uint64
	Dropped uint64 // no room, no address, or the socket refused
	Large   uint64 // above message.DatagramMax, refused
}

// Unsealed counts frames, datagrams and handshakes that did not open.
type Unsealed struct {
	Plain    uint64 // they came from a node without a secret
	Key      uint64 // the sender's secrets are others
	Forged   uint64 // changed on the way, or made without the secret
	Replayed uint64 // datagrams that arrived before
}

type counters struct {
	accepted, acceptErrors, crowded, full, refused, garbage, skipped, misplaced, slow, handshakes atomic.Uint64
	opened, broken, queueFull, laneFull                                                           atomic.Uint64
	messagesIn, messagesOut, bytesIn, bytesOut                                                    atomic.Uint64
	datagrams                                                                                     datagramCounters
	unsealed                                                                                      unsealedCounters
}

type unsealedCounters struct{ plain, key, forged, replayed atomic.Uint64 }

// count counts an error of runtime/seal, and reports whether it was one.
func (c *unsealedCounters) count(err error) bool {
	switch mismatch := (*seal.KeyError)(nil); {
	case errors.Is(err, seal.ErrPlain):
		c.plain.Add(1)
	case errors.As(err, &mismatch):
		c.key.Add(1)
	case errors.Is(err, seal.ErrForged):
		c.forged.Add(1)
	case errors.Is(err, seal.ErrReplayed):
		c.replayed.Add(1)
	default:
		return false
	}
	return true
}

func (c *unsealedCounters) stats() Unsealed {
	return Unsealed{Plain: c.plain.Load(), Key: c.key.Load(), Forged: c.forged.Load(), Replayed: c.replayed.Load()}
}

type datagramCounters struct {
	in, out, dropped, large atomic.Uint64
}

func (c *datagramCounters) stats() Datagrams {
	return Datagrams{In: c.in.Load(), Out: c.out.Load(), Dropped: c.dropped.Load(), Large: c.large.Load()}
}

// Stats may be called from any goroutine.
func (t *Transport) Stats() Stats {
	c := &t.counters
	t.mu.Lock()
	streams, strangers := len(t.streams), len(t.unknown)
	sealed := map[seal.ID]int{}
	for _, s := range t.streams {
		if key, open := s.sealed(); open {
			sealed[key]++
		}
	}
	t.mu.Unlock()
	return Stats{
		Accepted: c.accepted.Load(), AcceptErrors: c.acceptErrors.Load(), Crowded: c.crowded.Load(), Full: c.full.Load(),
		Refused: c.refused.Load(), Garbage: c.garbage.Load(), Unfit: Unfit{Skipped: c.skipped.Load(), Misplaced: c.misplaced.Load()}, Slow: c.slow.Load(), Handshakes: c.handshakes.Load(),
		Opened: c.opened.Load(), Broken: c.broken.Load(), Overflows: Overflows{Queue: c.queueFull.Load(), Lane: c.laneFull.Load()},
		MessagesIn: c.messagesIn.Load(), MessagesOut: c.messagesOut.Load(), BytesIn: c.bytesIn.Load(), BytesOut: c.bytesOut.Load(),
		Datagrams: c.datagrams.stats(), Seal: Seal{Streams: sealed, Unsealed: c.unsealed.stats(), Certified: t.certified.stats(t.config.Certs)}, Streams: streams, Strangers: strangers,
	}
}

// certified counts handshakes that certificates, or what they claim, have ended.
type certified struct {
	mu           sync.Mutex
	here, byPeer map[certs.Reason]uint64
}

func (c *certified) count(e *RefusedError) {
	if e.reason == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.here == nil {
		c.here, c.byPeer = map[certs.Reason]uint64{}, map[certs.Reason]uint64{}
	}
	if e.ByPeer {
		c.byPeer[e.reason]++
	} else {
		c.here[e.reason]++
	}
}

// Certified are handshakes that ended because of certificates, by reason.
type Certified struct {
	Here   map[certs.Reason]uint64 // this node rejected the peer
	ByPeer map[certs.Reason]uint64 // the peer rejected this node
	Left   time.Duration           // how long this node's certificate is valid
	Has    bool                    // it has one
}

func (c *certified) stats(store *certs.Store) Certified {
	all := Certified{Here: map[certs.Reason]uint64{}, ByPeer: map[certs.Reason]uint64{}}
	c.mu.Lock()
	//lint:orderfree copied
	for r, n := range c.here {
		all.Here[r] = n
	}
	//lint:orderfree copied
	for r, n := range c.byPeer {
		all.ByPeer[r] = n
	}
	c.mu.Unlock()
	if store != nil {
		all.Has, all.Left = true, store.Left()
	}
	return all
}
