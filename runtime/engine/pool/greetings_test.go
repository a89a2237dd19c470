package pool

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/scram"
)

// line is a protocol of lines. Its greeting says "hello", answers each line of the server that
// begins with "ask " with "told " and the rest, and is over with "welcome".
type line struct{ out, in []byte }

func (l *line) Begin(dst []byte) []byte { return append(dst, "hello\n"...) }

func (l *line) Hear(dst, b []byte) ([]byte, int, codec.Dialogue, error) {
	end := bytes.IndexByte(b, '\n') + 1
	if end == 0 {
		return dst, 0, nil, nil
	}
	switch text := string(b[:end-1]); {
	case text == "welcome":
		return dst, end, l, nil
	case strings.HasPrefix(text, "ask "):
		return append(append(dst, "told "...), b[len("ask "):end]...), end, nil, nil
	default:
		return dst, 0, nil, &http1.Error{Kind: http1.KindProtocol, Detail: "the greeting has " + text}
	}
}

func (l *line) Send(_ codec.MessageKind, payload []byte, _ *uint64) error {
	l.out = append(append(l.out, payload...), '\n')
	return nil
}
func (l *line) Ping(uint64)          {}
func (l *line) Leave(uint16, string) {}
func (l *line) Output() []byte       { return l.out }
func (l *line) Sent(n int)           { l.out = l.out[n:] }
func (l *line) Unsent() int          { return len(l.out) }
func (l *line) Feed(b []byte, on codec.Listener) error {
	l.in = append(l.in, b...)
	for {
		end := bytes.IndexByte(l.in, '\n')
		if end < 0 {
			return nil
		}
		on.Message(codec.MessageOwn, l.in[:end])
		l.in = l.in[end+1:]
	}
}
func (l *line) End(err error) error { return err }
func (l *line) Rest()               {}
func (l *line) Release()            {}
func (l *line) Over() bool          { return false }

// lines is one exchange: it sends a line, and has enough with one.
type lines struct {
	opening codec.Opening
	heard   []string
}

func (x *lines) Open() codec.Opening                   { return x.opening }
func (x *lines) Say(d codec.Dialogue) error            { return d.Send(codec.MessageOwn, []byte("question"), nil) }
func (x *lines) Hear(_ codec.MessageKind, b []byte)    { x.heard = append(x.heard, string(b)) }
func (x *lines) Enough() bool                          { return len(x.heard) > 0 }
func (x *lines) Deaf() bool                            { return false }
func (x *lines) Stays() bool                           { return true }
func (x *lines) Status() uint16                        { return 200 }
func (x *lines) Left(code uint16, reason string) error { return io.EOF }

// single drives the connections of one slot.
type single struct {
	*Connections
	account measure.Account
	kind    http1.Kind
	detail  string
	ended   bool
}

func (s *single) Outgoing(int32) http1.Message     { return http1.Message{} }
func (s *single) KeepRest(int32, http1.Message)    {}
func (s *single) Framed(int32) *codec.Operation    { return nil }
func (s *single) Collector(int32) *http1.Collector { return nil }
func (s *single) SetCookies(*RequestSlot)          {}
func (s *single) Answered(int32, int64)            { s.ended = true }
func (s *single) Failed(_ int32, kind http1.Kind, example string, _ int64) {
	s.ended, s.kind, s.detail = true, kind, example
}
func (s *single) Send(int32)       {}
func (s *single) Wakes(int32) bool { return false }

