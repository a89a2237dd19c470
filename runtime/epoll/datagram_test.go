package epoll

import (
	"errors"
	"net"
	"net/netip"
	"syscall"
	"testing"
)

// A connected socket hears one address, reads empty datagrams, reports a port that is unreachable, and
// counts what its full buffer drops.
func TestDatagrams(t *testing.T) {
	peer, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	other, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	target := netip.MustParseAddrPort(peer.LocalAddr().String())
	fd, err := Datagrams(target, netip.MustParseAddr("127.0.0.9"))
	if err != nil {
		t.Fatal(err)
	}
	defer Close(fd)
	buffer := make([]byte, 64<<10)
	if n, errno := Write(fd, []byte("hello")); n != 5 || errno != 0 {
		t.Fatalf("wrote %d, %v", n, errno)
	}
	_, from, err := peer.ReadFromUDPAddrPort(buffer)
	if err != nil || from.Addr().String() != "127.0.0.9" {
		t.Fatalf("from %v, %v", from, err)
	}
	if n, errno := Write(fd, make([]byte, 65508)); n != 0 || errno != syscall.EMSGSIZE {
		t.Errorf("wrote %d bytes of too many, %v", n, errno)
	}
	for _, text := range []string{"", "answer"} {
		if _, err := other.WriteToUDPAddrPort([]byte("foreign"), from); err != nil {
			t.Fatal(err)
		}
		if _, err := peer.WriteToUDPAddrPort([]byte(text), from); err != nil {
			t.Fatal(err)
		}
		if n, errno := Read(fd, buffer); errno != 0 || string(buffer[:n]) != text {
			t.Errorf("read %q, %v, want %q", buffer[:n], errno, text)
		}
	}
	if _, errno := Read(fd, buffer); errno != syscall.EAGAIN {
		t.Errorf("got %v, want EAGAIN", errno)
	}
	if n, err := Drops(fd); n != 0 || err != nil {
		t.Errorf("%d dropped, %v", n, err)
	}
	const sent = 100
	for range sent { // more than a buffer holds
		if _, err := peer.WriteToUDPAddrPort(buffer[:60000], from); err != nil {
			t.Fatal(err)
		}
	}
	read := 0
	for ; ; read++ {
		if _, errno := Read(fd, buffer); errno != 0 {
			break
		}
	}
	if n, err := Drops(fd); err != nil || n == 0 || int(n)+read != sent {
		t.Errorf("%d read, %d dropped of %d, %v", read, n, sent, err)
	}
	_ = peer.Close()
	if n, errno := Write(fd, []byte("gone")); n != 4 || errno != 0 {
		t.Errorf("wrote %d, %v", n, errno)
	}
	if _, errno := Read(fd, buffer); errno != syscall.ECONNREFUSED {
		t.Errorf("got %v, want ECONNREFUSED", errno)
	}
	if _, err := Datagrams(target, netip.MustParseAddr("::1")); !errors.Is(err, syscall.EAFNOSUPPORT) {
		t.Errorf("source of the other family: got %v, want EAFNOSUPPORT", err)
	}
}
