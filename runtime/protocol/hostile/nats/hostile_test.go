package nats

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
	for _, e := range Pulls() {
		if names[e.Name] {
			t.Errorf("%q is there twice", e.Name)
		}
		names[e.Name] = true
	}
	if pulls := len(Pulls()); pulls < 50 {
		t.Errorf("%d entries of sessions, want at least 50", pulls)
	}
	if len(all) < 80 {
		t.Errorf("%d entries, want at least 80", len(all))
	}
	for _, kind := range []http1.Kind{
		http1.KindNone, http1.KindRefused, http1.KindClosed, http1.KindReset, http1.KindTruncated, http1.KindProtocol, http1.KindTooLarge, http1.KindFlood,
		http1.KindTimeout, http1.KindWriteTimeout, http1.KindConnectTimeout, http1.KindAuth, http1.KindTLS, "server 503", "server permissions violation",
	} {
		if kinds[kind] == 0 {
			t.Errorf("no entry ends in %q", kind)
		}
	}
}

const introduction = `CONNECT {"user":"` + User + `","pass":"` + Password + `"}` + "\r\nPING\r\n"

// A server is hostile once, proves the answer that a client took, and counts. A client that breaks the
// protocol is blamed.
func TestServer(t *testing.T) {
	for _, tt := range []struct {
		said, heard string
		want        Counts
		breach      string
	}{
		{
			introduction + "SUB r 1\r\nPUB a r 1\r\nx\r\nPUB b r 0\r\n\r\nPUB a r 0\r\n\r\n", welcome + "PONG\r\nMSG r 1 4\r\nevil\r\nMSG r 1 4\r\nnext\r\n",
			Counts{Connections: 1, Messages: 3, Reused: true}, "",
		},
		{introduction + "PUB a r x\r\n", welcome + "PONG\r\n", Counts{Connections: 1}, "has no length"},
		{introduction + "PUB a r 1\r\nxyz", welcome + "PONG\r\nMSG r 1 4\r\nevil\r\n", Counts{Connections: 1, Messages: 1}, "a message ends with"},
		{introduction + "MSG a r 1\r\n", welcome + "PONG\r\n", Counts{Connections: 1}, "the client says"},
		{"CONNECT {}\r\nPING\r\n", welcome + "PONG\r\n", Counts{Connections: 1}, "the greeting says"},
	} {
		e := answers("", msg("evil"), nil, got("evil"))
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
