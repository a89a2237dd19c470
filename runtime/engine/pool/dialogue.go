package pool

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/datagram"
	"hyperscale/runtime/protocol/http1"
)

// Talk is a slot's exchange of messages. The connection outlives it: the next exchange of its user
// finds it open.
type Talk interface {
	Open() codec.Opening        // of a new connection
	Say(d codec.Dialogue) error // queue the messages
	Hear(kind codec.MessageKind, payload []byte)
	Enough() bool   // all that was asked for has come
	Deaf() bool     // it asks for nothing: what comes is dropped
	Stays() bool    // the connection may carry another exchange
	Status() uint16 // of an exchange that has enough
	Left(code uint16, reason string) error
}

// TalkHost is a destination of exchanges. Only those with the same key share its connections: they
// asked for the same.
type TalkHost struct {
	Key    string
	Secure bool
	Offer  []string // for ALPN; nil: it offers none
	// TLS are the options of connections that are secure, also of those whose greeting begins TLS, and
	// Resume says that a user's next connection takes up the session. Nil: the workflow's.
	TLS    *tls.Config
	Resume bool
	Over   Transport
	// Shared is how many connections all users share; 0: each has its own. It is a part of what they
	// asked for: the key tells it.
	Shared int
	// Service is that whose SRV records have the host's servers, as "mongodb"; empty: the host is a server. A server whose
	// greeting fails with http1.KindMoved is none that serves, and the next one is tried.
	Service string
	// Branches says that dialogues move data over second connections, which take up the TLS session.
	Branches bool
}

// Transport is what carries exchanges.
type Transport uint8

// The transports.
const (
	OverTCP Transport = iota
	OverUDP
	OverProgram // pipes of a custom program: see Aside
	OverTrunk   // TCP, with several at once on connections that users share: see codec.Trunk
)

// NewTalkHost returns the destination of exchanges, where a call goes.
func NewTalkHost(c *http1.Call, t TalkHost) *Host {
	h := &Host{Key: t.Key, Name: c.Host, port: c.Port, Authority: authorityOf(c), Secure: t.Secure, offer: t.Offer, tls: t.TLS, resume: t.Resume, shared: t.Shared, version: versionTalk}
	if t.Service != "" {
		h.service = &service{name: t.Service}
	}
	switch {
	case t.Over == OverTrunk:
		h.version = versionTrunk
	case t.Branches:
		h.carries = carriesBranches
	case t.Over == OverUDP:
		h.carries = carriesDatagrams
	case t.Over == OverProgram:
		h.carries, h.Addrs = carriesPrograms, []netip.AddrPort{} // there is nothing to look up
	}
	return h
}

// dialogue is a connection that carries messages, or is about to.
type dialogue struct {
	codec.Dialogue // nil: the connection is not open for it yet
	upgrade        codec.Upgrade
	rounds         *codec.Rounds    // of its greeting; nil: it has none
	head           []byte           // of the upgrade or greeting, as far as it is not written
	answer         *http1.Collector // of the upgrade; nil: there is none
	unnamed        codec.Unnamed    // the dialogue, if its answers carry no name
	named          codec.Named      // the dialogue, if its answers carry names
	packets        *datagram.Conn   // the dialogue, if it is one of datagrams
	fork           *fork            // nil: the dialogue has no second connection
	replaced       bool             // no exchange begins on it any more: of packets
	finished       bool             // the peer sends no more: of islands
	left           error            // the server has said goodbye
	size           int64            // of what the exchange received, in bytes
	rested         int64
	asked          []byte // the upgrade, where it is shown
	heard          int64  // when it was read last
	exchangeState
}

// exchangeState is what of the exchange under way is done.
type exchangeState struct {
	got   int // messages of its answer
	state talkState
}

// talkState says several things at once.
type talkState uint8

const (
	talkQueued  talkState = 1 << iota // the messages are queued, and not all written
	talkHeard                         // something has come since the exchange began
	talkDeaf                          // what comes is dropped
	talkAgain                         // another exchange was before it
	talkExtra                         // a message came that no exchange asked for
	talkMute                          // writing failed: a read will report why
	talkLingers                       // we have said goodbye, and nothing comes that counts
)

func (s talkState) is(of talkState) bool { return s&of != 0 }

// upgraded reports that a connection carries messages.
func (c *conn) upgraded() bool { return c.talk != nil && c.talk.Dialogue != nil }

// greets reports that a connection is in a greeting of its protocol's own.
func (c *conn) greets() bool { return c.talk != nil && c.talk.Dialogue == nil && c.talk.rounds != nil }

