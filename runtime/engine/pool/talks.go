package pool

import (
	"errors"
	"io"
	"math/rand/v2"
	"syscall"

	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/datagram"
	"hyperscale/runtime/protocol/http1"
)

// talks carry exchanges of messages, one at a time on each connection.
type talks struct {
	*Connections
	random  *rand.Rand // of masks and keys
	at      int32      // the connection that is read
	answers []*http1.Collector
	watcher Watcher      // nil: upgrades are not shown
	wheel   *epoll.Wheel // when connections say that they live, by index
	islands islands
}

var _ codec.Listener = (*talks)(nil)

// begin opens a new connection for messages.
func (y *talks) begin(at int32) {
	c := y.Sockets.Conns.At(at)
	d, o := &dialogue{}, y.Slots.At(c.slot).Talk.Open()
	c.talk = d
	switch {
	case o.Upgrade != nil:
		d.upgrade = o.Upgrade
		y.upgrade(at)
	case o.Greeting != nil:
		if err := c.host.service.tells(o.Greeting); err != nil {
			y.Slots.Breaks(c.slot, err)
			return
		}
		d.rounds, d.head = codec.NewRounds(o.Greeting)
		if y.land(at) {
			y.flush(at)
		}
	default:
		y.opened(at, o.Dialogue)
	}
}

// opened begins the dialogue of a connection, with the exchange that waits for it.
func (y *talks) opened(at int32, begun codec.Dialogue) {
	c := y.Sockets.Conns.At(at)
	if n := y.Slots.At(c.slot); n.reserved != nil { // the greeting was a part of opening it
		c.pool, n.reserved = n.reserved, nil
	}
	c.talk.Dialogue, c.talk.rested, c.used = begun, y.Clock.Now, true
	c.talk.unnamed, _ = begun.(codec.Unnamed)
	c.talk.named, _ = begun.(codec.Named)
	c.talk.packets, _ = begun.(*datagram.Conn)
	if of, branches := begun.(codec.Branching); branches {
		c.talk.fork = &fork{Branching: of}
	}
	if of, several := begun.(codec.Trunk); several && c.host.version == versionTrunk {
		y.streams.carry(at, of)
		return
	}
	y.lives(at)
	y.say(at)
}

// upgrade asks the server for the upgrade.
func (y *talks) upgrade(at int32) {
	c := y.Sockets.Conns.At(at)
	index, d := c.slot, c.talk
	n := y.Slots.At(index)
	d.answer = &http1.Collector{}
	if last := len(y.answers) - 1; last >= 0 {
		d.answer, y.answers = y.answers[last], y.answers[:last]
	}
	d.answer.HeadOnly = true
	var random [16]byte
	for i := range random {
		random[i] = byte(y.random.Uint32())
	}
	m := y.Requests.Outgoing(index)
	head := append(make([]byte, 0, len(m.Bytes)+256), m.Bytes[:len(m.Bytes)-len("\r\n")]...)
	d.head = append(d.upgrade.AppendFields(head, random), "\r\n"...)
	d.asks(y.watcher)
	y.Slots.parses(n)
	n.Parser.Upgrade()
	n.Parser.Collect(d.answer)
	n.Wrote = max(y.Clock.Now, 1)
	y.flush(at)
}

// resume gives an exchange the open connection of the one before.
func (y *talks) resume(at int32) {
	d := y.Sockets.Conns.At(at).talk
	d.exchangeState, d.size = exchangeState{state: talkAgain | d.state&talkMute}, 0
	y.say(at)
}

// say queues the messages of the exchange, which FlushQueued writes. Until then the request connects: an
// upgrade or a greeting is a part of that.
func (y *talks) say(at int32) {
	c := y.Sockets.Conns.At(at)
	n, d := y.Slots.At(c.slot), c.talk
	n.Wrote, n.Written = max(y.Clock.Now, 1), 0
	if d.state |= talkQueued; n.Talk.Deaf() {
		d.state |= talkDeaf
	}
	if err := n.Talk.Say(d.Dialogue); err != nil {
		y.Slots.Breaks(c.slot, err)
		return
	}
	y.Sockets.Queued = append(y.Sockets.Queued, ticket{at, c.Generation})
}

