package ssh

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"

	gossh "golang.org/x/crypto/ssh"

	"hyperscale/runtime/protocol/hostile/port"
)

// Server plays one entry.
type Server struct {
	entry *Entry
	port  *port.Port
	keys  [2]gossh.Signer // the right one, and another

	mu       sync.Mutex
	conns    int
	accepted int
}

// Start serves the entry on its own port.
func Start(e *Entry) (*Server, error) {
	p, err := port.Open()
	if err != nil {
		return nil, err
	}
	s := &Server{entry: e, port: p}
	for i := range s.keys {
		_, key, err := ed25519.GenerateKey(nil)
		if err == nil {
			s.keys[i], err = gossh.NewSignerFromKey(key)
		}
		if err != nil {
			return nil, err
		}
	}
	p.Serve(s.serve)
	return s, nil
}

// URL is where the client connects.
func (s *Server) URL() string { return "sftp://" + User + "@" + s.port.Address() }

// HostKey is a line of known_hosts.
func (s *Server) HostKey() string {
	at := s.port.Address()
	return fmt.Sprintf("[127.0.0.1]%s %s", at[strings.LastIndexByte(at, ':'):], gossh.MarshalAuthorizedKey(s.keys[0].PublicKey()))
}

// Close lets every connection end.
func (s *Server) Close() { s.port.Close() }

// Connections counts those that came, and Users those that were authenticated.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns
}

// Users counts connections whose user was authenticated.
func (s *Server) Users() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

var errPassword = errors.New("wrong user or password")

func (s *Server) config(b *Behaviour) *gossh.ServerConfig {
	c := &gossh.ServerConfig{PasswordCallback: func(c gossh.ConnMetadata, password []byte) (*gossh.Permissions, error) {
		if c.User() != User || string(password) != Password {
			return nil, errPassword
		}
		return nil, nil
	}}
	key := s.keys[0]
	if b.OtherKey {
		key = s.keys[1]
	}
	if c.AddHostKey(key); b.Config != nil {
		b.Config(c)
	}
	return c
}

// serve serves one connection: the first one is hostile.
func (s *Server) serve(c *net.TCPConn, number int) {
	s.mu.Lock()
	s.conns++
	s.mu.Unlock()
	b := &Behaviour{}
	if number == 1 {
		own := s.entry.Server
		b, own.once = &own, s.entry.Reuse
	}
	if b.Accept != nil {
		b.Accept(c, s.port.Closing())
		return
	}
	conn, channels, requests, err := gossh.NewServerConn(c, s.config(b))
	if err != nil {
		return
	}
	s.mu.Lock()
	s.accepted++
	s.mu.Unlock()
	go gossh.DiscardRequests(requests)
	var running sync.WaitGroup
	for n := range channels {
		if b.Channel != nil && b.Channel(n) {
			b.spent()
			continue
		}
		channel, requests, err := n.Accept()
		if err != nil {
			break
		}
		running.Go(func() { session(b, conn, channel, requests) })
	}
	running.Wait()
}

// session serves one channel.
func session(b *Behaviour, conn gossh.Conn, c gossh.Channel, requests <-chan *gossh.Request) {
	defer func() { _ = c.Close() }()
	for r := range requests {
		if r.Type != "subsystem" && r.Type != "exec" {
			_ = r.Reply(false, nil)
			continue
		}
		if b.Refuses {
			_ = r.Reply(false, nil)
			b.spent()
			return
		}
		_ = r.Reply(true, nil)
		go gossh.DiscardRequests(requests)
		if r.Type == "exec" {
			copies(b, c, string(r.Payload[4:]))
			return
		}
		if files(b, c) == Hangup {
			_ = conn.Close()
		}
		return
	}
}
