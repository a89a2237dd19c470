package pool

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"syscall"

	"hyperscale/runtime/engine/cancel"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// cancels asks a server to end what an exchange has given up, on another connection, if the server has
// all of the question and the protocol knows such a request.
func (y *talks) cancels(n *RequestSlot, kind http1.Kind) {
	if kind != http1.KindCancelled && !measure.TimedOut(string(kind)) {
		return
	}
	c := y.Sockets.Conns.At(n.Conn)
	if c.talk == nil || c.talk.state.is(talkQueued) {
		return
	}
	of, ok := c.talk.Dialogue.(codec.Cancellable)
	if !ok {
		return
	}
	e := cancel.Errand{Say: of.Cancel()}
	if e.Say.Request == nil {
		return
	}
	var err error
	if e.Source, e.Server, err = epoll.Ends(int(c.fd)); err != nil {
		return // the connection has gone, and the server knows
	}
	if c.secure != nil {
		e.TLS = c.host.handshakes.config.Clone()
		e.TLS.ClientSessionCache = nil
	}
	y.Cancels.Ask(e)
}

// fork is what a connection has beside its dialogue, if that moves data over a second one: its branch.
type fork struct {
	codec.Branching
	branch int32      // counted from 1; 0: there is none
	source netip.Addr // that a branch leaves from; the zero address: the machine chooses
	server netip.Addr // where it goes; the zero address: not known yet
	unsaid int        // bytes of its output that TLS has, and the kernel not all of
	behind bool       // the kernel takes no more of it now
	parted bool       // close_notify is said
	shut   bool       // and our side closed
}

// holds tells a dialogue what of its upload is still here: a server that says it has all knows nothing of that.
func (b *branches) holds(f *fork) {
	if f.branch > 0 && f.Branch().Ends {
		f.BranchHeld(epoll.Unsent(int(b.Sockets.Conns.At(f.branch - 1).fd)))
	}
}

// BranchEvent is what becomes of the second connection of an exchange.
type BranchEvent uint8

// The events of a second connection.
const (
	BranchDials BranchEvent = iota
	BranchStands
	BranchMoves // its first byte came
)

// Brancher is a Talk that hears of its second connection.
type Brancher interface{ Branched(e BranchEvent) }

// branches are second connections. Each is a conn without a slot, whose trunk is the connection of its
// dialogue. It is closed when the dialogue wants none, and with its trunk.
type branches struct{ *Connections }

// look does what the dialogue of a connection wants of its branch. An error ends both.
func (b *branches) look(at int32) error {
	f := b.Sockets.Conns.At(at).talk.fork
	want := f.Branch()
	switch {
	case want.Port == 0:
		if f.branch > 0 {
			b.Sockets.HangUp(f.branch - 1)
		}
		return nil
	case f.branch == 0:
		if err := b.dial(at, want); err != nil {
			return b.over(at, err)
		}
		return nil
	}
	c := b.Sockets.Conns.At(f.branch - 1)
	switch {
	case c.State != connOpen:
		return nil
	case want.Secure && c.secure == nil:
		b.secure(at)
		return nil
	}
	return b.write(at)
}

// dial begins a branch, from the address of its trunk to the server's.
func (b *branches) dial(at int32, want codec.Branch) error {
	t := b.Sockets.Conns.At(at)
	f := t.talk.fork
	if !f.server.IsValid() {
		source, server, err := epoll.Ends(int(t.fd))
		if err != nil {
			return err
		}
		if f.server = server.Addr(); b.Dialer.sources != nil { // else the machine chooses as it did before
			f.source = source
		}
	}
	open := epoll.Dial
	if want.Quiet {
		open = epoll.DialQuiet
	}
	fd, done, err := open(netip.AddrPortFrom(f.server, want.Port), f.source)
	if err != nil {
		return err
	}
	*f = fork{Branching: f.Branching, source: f.source, server: f.server}
	branch := b.Sockets.Conns.take()
	c := b.Sockets.Conns.At(branch)
	*c = conn{host: t.host, fd: int32(fd), Generation: c.Generation, slot: None, vu: t.vu, stem: at + 1}
	f.branch = branch + 1
	b.tell(at, BranchDials)
	// The kernel reports each change once, so that nothing is to be set anew when the connection stands.
	if err := b.Sockets.Poller.Add(fd, epoll.In|epoll.Out|epoll.RdHup|epoll.Pri|epoll.Edge, c.token(branch)); err != nil {
		return err
	}
	if done {
		b.stands(at)
	}
	return nil
}

// tell tells the exchange of a connection about its branch.
func (b *branches) tell(at int32, e BranchEvent) {
	if c := b.Sockets.Conns.At(at); c.slot >= 0 {
		if of, hears := b.Slots.At(c.slot).Talk.(Brancher); hears {
			of.Branched(e)
		}
	}
}

