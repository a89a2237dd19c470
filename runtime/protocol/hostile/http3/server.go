package http3

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"github.com/quic-go/quic-go"

	"hyperscale/runtime/protocol/hostile/authority"
)

// Server is one server of a behaviour.
type Server struct {
	entry     *Entry
	socket    *net.UDPConn
	transport *quic.Transport
	listener  *quic.Listener
	ctx       context.Context
	stop      context.CancelFunc
	running   sync.WaitGroup
	asked     atomic.Int64 // requests that came whole
	first     atomic.Bool  // the hostile request came
	hostile   atomic.Pointer[quic.Conn]
	same      atomic.Bool
	conns     atomic.Int64
	at        string
}

// Settings is what a good control stream says.
const Settings = "\x00\x04\x00"

// Start starts a server on a free port.
func Start(e *Entry) (*Server, error) {
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	s := &Server{entry: e, socket: socket, at: socket.LocalAddr().String()}
	s.ctx, s.stop = context.WithCancel(context.Background())
	switch e.Server.Port {
	case PortNothing:
		// Connected to another address it takes nothing else, and no other server gets the port meanwhile.
		at := net.UDPAddrFromAddrPort(socket.LocalAddr().(*net.UDPAddr).AddrPort())
		if err := socket.Close(); err != nil {
			return nil, err
		}
		s.socket, err = net.DialUDP("udp", at, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9})
		return s, err
	case PortSilent, PortGarbage:
		s.running.Go(s.deaf)
		return s, nil
	}
	config := authority.Honest()
	config.NextProtos = []string{"h3"}
	if e.Server.TLS != nil {
		e.Server.TLS(config)
	}
	var under net.PacketConn = socket
	if e.Server.Lossy > 0 {
		under = &lossy{PacketConn: socket, every: int64(e.Server.Lossy)}
	}
	s.transport = &quic.Transport{Conn: under}
	options := &quic.Config{MaxIncomingStreams: 256}
	if e.Server.QUIC != nil {
		e.Server.QUIC(options, s.transport)
	}
	if s.listener, err = s.transport.Listen(config, options); err != nil {
		_ = socket.Close()
		return nil, err
	}
	s.running.Go(func() {
		for {
			c, err := s.listener.Accept(s.ctx)
			if err != nil {
				return
			}
			s.running.Go(func() { s.serve(c) })
		}
	})
	return s, nil
}

// URL is where it listens.
func (s *Server) URL() string { return "https://" + s.at + "/" }

// Asked is how many requests came whole, and Same whether one came on the connection of the hostile one.
func (s *Server) Asked() uint64 { return uint64(s.asked.Load()) }

// Same reports whether a request came on the connection of the hostile one.
func (s *Server) Same() bool { return s.same.Load() }

// Conns is how many connections came.
func (s *Server) Conns() int { return int(s.conns.Load()) }

// Close ends it.
func (s *Server) Close() {
	s.stop()
	if s.transport != nil {
		_ = s.listener.Close()
		_ = s.transport.Close()
	}
	_ = s.socket.Close()
	s.running.Wait()
}

// deaf serves a port that does not speak QUIC.
func (s *Server) deaf() {
	b := make([]byte, 2048)
	for {
		_, from, err := s.socket.ReadFromUDPAddrPort(b)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil && s.entry.Server.Port == PortGarbage {
			_, _ = s.socket.WriteToUDPAddrPort([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), from)
		}
	}
}

func (s *Server) serve(c *quic.Conn) {
	n := s.conns.Add(1)
	if opens := s.entry.Server.Opens; opens != nil && n == 1 {
		opens(c)
	} else {
		OpenUni(c, Settings)
	}
	var streams sync.WaitGroup
	defer streams.Wait()
	for {
		x, err := c.AcceptStream(s.ctx)
		if err != nil {
			var said *quic.ApplicationError
			if s.entry.Server.Left != nil && errors.As(err, &said) && said.Remote {
				s.entry.Server.Left(uint64(said.ErrorCode))
			}
			_ = c.CloseWithError(0x100, "")
			return
		}
		streams.Go(func() { s.answer(c, x) })
	}
}

// OpenUni opens a stream of the server, and writes to it.
func OpenUni(c *quic.Conn, text string) *quic.SendStream {
	control, err := c.OpenUniStream()
	if err == nil {
		_, _ = control.Write([]byte(text))
	}
	return control
}

// Good is the answer to a request that is not hostile.
const Good = "good"

func (s *Server) answer(c *quic.Conn, x *quic.Stream) {
	hostile := s.first.CompareAndSwap(false, true)
	if hostile {
		s.hostile.Store(c)
	} else if s.hostile.Load() == c {
		s.same.Store(true)
	}
	e := &Exchange{x, c}
	if hostile && s.entry.Server.Early {
		s.entry.Server.Then(e)
		return
	}
	if _, err := io.Copy(io.Discard, x); err != nil {
		return
	}
	s.asked.Add(1)
	if hostile && s.entry.Server.Then != nil {
		s.entry.Server.Then(e)
		return
	}
	e.End(Head() + Frame(0, Good))
}

// lossy loses datagrams, and swaps others with the next one.
type lossy struct {
	net.PacketConn
	every int64
	n     atomic.Int64
	mu    sync.Mutex
	held  []byte
}

// WriteTo implements net.PacketConn.
func (l *lossy) WriteTo(b []byte, to net.Addr) (int, error) {
	n := l.n.Add(1)
	if n%l.every == 0 {
		return len(b), nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n%l.every == 1 && l.held == nil {
		l.held = append([]byte(nil), b...)
		return len(b), nil
	}
	_, err := l.PacketConn.WriteTo(b, to)
	if l.held != nil {
		_, _ = l.PacketConn.WriteTo(l.held, to)
		l.held = nil
	}
	return len(b), err
}

// ReadFrom implements net.PacketConn.
func (l *lossy) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, from, err := l.PacketConn.ReadFrom(b)
		if err != nil || l.n.Add(1)%l.every != 0 {
			return n, from, err
		}
	}
}

// SetReadBuffer and SetWriteBuffer are what quic-go asks of a socket.
func (l *lossy) SetReadBuffer(int) error { return nil }

// SetWriteBuffer is as SetReadBuffer.
func (l *lossy) SetWriteBuffer(int) error { return nil }

// Other is TLS that another authority has signed.
func Other(c *tls.Config) { c.Certificates = []tls.Certificate{authority.New().Good()} }
