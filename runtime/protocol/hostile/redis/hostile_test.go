package redis

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
	for _, e := range Subscriptions() {
		if names[e.Name] {
			t.Errorf("%q is there twice", e.Name)
		}
		names[e.Name] = true
	}
	if n := len(Subscriptions()); n < 45 {
		t.Errorf("%d entries of subscriptions, want at least 45", n)
	}
	if len(all) < 100 {
		t.Errorf("%d entries, want at least 100", len(all))
	}
	for _, kind := range []http1.Kind{
		http1.KindNone, http1.KindRefused, http1.KindClosed, http1.KindReset, http1.KindTruncated, http1.KindProtocol, http1.KindTooLarge, http1.KindFlood,
		http1.KindTimeout, http1.KindWriteTimeout, http1.KindConnectTimeout, http1.KindAuth, "server ERR", "server LOADING", "server other",
	} {
		if kinds[kind] == 0 {
			t.Errorf("no entry ends in %q", kind)
		}
	}
}

const (
	getA     = "*2\r\n$3\r\nGET\r\n$1\r\na\r\n"
	greeting = "*5\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$4\r\nAUTH\r\n$3\r\napp\r\n$6\r\ngeheim\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n2\r\n"
)

// A server is hostile once, proves the answer that a client took, and counts. Close ends it though
// the client stays.
func TestServer(t *testing.T) {
	e := answers("", "+evil\r\n", nil, got(`"evil"`)).asking(Ask{Greets: true})
	s, err := Start(&e)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", s.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, step := range [][2]string{{greeting, welcome}, {getA, "+evil\r\n"}, {getA, next}} {
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
	if _, err := io.WriteString(c, getA); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Proved():
	case <-time.After(10 * time.Second):
		t.Error("a third operation is no proof")
	}
	s.Close()
	if got, want := s.Counts(), (Counts{Connections: 1, Commands: 5, Operations: 3, Reused: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if s.Breach() != "" {
		t.Error(s.Breach())
	}
}

// A client that breaks RESP is blamed.
func TestBreaches(t *testing.T) {
	for _, test := range []struct{ said, want string }{
		{"GET a\r\n", "no head"},
		{"*2\n", "no head"},
		{"*0\r\n", "empty"},
		{"*+1\r\n$1\r\na\r\n", "no head"},
		{"*1\r\n+PING\r\n", "no head"},
		{"*1\r\n$4\r\nPINGxx", "ends with"},
		{"*1\r\n$-1\r\n", "no head"},
		{strings.Replace(greeting, "geheim", "falsch", 1), "the greeting says"},
		{strings.Replace(greeting, "SELECT", "select", 1), "the greeting says"},
	} {
		s, err := Start(&Entry{Ask: Ask{Greets: strings.Contains(test.want, "greeting")}})
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
