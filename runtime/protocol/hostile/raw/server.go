package raw

import (
	"bufio"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
)

// Server behaves as one entry says.
type Server struct {
	URL         string
	Connections atomic.Uint64
	entry       Entry
	listener    net.Listener
	conns       sync.WaitGroup
}

// Serve begins to serve, until Stop.
func Serve(e Entry) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{URL: "tcp://" + l.Addr().String(), entry: e, listener: l}
	s.conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if s.Connections.Add(1); e.Rest > 0 {
				_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
			}
			s.conns.Go(func() {
				s.serve(c.(*net.TCPConn))
				_ = c.Close()
			})
		}
	})
	return s, nil
}

// Stop waits until all connections have ended.
func (s *Server) Stop() {
	_ = s.listener.Close()
	s.conns.Wait()
}

func (s *Server) serve(c *net.TCPConn) {
	in := bufio.NewReader(c)
	for {
		question, err := in.ReadString('\n')
		if err != nil {
			return
		}
		if !strings.HasPrefix(question, "two") {
			if !s.entry.answer(c, question) {
				if s.entry.Rest > 0 { // reading all of it through a small window takes long
					resets(c)
				}
				waits(c)
				return
			}
			continue
		}
		_, _ = io.WriteString(c, s.entry.Good())
		if strings.HasPrefix(s.entry.Receive, "tcp.closed") {
			_ = c.CloseWrite()
			waits(c)
			return
		}
	}
}
