package pool

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/pool/trunks"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/http3"
)

// multi is a connection that carries several requests: each is a stream of a slot. A stream's
// tag is the slot's index and the serial number of its request.
type multi struct {
	codec.Conn
	talk   *dialogue // of a trunk; nil: it carries requests
	heard  int64     // when it last read anything
	asked  int64     // when it sent a PING that has no answer; 0: none is open
	state  multiState
	dirty  bool // it is in the list of connections that may have frames to write
	unsent bool // some request is perhaps not written

	paths *measure.Paths // of QUIC: of the step whose request opened it
}

// multiState says what a connection with streams still does.
type multiState uint8

const (
	multiOpen    multiState = iota
	multiRetired            // it opens no new stream, and closes when the last one has ended
	multiMute               // and writing failed: a read will report why
)

// reading is the connection whose data is being processed; the codec reports to it.
type reading struct {
	l  *Connections
	at int32
}

var _ codec.Handler = (*reading)(nil)

// streams are the connections that carry several requests.
type streams struct {
	*Connections
	protocol codec.Protocol // of these connections
	three    codec.Protocol // of those that QUIC carries
	dirty    []ticket       // connections that may have frames to write
	multis   []*multi       // unused ones
	feeding  bool           // a connection's data is being processed
	reading  reading        // which one
	tags     []codec.Tagged // of the streams under inspection
	tapped   []ticket       // slots of streams whose taps got something
}

// multiplex begins the host's protocol on an open connection, with the request that opened it.
func (y *streams) multiplex(at int32) {
	c := y.Sockets.Conns.At(at)
	c.multi = y.spare()
	c.multi.Conn = y.of(c.host).Begin(c.multi.Conn, &y.Slots.Common)
	if of, is := c.multi.Conn.(*http3.Conn); is {
		of.Over(c.quic)
		c.multi.paths = y.Slots.At(c.slot).Account.Paths()
	}
	y.begin(at)
}

// spare returns an unused one.
func (y *streams) spare() *multi {
	if last := len(y.multis) - 1; last >= 0 {
		m := y.multis[last]
		y.multis = y.multis[:last]
		return m
	}
	return new(multi)
}

// leave takes back the memory of a connection that carries nothing any more. The goodbye of a trunk is its
// dialogue's.
func (y *streams) leave(c *conn) {
	m := c.multi
	if m.talk != nil {
		c.talk, m.talk, m.Conn = m.talk, nil, nil
	}
	m.state, m.dirty, m.unsent, m.heard, m.asked, m.paths = multiOpen, false, false, 0, 0, nil
	c.multi, y.multis = nil, append(y.multis, m)
}

// begin opens the first stream, for the request that opened the connection.
func (y *streams) begin(at int32) {
	c := y.Sockets.Conns.At(at)
	index := c.slot
	c.slot = None
	c.pool.open = append(c.pool.open, at)
	y.Slots.At(index).Conn = None
	y.open(at, index)
	y.Pools.owe(c.pool)
}

// of returns the protocol of a host's connections that carry several requests.
func (y *streams) of(h *Host) codec.Protocol {
	if h.version == version3 {
		return y.three
	}
	return y.protocol
}

// open sends a slot's request as a stream.
func (y *streams) open(at, index int32) {
	n, c := y.Slots.At(index), y.Sockets.Conns.At(at)
	y.Slots.setOut(index)
	n.Size = 0
	m := c.multi
	if m.talk == nil {
		n.stream.id = m.Open(y.Requests.Framed(index), n.tag(index), &n.Account.Sent)
	} else if y.Slots.parses(n); !y.exchange(at, index) {
		return
	}
	n.Conn, n.home = at, ticket{at, c.Generation}
	n.Wrote = max(y.Clock.Now, 1)
	if !c.blocked && (m.talk != nil || n.Framed.BodyLen() == 0) {
		n.Written = n.Wrote // unless the kernel does not take it: then it is set again
	} else {
		m.unsent = true
	}
	y.soil(at)
}

// soil marks a connection for writing, after all that may have more to send are done.
func (y *streams) soil(at int32) {
	if c := y.Sockets.Conns.At(at); !c.multi.dirty {
		c.multi.dirty = true
		y.dirty = append(y.dirty, ticket{at, c.Generation})
	}
}

// flushDirty writes the queued frames, for each connection at once.
func (y *streams) flushDirty() {
	for i := 0; i < len(y.dirty); i++ {
		t := y.dirty[i]
		if c := y.Sockets.Conns.At(t.index); c.Generation == t.serial && c.multi != nil {
			c.multi.dirty = false
			y.flushStreams(t.index)
		}
	}
	y.dirty = y.dirty[:0]
}