// web reports that HTTP begins on a connection.
func (c *conn) web() bool { return c.talk == nil || c.talk.upgrade != nil }

// securing reports that a connection is in a greeting that begins TLS.
func (c *conn) securing() bool { return c.greets() && c.talk.rounds.Secures() }

// works reports that a connection is in a greeting that computes.
func (c *conn) works() bool { return c.greets() && c.talk.rounds.Works() }

// lands returns the island of a connection; nil: it is none.
func (d *dialogue) lands() codec.Island {
	switch {
	case d == nil:
		return nil
	case d.Dialogue != nil:
		if of, is := d.Dialogue.(codec.IslandDialogue); is {
			return landed{of}
		}
	case d.rounds != nil:
		if g := d.rounds.Island(); g != nil {
			return g
		}
	}
	return nil
}

// landed is a dialogue as an island.
type landed struct{ codec.IslandDialogue }

// End implements codec.Island.
func (l landed) End(err error) { _ = l.IslandDialogue.End(err) } // the island explains it

// crowded reports that the connection's island takes no more bytes now.
func (c *conn) crowded() bool {
	of := c.talk.lands()
	return of != nil && of.Full()
}

// out returns what is to be written next.
func (d *dialogue) out() []byte {
	if len(d.head) > 0 || d.Dialogue == nil {
		return d.head
	}
	return d.Output()
}

func (d *dialogue) took(n int) {
	if len(d.head) > 0 {
		d.head = d.head[n:]
	} else if d.Dialogue != nil {
		d.Sent(n)
	}
}

// owes reports that some of the exchange is not even queued.
func (d *dialogue) owes() bool {
	of, phased := d.Dialogue.(codec.Phased)
	return phased && of.Owes()
}

// learnt reports that the exchange was over before it was sent, and the connection may carry another one.
func (d *dialogue) learnt() bool {
	of, learns := d.Dialogue.(codec.Learner)
	return learns && of.Learnt()
}

// Over UDP a connection is a connected socket. It differs from a stream in four ways. A read is one
// datagram. An error is a report of the network about a datagram before, and the socket lives on. What
// comes between two exchanges would answer the next one, so the socket is replaced. A replaced socket, also
// one whose exchange has given up, stays open until its user's next one is replaced: what still comes there
// is counted.

// packets returns the codec of a connection over UDP; nil: it is a stream.
func (c *conn) packets() *datagram.Conn {
	if c.talk == nil {
		return nil
	}
	return c.talk.packets
}

// idles reports whether the socket stays when something comes that no exchange waits for: nothing would
// take that for its answer.
func (d *dialogue) idles() bool { return d.replaced || d.state.is(talkDeaf) }

// explainDatagram says what an error of a socket means for a datagram of so many bytes.
func explainDatagram(errno syscall.Errno, size int) error {
	switch {
	case errno == syscall.ECONNREFUSED:
		return &http1.Error{Kind: http1.KindRefused, Detail: "the port is unreachable (ICMP): nothing listens there over UDP"}
	case errno == syscall.EMSGSIZE:
		return datagram.TooLong(size)
	case size > 0:
		return fmt.Errorf("send the datagram: %w", errno)
	}
	return fmt.Errorf("receive a datagram: %w", errno)
}

// writeDatagram writes what is queued, which the kernel takes whole. A report about a datagram before
// must not end this one, so it is tried once more.
func (c *conn) writeDatagram() (n int, err error) {
	p := c.talk.packets
	out := p.Output()
	n, errno := epoll.Write(int(c.fd), out)
	if errno == syscall.ECONNREFUSED {
		p.Refused()
		n, errno = epoll.Write(int(c.fd), out)
	}
	switch errno {
	case 0:
		return n, nil
	case syscall.EAGAIN:
		return 0, errAgain
	}
	return 0, explainDatagram(errno, len(out))
}

// strays looks for what came since the last exchange of a socket, and reports whether it must be replaced.
func (y *talks) strays(c *conn) bool {
	d := c.talk
	if d.idles() {
		return false
	}
	n, errno := epoll.Read(int(c.fd), y.Sockets.buffer)
	switch {
	case errno == syscall.EAGAIN:
		return false
	case errno != 0:
		d.packets.Refused()
		return true
	}
	_ = d.packets.Feed(y.Sockets.buffer[:n], y) // it is counted, and nothing hears it
	return true
}

var errLost = &http1.Error{Kind: http1.KindLost, Detail: "no answer came in time: a datagram was lost, or nothing answers"}

