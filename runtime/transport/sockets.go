package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
	"time"
)

// portTries is how often the transport tries another system-chosen port because the UDP port of
// the same number is taken.
const portTries = 16

// Sockets are a node's listener and its datagram socket, on the same port.
type Sockets struct {
	tcp net.Listener // nil: no node connects to this one
	udp *net.UDPConn
}

// Listen takes both ports of an address "host:port"; port 0 lets the system
// choose. Empty, for a client, takes only a socket to send datagrams from.
func Listen(address string) (*Sockets, error) {
	if address == "" {
		udp, err := net.ListenUDP("udp", nil)
		if err != nil {
			return nil, ListenError("", "", err)
		}
		return &Sockets{udp: udp}, nil
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w: give host:port, for example 127.0.0.1:7400", address, err)
	}
	for try := 1; ; try++ {
		s, err := listenBoth(address)
		if err == nil {
			return s, nil
		}
		if port != "0" || try == portTries || !errors.Is(err, syscall.EADDRINUSE) {
			return nil, ListenError(address, "--listen", err)
		}
	}
}

func listenBoth(address string) (*Sockets, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second) // to resolve the name
	defer cancel()
	config := net.ListenConfig{KeepAlive: -1}
	tcp, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	at := tcp.Addr().(*net.TCPAddr)
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: at.IP, Port: at.Port, Zone: at.Zone})
	if err != nil {
		_ = tcp.Close() // the error of the twin says more
		return nil, err
	}
	return &Sockets{tcp: tcp, udp: udp}, nil
}

// ListenError says what to do about an address that cannot be taken; flag is the
// one that sets it.
func ListenError(address, flag string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("listen on %s: the port is in use: stop what uses it, or choose another one with %s: %w", address, flag, err)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("listen on %s: not allowed: choose a port above 1023 with %s: %w", address, flag, err)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("listen on %s: no interface of this machine has that address: give one of its own to %s: %w", address, flag, err)
	}
	return fmt.Errorf("listen on %s: %w: correct %s", address, err, flag)
}

// Addr is the address that was taken, with the port that the system chose.
func (s *Sockets) Addr() string {
	if s.tcp == nil {
		return ""
	}
	return s.tcp.Addr().String()
}

// WithoutTCP gives the TCP port back where nothing accepts: the system rejects peers at once.
func (s *Sockets) WithoutTCP() *Sockets {
	if s.tcp != nil {
		_ = s.tcp.Close() // nothing was accepted
		s.tcp = nil
	}
	return s
}

// Port returns the port alone, 0 if no node connects to this one.
func (s *Sockets) Port() string {
	if s.tcp == nil {
		return "0"
	}
	return strconv.Itoa(s.tcp.Addr().(*net.TCPAddr).Port)
}

// Unspecified says that the address taken is no address to call: 0.0.0.0 or ::.
func (s *Sockets) Unspecified() bool {
	return s.tcp != nil && s.tcp.Addr().(*net.TCPAddr).IP.IsUnspecified()
}

// Close gives both ports back.
func (s *Sockets) Close() {
	if s.tcp != nil {
		_ = s.tcp.Close() // closing twice is the only error
	}
	_ = s.udp.Close()
}
