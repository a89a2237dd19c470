//go:build linux

package epoll

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Read reads from a non-blocking socket. An errno of 0 with n = 0 is the end of the
// stream. The errno is returned as such, not as an error, to keep it out of an interface;
// a caller that makes it one must first compare it with 0. It receives instead of reading: the
// kernel then leaves out what only files need.
func Read(fd int, b []byte) (n int, errno syscall.Errno) {
	if len(b) == 0 {
		return 0, unix.EINVAL // 0 bytes would look like the end of the stream
	}
	for {
		r, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), 0, 0, 0)
		if errno == 0 {
			return int(r), 0
		}
		if errno != unix.EINTR {
			return 0, errno
		}
	}
}

// Write writes to a non-blocking socket and may take less than all of b. A peer that has gone
// is an errno, never a signal.
func Write(fd int, b []byte) (n int, errno syscall.Errno) {
	if len(b) == 0 {
		return 0, 0
	}
	for {
		r, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_NOSIGNAL, 0, 0)
		if errno == 0 {
			return int(r), 0
		}
		if errno != unix.EINTR {
			return 0, errno
		}
	}
}

// Dial starts a TCP connection, from source if that is valid (the kernel chooses its port).
// done says that it is established already; otherwise wait for Out and call Connected. The
// descriptor is non-blocking and sends small writes at once.
func Dial(target netip.AddrPort, source netip.Addr) (fd int, done bool, err error) {
	return open(target, source, NoDelay)
}

// DialQuiet is Dial for a connection on which nothing is written: it leaves out the option for small writes.
func DialQuiet(target netip.AddrPort, source netip.Addr) (fd int, done bool, err error) {
	return open(target, source, func(int) error { return nil })
}

func open(target netip.AddrPort, source netip.Addr, set func(fd int) error) (fd int, done bool, err error) {
	fd, err = unix.Socket(family(target.Addr()), unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, false, fmt.Errorf("open a socket: %w", err)
	}
	if err = set(fd); err == nil {
		if done, err = dial(fd, target, source); err == nil {
			return fd, done, nil
		}
	}
	Close(fd)
	return -1, false, err
}

func dial(fd int, target netip.AddrPort, source netip.Addr) (bool, error) {
	if err := leave(fd, target, source); err != nil {
		return false, err
	}
	switch errno := connect(fd, target); errno {
	case 0:
		return true, nil
	case unix.EINPROGRESS, unix.EINTR:
		return false, nil
	default:
		return false, fmt.Errorf("connect to %s: %w", target, errno)
	}
}

// connect does not tell the scheduler. Over loopback the whole handshake runs inside of the call, longer than the
// scheduler waits until it takes the processor away and starts another thread.
func connect(fd int, target netip.AddrPort) syscall.Errno {
	var errno syscall.Errno
	if addr := target.Addr().Unmap(); addr.Is4() {
		to := unix.RawSockaddrInet4{Family: unix.AF_INET, Port: networkOrder(target.Port()), Addr: addr.As4()}
		_, _, errno = syscall.RawSyscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&to)), unsafe.Sizeof(to))
	} else {
		to := unix.RawSockaddrInet6{Family: unix.AF_INET6, Port: networkOrder(target.Port()), Addr: target.Addr().As16(), Scope_id: zone(target.Addr().Zone())}
		_, _, errno = syscall.RawSyscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&to)), unsafe.Sizeof(to))
	}
	return errno
}

func networkOrder(port uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], port)
	return binary.NativeEndian.Uint16(b[:])
}

// leave binds a socket to a source, if that is valid.
func leave(fd int, target netip.AddrPort, source netip.Addr) error {
	if source.IsValid() {
		// Without this option the kernel would choose a port for the source alone, and all
		// targets together could have no more connections than there are ports.
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1) // an old kernel only has fewer ports
		if source.Unmap().Is4() != target.Addr().Unmap().Is4() {
			return fmt.Errorf("connect to %s from %s: %w", target, source, unix.EAFNOSUPPORT)
		}
		if err := unix.Bind(fd, sockaddr(netip.AddrPortFrom(source, 0))); err != nil {
			return fmt.Errorf("bind to source address %s: %w", source, err)
		}
	}
	return nil
}