// flush writes what the kernel takes.
func (y *talks) flush(at int32) {
	c := y.Sockets.Conns.At(at)
	d := c.talk
	if d.state.is(talkQueued) && c.slot >= 0 && len(d.out()) > 0 {
		n := y.Slots.At(c.slot)
		n.Written, n.Heard = 0, 0 // of the last part, where an exchange has several
	}
	for rounds := 0; !d.state.is(talkMute) && (len(d.out()) > 0 || c.secure != nil && len(c.secure.pending) > 0); rounds++ {
		err := errAgain // a server that takes much at once does not hold up the others
		if rounds < writeRounds {
			err = y.write(c, at)
		}
		switch {
		case err == nil:
			continue
		case err == errAgain:
			y.Sockets.watch(at, true)
			return
		}
		if y.unsendable(c, err) {
			return
		}
		d.state |= talkMute // the server may have answered before it closed: its data is read first
	}
	y.Sockets.watch(at, false)
	if c.slot >= 0 && c.securing() && c.secure == nil {
		y.Handshakes.begin(at)
	}
	if c.slot < 0 || d.state.is(talkMute) || c.greets() {
		return
	}
	n := y.Slots.At(c.slot)
	if n.Written == 0 && (d.fork == nil || !d.fork.behind) {
		n.Written = max(y.Clock.Now, n.Wrote)
	}
	if !d.state.is(talkQueued) || d.owes() {
		return
	}
	d.state &^= talkQueued
	n.Account.Sent++
	if n.Talk.Enough() { // nothing is to come: it ends in a later turn
		y.Sockets.Unread = append(y.Sockets.Unread, ticket{at, c.Generation})
	}
}

