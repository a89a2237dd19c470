package pool

import (
	"net"
	"net/netip"
	"testing"

	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/datagram"
	"hyperscale/runtime/protocol/http1"
)

// socket is a connection over UDP to a peer, without a user.
func socket(t *testing.T) (*talks, *conn, *datagram.Counts, *net.UDPConn) {
	t.Helper()
	peer, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = peer.Close() })
	fd, err := epoll.Datagrams(netip.MustParseAddrPort(peer.LocalAddr().String()), netip.Addr{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { epoll.Close(fd) })
	p, counts := datagram.New(0), new(datagram.Counts)
	c := &conn{fd: int32(fd), slot: None, talk: &dialogue{Dialogue: p, packets: p}}
	y := &talks{Connections: &Connections{}}
	y.Sockets.buffer = make([]byte, readBuffer)
	return y, c, counts, peer
}

// A report that the port was unreachable belongs to a datagram before: the one that is sent next goes out.
func TestAReportBlamesItsOwnDatagram(t *testing.T) {
	_, c, counts, peer := socket(t)
	var sent uint64
	send := func() error {
		c.talk.packets.Expect(datagram.Want{}, counts)
		if err := c.talk.packets.Send(codec.MessageBinary, []byte("hello"), &sent); err != nil {
			t.Fatal(err)
		}
		n, err := c.writeDatagram()
		c.talk.took(n)
		return err
	}
	at := peer.LocalAddr().(*net.UDPAddr)
	_ = peer.Close()
	if err := send(); err != nil {
		t.Fatal(err)
	}
	again, err := net.ListenUDP("udp4", at)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := send(); err != nil || counts.Refused != 1 || sent != 2 {
		t.Fatalf("got %v, %+v, %d sent", err, counts, sent)
	}
	buffer := make([]byte, 100)
	if n, _, err := again.ReadFromUDPAddrPort(buffer); err != nil || string(buffer[:n]) != "hello" {
		t.Errorf("read %q, %v", buffer[:n], err)
	}
}

// What has come on a socket is counted before it closes, and what its exchange still waited for is late.
func TestASocketThatClosesIsRead(t *testing.T) {
	for wants := range 2 {
		y, c, counts, peer := socket(t)
		c.talk.packets.Expect(datagram.Want{Answers: wants}, counts)
		if _, errno := epoll.Write(int(c.fd), []byte("hello")); errno != 0 {
			t.Fatal(errno)
		}
		_, from, err := peer.ReadFromUDPAddrPort(make([]byte, 100))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"one", "", "three"} {
			if _, err := peer.WriteToUDPAddrPort([]byte(text), from); err != nil {
				t.Fatal(err)
			}
		}
		y.drain(c)
		if want := (datagram.Counts{Late: uint64(3 * wants), Stray: uint64(3 * (1 - wants))}); *counts != want {
			t.Errorf("%d asked for: counted %+v, want %+v", wants, *counts, want)
		}
	}
}

// Errors of a socket tell what they mean and what to do.
func TestErrorsOfSocketsAreExplained(t *testing.T) {
	_, c, counts, _ := socket(t)
	p := c.talk.packets
	p.Expect(datagram.Want{}, counts)
	if err := p.Send(codec.MessageBinary, make([]byte, datagram.SizeMax), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.writeDatagram(); err != nil {
		t.Errorf("the longest datagram: %v", err)
	}
	for errno, want := range map[error]http1.Kind{explainDatagram(90, 70000): http1.KindValue, explainDatagram(111, 0): http1.KindRefused, explainDatagram(113, 0): http1.KindUnreachable} { //lint:orderfree each by itself
		if got := http1.KindOf(errno); got != want {
			t.Errorf("%v: got %q, want %q", errno, got, want)
		}
	}
}