// isLost reports whether an exchange over UDP ends because its time is over.
func isLost(err error) bool { return errors.Is(err, errLost) }

// drained bounds what is read of a socket that is about to be closed.
const drained = 1024

// drain counts what has come on a socket that is about to be closed, and what the kernel has dropped there.
func (y *talks) drain(c *conn) {
	p := c.talk.packets
	p.Abandon()
	for range drained {
		n, errno := epoll.Read(int(c.fd), y.Sockets.buffer)
		if errno != 0 {
			break
		}
		_ = p.Feed(y.Sockets.buffer[:n], y) // nothing hears it
	}
	if n, err := epoll.Drops(int(c.fd)); err == nil {
		p.Dropped(n)
	}
}

// outlives reports whether the connection of a failed exchange goes on: its dialogue tells a late answer
// apart, or has queued nothing of a message that it cannot send.
func (y *talks) outlives(n *RequestSlot, kind http1.Kind) bool {
	d := y.Sockets.Conns.At(n.Conn).talk
	if d == nil || d.named == nil || d.left != nil || d.state.is(talkMute) || d.Over() || !n.Talk.Stays() {
		return false
	}
	return kind == http1.KindValue || measure.TimedOut(string(kind)) && d.named.Forget()
}

// goesOn keeps the connection of an exchange that was given up.
func (y *talks) goesOn(at int32) {
	y.Sockets.Conns.At(at).talk.state &^= talkQueued
	y.Sockets.keep(at)
	y.flush(at)
}

// lost is the error of an exchange over UDP whose time is over behind its datagram; nil: it is another.
func (y *talks) lost(n *RequestSlot) error {
	if n.Conn < 0 || n.Written == 0 || y.Sockets.Conns.At(n.Conn).packets() == nil {
		return nil
	}
	return errLost
}

// A connection lingers when its dialogue has said goodbye and the peer's answer to that is to come: a broker
// drops what it has not dealt with when it finds the connection closed.
const (
	lingerMost   = 4096            // connections at once: then the oldest one is closed
	lingerWithin = 5 * time.Second // for one of them
)

// lingerer is a connection that lingers until then.
type lingerer struct {
	ticket
	until int64
}

// lingers says goodbye on a connection that is about to be closed, and reports whether it stays open for the
// answer.
func (y *talks) lingers(at int32) bool {
	c := y.Sockets.Conns.At(at)
	d := c.talk
	of, ok := d.Dialogue.(codec.Lingering)
	if !ok || d.state.is(talkMute|talkLingers) {
		return false
	}
	d.Leave(goodbye, "")
	if !of.Lingers() {
		return false
	}
	c.slot = None // what is written and read now belongs to no exchange
	d.state |= talkLingers
	y.flush(at)
	if d.state.is(talkMute) {
		return false
	}
	if c.reading == readingHeld {
		c.reading = readingFirst
		y.Sockets.rewatch(at)
	}
	y.Sockets.Unread = append(y.Sockets.Unread, ticket{at, c.Generation}) // crypto/tls may hold more
	y.Sockets.lingering = append(y.Sockets.lingering, lingerer{ticket{at, c.Generation}, y.Clock.Now + int64(lingerWithin)})
	return true
}

// settleLingering closes those whose time is over, and forgets those that are closed.
func (k *sockets) settleLingering() {
	for len(k.lingering) > 0 {
		first := k.lingering[0]
		c := k.Conns.At(first.index)
		open := c.Generation == first.serial && c.fd >= 0
		if open && first.until > k.Clock.Now && len(k.lingering) <= lingerMost {
			return
		}
		if k.lingering = k.lingering[1:]; open {
			k.HangUp(first.index)
		}
	}
	k.lingering = nil
}

// Linger closes all connections that carry messages, and waits for those that linger.
func (k *sockets) Linger(events []epoll.Event) error {
	for at := range k.Conns.N {
		if c := k.Conns.At(at); c.fd >= 0 && (c.trunk() != nil || c.upgraded() && !c.talk.state.is(talkLingers)) {
			k.HangUp(at)
		}
	}
	for {
		k.ReadMore()
		if k.settleLingering(); len(k.lingering) == 0 {
			return nil
		}
		wait := min(k.lingering[0].until-k.Clock.Now, int64(time.Second))
		if len(k.Unread) > 0 {
			wait = 0
		}
		n, err := k.Poller.Block(events, time.Duration(max(0, wait)))
		if err != nil {
			return err
		}
		k.Clock.Tick()
		for i := range n {
			k.Handle(&events[i])
		}
	}
}
