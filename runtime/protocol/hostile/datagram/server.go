package datagram

import (
	"bytes"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// Server behaves as one entry says.
type Server struct {
	URL    string
	Asked  atomic.Uint64 // datagrams that came
	Said   atomic.Uint64 // datagrams that went to a client's socket
	idle   chan struct{} // is closed when the first question is dealt with
	entry  Entry
	socket *net.UDPConn
	other  *net.UDPConn // another address
	at     *net.UDPAddr
	once   sync.Once
	all    sync.WaitGroup
}

// Serve begins to serve, until Stop. An entry whose port is closed listens from Settle on.
func Serve(e Entry) (*Server, error) {
	s := &Server{entry: e, idle: make(chan struct{})}
	loopback := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}
	socket, err := net.ListenUDP("udp4", loopback)
	if err != nil {
		return nil, err
	}
	if s.other, err = net.ListenUDP("udp4", loopback); err != nil {
		_ = socket.Close()
		return nil, err
	}
	s.at = socket.LocalAddr().(*net.UDPAddr)
	s.URL = "udp://" + s.at.String()
	if e.closed {
		return s, socket.Close()
	}
	s.serve(socket)
	return s, nil
}

// Settle waits until the first question is dealt with: what answers it is in the client's kernel. Where
// nothing listened, something does from now on.
func (s *Server) Settle() error {
	if !s.entry.closed {
		<-s.idle
		return nil
	}
	socket, err := net.ListenUDP("udp4", s.at)
	if err != nil {
		return err
	}
	s.serve(socket)
	return nil
}

// Stop waits until the server has ended.
func (s *Server) Stop() {
	if s.socket != nil {
		_ = s.socket.Close()
	}
	_ = s.other.Close()
	s.all.Wait()
}

func (s *Server) serve(socket *net.UDPConn) {
	s.socket = socket
	s.all.Go(func() {
		buffer := make([]byte, 64<<10)
		for {
			n, from, err := socket.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return // the test has ended: nothing else fails on this side of a loopback
			}
			s.Asked.Add(1)
			question := bytes.Clone(buffer[:n])
			if bytes.HasPrefix(question, []byte("two")) {
				s.send(from, question)
				continue
			}
			s.all.Go(func() {
				s.entry.answer(s, from, question)
				s.once.Do(func() { close(s.idle) })
			})
		}
	})
}

func (s *Server) send(to netip.AddrPort, b []byte) {
	if _, err := s.socket.WriteToUDPAddrPort(b, to); err == nil {
		s.Said.Add(1)
	}
}

// foreign sends from an address that the client did not ask.
func (s *Server) foreign(to netip.AddrPort, b []byte) { _, _ = s.other.WriteToUDPAddrPort(b, to) }
