package target

import (
	"time"

	"hyperscale/runtime/protocol/http1"
)

// session is the protocol side of a connection: bytes in, answers out, without any I/O. The
// caller holds the site's lock during each call.
//
//	head -> sized | chunked -> ready -> (waiting) -> head | ended
type session struct {
	site   *site
	part   part
	left   int64         // of a sized body; of a chunked one, how much it may still have
	path   []byte        // of a request whose body is being read
	size   int           // of its head and of the received part of its body
	chunks *http1.Chunks // only once a chunked body was seen
	call   call
	begun  uint32
	linked bool // it counts as a connection
	served bool // it has carried a counted request
}

type part uint8

const (
	partHead part = iota
	partSized
	partChunked
	partReady
	partWaiting
	partTalk // frames of WebSocket
)

// between says that nothing of a request or a frame has come yet, if no bytes wait.
func (p part) between() bool { return p == partHead || p == partTalk }

// method is a request's method, as far as routes distinguish methods.
type method uint8

const (
	methodOther method = iota
	methodGet
	methodHead // as GET, without a body in the answer
	methodPost
)

func methodOf(name string) method {
	switch name {
	case "GET":
		return methodGet
	case "HEAD":
		return methodHead
	case "POST":
		return methodPost
	}
	return methodOther
}

func (m method) reads() bool { return m == methodGet || m == methodHead }

// fate is what befalls a request.
type fate uint8

const (
	fateAnswer fate = iota
	fateFail        // ErrorEvery
	fateDrop        // CloseEvery
)

// persistence is what becomes of the connection after the answer.
type persistence uint8

const (
	persists     persistence = iota
	persistsSaid             // the answer says so: HTTP/1.0
	closes
)

// call is the request being read or answered.
type call struct {
	route   route
	epoch   uint32
	method  method
	fate    fate
	then    persistence
	counted bool
	wait    time.Duration
	user    string     // /me: whom the bearer token names
	body    []byte     // /login, bounded
	proof   proofState // /digest
	key     string     // /ws
	talks   bool       // the answer upgrades
}

// stage names what of which request is being read: each has its own deadline.
type stage struct {
	begun uint32
	part  part
}

func (s *session) stage() stage { return stage{s.begun, s.part} }

func (s stage) patience(limits *Config) time.Duration {
	if s.part == partHead {
		return limits.HeadTimeout
	}
	return limits.BodyTimeout
}

// verdict says what the caller does after it has sent the output.
type verdict uint8

const (
	wantMore   verdict = iota // read on
	wantFlush                 // send the output, then feed again
	wantWait                  // after session.call.wait, answer
	wantClose                 // close
	wantLinger                // close, but let the peer read the answer first
	wantHTTP2                 // the unused bytes begin with the preface of HTTP/2
)

// open counts the connection; one whose first request asks for the counters is uncounted.
func (s *session) open() {
	s.site.stats.Connections++
	s.linked = true
}

func (s *session) link(counts bool) {
	if counts == s.linked || !counts && s.served {
		return
	}
	s.linked = counts
	if counts {
		s.site.stats.Connections++
	} else if s.site.stats.Connections > 0 { // a reset may have come in between
		s.site.stats.Connections--
	}
}

