package resolve

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// serve answers datagrams and streams at one port with the given function.
func serve(t *testing.T, answer func(query []byte, tcp bool) [][]byte) netip.AddrPort {
	t.Helper()
	streams, packets := pair(t)
	at := packets.LocalAddr().(*net.UDPAddr).AddrPort()
	t.Cleanup(func() { packets.Close(); streams.Close() })
	go func() {
		b := make([]byte, 2048)
		for {
			n, from, err := packets.ReadFrom(b)
			if err != nil {
				return
			}
			for _, out := range answer(b[:n], false) {
				_, _ = packets.WriteTo(out, from)
			}
		}
	}()
	go func() {
		for {
			c, err := streams.Accept()
			if err != nil {
				return
			}
			var size [2]byte
			if _, err := io.ReadFull(c, size[:]); err == nil {
				b := make([]byte, binary.BigEndian.Uint16(size[:]))
				if _, err := io.ReadFull(c, b); err == nil {
					for _, out := range answer(b, true) {
						_, _ = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(out))), out...))
					}
				}
			}
			c.Close()
		}
	}()
	return at
}

// pair listens at one port for both; another process may have the second, so it tries.
func pair(t *testing.T) (net.Listener, net.PacketConn) {
	t.Helper()
	for range 50 {
		packets, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		streams, err := net.Listen("tcp", packets.LocalAddr().String())
		if err == nil {
			return streams, packets
		}
		packets.Close()
	}
	t.Fatal("no port is free for both")
	return nil, nil
}

// Over true sockets: forged datagrams before the true one, a cut one and then TCP, a
// server that is not there before one that is.
func TestResolver(t *testing.T) {
	at := serve(t, func(query []byte, tcp bool) [][]byte {
		if asksAAAA(query) {
			return [][]byte{reply(t, query, nil)}
		}
		if tcp {
			return [][]byte{reply(t, query, nil, "big.example. A 192.0.2.7 60")}
		}
		forged := reply(t, query, func(m *dnsmessage.Message) { m.Header.ID++ }, "big.example. A 192.0.2.66 60")
		return [][]byte{forged, {1}, reply(t, query, func(m *dnsmessage.Message) { m.Header.Truncated = true })}
	})
	gone := serve(t, func([]byte, bool) [][]byte { return nil })
	r := &Resolver{Config: Config{Servers: []netip.AddrPort{gone, at}, Dots: 1, Timeout: time.Second, Attempts: 1}}
	a, err := r.Lookup(t.Context(), "big.example")
	if got := shown(a, err); got != "192.0.2.7/1m0s" || !a.TCP || a.Server != at || a.Took < time.Second {
		t.Errorf("got %s, %+v", got, a)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := r.Lookup(ctx, "other.example"); err != context.DeadlineExceeded {
		t.Errorf("a context that ends: %v", err)
	}
	closed := netip.MustParseAddrPort("127.0.0.1:1")
	r.Config.Servers = []netip.AddrPort{closed}
	if _, err := r.Lookup(t.Context(), "big.example"); err == nil {
		t.Error("a server that is not there has answered")
	}
}
