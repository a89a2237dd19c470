package postgres

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
	if len(all) < 100 {
		t.Errorf("%d entries, want at least 100", len(all))
	}
	for _, kind := range []http1.Kind{
		http1.KindNone, http1.KindRefused, http1.KindClosed, http1.KindReset, http1.KindTruncated, http1.KindProtocol, http1.KindTooLarge, http1.KindFlood, http1.KindOther,
		http1.KindTimeout, http1.KindWriteTimeout, http1.KindConnectTimeout, http1.KindAuth, http1.KindTLS, "server 57P01", "server 53300", "server other",
	} {
		if kinds[kind] == 0 {
			t.Errorf("no entry ends in %q", kind)
		}
	}
}

const (
	startup = "\x00\x00\x00\x20\x00\x03\x00\x00user\x00app\x00database\x00shop\x00\x00"
	asks    = "P\x00\x00\x00\x08\x00\x00\x00\x00B\x00\x00\x00\x0c\x00\x00\x00\x00\x00\x00\x00\x00E\x00\x00\x00\x09\x00\x00\x00\x00\x00S\x00\x00\x00\x04"
)

// A server is hostile once, proves the answer that a client took, and counts.
func TestServer(t *testing.T) {
	e := answers("", rows(row("evil")), nil, got("evil"))
	s, err := Start(&e)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", s.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, step := range [][2]string{{startup, welcome}, {asks, rows(row("evil"))(false)}, {asks, rows(row("next"))(false)}} {
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
	if _, err := io.WriteString(c, asks); err != nil {
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
		{"\x00\x00\x00\x04\x00\x00\x00\x00", "the first message has 4 bytes"},
		{strings.Replace(startup, "app", "apq", 1), "begins with"},
		{startup + "B\x00\x00\x00\x04", "comes where"},
		{startup + "P\x00\x00\x00\x04S\x00\x00\x00\x04", "comes where"},
		{startup + "P\x00\x00\x00\x03", "has 3 bytes"},
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
