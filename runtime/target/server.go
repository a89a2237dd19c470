package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"
)

// Server is a target that listens. Serve it once.
type Server struct {
	site     *site
	listener *net.TCPListener
	secure   *certificate // nil for plain HTTP
	echo     *echo        // nil: no TCP
	packets  *packets     // nil: no UDP
}

// Listen validates the configuration and takes the address.
func Listen(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	s := &Server{site: newSite(cfg)}
	if cfg.TLS {
		secure, err := newCertificate(cfg.Listen, time.Now())
		if err != nil {
			return nil, fmt.Errorf("target: make a certificate: %w", err)
		}
		s.secure = secure
	}
	listener, err := net.Listen("tcp", cfg.Listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("target: listen on %s: another program holds this port: end it or choose another port with --listen: %w", cfg.Listen, err)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("target: listen on %s: this port needs privileges: choose one above 1023 with --listen: %w", cfg.Listen, err)
	case err != nil:
		return nil, fmt.Errorf("target: listen on %s: use an address of this machine with --listen, like 127.0.0.1:8080: %w", cfg.Listen, err)
	}
	s.listener = listener.(*net.TCPListener)
	if cfg.TCP != "" {
		if s.echo, err = listenEcho(s.site, cfg.TCP, s.secure); err != nil {
			_ = listener.Close()
			return nil, err
		}
	}
	if cfg.UDP != "" {
		if s.packets, err = listenPackets(s.site, cfg.UDP); err != nil {
			_ = s.Close()
			return nil, err
		}
	}
	return s, nil
}

// Addr is the address that is listened on, with the port that the kernel chose.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// URL is where to send requests.
func (s *Server) URL() string {
	scheme := "http"
	if s.secure != nil {
		scheme = "https"
	}
	return scheme + "://" + s.Addr()
}

// TCP is the URL of what repeats bytes; empty: nothing does.
func (s *Server) TCP() string {
	switch {
	case s.echo == nil:
		return ""
	case s.secure != nil:
		return "tcps://" + s.echo.listener.Addr().String()
	}
	return "tcp://" + s.echo.listener.Addr().String()
}

// UDP is the URL of what repeats datagrams; empty: nothing does.
func (s *Server) UDP() string {
	if s.packets == nil {
		return ""
	}
	return "udp://" + s.packets.socket.LocalAddr().String()
}

// CertificatePEM is the certificate that clients may trust; nil without TLS.
func (s *Server) CertificatePEM() []byte {
	if s.secure == nil {
		return nil
	}
	return s.secure.pem
}

// Stats returns the counters of GET /__stats.
func (s *Server) Stats() Stats {
	s.site.mu.Lock()
	defer s.site.mu.Unlock()
	return s.site.stats.snapshot()
}

// Close gives the address back if Serve was never called.
func (s *Server) Close() error {
	if s.echo != nil {
		_ = s.echo.listener.Close()
	}
	if s.packets != nil {
		_ = s.packets.socket.Close()
	}
	return s.listener.Close()
}

// Serve answers until the context ends, then closes everything and returns nil.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 2)
	beside := 0
	if s.echo != nil {
		beside++
		go func() { ended <- s.echo.serve(ctx) }()
	}
	if s.packets != nil {
		beside++
		go func() { ended <- s.packets.serve(ctx) }()
	}
	err := s.serve(ctx)
	cancel()
	for range beside {
		err = errors.Join(err, <-ended)
	}
	return err
}

func (s *Server) serve(ctx context.Context) error {
	if s.secure != nil {
		return s.serveSecure(ctx)
	}
	l, err := newLoop(s.site, s.listener)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	defer l.close()
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(woken)
		_ = l.poller.Wake() // cannot fail while the poller is open
	})
	defer func() {
		if !stop() {
			<-woken // the poller must stay open until then
		}
	}()
	if err := l.run(ctx); err != nil {
		return fmt.Errorf("target: %w", err)
	}
	return nil
}
