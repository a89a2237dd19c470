package mysql

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
		if e.Want.Kind != http1.KindNone && e.Want.Body != "" {
			t.Errorf("%q fails and has an answer: %+v", e.Name, e.Want)
		}
	}
	if len(all) < 110 {
		t.Errorf("%d entries, want at least 110", len(all))
	}
	for _, kind := range []http1.Kind{
		http1.KindNone, http1.KindRefused, http1.KindClosed, http1.KindReset, http1.KindTruncated, http1.KindProtocol, http1.KindTooLarge, http1.KindFlood,
		http1.KindTimeout, http1.KindWriteTimeout, http1.KindConnectTimeout, http1.KindAuth, "server 1040", "server 1062", "server 1927",
	} {
		if kinds[kind] == 0 {
			t.Errorf("no entry ends in %q", kind)
		}
	}
}

// introduction is what a client says that proves itself.
func introduction(password string) string {
	proof := proves(Native, salt)
	if password != Password {
		proof = many("x", 20)
	}
	return packet(1, many("\x00", 32)+User+"\x00"+text(proof)+Database+"\x00"+Native+"\x00")
}

const ask = "\x09\x00\x00\x00\x03select 1"

// A server is hostile once, proves the answer that a client took, and counts. Close ends it though the
// client stays.
func TestServer(t *testing.T) {
	e := answers("", rows("evil"), nil, got(`[{"a":"evil"}]`))
	s, err := Start(&e)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", s.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	next := (&Session{server: s, kind: commandQuery}).next()
	for _, step := range [][2]string{{"", packet(0, hello(Native, false, false))}, {introduction(Password), packet(2, okPacket)}, {ask, rows("evil")}, {ask, next}} {
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
		t.Error("a second operation is no proof of the second answer")
	default:
	}
	if _, err := io.WriteString(c, ask); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Proved():
	case <-time.After(10 * time.Second):
		t.Error("a third operation is no proof")
	}
	s.Close()
	if got, want := s.Counts(), (Counts{Connections: 1, Operations: 3, Reused: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if s.Breach() != "" {
		t.Error(s.Breach())
	}
}

// A client that breaks the protocol is blamed.
func TestBreaches(t *testing.T) {
	for _, test := range []struct{ said, want string }{
		{strings.Replace(introduction(Password), "\x01", "\x02", 1), "the number 2, want 1"},
		{introduction("falsch"), "the introduction says"},
		{strings.Replace(introduction(Password), "shop", "ship", 1), "the introduction says"},
		{introduction(Password) + "\x01\x00\x00\x01\x03", "the number 1, want 0"},
		{introduction(Password) + "\x01\x00\x00\x00\x63", "command 99"},
		{packet(1, many("\x00", 33)), "has no proof"},
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
