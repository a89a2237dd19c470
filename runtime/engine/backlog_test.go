package engine

import (
	"net"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"

	"hyperscale/runtime/epoll"
)

// fillBacklog makes a listener's queue as small as can be and fills it, so that the kernel
// drops what comes next. It returns the address.
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
