package kafka

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"sync"

	"hyperscale/runtime/protocol/hostile/port"
)

// Numbers of requests.
const (
	apiProduce      = 0
	apiMetadata     = 3
	apiHandshake    = 17
	apiVersions     = 18
	apiAuthenticate = 36
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
	again  int // operations behind the hostile part that were a part of its own
	breach string
	left   int // the connection to a coordinator that has moved; 0: none has
}

// Counts is what reached the broker.
type Counts struct {
	Connections int
	Records     int  // that came whole
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
func (s *Server) URL() string { return "kafka://" + s.port.Address() }

// Close lets every connection end.
func (s *Server) Close() { s.port.Close() }

// Proved is closed when a client sends a record on a connection that has carried a well-behaved answer: it
// can only do so if it took that answer. That record stays without one.
func (s *Server) Proved() <-chan struct{} { return s.proved }

// Counts returns what reached the broker.
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

// came counts a record.
func (s *Server) came() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Records++
}

// reused notes that the operation behind the hostile part comes on this connection.
func (s *Server) reused(id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.where == id {
		s.counts.Reused = true
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

// layout is the well-behaved answer to Metadata: this broker leads the topic's only partition.
func (s *Server) layout() string {
	host, port, _ := net.SplitHostPort(s.port.Address())
	number, _ := strconv.Atoi(port)
	return layout(0, host, number, 1, 0, 1)
}

// layout is an answer to Metadata of version 4: of a broker with id 1, and of a topic with so many partitions,
// of which one has a number and a leader.
func layout(code int, host string, port, partitions, at, leader int) string {
	out := i32(0) + i32(1) + i32(1) + text(host) + i32(port) + i16(-1) + text("c") + i32(1) + i32(1) + i16(code) + text(Topic) + "\x00" + i32(partitions)
	for range partitions {
		out += i16(0) + i32(at) + i32(leader) + i32(1) + i32(1) + i32(1) + i32(1)
	}
	return out
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
	for {
		key, body, ok := n.request()
		if !ok {
			return
		}
		at, good, next := AtRecord, "", produced(0, nextOffset, "", 0)
		switch key {
		case apiVersions:
			at, good = AtVersions, versions(0, [2]int{apiProduce, 12}, [2]int{apiFetch, 17}, [2]int{apiOffsets, 10}, [2]int{apiMetadata, 13},
				[2]int{apiCommit, 9}, [2]int{apiRemember, 9}, [2]int{apiFind, 6}, [2]int{apiJoin, 9}, [2]int{apiBeat, 4}, [2]int{apiLeave, 5}, [2]int{apiSync, 5})
		case apiHandshake:
			at, good = AtHandshake, i16(0)+i32(1)+text("SCRAM-SHA-256")
			n.scram = prover{}
		case apiAuthenticate:
			if at, good = AtChallenge, n.scram.challenges(body); n.scram.challenged > 1 {
				at, good = AtProof, n.scram.judges(s, body)
			}
		case apiMetadata:
			at, good = AtLayout, s.layout()
		case apiOffsets:
			at, good = AtOffsets, offsets(0, firstOffset)
		case apiFetch:
			offset, ok := n.offset(body)
			if !ok {
				return
			}
			at, next = AtFetch, fetched(0, batch(offset, plain, "next", 1), 0)
			s.came()
		case apiProduce:
			if !n.record(body) {
				return
			}
		default:
			var is bool
			if at, good, is = s.coordinates(n, key); !is {
				s.blame("the client asks %d", key)
				return
			}
		}
		switch {
		case s.hostile(at, id):
			if !s.entry.Act(n) {
				return
			}
		case good != "":
			n.Say(good)
		case !s.operated(n, next):
			return
		}
	}
}

// operated answers an operation well.
func (s *Server) operated(n *Session, next string) bool {
	s.reused(n.id)
	if n.proved {
		s.once.Do(func() { close(s.proved) })
		return hold(n)
	}
	s.mu.Lock()
	if s.again < s.entry.Want.Again && s.played {
		s.again++ // the hostile operation goes on
	} else {
		n.proved = s.played || s.entry.Act == nil // before the client may ask on another connection
	}
	s.mu.Unlock()
	n.Say(next)
	return true
}
