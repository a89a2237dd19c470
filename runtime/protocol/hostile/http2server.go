package hostile

import (
	"encoding/binary"
	"io"
)

// StartHTTP2 serves the entry on its own port: once, and well afterwards.
func StartHTTP2(e *HTTP2Entry) (*Server, error) {
	return start(&Entry{Name: e.Name, Server: e.Server.Behaviour}, e)
}

// peer is the server's side of one connection of HTTP/2.
type peer struct {
	*Session
	entry *HTTP2Entry
	first bool            // the hostile connection
	open  map[uint32]bool // requests whose body has not come whole
	came  []uint32        // requests that have come and are not answered
	seen  int             // how many
	ended int             // uploads that came whole
	owed  int             // bytes of uploads whose window was not given back
	last  uint32          // the last stream of the hostile round
	good  bool            // the hostile part is over
	mute  bool            // all is proved: the peer sends nothing more
}

// stage holds the frames to send after a number of requests and of complete uploads.
type stage struct {
	script      frames
	when, ended int
}

// later continues with more scripts, before the connection behaves well.
func later(more ...stage) Act {
	return func(s *Session) bool {
		s.stages = more
		return true
	}
}

const clientPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// serveHTTP2 plays one connection.
func (s *Server) serveHTTP2(n *Session, number int) {
	p := &peer{Session: n, entry: s.http2, first: number == 1, open: map[uint32]bool{}, good: number > 1}
	preface := make([]byte, len(clientPreface))
	if _, err := io.ReadFull(n.reader, preface); err != nil || string(preface) != clientPreface {
		return
	}
	switch b := &p.entry.Server; {
	case p.good:
		n.Say(string(frames{}.settings()))
	case !b.Mute:
		n.Say(string(frames{}.settings(b.Settings...)))
	}
	for p.frame() && p.answer() {
	}
}

// frame takes one of the client's frames.
func (p *peer) frame() bool {
	var head [frameHead]byte
	if _, err := io.ReadFull(p.reader, head[:]); err != nil {
		return false
	}
	n := int(head[0])<<16 | int(head[1])<<8 | int(head[2])
	if n > frameMost {
		return false // more than we allow
	}
	payload := make([]byte, n)
	if _, err := io.ReadFull(p.reader, payload); err != nil {
		return false
	}
	b, flags, stream := &p.entry.Server, head[4], binary.BigEndian.Uint32(head[5:])
	switch head[3] {
	case fSettings:
		if flags&ack == 0 && (!p.first || !b.Mute && !b.NoAck) {
			p.Say(string(frames{}.frame(fSettings, ack, 0, "")))
		}
	case fPing:
		if flags&ack == 0 && p.good {
			p.Say(string(frames{}.frame(fPing, ack, 0, string(payload))))
		}
	case fReset:
		delete(p.open, stream)
	case fHeaders:
		p.count()
		p.open[stream] = true
		if !p.good {
			p.last = stream
		}
		p.window(stream, flags&ends != 0)
		p.body(stream, flags&ends != 0)
	case fData:
		p.owed += n
		if flags&ends != 0 {
			p.ended++
		}
		p.window(stream, flags&ends != 0)
		p.body(stream, flags&ends != 0)
	}
	return true
}

// window lets the client send more, after the hostile part.
func (p *peer) window(stream uint32, whole bool) {
	if !p.good || stream <= p.last {
		return
	}
	if p.owed > 0 {
		p.Say(string(frames{}.window(0, uint32(p.owed))))
		p.owed = 0
	}
	if !whole {
		p.Say(string(frames{}.window(stream, 1<<20)))
	}
}

// body notes that a request has come, or its head, if that is enough.
func (p *peer) body(stream uint32, whole bool) {
	if p.open[stream] && (whole || p.entry.Server.Early && !p.good) {
		delete(p.open, stream)
		p.came = append(p.came, stream)
	}
}

// count counts a request, and notes where those come that follow the hostile ones.
func (p *peer) count() {
	s := p.server
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	p.seen++
	s.again = s.again || p.first && s.requests > s.http2.round()
}

// round is how many requests come before the next ones, which must be right.
func (e *HTTP2Entry) round() int {
	n := len(e.Want)
	for _, w := range e.Want {
		if w.Unseen {
			n--
		}
	}
	return n
}

// answer answers the requests that have arrived. It says whether the connection continues.
func (p *peer) answer() bool {
	switch b := &p.entry.Server; {
	case p.mute:
	case len(p.stages) > 0:
		if next := p.stages[0]; p.seen >= next.when && p.ended >= next.ended {
			p.Say(string(next.script))
			p.stages, p.came = p.stages[1:], nil
		}
	case p.good:
		p.behave()
	case len(p.came) >= b.when(p.entry):
		p.good, p.came = true, nil
		p.Say(string(b.Script))
		return b.Then == nil || b.Then(p.Session)
	}
	return true
}

func (b *HTTP2Behaviour) when(e *HTTP2Entry) int {
	switch {
	case b.When > 0:
		return b.When
	case b.Mute:
		return 1
	}
	return e.round()
}

// behave answers well, until as many were answered as the client makes at once: it has
// taken them if it asks for more.
func (p *peer) behave() {
	s := p.server
	s.mu.Lock()
	p.mute = s.requests > p.entry.round()+len(p.entry.Want)
	s.mu.Unlock()
	if p.mute {
		s.once.Do(func() { close(s.proved) })
		return
	}
	for _, stream := range p.came {
		if f := (frames{}); p.entry.Method == "HEAD" {
			p.Say(string(f.head(stream, ends, ":status", "200", "content-length", "4")))
		} else {
			p.Say(string(f.head(stream, 0, ":status", "200", "content-length", "4").data(stream, ends, NextBody)))
		}
	}
	p.came = p.came[:0]
}
