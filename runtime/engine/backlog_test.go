package engine

import (
	"net"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"

	"hyperscale/runtime/epoll"
)

// fillBacklog fills a listener's queue of the least size, so that the kernel drops further
// connections. It returns the address.
func fillBacklog(t *testing.T, l net.Listener) string {
	t.Helper()
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) { err = unix.Listen(int(fd), 0) }); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		fd, _, err := epoll.Dial(netip.MustParseAddrPort(l.Addr().String()), netip.Addr{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { epoll.Close(fd) })
	}
	return l.Addr().String()
}