// write writes once; errAgain says that the kernel takes no more.
func (y *talks) write(c *conn, at int32) error {
	d := c.talk
	if d.packets != nil {
		n, err := c.writeDatagram()
		y.wrote(c, n)
		return err
	}
	if c.secure == nil {
		out := d.out()
		n, errno := epoll.Write(int(c.fd), out)
		y.wrote(c, n)
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
	out := d.out()
	if len(out) == 0 {
		return nil
	}
	n, err := c.secure.tls.Write(out[:min(len(out), recordMax)])
	y.wrote(c, n)
	if err == nil && len(c.secure.pending) > 0 {
		return errAgain
	}
	return err
}

// wrote counts bytes for the exchange under way.
func (y *talks) wrote(c *conn, n int) {
	c.talk.took(n)
	if c.slot >= 0 {
		s := y.Slots.At(c.slot)
		s.Sent += n
		s.Account.BytesOut += uint64(n)
		if of := s.session(); of != nil && n > 0 {
			of.Took()
		}
	}
}

// read reads what the server sent.
func (y *talks) read(at int32) {
	c := y.Sockets.Conns.At(at)
	if c.talk.packets != nil {
		y.readDatagrams(at)
		return
	}
	generation := c.Generation
	if c.works() && !y.works(at) {
		return
	}
	for range readRounds {
		n, err := y.Sockets.receive(c)
		now := y.Clock.Tick()
		switch {
		case err == errAgain:
			y.settle(at)
			return
		case err != nil:
			y.ended(at, err)
			return
		}
		c.talk.heard = now
		if c.slot >= 0 {
			s := y.Slots.At(c.slot)
			s.Account.BytesIn += uint64(n)
			s.In += int64(n)
			if s.Heard == 0 && c.talk.Dialogue != nil {
				s.Heard = now
			}
		}
		switch b := y.Sockets.buffer[:n]; {
		case c.talk.Dialogue != nil:
			err = y.feed(at, b)
		case c.greets():
			err = y.greeted(at, b)
		default:
			err = y.answered(at, b)
		}
		if c.Generation != generation || c.multi != nil || c.slot >= 0 && y.Slots.At(c.slot).broke {
			return
		}
		if y.flush(at); err != nil {
			y.wrong(at, err)
			return
		}
		if y.settle(at); c.Generation != generation || c.slot >= 0 && y.Slots.At(c.slot).broke || y.Sockets.hold(at) {
			return
		}
		if c.State != connOpen || c.securing() {
			return // TLS reads from now on
		}
		if c.works() {
			break
		}
		if c.secure == nil && n < len(y.Sockets.buffer) {
			return
		}
	}
	y.Sockets.Unread = append(y.Sockets.Unread, ticket{at, generation})
}

// restEvery is how often the loop tells a connection that time passes: what came before is no flood.
const restEvery = 1e9

// feed gives bytes to the dialogue.
func (y *talks) feed(at int32, b []byte) error {
	d := y.Sockets.Conns.At(at).talk
	if y.Clock.Now-d.rested > restEvery {
		d.rested = y.Clock.Now
		d.Rest()
	}
	if len(b) > 0 {
		d.state |= talkHeard
	}
	y.at = at
	if d.fork != nil {
		y.branches.holds(d.fork)
	}
	if err := d.Feed(b, y); err != nil || d.fork == nil {
		return err
	}
	return y.branches.look(at)
}

// answered takes bytes of the upgrade's answer, and those of the dialogue behind it.
func (y *talks) answered(at int32, b []byte) error {
	c := y.Sockets.Conns.At(at)
	index, d := c.slot, c.talk
	n := y.Slots.At(index)
	used, done, err := n.Parser.Feed(b)
	if y.Slots.Common.Len() > 0 {
		y.Requests.SetCookies(n)
	}
	if err != nil || !done {
		return err
	}
	status := n.Parser.Status()
	n.Account.Hop(status)
	y.show(c, status)
	begun, err := d.upgrade.Begin(status, d.answer, y.random.Uint32)
	y.answers, d.answer = append(y.answers, d.answer), nil
	if http1.KindOf(err) == http1.KindStatus {
		return &http1.Error{Kind: http1.Kind(measure.StatusKind(status)), Detail: detail(err)}
	}
	if err != nil {
		return err
	}
	if y.opened(at, begun); n.broke {
		return nil
	}
	return y.feed(at, b[used:])
}

// settle ends what the bytes that were read have ended.
func (y *talks) settle(at int32) {
	c := y.Sockets.Conns.At(at)
	d := c.talk
	if d.Dialogue == nil {
		return
	}
	switch idle := c.slot < 0; {
	case !idle && y.whole(c):
		y.complete(c.slot)
	case d.left != nil && !idle:
		y.fail(c.slot, d.left)
	case idle && (d.left != nil || d.state.is(talkExtra) || d.Over()):
		y.Sockets.HangUp(at)
	}
}

// whole reports that the exchange of a connection has all that it asked for.
func (y *talks) whole(c *conn) bool {
	return c.talk.Dialogue != nil && (c.talk.got > 0 || !c.talk.state.is(talkQueued)) && y.Slots.At(c.slot).Talk.Enough()
}

// wrong ends a connection whose server breaks the rules. An exchange that has all of its messages
// is whole.
func (y *talks) wrong(at int32, err error) {
	c := y.Sockets.Conns.At(at)
	switch {
	case c.slot < 0:
		y.Sockets.HangUp(at)
	case y.whole(c):
		c.talk.state |= talkExtra
		y.complete(c.slot)
	case y.Dialer.elsewhere(at, err):
	default:
		y.fail(c.slot, err)
	}
}

// ended handles the end of a connection.
func (y *talks) ended(at int32, err error) {
	c := y.Sockets.Conns.At(at)
	d := c.talk
	if c.slot < 0 {
		y.Sockets.HangUp(at)
		return
	}
	if y.explains(at, err) {
		return
	}
	if c.greets() {
		y.fail(c.slot, d.rounds.End(err))
		return
	}
	n := y.Slots.At(c.slot)
	if d.Dialogue == nil {
		started := n.Parser.Started()
		switch {
		case errors.Is(err, io.EOF):
			_, err = n.Parser.FinishEOF()
		case errors.Is(err, io.ErrUnexpectedEOF):
			err = errNoNotify
		default:
			err = readError(err, started)
		}
		y.fail(c.slot, err)
		return
	}
	switch {
	case errors.Is(err, io.EOF) && d.unnamed != nil && c.secure != nil && c.secure.ended && d.state.is(talkHeard):
		err = errNoNotify // only close_notify says that the answer ends here
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = io.EOF // a dialogue has a goodbye of its own
	case errors.Is(err, io.EOF) && d.unnamed != nil:
		y.at = at
		d.unnamed.Ends(y)
	}
	y.ends(c, err)
	switch over := d.End(err); {
	case y.whole(c):
		d.state |= talkExtra
		y.complete(c.slot)
		return
	case d.left != nil:
		err = d.left
	case over != nil:
		err = over
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		err = readError(err, d.state.is(talkHeard))
	}
	y.fail(c.slot, err)
}

// errEarlier: the connection ended between two exchanges, as this one begins.
var errEarlier = &http1.Error{Kind: http1.KindClosed, Detail: "the server closed the connection, which was idle, before it answered"}

// fail ends an exchange and its connection.
func (y *talks) fail(index int32, err error) {
	d := y.Sockets.Conns.At(y.Slots.At(index).Conn).talk
	if err == nil {
		err = errEarlier
	}
	if kind := http1.KindOf(err); d.state.is(talkAgain) && !d.state.is(talkHeard) && kind == http1.KindReset {
		err = errEarlier
	}
	y.Wire.Fail(index, err)
}

// complete ends an exchange that has all that it asked for.
func (y *talks) complete(index int32) {
	n := y.Slots.At(index)
	at := n.Conn
	c := y.Sockets.Conns.At(at)
	d := c.talk
	if t, ok := d.Dialogue.(codec.Transactional); ok && c.pool != nil && n.Pin == nil && t.InTransaction() {
		y.Wire.Fail(index, errOpened) // the next user would work in it
		return
	}
	now := y.Clock.Now
	if n.Heard == 0 && d.state.is(talkHeard) {
		n.Heard = now
	}
	n.Conn, n.Status, n.Size = None, n.Talk.Status(), d.size
	if of, sized := d.Dialogue.(codec.Sized); sized {
		n.Size = of.Size()
	}
	n.Pin.measures(d.Dialogue, n.Account, now)
	switch usable := !d.Over() && (!d.state.is(talkQueued) || d.learnt()) && !d.state.is(talkExtra) && !d.state.is(talkMute) && d.left == nil; {
	case usable && n.Pin.keeps(d.Dialogue):
		n.Pin.take(at, n.Wrote)
	case usable && n.Talk.Stays():
		y.Sockets.keep(at)
	default:
		y.Sockets.drop(at)
	}
	y.Requests.Answered(index, now)
}

// part says goodbye, as far as one write goes, and gives the memory of a connection back that is
// about to be closed.
func (y *talks) part(at int32) {
	c := y.Sockets.Conns.At(at)
	d := c.talk
	if d.answer != nil {
		y.answers = append(y.answers, d.answer)
	}
	y.wheel.Cancel(at)
	if d.Dialogue == nil {
		d.rounds.Drop()
		return
	}
	if d.packets != nil {
		y.drain(c)
		d.Release()
		return
	}
	if of, ok := d.Dialogue.(codec.Unconfirmed); ok && d.state.is(talkLingers) && of.Lingers() && of.Unconfirmed() {
		y.Sockets.Unknown++
	}
	d.Leave(goodbye, "")
	if !d.state.is(talkMute) {
		c.slot = None // what is written now belongs to no exchange
		_ = y.write(c, at)
	}
	d.Release()
}

// goodbye is the code of a normal closure.
const goodbye = 1000

// Message implements codec.Listener.
func (y *talks) Message(kind codec.MessageKind, payload []byte) {
	c := y.Sockets.Conns.At(y.at)
	d := c.talk
	if d.state.is(talkDeaf | talkLingers) {
		return
	}
	if c.slot < 0 || y.Slots.At(c.slot).Talk.Enough() {
		d.state |= talkExtra // the next exchange would take it for its answer
		return
	}
	d.got++
	d.size += int64(len(payload))
	y.Slots.At(c.slot).Talk.Hear(kind, payload)
}

// Pong implements codec.Listener: a session asks, and no exchange.
func (y *talks) Pong(payload uint64) {
	if c := y.Sockets.Conns.At(y.at); c.slot >= 0 {
		if s := y.Slots.At(c.slot).session(); s != nil {
			s.Ponged(payload)
		}
	}
}

// Leaves implements codec.Listener.
func (y *talks) Leaves(code uint16, reason string) {
	c := y.Sockets.Conns.At(y.at)
	c.talk.left = errEarlier
	if c.slot >= 0 {
		c.talk.left = y.Slots.At(c.slot).Talk.Left(code, reason)
	}
}

// readDatagrams reads what came, until the exchange has all that it asked for.
func (y *talks) readDatagrams(at int32) {
	c := y.Sockets.Conns.At(at)
	d, generation := c.talk, c.Generation
	for range readRounds {
		n, errno := epoll.Read(int(c.fd), y.Sockets.buffer)
		now := y.Clock.Tick()
		switch {
		case errno == syscall.EAGAIN:
			y.settle(at)
			return
		case errno != 0:
			y.undelivered(at, errno)
			return
		case c.slot < 0:
			_ = d.packets.Feed(y.Sockets.buffer[:n], y) // it is counted, and nothing hears it
			if !d.idles() {
				y.Sockets.replace(at)
			}
			continue
		}
		s := y.Slots.At(c.slot)
		s.Account.BytesIn += uint64(n)
		s.In += int64(n)
		if s.Heard == 0 {
			s.Heard = now
		}
		if err := y.feed(at, y.Sockets.buffer[:n]); err != nil {
			y.wrong(at, err)
			return
		}
		if y.whole(c) {
			y.complete(c.slot)
			return
		}
	}
	y.Sockets.Unread = append(y.Sockets.Unread, ticket{at, generation})
}

// undelivered takes what the network reports about a datagram that went out before.
func (y *talks) undelivered(at int32, errno syscall.Errno) {
	c := y.Sockets.Conns.At(at)
	if c.slot >= 0 {
		y.fail(c.slot, explainDatagram(errno, 0))
		return
	}
	c.talk.packets.Refused()
	if c.talk.replaced || !c.talk.idles() {
		y.Sockets.HangUp(at)
	}
}

// unsendable ends the exchange of a socket that takes no datagram, and reports whether it did.
func (y *talks) unsendable(c *conn, err error) bool {
	if c.packets() == nil || c.slot < 0 {
		return false
	}
	y.Slots.Breaks(c.slot, err)
	return true
}
