package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"time"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/scram"
)

// Conn is one connection behind its greeting.
type Conn struct {
	Talk   codec.Dialogue
	net    net.Conn
	buffer []byte
}

// Connect connects, and carries the greeting to its end, if the opening has one. TLS begins where the greeting says so, else at
// once; secure nil: there is none.
func Connect(ctx context.Context, address string, secure *tls.Config, o codec.Opening) (*Conn, error) {
	var dialer net.Dialer
	plain, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("the server cannot be reached: start it, or correct the address: %w", err)
	}
	c := &Conn{Talk: o.Dialogue, net: plain, buffer: make([]byte, 64<<10)}
	end := context.AfterFunc(ctx, func() { _ = plain.SetDeadline(time.Now()) })
	defer end()
	if _, later := o.Greeting.(codec.Securer); secure != nil && !later {
		err = c.secure(ctx, secure)
	}
	if err == nil && o.Greeting != nil {
		err = c.greet(ctx, secure, o.Greeting)
	}
	if err != nil {
		_ = c.net.Close()
		return nil, err
	}
	return c, nil
}

func (c *Conn) secure(ctx context.Context, secure *tls.Config) error {
	secured := tls.Client(c.net, secure)
	if err := secured.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("TLS: %w", err)
	}
	c.net = secured
	return nil
}

func (c *Conn) greet(ctx context.Context, secure *tls.Config, g codec.Greeting) error {
	rounds, out := codec.NewRounds(g)
	for {
		if _, err := c.net.Write(out); err != nil {
			return err
		}
		if rounds.Secures() {
			if err := c.secure(ctx, secure); err != nil {
				return err
			}
			out = rounds.Secured(nil, scram.EndPoint(c.net.(*tls.Conn).ConnectionState().PeerCertificates))
			continue
		}
		n, failed := c.net.Read(c.buffer)
		said, rest, d, err := rounds.Feed(nil, c.buffer[:n])
		for err == nil && d == nil && rounds.Works() {
			said, rest, d, err = rounds.Feed(said, nil)
		}
		if err == nil && d == nil && failed != nil {
			err = rounds.End(failed)
		}
		if err != nil {
			return err
		}
		if d != nil {
			c.Talk = d
			return d.Feed(rest, &heard{})
		}
		out = said
	}
}

// Roots reads the certificates of authorities from a file in PEM.
func Roots(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%q has no certificate in PEM: name the file of the authority", file)
	}
	return pool, nil
}

// heard listens for the end of an operation.
type heard struct {
	ended func(payload []byte) // may be nil
	done  bool
}

func (h *heard) Message(_ codec.MessageKind, payload []byte) {
	h.done = true
	if h.ended != nil {
		h.ended(payload)
	}
}
func (h *heard) Pong(uint64)           {}
func (h *heard) Leaves(uint16, string) {}

// Ask queues an operation, and waits for its end: what the dialogue says of it is valid while ended runs, the payload too. Sent says that some
// bytes went out. Behind an error the connection is of no use: close it.
func (c *Conn) Ask(ctx context.Context, queue func() error, ended func(payload []byte)) (sent bool, err error) {
	c.Talk.Rest()
	if err := queue(); err != nil {
		return false, err
	}
	_ = c.net.SetDeadline(time.Time{})
	end := context.AfterFunc(ctx, func() { _ = c.net.SetDeadline(time.Now()) })
	defer end()
	for h := (&heard{ended: ended}); !h.done; {
		for len(c.Talk.Output()) > 0 {
			n, err := c.net.Write(c.Talk.Output())
			c.Talk.Sent(n)
			if sent = sent || n > 0; err != nil {
				return sent, err
			}
		}
		n, err := c.net.Read(c.buffer)
		if wrong := c.Talk.Feed(c.buffer[:n], h); wrong != nil {
			return true, wrong
		}
		if err != nil && !h.done {
			return true, c.Talk.End(err)
		}
	}
	return true, nil
}

// Close says goodbye, if the server hears it soon, and closes the connection.
func (c *Conn) Close() {
	c.Talk.Leave(0, "")
	_ = c.net.SetDeadline(time.Now().Add(time.Second))
	_, _ = c.net.Write(c.Talk.Output()) // a goodbye
	_ = c.net.Close()
	c.Talk.Release()
}
