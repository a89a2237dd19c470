package target

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
)

// echo sends back on each TCP connection what it reads. It counts lines as messages.
type echo struct {
	site     *site
	listener net.Listener
	conns    sync.WaitGroup
}

// listenEcho takes the address of Config.TCP.
func listenEcho(site *site, address string, secure *certificate) (*echo, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("target: listen on %s: choose a free address of this machine with --tcp, like 127.0.0.1:7007: %w", address, err)
	}
	if secure != nil {
		l = tls.NewListener(l, &tls.Config{Certificates: secure.config.Certificates, MinVersion: tls.VersionTLS12})
	}
	return &echo{site: site, listener: l}, nil
}

// serve echoes until the context ends, and waits for its connections.
func (e *echo) serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = e.listener.Close() })
	defer stop()
	defer e.conns.Wait()
	for {
		c, err := e.listener.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = c.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil:
			continue // its client has gone, or descriptors have run out
		}
		e.conns.Go(func() {
			stop := context.AfterFunc(ctx, func() { _ = c.Close() })
			defer stop()
			e.repeat(c)
			_ = c.Close()
		})
	}
}

func (e *echo) repeat(c net.Conn) {
	e.count(func(s *Stats) { s.Connections++ })
	buffer := make([]byte, readSize)
	for {
		n, err := c.Read(buffer)
		if n > 0 {
			lines := uint64(bytes.Count(buffer[:n], []byte("\n")))
			e.count(func(s *Stats) { s.Messages += lines })
			if _, err := c.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (e *echo) count(add func(*Stats)) {
	e.site.mu.Lock()
	defer e.site.mu.Unlock()
	add(&e.site.stats.Stats)
}
