package hostiletest

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// Names starts dnsmasq, a server of names that others wrote, with records as its arguments have them, and returns its
// address. It knows nothing else.
func Names(tb testing.TB, records ...string) (address string) {
	tb.Helper()
	program := Need(tb, "dnsmasq", "dnsmasq-base")
	file := filepath.Join(tb.TempDir(), "none.conf")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		tb.Fatal(err)
	}
	port := strconv.Itoa(FreePort(tb))
	server := Start(tb, program, append([]string{"--keep-in-foreground", "--conf-file=" + file, "--no-resolv", "--no-hosts", "--listen-address=127.0.0.1", "--bind-interfaces",
		"--port=" + port, "--user=", "--pid-file=", "--log-facility=-"}, records...)...)
	address = net.JoinHostPort("127.0.0.1", port)
	var err error
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		var c net.Conn
		if c, err = net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return address
		}
	}
	tb.Fatalf("dnsmasq does not listen: %v: %s", err, server.Kill())
	return ""
}