// writeRounds bounds the writes of one turn to a connection, each of at most an outbox.
const writeRounds = 64

// flushStreams writes what the kernel takes. Exchanges that are over then end in a later turn.
func (y *streams) flushStreams(at int32) {
	y.flushOne(at)
	c := y.Sockets.Conns.At(at)
	if of := c.trunk(); of != nil && of.Silent() > 0 {
		y.Sockets.Unread = append(y.Sockets.Unread, ticket{at, c.Generation})
	}
}

func (y *streams) flushOne(at int32) {
	c := y.Sockets.Conns.At(at)
	m := c.multi
	if m.state == multiMute {
		return
	}
	for rounds := 0; len(m.Output()) > 0 || c.secure != nil && len(c.secure.pending) > 0; rounds++ {
		err := errAgain // a server that takes a large body at once does not hold up the others
		if rounds < writeRounds {
			err = y.writeStreams(at)
		}
		switch {
		case err == nil:
			continue
		case err == errAgain:
			y.unwrite(m)
			y.Sockets.watch(at, true)
			return
		}
		m.state = multiMute // the server may have answered before it closed: its data is read first
		y.retire(at)
		if c.multi == m {
			y.Sockets.watch(at, false)
		}
		return
	}
	if m.unsent {
		y.written(m)
	}
	y.Sockets.watch(at, false)
	switch {
	case m.state >= multiRetired && m.Count() == 0:
		y.Sockets.HangUp(at)
	case c.pool != nil && c.pool.Waiting() > 0: // so that queued frames are written, too
		y.Pools.owe(c.pool)
	}
}

// writeStreams writes once; errAgain says that the kernel takes no more.
func (y *streams) writeStreams(at int32) error {
	c := y.Sockets.Conns.At(at)
	out := c.multi.Output()
	if c.secure == nil {
		n, errno := epoll.Write(int(c.fd), out)
		c.multi.Sent(n)
		c.multi.Taken()
		switch {
		case errno == syscall.EAGAIN || errno == 0 && n < len(out):
			return errAgain
		case errno != 0:
			return errno
		}
		return nil
	}
	gone, err := y.Handshakes.flush(at)
	switch {
	case err != nil:
		return err
	case !gone:
		return errAgain
	}
	c.multi.Taken()
	if len(out) == 0 {
		return nil
	}
	n, err := c.secure.tls.Write(out[:min(len(out), recordMax)])
	c.multi.Sent(n)
	if err == nil && len(c.secure.pending) > 0 {
		return errAgain
	}
	if err == nil {
		c.multi.Taken()
	}
	return err
}

// unwrite undoes the marks of written requests that the kernel has not taken.
func (y *streams) unwrite(m *multi) {
	y.tags = m.AppendTags(y.tags[:0])
	for _, t := range y.tags {
		if n := y.Slots.At(int32(uint32(t.Tag))); m.Sending(t.ID) {
			n.Written, m.unsent = 0, true
		}
	}
}

// written notes which requests are written by now.
func (y *streams) written(m *multi) {
	m.unsent = false
	y.tags = m.AppendTags(y.tags[:0])
	for _, t := range y.tags {
		switch n := y.Slots.At(int32(uint32(t.Tag))); {
		case n.Written != 0:
		case m.Sending(t.ID):
			m.unsent = true
		default:
			n.Written = max(y.Clock.Now, n.Wrote)
		}
	}
}

// readStreams reads what the server sent.
func (y *streams) readStreams(at int32) {
	c := y.Sockets.Conns.At(at)
	m, generation := c.multi, c.Generation
	err := error(nil)
	y.rest(at)
	for range readRounds {
		n := 0
		if n, err = y.Sockets.receive(c); err != nil {
			break
		}
		m.heard, m.asked = max(y.Clock.Tick(), 1), 0
		y.feeding, y.reading.at = true, at
		err = m.Feed(y.Sockets.buffer[:n], &y.reading)
		y.feeding = false
		y.look(at)
		y.Slots.Common.Reset() // cookies of an unread head belong to no user
		if err != nil || c.secure == nil && n < len(y.Sockets.buffer) {
			break
		}
	}
	switch {
	case c.Generation != generation:
		return
	case err == nil && c.secure != nil:
		y.Sockets.Unread = append(y.Sockets.Unread, ticket{at, generation}) // crypto/tls may hold data that the kernel no longer reports
	case err != nil && err != errAgain:
		y.broken(at, err)
		return
	}
	if !m.Usable() {
		y.retire(at)
	}
	if c.multi == m {
		y.soil(at)
		if c.pool != nil {
			y.Pools.owe(c.pool)
		}
	}
}

