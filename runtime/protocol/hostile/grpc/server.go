package grpc

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"
)

// Server plays one entry: hostile to the first call, well-behaved ever after.
type Server struct {
	entry    *Entry
	listener net.Listener
	closing  chan struct{}
	all      sync.WaitGroup

	mu    sync.Mutex
	open  map[net.Conn]struct{}
	conns int
	calls int // whole ones
}

// Start serves the entry on a port of its own.
func Start(e *Entry) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{entry: e, listener: l, closing: make(chan struct{}), open: map[net.Conn]struct{}{}}
	if e.Once {
		return s, l.Close() // the port refuses now
	}
	s.all.Go(s.accept)
	return s, nil
}

// URL is where the client calls.
func (s *Server) URL() string { return "grpc://" + s.listener.Addr().String() }

// Calls counts the whole calls that reached the server.
func (s *Server) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// Close ends the server with its connections.
func (s *Server) Close() {
	close(s.closing)
	_ = s.listener.Close()
	s.mu.Lock()
	for c := range s.open {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.all.Wait()
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns++
		first := s.conns == 1
		s.open[c] = struct{}{}
		s.mu.Unlock()
		s.all.Go(func() {
			(&Conn{Conn: c, server: s, in: bufio.NewReader(c), first: first}).serve()
			if tcp, ok := c.(*net.TCPConn); ok { // bytes that are not read would make the end a reset
				_ = tcp.CloseWrite()
				_ = tcp.SetReadDeadline(time.Now().Add(5 * time.Second))
				_, _ = io.Copy(io.Discard, tcp)
			}
			_ = c.Close()
			s.mu.Lock()
			delete(s.open, c)
			s.mu.Unlock()
		})
	}
}

// Conn is one connection. What its methods cannot write, a client does not want.
type Conn struct {
	net.Conn
	server *Server
	in     *bufio.Reader
	first  bool
	begun  bool
}

// Types and flags of frames.
const (
	typeData, typeHeaders, typeReset, typeSettings, typePing, typeGoaway, typeWindow, typeContinuation = 0, 1, 3, 4, 6, 7, 8, 9

	flagEnd, flagEndHeaders, flagPadded = 1, 4, 8
)

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// serve plays one connection.
func (c *Conn) serve() {
	b := &c.server.entry.Server
	if !c.first {
		b = &Behaviour{Begun: b.Begun, Called: b.Called}
	}
	if b.Accept != nil && !b.Accept(c) {
		return
	}
	if _, err := io.CopyN(io.Discard, c.in, int64(len(preface))); err != nil {
		return
	}
	c.frame(typeSettings, 0, 0, nil)
	for {
		var head [9]byte
		if _, err := io.ReadFull(c.in, head[:]); err != nil {
			return
		}
		payload := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
		if _, err := io.ReadFull(c.in, payload); err != nil {
			return
		}
		kind, flags, id := head[3], head[4], binary.BigEndian.Uint32(head[5:])
		switch {
		case kind == typeSettings && flags&1 == 0:
			c.frame(typeSettings, 1, 0, nil)
		case kind == typePing && flags&1 == 0:
			c.frame(typePing, 1, 0, payload)
		case kind == typeReset: // a call that is given up has used the connection's window
			c.frame(typeWindow, 0, 0, []byte{0, 1, 0, 0})
		case kind == typeHeaders && flags&flagEnd == 0 && b.Begun != nil && !c.begun:
			c.begun = true
			b.Begun(c, id)
		case (kind == typeHeaders || kind == typeData) && flags&flagEnd != 0:
			if !c.called(id, b) {
				return
			}
		}
	}
}

// called answers a whole call.
func (c *Conn) called(id uint32, b *Behaviour) (stay bool) {
	c.server.mu.Lock()
	c.server.calls++
	hostile := c.server.calls == 1
	c.server.mu.Unlock()
	if hostile && b.Called != nil {
		return b.Called(c, id)
	}
	c.head(id)
	c.data(id, 0, framed(0, text(Next)))
	c.trailers(id, "grpc-status", "0")
	return true
}

func (c *Conn) frame(kind, flags byte, id uint32, payload []byte) {
	n := len(payload)
	b := binary.BigEndian.AppendUint32([]byte{byte(n >> 16), byte(n >> 8), byte(n), kind, flags}, id)
	_, _ = c.Write(append(b, payload...))
}

func (c *Conn) data(id uint32, flags byte, b []byte) { c.frame(typeData, flags, id, b) }

// body sends bytes in frames that every client takes.
func (c *Conn) body(id uint32, b []byte) {
	for len(b) > 0 {
		n := min(len(b), 16<<10)
		c.data(id, 0, b[:n])
		b = b[n:]
	}
}

// block encodes fields as literals of HPACK that no table keeps; names and values are short.
func block(fields ...string) (b []byte) {
	for i := 0; i < len(fields); i += 2 {
		b = append(b, 0)
		for _, s := range fields[i : i+2] {
			if len(s) < 127 {
				b = append(append(b, byte(len(s))), s...)
				continue
			}
			b = append(b, 127)
			n := len(s) - 127
			for ; n >= 128; n >>= 7 {
				b = append(b, byte(n)|128)
			}
			b = append(append(b, byte(n)), s...)
		}
	}
	return b
}

func (c *Conn) headers(id uint32, flags byte, fields ...string) {
	c.frame(typeHeaders, flags|flagEndHeaders, id, block(fields...))
}

// head begins a good answer.
func (c *Conn) head(id uint32) {
	c.headers(id, 0, ":status", "200", "content-type", "application/grpc")
}

// trailers end an answer.
func (c *Conn) trailers(id uint32, fields ...string) { c.headers(id, flagEnd, fields...) }

func (c *Conn) reset(id, code uint32) {
	c.frame(typeReset, 0, id, binary.BigEndian.AppendUint32(nil, code))
}

func (c *Conn) goaway(last, code uint32) {
	c.frame(typeGoaway, 0, 0, binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, last), code))
}

// wait sleeps unless the server is closed.
func (c *Conn) wait(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-c.server.closing:
		return false
	}
}

// hold keeps the connection, and reads nothing.
func (c *Conn) hold() bool {
	<-c.server.closing
	return false
}
