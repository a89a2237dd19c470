package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
)

// The ports below those that the kernel assigns: a free one stays free until a test listens on
// it.
const lowestPort = 10_000

var portsTaken atomic.Uint32

func init() { portsTaken.Store(rand.Uint32()) }

// freeAddress returns a loopback address at which no process listens, and which no other call
// returns soon.
func freeAddress() (string, error) {
	highest := 32_768
	if b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		var low int
		if _, err := fmt.Sscan(string(b), &low); err == nil && low > lowestPort {
			highest = low
		}
	}
	for {
		address := fmt.Sprintf("127.0.0.1:%d", lowestPort+int(portsTaken.Add(1))%(highest-lowestPort))
		l, err := net.Listen("tcp", address)
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			return "", err
		}
		return address, l.Close()
	}
}

// ownAddress is freeAddress for a test that restarts the listener.
func ownAddress(t *testing.T) string {
	t.Helper()
	address, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}
