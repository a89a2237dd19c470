package mqtt

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
	}
	if len(all) < 80 {
		t.Errorf("%d entries, want at least 80", len(all))
	}
	for _, kind := range []http1.Kind{
		http1.KindNone, http1.KindRefused, http1.KindClosed, http1.KindReset, http1.KindTruncated, http1.KindProtocol, http1.KindTooLarge, http1.KindFlood,
		http1.KindTimeout, http1.KindWriteTimeout, http1.KindConnectTimeout, http1.KindAuth, http1.KindValue, "server not authorized", "server session taken over",
	} {
		if kinds[kind] == 0 {
			t.Errorf("no entry ends in %q", kind)
		}
	}
}

const introduction = "\x10\x1c\x00\x04MQTT\x05\xc2\x00\x3c\x00\x00\x02me\x00\x03" + User + "\x00\x06" + Password

// A server is hostile once, proves the answer that a client took, and counts. A client that breaks the
// protocol is blamed.
func TestServer(t *testing.T) {
	publish := func(id string) string { return "\x32\x06\x00\x01t" + id + "\x00" }
	for _, tt := range []struct {
		said, heard string
		want        Counts
		breach      string
	}{
		{
			introduction + publish("\x00\x01") + "\xc0\x00" + publish("\x00\x02") + publish("\x00\x03"), welcome + "evil" + pingresp + "\x40\x02\x00\x02",
			Counts{Connections: 1, Messages: 3, Reused: true}, "",
		},
		{introduction + "\x30\x04\x00\x01t\x00", welcome, Counts{Connections: 1}, "has the first byte"},
		{introduction + publish("\x00\x01") + "\x20\x00", welcome + "evil", Counts{Connections: 1, Messages: 1}, "the client says"},
		{"\x10\x02hi", welcome, Counts{Connections: 1}, "the greeting says"},
	} {
		e := answers("", "evil", nil, acknowledged())
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
		heard, _ := io.ReadAll(c) // a server that has not read all resets the connection
		_ = c.Close()
		s.Close()
		if string(heard) != tt.heard && tt.breach == "" || s.Counts() != tt.want || s.Breach() == "" != (tt.breach == "") || !strings.Contains(s.Breach(), tt.breach) {
			t.Errorf("%q: heard %q, counts %+v, breach %q", tt.said, heard, s.Counts(), s.Breach())
		}
		select {
		case <-s.Proved():
			if tt.breach != "" {
				t.Error("a breach proves an answer")
			}
		default:
			if tt.breach == "" {
				t.Error("a third operation is no proof")
			}
		}
	}
}
