package smtp

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
	if len(names) < 26 {
		t.Errorf("%d entries, want at least 26", len(names))
	}
	for _, kind := range []http1.Kind{http1.KindNone, http1.KindRefused, http1.KindClosed, http1.KindReset, http1.KindTruncated, http1.KindProtocol, http1.KindTooLarge, http1.KindTimeout, http1.KindWriteTimeout, http1.KindConnectTimeout, "server 550"} {
		if kinds[kind] == 0 {
			t.Errorf("no entry ends in %q", kind)
		}
	}
}

// A server is hostile once, and counts.
func TestServer(t *testing.T) {
	e := told("", Rcpt, "550 no\r\n", "server 550")
	s, err := Start(&e)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", s.port.Address())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(c, "EHLO x\r\nMAIL FROM:<a>\r\nRCPT TO:<b>\r\nDATA\r\nRSET\r\nMAIL FROM:<a>\r\nRCPT TO:<b>\r\nDATA\r\nx\r\n.\r\nQUIT\r\n")
	heard, _ := io.ReadAll(c)
	_ = c.Close()
	s.Close()
	want := "220 hostile|250-hostile|250 PIPELINING|250 sender ok|550 no|503 no recipients|250 reset|250 sender ok|250 recipient ok|354 go|250 next|221 bye|"
	if got := strings.ReplaceAll(string(heard), "\r\n", "|"); got != want || s.Breach() != "" || s.Counts() != (Counts{1, 1, 1, 1}) {
		t.Errorf("heard %s, %+v, %s", got, s.Counts(), s.Breach())
	}
}
