package cancel

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/hostile/authority"
)

const request = "cancel me, please"

// server plays each connection that comes, and returns what a request needs to reach it.
func server(t *testing.T, play func(net.Conn)) Errand {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				play(c)
			}()
		}
	}()
	return Errand{Server: netip.MustParseAddrPort(l.Addr().String()), Source: netip.MustParseAddr("127.0.0.1"), Say: codec.Cancel{AskTLS: []byte("tls?"), Agrees: 'S', Request: []byte(request)}}
}

func takes(c io.Reader, text string) bool {
	b := make([]byte, len(text))
	_, err := io.ReadFull(c, b)
	return err == nil && string(b) == text
}

// CANCEL-2, CANCEL-3: whatever a server does, a request ends, and counts for what became of it.
func TestServers(t *testing.T) {
	hangs := make(chan struct{})
	defer close(hangs)
	agrees := func(more string, then func(net.Conn)) func(net.Conn) {
		return func(c net.Conn) {
			if takes(c, "tls?") {
				_, _ = io.WriteString(c, "S"+more)
				then(c)
			}
		}
	}
	secured := func(then func(net.Conn)) func(net.Conn) {
		return agrees("", func(c net.Conn) {
			over := tls.Server(c, authority.Honest())
			if over.Handshake() == nil {
				then(over)
			}
		})
	}
	var heard = make(chan bool, 1)
	hears := func(c net.Conn) { heard <- takes(c, request) }
	for _, tt := range []struct {
		name    string
		secure  bool
		play    func(net.Conn)
		want    string // of the example; empty: it was heard
		waiting bool   // it takes all of its time
	}{
		{"takes it", false, hears, "", false},
		{"takes it in TLS", true, secured(hears), "", false},
		{"says nothing", false, func(net.Conn) { <-hangs }, "did not close", true},
		{"answers", false, func(c net.Conn) { _, _ = io.WriteString(c, "E") }, "has no answer", false},
		{"floods", false, func(c net.Conn) {
			for w := bufio.NewWriter(c); ; {
				if _, err := w.WriteString("N"); err != nil {
					return
				}
			}
		}, "has no answer", false},
		{"never agrees", true, func(c net.Conn) { <-hangs }, "ask for TLS", true},
		{"has no TLS", true, func(c net.Conn) { _, _ = io.WriteString(c, "N"); <-hangs }, `answers "N"`, false},
		{"goes on in clear", true, agrees("N notice", func(net.Conn) { <-hangs }), "TLS", false},
		{"begins TLS and stops", true, agrees("", func(net.Conn) { <-hangs }), "", true},
		{"closes", true, func(net.Conn) {}, "ask for TLS", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := server(t, tt.play)
			if tt.secure {
				e.TLS = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the certificate is not what is tested
			}
			c := New()
			c.Ask(e)
			within := 20 * time.Second
			if tt.waiting {
				within = 400 * time.Millisecond
			}
			got := c.End(within)
			if is := tt.want == "" && !tt.waiting; got.All() != 1 || (got.Heard == 1) != is || !strings.Contains(got.Example, tt.want) {
				t.Errorf("%+v, want %q", got, tt.want)
			} else if is && !<-heard {
				t.Error("another request came")
			}
		})
	}
}

// CANCEL-2, CANCEL-4: no more are under way than may be, others are dropped, and none is left behind the end.
func TestBounds(t *testing.T) {
	come := make(chan struct{}, 2*Most)
	hangs := make(chan struct{})
	defer close(hangs)
	e := server(t, func(net.Conn) { come <- struct{}{}; <-hangs })
	c := New()
	for range Most + Waiting + 5 {
		c.Ask(e)
	}
	for range Most {
		<-come
	}
	got := c.End(0)
	if got.Failed != Most+Waiting || got.Dropped != 5 || len(come) > 0 {
		t.Errorf("%+v, and %d more came", got, len(come))
	}
	c.Ask(e)
	if got := c.End(0); got.Dropped != 6 {
		t.Errorf("behind the end: %+v", got)
	}
}

// A server that is not there is a failure, and a crew that nothing asks starts nothing.
func TestNoServer(t *testing.T) {
	c := New()
	if got := c.End(time.Hour); got.All() != 0 {
		t.Errorf("%+v", got)
	}
	e := server(t, func(net.Conn) {})
	e.Server = netip.AddrPortFrom(e.Server.Addr(), 1)
	c = New()
	c.Ask(e)
	if got := c.End(20 * time.Second); got.Failed != 1 || !strings.Contains(got.Example, "refused") {
		t.Errorf("%+v", got)
	}
}