// stands uses a branch that the server has accepted.
func (b *branches) stands(at int32) {
	f := b.Sockets.Conns.At(at).talk.fork
	b.Sockets.Conns.At(f.branch - 1).State = connOpen
	b.tell(at, BranchStands)
	f.Branched(false)
}

// over says that a branch has ended, or could not begin.
func (b *branches) over(at int32, err error) error {
	y := &b.talks
	f := b.Sockets.Conns.At(at).talk.fork
	if f.branch > 0 {
		b.Sockets.HangUp(f.branch - 1)
	}
	y.at = at
	return f.BranchEnds(err, y)
}

// handle takes an event of a branch.
func (b *branches) handle(branch int32, e *epoll.Event) {
	c := b.Sockets.Conns.At(branch)
	at := c.stem - 1
	t := b.Sockets.Conns.At(at)
	if t.slot >= 0 && b.Slots.At(t.slot).broke {
		return
	}
	b.Clock.Tick()
	token := c.token(branch)
	if e.Events&epoll.Pri != 0 {
		c.reading = readingUrgent
	}
	var err error
	switch {
	case c.State == ConnConnecting:
		if err = b.connected(branch, e); err == nil && c.token(branch) == token && e.Readable() {
			err = b.read(branch, c.ending(e))
		}
	case c.State == connHandshaking:
		if c.blocked && e.Writable() {
			if gone, err := b.Handshakes.flush(branch); gone || err != nil { // the handshake finds out what is wrong
				b.Sockets.watch(branch, false)
			}
		}
		b.Handshakes.goOnSoon(branch)
		return
	default:
		if c.blocked && e.Writable() {
			err = b.write(at)
		}
		if err == nil && c.token(branch) == token && e.Readable() {
			err = b.read(branch, c.ending(e))
		}
	}
	b.settle(at, err)
}

// ending reports that an event of a branch tells that its stream has ended in order, so that a read that does
// not fill the buffer takes all there is. It does not tell that under TLS, nor where urgent data cuts reads short.
func (c *conn) ending(e *epoll.Event) bool {
	return c.secure == nil && c.reading != readingUrgent && e.Events&(epoll.RdHup|epoll.Err|epoll.Hup) == epoll.RdHup
}

// connected takes the result of connecting. The kernel reports a failure as an error event.
func (b *branches) connected(branch int32, e *epoll.Event) error {
	c := b.Sockets.Conns.At(branch)
	at := c.stem - 1
	if e.Events&(epoll.Err|epoll.Hup) != 0 {
		if err := epoll.Connected(int(c.fd)); err != nil {
			return b.over(at, err)
		}
	}
	b.stands(at)
	return nil
}

// secure begins TLS on a branch: it takes up the session of its trunk.
func (b *branches) secure(at int32) {
	t := b.Sockets.Conns.At(at)
	branch := t.talk.fork.branch - 1
	c := b.Sockets.Conns.At(branch)
	c.State = connHandshaking
	c.secure = &secure{loop: b.Connections, host: c.host, fd: c.fd}
	c.secure.tls = tls.Client(c.secure, t.secure.config)
	b.Handshakes.goOnSoon(branch)
}

// secured takes the end of a branch's handshake.
func (b *branches) secured(branch int32, err error) {
	c := b.Sockets.Conns.At(branch)
	at := c.stem - 1
	f := b.Sockets.Conns.At(at).talk.fork
	if err != nil {
		b.settle(at, b.over(at, explainTLS(err, c.host)))
		return
	}
	c.State = connOpen
	f.Branched(true)
	b.Sockets.Unread = append(b.Sockets.Unread, ticket{branch, c.Generation}) // crypto/tls may hold data
	b.settle(at, b.write(at))
}

// readOn reads a branch in a later turn.
func (b *branches) readOn(branch int32) {
	at := b.Sockets.Conns.At(branch).stem - 1
	if t := b.Sockets.Conns.At(at); t.slot < 0 || !b.Slots.At(t.slot).broke {
		b.settle(at, b.read(branch, false))
	}
}

// read reads what came on a branch, which has ended behind that or not.
func (b *branches) read(branch int32, ending bool) error {
	c := b.Sockets.Conns.At(branch)
	at, generation := c.stem-1, c.Generation
	t := b.Sockets.Conns.At(at)
	y := &b.talks
	for range readRounds {
		n, err := b.Sockets.receive(c)
		b.Clock.Tick()
		switch {
		case err == errAgain:
			return nil
		case err != nil:
			return b.over(at, b.end(c, err))
		}
		if t.talk.state |= talkHeard; t.slot >= 0 {
			s := b.Slots.At(t.slot)
			s.Account.BytesIn += uint64(n)
			if s.In += int64(n); s.Heard == 0 {
				s.Heard = b.Clock.Now
			}
			b.tell(at, BranchMoves)
		}
		y.at = at
		if err := t.talk.fork.BranchFeed(b.Sockets.buffer[:n], y); err != nil {
			return err
		}
		switch {
		case c.Generation != generation:
			return nil
		case ending && n < len(b.Sockets.buffer):
			return b.over(at, io.EOF)
		}
	}
	b.Sockets.Unread = append(b.Sockets.Unread, ticket{branch, generation})
	return nil
}

