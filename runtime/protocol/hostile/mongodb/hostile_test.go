package mongodb

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
	if len(all) < 60 {
		t.Errorf("%d entries, want at least 60", len(all))
	}
	for _, kind := range []http1.Kind{
		http1.KindNone, http1.KindRefused, http1.KindClosed, http1.KindReset, http1.KindTruncated, http1.KindProtocol, http1.KindTooLarge, http1.KindFlood,
		http1.KindTimeout, http1.KindConnectTimeout, http1.KindAuth, http1.KindMoved, "server 11000",
	} {
		if kinds[kind] == 0 {
			t.Errorf("no entry ends in %q", kind)
		}
	}
}

// A server blames a client that breaks the protocol.
func TestServer(t *testing.T) {
	asks := func(code, flags int, body string) string { return frame(0, code, flags, body) }
	for _, tt := range []struct{ said, breach string }{
		{asks(0, 0, doc(whole("hello", 1))), ""},
		{asks(0, 0, doc(text("find", Collection), text("$db", "shop"))), ""},
		{asks(0, 0, doc(text("find", "other"), text("$db", "shop"))), "the client asks"},
		{asks(0, 0, doc(whole("drop", 1))), "the client asks \"drop\""},
		{asks(2004, 0, doc(whole("hello", 1))), "the code 2004"},
		{asks(0, 2, doc(whole("hello", 1))), "the flags 0x2"},
		{asks(0, 0, doc(whole("hello", 1))+"x"), "a document of"},
		{asks(0, 0, ""), "a request has 21 bytes"},
		{asks(0, 0, doc(whole("saslContinue", 1), binaryOf("payload", "c=biws,r=x,p=evil"), text("$db", "admin"))), "the proof is"},
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