// feed takes bytes of the stream and returns how many it used. It stops early when an
// answer must wait or when the output is large enough to be sent first.
func (s *session) feed(b []byte, out *output) (used int, v verdict) {
	for {
		switch s.part {
		case partHead:
			if whole, begun := s.speaksHTTP2(b[used:]); whole {
				return used, wantHTTP2
			} else if begun {
				return used, wantMore
			}
			h, size, bad := parseHead(b[used:])
			if bad != nil {
				return len(b), s.refuse(bad, out)
			}
			if size == 0 {
				return used, wantMore
			}
			used += size
			s.begin(&h, size)
			if h.expect && s.part != partReady && used == len(b) && !h.old {
				out.raw("HTTP/1.1 100 Continue\r\n\r\n")
			}
		case partSized, partChunked:
			n, bad := s.body(b[used:])
			used += n
			if bad != nil {
				return len(b), s.refuse(bad, out)
			}
			if s.part != partReady {
				return used, wantMore
			}
			s.arrived(s.path)
		case partReady:
			if s.call.fate == fateDrop {
				return len(b), wantClose
			}
			if s.call.wait > 0 {
				s.part = partWaiting
				return used, wantWait
			}
			if v := s.answer(out); v != wantMore {
				return used, v
			}
		case partWaiting:
			return used, wantWait
		case partTalk:
			n, v := s.talk(b[used:], out)
			used += n
			switch {
			case v != wantMore || n == 0:
				return used, v
			case out.full():
				return used, wantFlush
			}
		}
	}
}

// body takes the bytes of a request's body.
func (s *session) body(b []byte) (used int, bad *refusal) {
	if s.part == partSized {
		used = int(min(s.left, int64(len(b))))
		s.keep(b[:used], used)
		if s.left -= int64(used); s.left == 0 {
			s.part = partReady
		}
		return used, nil
	}
	for used < len(b) {
		n, data, done, err := s.chunks.Next(b[used:])
		used += n
		if err != nil {
			return used, badChunk
		}
		if s.left -= int64(len(data)); s.left < 0 {
			return used, badBodySize
		}
		s.keep(data, n)
		if done {
			s.part = partReady
			break
		}
	}
	return used, nil
}

// keep measures body bytes with their framing, and keeps those that an answer depends on.
func (s *session) keep(data []byte, size int) {
	s.size += size
	if s.call.route.keepsBody() && len(s.call.body)+len(data) <= maxLogin+1 {
		s.call.body = append(s.call.body, data...)
	} else if s.call.route.keepsBody() {
		s.call.body = append(s.call.body[:0], make([]byte, maxLogin+1)...) // too long: refused when answered
	}
}

// arrived counts a request that is complete and decides its fate.
func (s *session) arrived(path []byte) {
	if !s.call.route.uncounted() {
		s.site.stats.request(path, s.size)
		s.site.judge(&s.call)
	}
}

// begin takes a request whose head is complete.
func (s *session) begin(h *head, size int) {
	s.begun++
	s.call = call{route: findRoute(h.path), method: methodOf(string(h.method)), then: h.persistence()}
	counts := !s.call.route.uncounted()
	s.link(counts)
	s.served = s.served || counts
	s.size = size
	if s.call.route == routeMe {
		s.call.user = userOf(h.bearer)
	}
	if s.call.route == routeSocket {
		s.call.key = string(h.key)
	}
	if s.call.route.guarded() {
		s.call.proof = s.site.prove(string(h.digest), string(h.method), string(h.target), s.call.route == routeDigestMD5)
	}
	switch {
	case h.chunked:
		if s.chunks == nil {
			s.chunks = new(http1.Chunks)
		}
		s.chunks.Clear()
		s.part, s.left = partChunked, maxBody
	case h.length > 0:
		s.part, s.left = partSized, h.length
	default:
		s.part = partReady
		s.arrived(h.path)
		return
	}
	s.path = append(s.path[:0], h.path[:min(len(h.path), maxPathLen+1)]...) // the head's memory is not ours; longer ones count as one
}

// answer appends the answer to the current request.
func (s *session) answer(out *output) verdict {
	s.site.respond(&s.call, out)
	s.part = partHead
	closing := s.call.then == closes && !s.call.talks
	if s.call.talks {
		s.part = partTalk
	}
	s.call = call{}
	switch {
	case closing:
		return wantClose
	case out.full():
		return wantFlush
	}
	return wantMore
}

func (s *session) refuse(bad *refusal, out *output) verdict {
	s.call = call{then: closes}
	s.site.render(&s.call, out, response{status: bad.status, kind: typeText, body: bad.text + "\n"})
	return wantLinger
}
