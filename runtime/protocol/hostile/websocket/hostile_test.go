package websocket

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/protocol/http1"
)

func TestCatalogue(t *testing.T) {
	names, kinds := map[string]bool{}, map[http1.Kind]int{}
	all := All()
	for _, e := range all {
		if names[e.Name] {
			t.Errorf("%q is there twice", e.Name)
		}
		names[e.Name] = true
		kinds[e.Want.Kind]++
		if e.Want.Kind != http1.KindNone && (e.Want.Message != "" || e.Want.Reuse != ReuseNot) {
			t.Errorf("%q fails and has a message: %+v", e.Name, e.Want)
		}
		if (e.Want.Kind == http1.KindStatus) != (e.Want.Status >= 300) {
			t.Errorf("%q: the kind status and a status go together: %+v", e.Name, e.Want)
		}
	}
	if len(all) < 100 {
		t.Errorf("%d entries, want at least 100", len(all))
	}
	for _, kind := range []http1.Kind{
		http1.KindNone, http1.KindRefused, http1.KindClosed, http1.KindReset, http1.KindTruncated, http1.KindProtocol, http1.KindTooLarge, http1.KindFlood,
		http1.KindEncoding, http1.KindBomb, http1.KindTimeout, http1.KindWriteTimeout, http1.KindStatus, "server 1000", "server 1011",
	} {
		if kinds[kind] == 0 {
			t.Errorf("no entry ends in %q", kind)
		}
	}
}

const request = "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

// masked is a text of two bytes as a client sends it.
const masked = "\x81\x82\x01\x02\x03\x04ik"

// A server is hostile once, proves the answer that a client took, and counts. Close ends it though
// the client stays.
func TestServer(t *testing.T) {
	e := answers("", text("evil"), nil, got("evil"))
	s, err := Start(&e)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", s.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	switched := strings.Replace(switching, "KEY", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", 1) + "\r\n"
	for _, step := range [][2]string{
		{request, switched}, {masked, text("evil")}, {"\x89\x81\x01\x02\x03\x04q", frame(fPong, "p")}, {masked, text(Next)},
	} {
		if _, err := io.WriteString(c, step[0]); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(step[1]))
		if _, err := io.ReadFull(c, got); err != nil || string(got) != step[1] {
			t.Fatalf("%q: got %q, %v, want %q", step[0], got, err, step[1])
		}
	}
	select {
	case <-s.Proved():
		t.Error("a second message is no proof of the second answer")
	default:
	}
	if _, err := io.WriteString(c, masked); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Proved():
	case <-time.After(10 * time.Second):
		t.Error("a third message is no proof")
	}
	s.Close()
	if got, want := s.Counts(), (Counts{Connections: 1, Upgrades: 1, Messages: 3, Reused: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if s.Breach() != "" {
		t.Error(s.Breach())
	}
}

// A client that breaks the RFC is blamed.
func TestBreaches(t *testing.T) {
	for _, test := range []struct{ said, want string }{
		{"POST / HTTP/1.1\r\n\r\n", "the request begins"},
		{strings.Replace(request, "13", "8", 1), "version"},
		{strings.Replace(request, "jZQ==", "j", 1), "version"},
		{strings.Replace(request, "Upgrade\r\n", "close\r\n", 1), "no upgrade"},
		{strings.Replace(request, "\r\n\r\n", "\r\nSec-WebSocket-Protocol: x\r\n\r\n", 1), "protocols"},
		{request + text("no mask"), "not masked"},
		{request + "\xc1\x80\x01\x02\x03\x04", "reserved bits"},
		{request + "\x83\x80\x01\x02\x03\x04", "reserved opcode"},
		{request + "\x09\x80\x01\x02\x03\x04", "fragmented"},
		{request + many("\x01\x80\x01\x02\x03\x04", 5), "have the mask"},
	} {
		s, err := Start(&Entry{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := net.Dial("tcp", s.Address())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, test.said); err != nil {
			t.Fatal(err)
		}
		_ = c.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, c) // until the server has read it
		_ = c.Close()
		s.Close()
		if !strings.Contains(s.Breach(), test.want) {
			t.Errorf("%q: got %q, want %q", test.said, s.Breach(), test.want)
		}
	}
}
