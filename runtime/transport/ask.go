package transport

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/seal"
	"hyperscale/runtime/transport/echo"
)

// Met is what Ask learns of a node.
type Met struct {
	At     netip.AddrPort
	Took   time.Duration  // to connect
	Hello  *message.Hello // nil: the node said none, as a version before echoes under TLS
	Echoes bool           // it answers echoes
}

// Asker asks nodes who they are, in the name of another node. It serves no sink and accepts nothing.
type Asker struct{ t *Transport }

// NewAsker returns an asker in the name of the node that c describes. Close the sockets at the end.
func NewAsker(c Config, s *Sockets) *Asker {
	c.Self.Addr = node.Addr(askAddr())
	return &Asker{New(c, s)}
}

// Ask shakes hands with a node as the asker's node would, and opens no stream. It returns whom it met once it is
// connected, also with an error: a *RefusedError where the two do not belong together.
func (a *Asker) Ask(ctx context.Context, to node.Addr) (*Met, error) {
	t := a.t
	dialer := net.Dialer{KeepAlive: -1, Timeout: t.config.Limits.Dial}
	begun := time.Now()
	conn, err := dialer.DialContext(ctx, "tcp", string(to))
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }() // all is said
	met := &Met{Took: time.Since(begun), At: conn.RemoteAddr().(*net.TCPAddr).AddrPort()}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	s, err := t.shake(conn, true)
	if err == nil {
		met.Hello = s.said
		_ = s.conn.SetDeadline(time.Now().Add(t.config.Limits.Handshake)) // a closed conn says so below
		err = answerTo(s.reader)
	}
	var refused *RefusedError
	if errors.As(err, &refused) && refused.ByPeer && refused.Field == fieldAsked {
		met.Echoes = refused.Want == echoes
		return met, nil
	}
	return met, err
}

// answerTo reads how a node that has said Hello rejects the question.
func answerTo(r *frameReader) error {
	m, err := r.next()
	if err != nil {
		return fmt.Errorf("it said Hello, and ended: %s", readReason(err))
	}
	if no, ok := m.(*message.HelloRefused); ok {
		return byPeer(no)
	}
	return fmt.Errorf("it said %s where it had to reject a question", message.Name(m.Kind()))
}

// Echo is an answer, and when it came.
type Echo struct {
	echo.Node
	Sent, Came time.Time // of the question, of the answer
}

// Echo sends questions of so many bytes to a node, sealed as its datagrams are, until one is answered within patience. One
// goroutine calls it.
func (a *Asker) Echo(to netip.AddrPort, size, tries int, patience time.Duration) (Echo, error) {
	t := a.t
	overhead := 0
	if t.datagrams.sealer != nil {
		overhead = seal.DatagramOverhead
	}
	buffer := make([]byte, 64<<10)
	var lost error
	for range tries {
		nonce := rand.Uint64()
		b := echo.AppendQuestion(nil, echo.Scope(digestOf(t.hello)), nonce, size-overhead)
		if t.datagrams.sealer != nil {
			b = t.datagrams.sealer.Seal(nil, b)
		}
		sent := time.Now()
		if _, err := t.sockets.udp.WriteToUDPAddrPort(b, to); err != nil {
			lost = err
			continue
		}
		_ = t.sockets.udp.SetReadDeadline(sent.Add(patience)) // a closed socket says so at the read
		for {
			n, _, err := t.sockets.udp.ReadFromUDPAddrPort(buffer)
			if err != nil {
				lost = err
				break
			}
			came := time.Now()
			if got, ok := a.heard(buffer[:n], nonce); ok {
				return Echo{got, sent, came}, nil
			}
		}
	}
	return Echo{}, lost
}

// heard reads an answer to a question.
func (a *Asker) heard(b []byte, nonce uint64) (echo.Node, bool) {
	t := a.t
	if t.datagrams.opener != nil {
		var err error
		if b, err = t.datagrams.opener.Open(b); err != nil {
			return echo.Node{}, false // of another sender
		}
	}
	of, got, n, err := echo.Answer(b)
	return n, err == nil && got == nonce && of == echo.Scope(digestOf(t.hello))
}
