package hostiletest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync/atomic"
	"testing"
)

// lowestPort and the first port that the kernel gives to connections bound what FreePort returns. A port above would
// often be taken once a server listens: by a connection, or for a minute by one that has closed.
const lowestPort = 10_000

var portsTaken atomic.Uint32

func init() { portsTaken.Store(rand.Uint32()) }

// FreePort returns a port of 127.0.0.1, of TCP and UDP, at which no process listens, and which no other call returns soon.
func FreePort(tb testing.TB) int {
	tb.Helper()
	port, err := Free()
	if err != nil {
		tb.Fatal(err)
	}
	return port
}

// FreeAddress is 127.0.0.1 with a FreePort.
func FreeAddress(tb testing.TB) string {
	tb.Helper()
	return fmt.Sprintf("127.0.0.1:%d", FreePort(tb))
}

// Free is FreePort where there is no test.
func Free() (int, error) {
	highest := 32_768
	if b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		var low int
		if _, err := fmt.Sscan(string(b), &low); err == nil && low > lowestPort {
			highest = low
		}
	}
	var last error
	for range highest - lowestPort {
		port := lowestPort + int(portsTaken.Add(1))%(highest-lowestPort)
		if last = free(port); last == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no port of 127.0.0.1 from %d to %d is free: %w", lowestPort, highest-1, last)
}

// free tries whether a server could have a port.
func free(port int) error {
	address := fmt.Sprintf("127.0.0.1:%d", port)
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	c, err := net.ListenPacket("udp", address)
	if err != nil {
		return err
	}
	return c.Close()
}
