package hostile

import (
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"

	"hyperscale/runtime/epoll"
)

// bury puts an address that takes no connection before the server's own.
func (s *Server) bury(a Address) error {
	if a == AddressNone {
		return nil
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open a dead address: %w", err)
	}
	s.dead = append(s.dead, fd)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return fmt.Errorf("bind a dead address: %w", err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return fmt.Errorf("name a dead address: %w", err)
	}
	own, ok := name.(*unix.SockaddrInet4)
	if !ok {
		return fmt.Errorf("a dead address is %T", name)
	}
	address := netip.AddrPortFrom(netip.AddrFrom4(own.Addr), uint16(own.Port))
	s.first = append(s.first, address)
	if a == AddressRefuses {
		return nil // bound, so that no other process gets the port
	}
	// The kernel drops SYNs to a listener whose queue is full.
	if err := unix.Listen(fd, 0); err != nil {
		return fmt.Errorf("listen on a dead address: %w", err)
	}
	for range 4 {
		fd, _, err := epoll.Dial(address, netip.Addr{})
		if err != nil {
			return fmt.Errorf("fill the queue of a dead address: %w", err)
		}
		s.dead = append(s.dead, fd)
	}
	return nil
}

func (s *Server) unbury() {
	for _, fd := range s.dead {
		epoll.Close(fd)
	}
	s.dead = nil
}