// end says what the end of a branch means. Only close_notify ends it in order under TLS; it is answered.
func (b *branches) end(c *conn, err error) error {
	switch {
	case c.secure != nil && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) && c.secure.ended):
		return errNoNotify
	case c.secure != nil && errors.Is(err, io.EOF):
		_ = c.secure.tls.CloseWrite() // the server may not wait for it
	}
	return err
}

// write writes what the kernel takes of a branch's output, and closes our side behind its end.
func (b *branches) write(at int32) error {
	t := b.Sockets.Conns.At(at)
	f := t.talk.fork
	branch := f.branch - 1
	c := b.Sockets.Conns.At(branch)
	f.behind = false
	for range writeRounds {
		if c.secure != nil {
			gone, err := b.Handshakes.flush(branch)
			switch {
			case err != nil:
				return b.over(at, unwrittenData(err))
			case !gone:
				b.lags(at)
				return nil
			}
			b.took(at, f.unsaid)
			f.unsaid = 0
		}
		out := f.BranchOutput()
		if len(out) == 0 {
			if f.Branch().Ends && b.shut(at) {
				b.lags(at)
				return nil
			}
			b.Sockets.watch(branch, false)
			return nil
		}
		more, err := b.writeSome(at, out)
		switch {
		case err != nil:
			return b.over(at, unwrittenData(err))
		case !more:
			b.lags(at)
			return nil
		}
	}
	b.lags(at) // a server that takes much at once does not hold up the others
	return nil
}

// writeSome writes once, and reports whether the kernel may take more.
func (b *branches) writeSome(at int32, out []byte) (more bool, err error) {
	f := b.Sockets.Conns.At(at).talk.fork
	c := b.Sockets.Conns.At(f.branch - 1)
	if c.secure == nil {
		n, errno := epoll.Write(int(c.fd), out)
		if b.took(at, n); errno != 0 && errno != syscall.EAGAIN {
			return false, errno
		}
		return errno == 0 && n == len(out), nil
	}
	n, err := c.secure.tls.Write(out[:min(len(out), recordMax)])
	if len(c.secure.pending) > 0 {
		f.unsaid += n
		return false, err
	}
	b.took(at, n)
	return true, err
}

// unwrittenData is the error of a write.
func unwrittenData(err error) error { return fmt.Errorf("write: %w", err) }

// lags notes that more of a branch's output is to be written.
func (b *branches) lags(at int32) {
	t := b.Sockets.Conns.At(at)
	b.Sockets.watch(t.talk.fork.branch-1, true)
	if t.talk.fork.behind = true; t.slot >= 0 {
		b.Slots.At(t.slot).Written = 0
	}
}

// took counts bytes that the kernel has.
func (b *branches) took(at int32, n int) {
	t := b.Sockets.Conns.At(at)
	if n == 0 {
		return
	}
	if t.slot >= 0 {
		s := b.Slots.At(t.slot)
		s.Sent += n
		s.Account.BytesOut += uint64(n)
		s.Written, s.Heard = 0, 0 // of the last part
	}
	t.talk.fork.BranchSent(n)
}

// shut closes our side of a branch, and reports whether something of that is to be written first.
func (b *branches) shut(at int32) (first bool) {
	f := b.Sockets.Conns.At(at).talk.fork
	c := b.Sockets.Conns.At(f.branch - 1)
	if c.secure != nil && !f.parted {
		f.parted = true
		_ = c.secure.tls.CloseWrite() // a write that fails is found by a read
		if len(c.secure.pending) > 0 {
			return true
		}
	}
	if !f.shut {
		f.shut = true
		epoll.CloseWrite(int(c.fd))
	}
	return false
}

// settle does what follows from what came on a branch.
func (b *branches) settle(at int32, err error) {
	y := &b.talks
	c := b.Sockets.Conns.At(at)
	generation := c.Generation
	gone := func() bool { return c.Generation != generation || c.slot >= 0 && b.Slots.At(c.slot).broke }
	if err == nil {
		err = b.look(at)
	}
	if y.flush(at); gone() {
		return
	}
	if err != nil {
		y.wrong(at, err)
		return
	}
	y.settle(at)
}

// late is the error of an exchange whose time is over before its second connection stands; nil: it
// has none.
func (b *branches) late(n *RequestSlot) *http1.Error {
	if n.Conn < 0 {
		return nil
	}
	d := b.Sockets.Conns.At(n.Conn).talk
	if d == nil || d.fork == nil || d.fork.branch == 0 || b.Sockets.Conns.At(d.fork.branch-1).State != ConnConnecting {
		return nil
	}
	return &http1.Error{Kind: http1.KindConnectTimeout, Detail: "the server did not accept the data connection in time"}
}