// play carries one exchange to its end, on the open connection if there is one.
func (s *single) play(t *testing.T, h *Host, talk Talk, timeout time.Duration) *RequestSlot {
	t.Helper()
	s.ended, s.kind, s.detail = false, "", ""
	n := s.Slots.At(0)
	s.Clock.Tick()
	n.Call, n.Host, n.Account, n.Talk, n.Step, n.Conn = &http1.Call{Host: h.Name, Port: h.port}, h, &s.account, talk, 0, None
	n.Instants, n.Sent, n.In, n.Counted, n.Deadline = measure.Instants{}, 0, 0, false, s.Clock.Now+int64(timeout)
	n.Serial++
	s.Wire.Dispatch(0)
	events := make([]epoll.Event, 8)
	for !s.ended {
		for len(s.Slots.Broken) > 0 {
			b := s.Slots.Broken[0]
			s.Slots.Broken = s.Slots.Broken[1:]
			s.Wire.Fail(b.Slot, b.Err)
		}
		s.Handshakes.RunReady()
		s.Sockets.ReadMore()
		s.Wire.FlushQueued()
		some, err := s.Sockets.Poller.Wait(events, time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		s.Clock.Tick()
		for i := range some {
			s.Sockets.Handle(&events[i])
		}
		for id, ok := s.Slots.Wheel.Expire(s.Clock.Now); ok; id, ok = s.Slots.Wheel.Expire(s.Clock.Now) {
			s.Wire.Expire(id)
		}
	}
	return n
}

// A greeting in several rounds opens the connection once. It is a part of connecting, and its bytes
// count. What ends it ends the exchange with a kind.
func TestGreetings(t *testing.T) {
	answer := func(in *strings.Builder, c net.Conn, say string) { // to each question
		for buffer := make([]byte, 100); ; {
			n, err := c.Read(buffer)
			if in.Write(buffer[:n]); err != nil {
				return
			}
			if strings.HasSuffix(in.String(), "question\n") {
				_, _ = io.WriteString(c, say)
			}
		}
	}
	for name, tt := range map[string]struct {
		serve   func(in *strings.Builder, c net.Conn)
		kind    http1.Kind
		timeout time.Duration
		heard   string // by the server, of two exchanges
	}{
		"at once": {
			serve: func(in *strings.Builder, c net.Conn) {
				_, _ = io.WriteString(c, "welcome\n")
				answer(in, c, "answer\n")
			},
			heard: "hello\nquestion\nquestion\n",
		},
		"three rounds, in single bytes": {
			serve: func(in *strings.Builder, c net.Conn) {
				for _, b := range []byte("ask a\nask b\nwelcome\n") {
					_, _ = c.Write([]byte{b})
				}
				answer(in, c, "answer\n")
			},
			heard: "hello\ntold a\ntold b\nquestion\nquestion\n",
		},
		"refuses":          {serve: func(_ *strings.Builder, c net.Conn) { _, _ = io.WriteString(c, "no\n") }, kind: http1.KindProtocol},
		"closes":           {serve: func(*strings.Builder, net.Conn) {}, kind: http1.KindClosed},
		"closes in a line": {serve: func(_ *strings.Builder, c net.Conn) { _, _ = io.WriteString(c, "wel") }, kind: http1.KindTruncated},
		"a line of 64 KiB": {serve: func(in *strings.Builder, c net.Conn) {
			_, _ = io.WriteString(c, strings.Repeat("x", 64<<10))
			answer(in, c, "")
		}, kind: http1.KindTooLarge},
		"64 messages": {serve: func(in *strings.Builder, c net.Conn) {
			_, _ = io.WriteString(c, strings.Repeat("ask x\n", 64))
			answer(in, c, "")
		}, kind: http1.KindTooLarge},
		"63 messages": {serve: func(in *strings.Builder, c net.Conn) {
			_, _ = io.WriteString(c, strings.Repeat("ask x\n", 62)+"welcome\n")
			answer(in, c, "answer\n")
		}, heard: "hello\n" + strings.Repeat("told x\n", 62) + "question\nquestion\n"},
		"silent":             {serve: func(in *strings.Builder, c net.Conn) { answer(in, c, "") }, kind: http1.KindConnectTimeout, timeout: 50 * time.Millisecond},
		"ends in the middle": {serve: func(in *strings.Builder, c net.Conn) { _, _ = io.WriteString(c, "ask a\n") }, kind: http1.KindClosed},
	} {
		for _, secure := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/tls=%v", name, secure), func(t *testing.T) {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				var in strings.Builder
				served := make(chan struct{})
				go func() {
					defer close(served)
					c, err := l.Accept()
					if err != nil {
						return
					}
					if secure {
						over := tls.Server(c, authority.Honest())
						_ = over.Handshake()
						c = over
					}
					tt.serve(&in, c)
					_ = c.(interface{ CloseWrite() error }).CloseWrite() // its end is no reset
					_, _ = io.Copy(&in, c)
					_ = c.Close()
				}()
				w := &workflow.Workflow{Plan: &message.WorkflowPlan{}}
				w.HTTP.Insecure = true
				s := &single{}
				s.Connections, err = NewConnections(Options{Workflow: w, VUs: 1, Slots: 1, Names: NewNames(&w.HTTP)})
				if err != nil {
					t.Fatal(err)
				}
				s.Requests = s
				s.account = measure.NewAccount(&message.StepPlan{}, nil, false, nil)
				at := l.Addr().(*net.TCPAddr).AddrPort()
				h := NewTalkHost(&http1.Call{Host: "h", Port: at.Port()}, TalkHost{Key: "line", Secure: secure})
				h.Addrs = []netip.AddrPort{at}
				timeout := tt.timeout
				if timeout == 0 {
					timeout = time.Minute
				}
				for range 2 {
					talk := &lines{opening: codec.Opening{Greeting: &line{}}}
					n := s.play(t, h, talk, timeout)
					if s.kind != tt.kind {
						t.Fatalf("got %q (%s), want %q", s.kind, s.detail, tt.kind)
					}
					if s.kind != "" {
						if n.Wrote != 0 {
							t.Error("what never began was written")
						}
						break
					}
					if strings.Join(talk.heard, ",") != "answer" || n.Status != 200 || n.Wrote < n.Dialled {
						t.Fatalf("heard %q, status %d, connecting from %d to %d", talk.heard, n.Status, n.Dialled, n.Wrote)
					}
				}
				s.Sockets.HangUpAll(0)
				_ = l.Close()
				<-served
				if tt.heard != "" && in.String() != tt.heard {
					t.Fatalf("the server heard %q, want %q", in.String(), tt.heard)
				}
				if out := s.account.BytesOut; tt.heard != "" && out != uint64(len(tt.heard)) {
					t.Errorf("%d bytes counted, want %d", out, len(tt.heard))
				}
				if err := s.Sockets.Poller.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
					t.Error(err)
				}
			})
		}
	}
}