// look asks the taps that got something in a read.
func (y *streams) look(at int32) {
	for i := 0; i < len(y.tapped); i++ {
		t := y.tapped[i]
		n := y.Slots.At(t.index)
		if n.Serial != t.serial || n.Step == None || n.Conn != at || n.Tap == nil {
			continue // it has ended
		}
		if n.Tap.Look() {
			y.Wire.Enough(t.index)
		}
	}
	y.tapped = y.tapped[:0]
}

// receive reads once; errAgain says that there is nothing now.
func (k *sockets) receive(c *conn) (int, error) {
	if c.secure != nil {
		n, err := c.secure.tls.Read(k.buffer)
		if n > 0 {
			return n, nil
		}
		return 0, err
	}
	n, errno := epoll.Read(int(c.fd), k.buffer)
	switch {
	case errno == syscall.EAGAIN:
		return 0, errAgain
	case errno != 0:
		return 0, errno
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// broken handles the end of a connection for all its streams.
func (y *streams) broken(at int32, err error) {
	c := y.Sockets.Conns.At(at)
	var ours *http1.Error
	switch {
	case errors.As(err, &ours) && c.quic != nil: // the goodbye tells why
	case errors.As(err, &ours): // the server learns why
		_ = y.writeStreams(at)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = io.EOF // each stream reports what it cuts
	default:
		err = readError(err, false)
	}
	y.feeding, y.reading.at = true, at
	c.multi.Close(err, &y.reading)
	y.feeding = false
	y.Sockets.HangUp(at)
}

// retire makes a connection open no new stream; it closes when it carries none.
func (y *streams) retire(at int32) {
	c := y.Sockets.Conns.At(at)
	y.Pools.parted(at)
	c.multi.state = max(c.multi.state, multiRetired)
	if c.multi.Count() == 0 && !(y.feeding && y.reading.at == at) {
		y.Sockets.HangUp(at)
	}
}

// part ends a slot's stream before its answer is complete.
func (y *streams) part(n *RequestSlot, late bool) {
	at := n.Conn
	c := y.Sockets.Conns.At(at)
	m := c.multi
	stuck := c.blocked || m.state == multiMute || !m.Ready()
	of := c.trunk()
	held := of != nil && (of.Holds(n.stream.id) || of.Pauses())
	if m.Cancel(n.stream.id) {
		y.tally(n, m)
	}
	y.soil(at)
	if c.pool != nil {
		y.Pools.owe(c.pool)
	}
	if !m.Usable() {
		y.retire(at)
		return
	}
	if !late || held {
		return
	}
	// A connection that does not read, or that is silent and does not answer a PING, carries no
	// further stream. A request that it has let wait asks for none, nor does one to a server that reads nothing now.
	switch {
	case stuck, m.asked != 0 && m.asked <= n.Wrote:
		y.retire(at)
	case m.asked == 0 && m.heard < n.Wrote:
		m.asked = max(y.Clock.Now, 1)
		m.Ping(uint64(y.Clock.Now))
	}
}

// tally counts the bytes of a stream that has ended, without those of its answer's body.
func (y *streams) tally(n *RequestSlot, m *multi) {
	in, out := m.Bytes()
	n.Account.BytesIn += in
	n.Account.BytesOut += out
	n.In, n.Sent = n.In+int64(in), int(out)
}

// of returns the slot of a stream.
func (r *reading) of(tag uint64) (int32, *RequestSlot) {
	index := int32(uint32(tag))
	return index, r.l.Slots.At(index)
}

// Begins is called when an answer begins to arrive.
func (r *reading) Begins(tag uint64) *http1.Collector {
	index, _ := r.of(tag)
	return r.l.Requests.Collector(index)
}

// Head is called with its status.
func (r *reading) Head(tag uint64, status int) {
	_, n := r.of(tag)
	n.Status, n.Heard = uint16(status), max(r.l.Clock.Now, 1)
	if n.Tap != nil { // a session is open once its head is here
		r.l.streams.tapped = append(r.l.streams.tapped, ticket{int32(uint32(tag)), n.Serial})
	}
	if r.l.Slots.Common.Len() > 0 {
		r.l.Requests.SetCookies(n)
	}
}

// Body is called for each piece of its body.
func (r *reading) Body(tag uint64, b []byte) {
	_, n := r.of(tag)
	n.Account.BytesIn += uint64(len(b))
	n.In += int64(len(b))
	n.Size += int64(len(b))
	if n.Tap != nil {
		r.l.streams.tapped = append(r.l.streams.tapped, ticket{int32(uint32(tag)), n.Serial})
	}
}

// Done is called when it is complete.
func (r *reading) Done(tag uint64) {
	index, n := r.of(tag)
	r.l.streams.tally(n, r.l.Sockets.Conns.At(r.at).multi)
	n.Conn = None
	r.l.Requests.Answered(index, r.l.Clock.Now)
}

// Failed is called if it will never be complete.
func (r *reading) Failed(tag uint64, err error) {
	index, n := r.of(tag)
	m := r.l.Sockets.Conns.At(r.at).multi
	r.l.streams.tally(n, m)
	n.Conn = None
	if n.Tap != nil && n.Tap.Look() { // before the connection broke
		r.l.Requests.Answered(index, r.l.Clock.Now)
		return
	}
	if kind := http1.KindOf(err); !m.Ready() && !n.Host.Secure && (kind == http1.KindClosed || kind == http1.KindReset) {
		err = &http1.Error{Kind: kind, Detail: fmt.Sprintf("%s: does the server speak HTTP/2 without TLS?", detail(err))}
	}
	r.l.Wire.Fail(index, err)
}

// A trunk carries exchanges of messages as HTTP/2 carries requests: it is opened as a dialogue, and closed as one.

// carrier lets the exchanges of trunks speak.
type carrier struct{ *Connections }

// Say implements trunks.Carrier.
func (y carrier) Say(tag uint64, d codec.Dialogue) (deaf bool, err error) {
	n := y.Slots.At(int32(uint32(tag)))
	n.Written = 0
	if deaf = n.Talk.Deaf(); deaf {
		n.Status = n.Talk.Status()
	}
	return deaf, n.Talk.Say(d)
}

// Hear implements trunks.Carrier.
func (y carrier) Hear(tag uint64, kind codec.MessageKind, payload []byte) (enough bool) {
	n := y.Slots.At(int32(uint32(tag)))
	n.Size += int64(len(payload))
	n.Talk.Hear(kind, payload)
	n.Status, n.Heard = n.Talk.Status(), max(y.Clock.Now, 1)
	return n.Talk.Enough()
}

// trunk returns that of a connection; nil: it is none.
func (c *conn) trunk() *trunks.Trunk {
	if c.multi == nil || c.multi.talk == nil {
		return nil
	}
	return c.multi.Conn.(*trunks.Trunk)
}

// carry makes a trunk of a connection whose greeting is over, for the exchange that opened it and for others.
func (y *streams) carry(at int32, begun codec.Trunk) {
	c := y.Sockets.Conns.At(at)
	c.multi = y.spare()
	c.multi.talk, c.multi.Conn, c.talk = c.talk, trunks.New(begun, c.talk.head, carrier{y.Connections}), nil
	c.multi.talk.head = nil
	y.begin(at)
	y.Sockets.Unread = append(y.Sockets.Unread, ticket{at, c.Generation}) // crypto/tls may hold more
}

// exchange lets a slot's exchange speak on a trunk. False: it cannot.
func (y *streams) exchange(at, index int32) bool {
	n, of := y.Slots.At(index), y.Sockets.Conns.At(at).trunk()
	if n.stream.id = of.Open(nil, n.tag(index), &n.Account.Sent); n.stream.id == 0 {
		y.Slots.Breaks(index, of.Fault())
		return false
	}
	return true
}

// tag names a slot's request on its connection.
func (n *RequestSlot) tag(index int32) uint64 { return uint64(n.Serial)<<32 | uint64(uint32(index)) }

// rest ends the exchanges of a trunk that are over, and tells it that time passes.
func (y *streams) rest(at int32) {
	c := y.Sockets.Conns.At(at)
	of := c.trunk()
	if of == nil {
		return
	}
	if d := c.multi.talk; y.Clock.Now-d.rested > restEvery {
		d.rested = y.Clock.Now
		d.Rest()
	}
	y.feeding, y.reading.at = true, at
	of.Settle(&y.reading)
	y.feeding = false
}

// feed gives a trunk what came behind its greeting.
func (y *streams) feed(at int32, b []byte) {
	y.feeding, y.reading.at = true, at
	err := y.Sockets.Conns.At(at).multi.Feed(b, &y.reading)
	if y.feeding = false; err != nil {
		y.broken(at, err)
	}
}
