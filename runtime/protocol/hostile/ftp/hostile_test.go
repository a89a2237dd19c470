package ftp

import (
	"io"
	"net"
	"strings"
	"testing"

	"hyperscale/runtime/protocol/http1"
)

func TestCatalogue(t *testing.T) {
	names, kinds := map[string]bool{}, map[http1.Kind]int{}
	for _, e := range All() {
		if names[e.Name] {
			t.Errorf("%q is there twice", e.Name)
		}
		names[e.Name] = true
		kinds[e.Want.Kind]++
	}
	if len(names) < 24 {
		t.Errorf("%d entries, want at least 24", len(names))
	}
	for _, kind := range []http1.Kind{http1.KindNone, http1.KindRefused, http1.KindClosed, http1.KindReset, http1.KindTruncated, http1.KindProtocol, http1.KindTooLarge, http1.KindTimeout, http1.KindWriteTimeout, http1.KindConnectTimeout, http1.KindTLS, http1.KindAuth, "server 550"} {
		if kinds[kind] == 0 {
			t.Errorf("no entry ends in %q", kind)
		}
	}
}

// A server is hostile once, and counts.
func TestServer(t *testing.T) {
	e := told("", Pass, "530 no\r\n", "server 530")
	s, err := Start(&e)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", s.port.Address())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(c, "USER a\r\nPASS b\r\nPASS b\r\nTYPE I\r\nQUIT\r\n")
	heard, _ := io.ReadAll(c)
	_ = c.Close()
	s.Close()
	want := "220 hostile|331 password|530 no|230 in|200 binary|221 bye|"
	if got := strings.ReplaceAll(string(heard), "\r\n", "|"); got != want || s.Breach() != "" || s.Counts() != (Counts{Connections: 1}) {
		t.Errorf("heard %s, %+v, %s", got, s.Counts(), s.Breach())
	}
}