// secureLine is a line whose greeting begins TLS with "secure", and says in it what it is bound to.
type secureLine struct {
	line
	begins bool
}

func (l *secureLine) Secures() bool { return l.begins }

func (l *secureLine) Secured(dst, binding []byte) []byte {
	return fmt.Appendf(dst, "bound %x\n", binding)
}

func (l *secureLine) Hear(dst, b []byte) ([]byte, int, codec.Dialogue, error) {
	if bytes.HasPrefix(b, []byte("secure\n")) {
		l.begins = true
		return append(dst, "yes\n"...), len("secure\n"), nil, nil
	}
	return l.line.Hear(dst, b)
}

// A greeting that begins TLS in its middle goes on in it, and nothing that came in clear counts for what
// came in TLS.
func TestGreetingsBeginTLS(t *testing.T) {
	begins := func(in *strings.Builder, c net.Conn, say string) net.Conn {
		_, _ = io.WriteString(c, say)
		buffer := make([]byte, 100)
		for !strings.HasSuffix(in.String(), "hello\nyes\n") {
			n, err := c.Read(buffer[:1])
			if err != nil {
				return c
			}
			in.Write(buffer[:n])
		}
		return tls.Server(c, authority.Honest())
	}
	answers := func(in *strings.Builder, c net.Conn) {
		c = begins(in, c, "secure\n")
		_, _ = io.WriteString(c, "ask a\nwelcome\n")
		for buffer := make([]byte, 100); ; {
			n, err := c.Read(buffer)
			if in.Write(buffer[:n]); err != nil {
				return
			}
			for range strings.Count(string(buffer[:n]), "question\n") {
				_, _ = io.WriteString(c, "answer\n")
			}
		}
	}
	const heard = "hello\nyes\nbound %x\ntold a\nquestion\nquestion\n"
	for name, tt := range map[string]struct {
		serve  func(in *strings.Builder, c net.Conn)
		verify bool
		tls    func(*tls.Config) // the destination's own options
		kind   http1.Kind
		detail string
		heard  string // by the server, of two exchanges
		short  bool
	}{
		"goes on": {
			serve: answers, heard: heard,
		},
		"injects": {serve: func(in *strings.Builder, c net.Conn) { begins(in, c, "secure\nwelcome\nanswer\n") }, kind: http1.KindProtocol, detail: "15 bytes in clear before TLS began"},
		"injects later": {serve: func(in *strings.Builder, c net.Conn) {
			begins(in, c, "secure\n")
			_, _ = io.WriteString(c, "welcome\nanswer\n")
		}, kind: http1.KindTLS, detail: "does the server speak TLS on this port?"},
		"untrusted":                     {serve: func(in *strings.Builder, c net.Conn) { _ = begins(in, c, "secure\n").(*tls.Conn).Handshake() }, verify: true, kind: http1.KindTLSName, detail: "use a certificate that this machine trusts"},
		"any name":                      {serve: answers, heard: heard, tls: func(c *tls.Config) { c.RootCAs = authority.Roots(); AnyName(c) }},
		"any name of another authority": {serve: answers, tls: AnyName, kind: http1.KindTLSAuthority, detail: "tls = tls(ca = file("},
		"another name":                  {serve: answers, tls: func(c *tls.Config) { c.RootCAs = authority.Roots() }, kind: http1.KindTLSName, detail: "tls = tls(server_name = "},
		"its name":                      {serve: answers, heard: heard, tls: func(c *tls.Config) { c.RootCAs, c.ServerName = authority.Roots(), "localhost" }},
		"ends":                          {serve: func(in *strings.Builder, c net.Conn) { begins(in, c, "secure\n") }, kind: http1.KindClosed},
		"refuses in it":                 {serve: func(in *strings.Builder, c net.Conn) { _, _ = io.WriteString(begins(in, c, "secure\n"), "no\n") }, kind: http1.KindProtocol, detail: "the greeting has no"},
		"silent": {serve: func(in *strings.Builder, c net.Conn) {
			begins(in, c, "secure\n")
			_, _ = io.Copy(in, c)
		}, kind: http1.KindConnectTimeout, short: true},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			var in strings.Builder
			served := make(chan struct{})
			go func() {
				defer close(served)
				c, err := l.Accept()
				if err != nil {
					return
				}
				tt.serve(&in, c)
				_ = c.(*net.TCPConn).CloseWrite()
				_, _ = io.Copy(io.Discard, c)
				_ = c.Close()
			}()
			w := &workflow.Workflow{Plan: &message.WorkflowPlan{}}
			w.HTTP.Insecure = !tt.verify
			s := &single{}
			s.Connections, err = NewConnections(Options{Workflow: w, VUs: 1, Slots: 1, Names: NewNames(&w.HTTP)})
			if err != nil {
				t.Fatal(err)
			}
			s.Requests = s
			s.account = measure.NewAccount(&message.StepPlan{}, nil, false, nil)
			at := l.Addr().(*net.TCPAddr).AddrPort()
			to := TalkHost{Key: "line"}
			if tt.tls != nil {
				to.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
				tt.tls(to.TLS)
			}
			h := NewTalkHost(&http1.Call{Host: "h", Port: at.Port()}, to)
			h.Addrs = []netip.AddrPort{at}
			timeout := time.Minute
			if tt.short {
				timeout = 50 * time.Millisecond
			}
			for range 2 {
				talk := &lines{opening: codec.Opening{Greeting: &secureLine{}}}
				n := s.play(t, h, talk, timeout)
				if s.kind != tt.kind || !strings.Contains(s.detail, tt.detail) {
					t.Fatalf("got %q (%s), want %q (%s)", s.kind, s.detail, tt.kind, tt.detail)
				}
				if s.kind != "" {
					if n.Wrote != 0 || len(talk.heard) > 0 {
						t.Error("what never began was written, or answered")
					}
					break
				}
				if strings.Join(talk.heard, ",") != "answer" || n.Wrote < n.Shook {
					t.Fatalf("heard %q, TLS from %d to %d", talk.heard, n.Shook, n.Wrote)
				}
			}
			s.Sockets.HangUpAll(0)
			_ = l.Close()
			<-served
			if want := fmt.Sprintf(tt.heard, scram.EndPoint(certificates(t))); tt.heard != "" && in.String() != want {
				t.Errorf("the server heard %q, want %q", in.String(), want)
			}
			if err := s.Sockets.Poller.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
				t.Error(err)
			}
		})
	}
}

// certificates are those of the honest server.
func certificates(t *testing.T) []*x509.Certificate {
	c, err := x509.ParseCertificate(authority.Honest().Certificates[0].Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	return []*x509.Certificate{c}
}
