package transport

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// greet shakes hands with a connection that was accepted, and runs its stream.
func (t *Transport) greet(conn net.Conn) {
	reader, peer, err := t.shake(conn)
	from := sourceOf(conn.RemoteAddr())
	if err == nil {
		err = t.place(conn, peer.Role, from)
	}
	t.dismiss(conn)
	if err != nil {
		_ = conn.Close() // the handshake's error says more
		t.quiet.source("a connection was refused", conn.RemoteAddr(), err)
		return
	}
	defer t.crowd.leave(peer.Role, from)
	if peer.Role == node.RoleClient && from.IsValid() {
		peer.Source = from.String()
	}
	if s := t.register(&stream{t: t}); s != nil {
		s.run(conn, reader, peer)
		return
	}
	_ = conn.Close() // the node ends
}

// place gives a peer that has said Hello a place, or tells it why there is none.
func (t *Transport) place(conn net.Conn, role node.Role, from netip.Addr) error {
	refused := t.crowd.enter(&t.config.Limits, role, from)
	if refused == nil {
		return nil
	}
	t.counters.full.Add(1)
	_ = conn.SetDeadline(time.Now().Add(t.config.Limits.Linger)) // a closed conn says so below
	t.refuse(conn, refused)
	return refused
}

// shake sends Hello and waits for a fitting one, within the time for a handshake. If the peer
// does not fit, shake sends it the reason.
func (t *Transport) shake(conn net.Conn) (*frameReader, node.Peer, error) {
	_ = conn.SetDeadline(time.Now().Add(t.config.Limits.Handshake)) // a closed conn says so below
	if err := t.say(conn, t.hello); err != nil {
		t.counters.handshakes.Add(1)
		return nil, node.Peer{}, err
	}
	r := t.newReader(conn)
	r.limit = message.DatagramMax + SealOverhead // a Hello fits a datagram
	peer, err := readHello(r, t.hello)
	if err != nil {
		t.count(err)
		var refused *RefusedError
		if errors.As(err, &refused) && !refused.ByPeer {
			t.refuse(conn, refused)
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = fmt.Errorf("no Hello came within %v: what is there does not speak this protocol", t.config.Limits.Handshake)
		}
		return nil, peer, err
	}
	r.limit, r.slow = message.FrameMax+SealOverhead, t.config.Limits.Frame
	_ = conn.SetDeadline(time.Time{})
	return r, peer, nil
}

func (t *Transport) say(conn net.Conn, m node.Message) error {
	b, _, err := appendFrame(nil, nil, t.config.Seal, m)
	if err != nil {
		return err
	}
	_, err = conn.Write(b)
	return err
}

// refuse sends the peer the reason, and waits a moment for it to read that: a close with unread
// bytes would reset the connection and lose the answer.
func (t *Transport) refuse(conn net.Conn, why *RefusedError) {
	if t.say(conn, why.message()) != nil {
		return
	}
	finish(conn, t.config.Limits.Linger)
	_, _ = io.CopyN(io.Discard, conn, batchBytes)
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
	case errors.As(err, &refused):
		t.counters.refused.Add(1)
	case errors.Is(err, message.ErrFrame):
		t.counters.garbage.Add(1)
	case errors.Is(err, os.ErrDeadlineExceeded):
		t.counters.slow.Add(1)
	default:
		t.counters.handshakes.Add(1)
	}
}
