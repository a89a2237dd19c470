package kafka

import (
	"io"
	"net"
	"strings"
	"testing"

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
	if len(all) < 70 {
		t.Errorf("%d entries, want at least 70", len(all))
	}
	for _, kind := range []http1.Kind{
		http1.KindNone, http1.KindRefused, http1.KindClosed, http1.KindReset, http1.KindTruncated, http1.KindProtocol, http1.KindTooLarge,
		http1.KindTimeout, http1.KindConnectTimeout, http1.KindAuth, "server NOT_LEADER_OR_FOLLOWER",
	} {
		if kinds[kind] == 0 {
			t.Errorf("no entry ends in %q", kind)
		}
	}
}

// asks is a request.
func asks(key int, body string) string {
	b := i16(key) + i16(0) + i32(7) + text("c") + body
	return i32(len(b)) + b
}

// A broker is hostile once, and counts. A client that breaks the protocol is blamed.
func TestServer(t *testing.T) {
	batch := i64(0) + i32(49) + i32(-1) + "\x02" + "\x00\x00\x00\x00" + many("\x00", 40)
	record := i16(-1) + i16(-1) + i32(1) + i32(1) + text(Topic) + i32(1) + i32(0) + i32(len(batch)) + batch
	for _, tt := range []struct{ said, breach string }{
		{asks(apiVersions, ""), ""},
		{asks(apiAuthenticate, "geheim") + asks(apiAuthenticate, "geheim"), "the proof is"},
		{asks(apiProduce, i16(3)+many("x", 100)), "of a transaction"},
		{asks(apiProduce, record), "a wrong checksum"},
		{asks(apiProduce, strings.Replace(record, i32(49), i32(50), 1)), "a batch of"},
		{asks(99, ""), "the client asks 99"},
		{"\x00\x00\x00\x01x", "a request has 1 bytes"},
	} {
		e := answers("", nil, got(""))
		s, err := Start(&e)
		if err != nil {
			t.Fatal(err)
		}
		c, err := net.Dial("tcp", s.port.Address())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, tt.said); err != nil {
			t.Fatal(err)
		}
		_ = c.(*net.TCPConn).CloseWrite()
		_, _ = io.ReadAll(c) // a server that has not read all resets the connection
		_ = c.Close()
		s.Close()
		if s.Breach() == "" != (tt.breach == "") || !strings.Contains(s.Breach(), tt.breach) {
			t.Errorf("%q: breach %q", tt.said, s.Breach())
		}
	}
}