// Datagrams opens a UDP socket that sends to one address and hears it alone, from source if that is
// valid. The descriptor is non-blocking. A read is one datagram, and may be empty: Read then returns 0
// bytes without an errno. Write takes all of a datagram or nothing.
func Datagrams(target netip.AddrPort, source netip.Addr) (fd int, err error) {
	fd, err = unix.Socket(family(target.Addr()), unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open a socket: %w", err)
	}
	if err = leave(fd, target, source); err == nil {
		if err = unix.Connect(fd, sockaddr(target)); err == nil {
			return fd, nil
		}
		err = fmt.Errorf("connect to %s: %w", target, err)
	}
	Close(fd)
	return -1, err
}

// Drops counts the datagrams that the kernel has dropped on a socket: its buffer was full, or a checksum
// was wrong. The count wraps around.
func Drops(fd int) (uint32, error) {
	var info [memoryWords]uint32
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := syscall.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO, uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	switch {
	case errno != 0:
		return 0, fmt.Errorf("ask for drops: %w", errno)
	case size < uint32(unsafe.Sizeof(info)):
		return 0, fmt.Errorf("ask for drops: %w", unix.ENOPROTOOPT) // an old kernel
	}
	return info[memoryWords-1], nil
}

// memoryWords is how many numbers SO_MEMINFO has; the last one counts drops.
const memoryWords = 9

// Connected says how a started connection ended, once the descriptor is writable.
func Connected(fd int) error {
	code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err != nil {
		return fmt.Errorf("ask how connecting ended: %w", err)
	}
	if code != 0 {
		return fmt.Errorf("connect: %w", syscall.Errno(code))
	}
	return nil
}

// Accept takes a connection from a non-blocking listener; EAGAIN when there is none.
func Accept(listener int) (fd int, err error) {
	fd, _, err = unix.Accept4(listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
	return fd, err
}

// NoDelay makes small writes leave at once.
func NoDelay(fd int) error {
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return fmt.Errorf("set TCP_NODELAY: %w", err)
	}
	return nil
}

// Close closes a descriptor. The kernel frees it whatever it answers, so there is
// nothing that a caller could do about an error. It does not tell the scheduler either: a close of a
// connection over loopback runs what the peer does with it.
func Close(fd int) { _, _, _ = syscall.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0) }

// CloseWrite closes our side of a connection behind what the kernel has. It fails only if the connection
// is gone, which a read reports.
func CloseWrite(fd int) { _ = unix.Shutdown(fd, unix.SHUT_WR) }

// outqNSD is SIOCOUTQNSD of Linux, which golang.org/x/sys does not name.
const outqNSD = 0x894B

// Unsent returns how many bytes of a TCP connection the kernel has taken and not sent once; a closed side that is
// not told counts as one.
func Unsent(fd int) int {
	n, err := unix.IoctlGetInt(fd, outqNSD)
	if err != nil {
		return 0 // it is closed
	}
	return n
}

// Ends returns the two ends of a connection.
func Ends(fd int) (local netip.Addr, peer netip.AddrPort, err error) {
	own, err := unix.Getsockname(fd)
	if err != nil {
		return local, peer, fmt.Errorf("read a socket's own address: %w", err)
	}
	other, err := unix.Getpeername(fd)
	if err != nil {
		return local, peer, fmt.Errorf("read a socket's peer: %w", err)
	}
	return addrPort(own).Addr(), addrPort(other), nil
}

func addrPort(s unix.Sockaddr) netip.AddrPort {
	switch s := s.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(s.Addr), uint16(s.Port))
	case *unix.SockaddrInet6:
		a := netip.AddrFrom16(s.Addr)
		if s.ZoneId != 0 {
			a = a.WithZone(strconv.Itoa(int(s.ZoneId)))
		}
		return netip.AddrPortFrom(a, uint16(s.Port))
	}
	return netip.AddrPort{}
}

func family(addr netip.Addr) int {
	if addr.Unmap().Is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if addr := a.Addr().Unmap(); addr.Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: addr.As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16(), ZoneId: zone(a.Addr().Zone())}
}

// zone parses a numeric scope; a name needs a look-up, which belongs to the resolver.
func zone(text string) uint32 {
	var id uint32
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0
		}
		id = id*10 + uint32(c-'0')
	}
	return id
}
