package transport

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/certs"
	"hyperscale/runtime/seal"
)

// greet shakes hands with a connection that was accepted, and runs its stream.
func (t *Transport) greet(conn net.Conn) {
	shaken, err := t.shake(conn, false)
	peer := shaken.peer
	from := sourceOf(conn.RemoteAddr())
	if err == nil {
		err = t.place(shaken, from)
	}
	t.dismiss(conn)
	if err != nil {
		_ = conn.Close() // the handshake's error says more
		if onlyAsked(err) {
			return
		}
		t.quiet.source("a connection was refused", conn.RemoteAddr(), err)
		return
	}
	leave := func() { t.crowd.leave(peer.Role, from) }
	if peer.Role != node.RoleClient { // no datagram goes to one
		t.datagrams.names.meet(peer.Addr, conn.RemoteAddr())
	} else if from.IsValid() {
		shaken.peer.Source = from.String()
	}
	if t.seats(peer.Role) && t.seat(shaken, leave) {
		return
	}
	if s := t.register(&stream{t: t, gone: leave}); s != nil {
		s.run(shaken)
		return
	}
	leave()
	_ = conn.Close() // the node ends
}

// seat gives a stream to the hall. False: it needs goroutines of its own.
func (t *Transport) seat(with *shaken, leave func()) bool {
	h := t.hallOf()
	if h == nil {
		return false
	}
	conn, err := detach(with.conn)
	if err != nil {
		return false
	}
	secured, _ := with.conn.(*secured)
	g := &guest{hall: h, conn: conn, secured: secured, keys: seal.Keys{ID: with.key, Out: with.out, In: with.reader.keys}}
	s := t.register(&stream{t: t, guest: g, gone: leave})
	if s == nil { // the node ends
		conn.release()
		return false
	}
	if !h.enter(g, with) { // closed while it was opening
		conn.release()
		s.over("", false)
	}
	return true
}

// place gives a peer that has said Hello a place, or tells it why there is none.
func (t *Transport) place(s *shaken, from netip.Addr) error {
	refused := t.crowd.enter(&t.config.Limits, s.peer.Role, from)
	if refused == nil {
		return nil
	}
	t.counters.full.Add(1)
	_ = s.conn.SetDeadline(time.Now().Add(t.config.Limits.Linger)) // a closed conn says so below
	t.refuse(s, refused)
	return refused
}

// shaken is a connection whose ends have said Hello.
type shaken struct {
	conn   net.Conn // over TLS, where this node has certificates
	claims *certs.Claims
	peer   node.Peer
	said   *message.Hello // by the peer
	reader *frameReader
	out    *seal.Direction // nil: frames are not sealed
	key    seal.ID
}

// shake sends Hello and waits for a fitting one, within the time for a handshake. If the peer
// does not fit, shake sends it the reason.
func (t *Transport) shake(conn net.Conn, dialed bool) (*shaken, error) {
	s, err := t.hellos(conn, dialed)
	if err == nil {
		return s, nil
	}
	if !onlyAsked(err) {
		t.count(err)
	}
	var refused *RefusedError
	if errors.As(err, &refused) && !refused.ByPeer && refused.cause == nil {
		t.refuse(s, refused)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("no Hello came within %v: what is there does not speak this protocol", t.config.Limits.Handshake)
	}
	return s, err
}

// hellos is shake without its errors' treatment.
func (t *Transport) hellos(conn net.Conn, dialed bool) (*shaken, error) {
	_ = conn.SetDeadline(time.Now().Add(t.config.Limits.Handshake)) // a closed conn says so below
	s := &shaken{conn: conn}
	if err := s.secure(t.config.Certs, t.config.Limits.Linger, dialed); err != nil {
		return s, err
	}
	conn = s.conn
	r := t.newReader(conn)
	s.reader = r
	keys, err := t.exchange(conn, r.in, dialed)
	if err != nil {
		return s, err
	}
	s.out, s.key, r.keys = keys.Out, keys.ID, keys.In
	// Over TLS the dialer speaks first, in the flight that ends its handshake: so it learns that its
	// certificate does not fit before its stream opens.
	first := dialed || s.claims == nil
	if first {
		err = t.say(s, t.hello)
	}
	if err != nil {
		return s, err
	}
	r.limit = message.DatagramMax + seal.Overhead // a Hello fits a datagram
	theirs, err := readHello(r, t.hello)
	if err != nil {
		return s, err
	}
	s.said = theirs
	if s.peer, err = identified(theirs, s.claims); err != nil {
		return s, err
	}
	if refused := calls(t.hello, s.peer, dialed); refused != nil {
		return s, refused
	}
	only := asked(theirs)
	if only == nil {
		t.datagrams.versions.learn(s.peer)
	}
	if !first {
		err = t.say(s, t.hello)
	}
	if err != nil {
		return s, err
	}
	if only != nil {
		return s, only
	}
	r.limit, r.slow = message.FrameMax+seal.Overhead, t.config.Limits.Frame
	_ = conn.SetDeadline(time.Time{})
	return s, nil
}

func (t *Transport) say(s *shaken, m node.Message) error {
	b, _, err := appendFrame(nil, nil, s.out, m)
	if err != nil {
		return err
	}
	_, err = s.conn.Write(b)
	return err
}

// refuse sends the peer the reason, and waits a moment for it to read that: a close with unread
// bytes would reset the connection and lose the answer.
func (t *Transport) refuse(s *shaken, why *RefusedError) {
	if t.say(s, why.message()) != nil {
		return
	}
	finish(s.conn, t.config.Limits.Linger)
	_, _ = io.CopyN(io.Discard, s.conn, batchBytes)
}

// takes reports whether the sender's role may send a message, as a datagram if s is zero.
func (t *Transport) takes(from node.Peer, s node.StreamID, m node.Message) bool {
	if message.Fits(m.Kind(), from.Role, t.config.Self.Role, s) && message.Placed(m, from.Grant) {
		return true
	}
	t.counters.misplaced.Add(1)
	t.config.Observe(event.Misplaced(m, from, s))
	return false
}

// skip counts a message of a kind that this version does not know.
func (t *Transport) skip(from net.Addr, err error) {
	t.counters.skipped.Add(1)
	t.quiet.source("skipped a message of a newer version", from, err)
}

// count counts a failed handshake by its cause.
func (t *Transport) count(err error) {
	var refused *RefusedError
	switch {
	case t.counters.unsealed.count(err):
	case errors.As(err, &refused):
		t.counters.refused.Add(1)
		t.certified.count(refused)
	case errors.Is(err, message.ErrFrame):
		t.counters.garbage.Add(1)
	case errors.Is(err, os.ErrDeadlineExceeded):
		t.counters.slow.Add(1)
	default:
		t.counters.handshakes.Add(1)
	}
}
