package target

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

// certificate is signed by itself, with which each start of a TLS target makes do.
type certificate struct {
	config *tls.Config
	pem    []byte
}

func newCertificate(listen string, now time.Time) (*certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(now.UnixNano()),
		Subject:               pkix.Name{CommonName: "hyperscale target"},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(365 * 24 * time.Hour),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	if host, _, err := net.SplitHostPort(listen); err == nil && host != "" {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &certificate{
		config: &tls.Config{
			Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
			NextProtos:   []string{protocolHTTP2, "http/1.1"},
			MinVersion:   tls.VersionTLS12,
		},
		pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
	}, nil
}

// serveSecure gives each connection a goroutine; all have ended when it returns.
func (s *Server) serveSecure(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = s.listener.Close() }) // ends Accept
	defer stop()
	for {
		conn, err := s.listener.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = conn.Close() // nothing was promised to it
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("target: accept: %w", err)
		case err != nil:
			// Out of descriptors, or a peer that went away: others may fare better.
			select {
			case <-ctx.Done():
			case <-time.After(acceptPause):
			}
			continue
		}
		all.Go(func() {
			c := &secureConnection{conn: tls.Server(conn, s.secure.config), session: session{site: s.site}}
			stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // ends its reads and writes
			defer stop()
			c.serve(ctx)
			_ = c.conn.Close() // the peer has its answers or is gone
		})
	}
}

type secureConnection struct {
	conn    *tls.Conn
	session session
	out     output
}

func (c *secureConnection) serve(ctx context.Context) {
	site := c.session.site
	site.mu.Lock()
	c.session.open()
	site.mu.Unlock()
	limits := &site.cfg
	_ = c.conn.SetDeadline(time.Now().Add(limits.HeadTimeout)) // fails only if closed: then the next call reports it
	if c.conn.HandshakeContext(ctx) != nil {
		return
	}
	if c.conn.ConnectionState().NegotiatedProtocol == protocolHTTP2 {
		c.multiplex(ctx, nil)
		return
	}
	buffer := make([]byte, 0, 4<<10)
	var reading stage
	var deadline time.Time
	for {
		b, v := c.feed(ctx, buffer)
		if v == wantHTTP2 {
			c.multiplex(ctx, b)
		}
		if v != wantMore {
			return
		}
		buffer = append(buffer[:0], b...)
		stage := c.session.stage()
		if stage.part.between() && len(buffer) == 0 {
			deadline, stage.part = time.Now().Add(limits.IdleTimeout), partReady // reading has not begun
		} else if stage != reading {
			deadline = time.Now().Add(stage.patience(limits))
		}
		reading = stage
		_ = c.conn.SetReadDeadline(deadline) // as above
		if len(buffer) == cap(buffer) {
			buffer = append(buffer, 0)[:len(buffer)]
		}
		n, err := c.conn.Read(buffer[len(buffer):cap(buffer)])
		if err != nil {
			return
		}
		buffer = buffer[:len(buffer)+n]
	}
}

// multiplex continues in HTTP/2; b holds the bytes already read.
func (c *secureConnection) multiplex(ctx context.Context, b []byte) {
	_ = c.conn.SetDeadline(time.Time{}) // as above
	m := &multiplexed{Conn: c.conn, session: &c.session, first: b}
	m.serve(ctx)
}

// feed answers what b holds and returns the unused rest; any verdict but wantMore means
// that the connection is over.
func (c *secureConnection) feed(ctx context.Context, b []byte) ([]byte, verdict) {
	site := c.session.site
	for {
		c.out.reset()
		site.mu.Lock()
		site.clock(time.Now())
		used, v := c.session.feed(b, &c.out)
		wait := c.session.call.wait
		site.mu.Unlock()
		b = b[used:]
		if !c.send() {
			return b, wantClose
		}
		if v == wantWait {
			if v = c.answerAfter(ctx, wait); v == wantMore {
				v = wantFlush
			}
		}
		if v != wantFlush {
			return b, v
		}
	}
}

func (c *secureConnection) answerAfter(ctx context.Context, wait time.Duration) verdict {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return wantClose
	case <-timer.C:
	}
	site := c.session.site
	c.out.reset()
	site.mu.Lock()
	site.clock(time.Now())
	v := c.session.answer(&c.out)
	site.mu.Unlock()
	if !c.send() {
		return wantClose
	}
	return v
}

func (c *secureConnection) send() bool {
	if c.out.empty() {
		return true
	}
	site := c.session.site
	for !c.out.empty() {
		_ = c.conn.SetWriteDeadline(time.Now().Add(site.cfg.BodyTimeout)) // a closed one fails to write, too
		n, err := c.conn.Write(c.out.next(site.filler))
		if err != nil {
			return false
		}
		c.out.took(n)
	}
	site.mu.Lock()
	site.sent(&c.out)
	site.mu.Unlock()
	return true
}
