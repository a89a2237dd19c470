package mongodb

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"strings"
	"sync"

	"hyperscale/runtime/protocol/hostile/port"
)

// Server plays one entry: hostile once, well-behaved ever after.
type Server struct {
	entry  *Entry
	port   *port.Port
	proved chan struct{}
	once   sync.Once // closes proved

	mu     sync.Mutex
	played bool // the hostile part has begun
	counts Counts
	where  int // the connection of the hostile part; 0: it is not over
	breach string
}

// Counts is what reached the server.
type Counts struct {
	Connections int
	Finds       int  // that came whole
	Reused      bool // the operation behind the hostile part came on the same connection
}

// Start serves the entry on its own port.
func Start(e *Entry) (*Server, error) {
	p, err := port.Open()
	if err != nil {
		return nil, err
	}
	s := &Server{entry: e, port: p, proved: make(chan struct{})}
	if e.Once {
		return s, p.Refuse()
	}
	p.Serve(s.serve)
	return s, nil
}

// URL is where the client connects.
func (s *Server) URL() string { return "mongodb://" + s.port.Address() + "/shop" }

// Close lets every connection end.
func (s *Server) Close() { s.port.Close() }

// Proved is closed when a client asks on a connection that has carried a well-behaved answer: it can only do so
// if it took that answer. That find stays without one.
func (s *Server) Proved() <-chan struct{} { return s.proved }

// Counts returns what reached the server.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// Breach says what the client did against the protocol; "": nothing.
func (s *Server) Breach() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.breach
}

func (s *Server) blame(format string, values ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.breach == "" {
		s.breach = fmt.Sprintf(format, values...)
	}
}

// hostile reports whether the behaviour takes this place, once.
func (s *Server) hostile(at Place, id int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.played || s.entry.Act == nil || s.entry.At != at {
		return false
	}
	s.played, s.where = true, id
	return true
}

// hello is the answer of a server that speaks so much of the wire.
func hello(version int) string {
	return doc(truth("isWritablePrimary"), whole("maxWireVersion", version), whole("maxBsonObjectSize", 16<<20), number("ok", 1))
}

// serve plays one connection.
func (s *Server) serve(c *net.TCPConn, id int) {
	n := &Session{TCPConn: c, server: s, reader: bufio.NewReader(c), id: id}
	s.mu.Lock()
	s.counts.Connections++
	s.mu.Unlock()
	if s.hostile(AtAccept, id) && !s.entry.Act(n) {
		return
	}
	p := prover{}
	for {
		name, body, ok := n.request()
		if !ok {
			return
		}
		good := ""
		at := map[string]Place{"hello": AtHello, "saslStart": AtStart, "getMore": AtMore}[name]
		switch name {
		case "hello":
			good = hello(21)
		case "saslStart":
			good = p.challenges(body)
			n.nonce = p.nonce
		case "saslContinue":
			n.Say(p.judges(s, body))
			continue
		case "getMore":
			good = batch("nextBatch", 0)
		case "find":
			if !s.found(n, body) {
				return
			}
			continue
		default:
			s.blame("the client asks %.40q", name)
			return
		}
		if !s.hostile(at, id) {
			n.Say(good)
		} else if !s.entry.Act(n) {
			return
		}
	}
}

// found answers a find.
func (s *Server) found(n *Session, body string) bool {
	if !strings.Contains(body, text("find", Collection)) || !strings.Contains(body, text("$db", "shop")) {
		s.blame("the client asks %.80q", body)
		return false
	}
	s.mu.Lock()
	s.counts.Finds++
	again := s.played
	if s.where == n.id {
		s.counts.Reused = true
	}
	s.mu.Unlock()
	switch {
	case s.hostile(AtFind, n.id):
		s.mu.Lock()
		s.counts.Reused = false
		s.mu.Unlock()
		return s.entry.Act(n)
	case n.proved:
		s.once.Do(func() { close(s.proved) })
		return hold(n)
	case s.entry.At == AtMore && !again:
		n.Say(batch("firstBatch", 7, 1))
		return true
	}
	n.Say(batch("firstBatch", 0, 4242))
	n.proved = true
	return true
}

// prover is the server's side of SCRAM-SHA-256.
type prover struct{ nonce, first string }

func (p *prover) challenges(body string) string {
	_, rest, _ := strings.Cut(body, "n,,")
	bare, _, _ := strings.Cut(rest, "\x02$db")
	bare = strings.TrimRight(bare, "\x00")
	_, p.nonce, _ = strings.Cut(bare, ",r=")
	says := "r=" + p.nonce + "server,s=c2FsdA==,i=4096"
	p.first = bare + "," + says
	return doc(whole("conversationId", 1), binaryOf("payload", says), number("ok", 1))
}

func mac(key, data string) string {
	m := hmac.New(sha256.New, []byte(key))
	m.Write([]byte(data))
	return string(m.Sum(nil))
}

// judges answers the client's proof.
func (p *prover) judges(s *Server, body string) string {
	_, rest, _ := strings.Cut(body, "c=biws,")
	bare, proof, _ := strings.Cut("c=biws,"+rest, ",p=")
	proof, _, _ = strings.Cut(proof, "\x02$db")
	block := mac(Password, "salt\x00\x00\x00\x01")
	salted := []byte(block)
	for range 4095 {
		block = mac(Password, block)
		for i := range salted {
			salted[i] ^= block[i]
		}
	}
	client := mac(string(salted), "Client Key")
	stored := sha256.Sum256([]byte(client))
	signs := mac(string(stored[:]), p.first+","+bare)
	want := make([]byte, len(client))
	for i := range want {
		want[i] = client[i] ^ signs[i]
	}
	if proof != base64.StdEncoding.EncodeToString(want) {
		s.blame("the proof is %.80q", proof)
	}
	verdict := "v=" + base64.StdEncoding.EncodeToString([]byte(mac(mac(string(salted), "Server Key"), p.first+","+bare)))
	return doc(whole("conversationId", 1), binaryOf("payload", verdict), truth("done"), number("ok", 1))
}
