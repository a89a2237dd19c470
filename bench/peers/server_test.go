package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/sys/unix"
)

// startFast serves in this process; its goroutine ends with the tests.
func startFast(t *testing.T, c serverConfig) (string, *counter) {
	t.Helper()
	c.Listen = "127.0.0.1:0"
	n := &counter{base: time.Now(), arrivals: make([]time.Duration, c.Arrivals)}
	f, err := newFast(c, n)
	if err != nil {
		t.Fatal(err)
	}
	address, err := f.address()
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = f.serve() }()
	return address, n
}

// TestFastServer sends requests in pieces and several at once: each is answered
// and counted once, and one after the other where that is asked for.
func TestFastServer(t *testing.T) {
	for name, c := range map[string]serverConfig{"at once": {Arrivals: 10}, "in turn": {Capacity: 1000, Arrivals: 10}, "late": {Delay: time.Millisecond, Arrivals: 10}} {
		address, n := startFast(t, c)
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(conn)
		const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
		for _, step := range []struct {
			pieces  []string
			answers int
		}{
			{[]string{request}, 1},
			{[]string{request + request + request}, 3},
			{[]string{request[:len(request)-3], request[len(request)-3 : len(request)-1], request[len(request)-1:] + request[:5], request[5:]}, 2},
		} {
			for _, piece := range step.pieces {
				if _, err := io.WriteString(conn, piece); err != nil {
					t.Fatal(err)
				}
			}
			for range step.answers {
				r, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(r.Body)
				if err != nil || r.StatusCode != http.StatusOK || len(body) != 40 {
					t.Errorf("%s: status %d, %d bytes, %v", name, r.StatusCode, len(body), err)
				}
			}
		}
		if got := n.requests.Load(); got != 6 {
			t.Errorf("%s: %d requests are counted, want 6", name, got)
		}
		if n.kept.Load() != 6 || n.most.Load() != 1 {
			t.Errorf("%s: %d arrivals are kept, %d connections; want 6, 1", name, n.kept.Load(), n.most.Load())
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestBatchingServer is read by another implementation's client.
func TestBatchingServer(t *testing.T) {
	n := &counter{}
	b, err := newBatching(serverConfig{Listen: "127.0.0.1:0"}, n)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = b.serve() }()
	transport := &http2.Transport{AllowHTTP: true, DialTLSContext: func(_ context.Context, network, address string, _ *tls.Config) (net.Conn, error) {
		return net.Dial(network, address)
	}}
	defer transport.CloseIdleConnections()
	for range 300 {
		r, err := (&http.Client{Transport: transport}).Get("http://" + b.listener.Addr().String() + "/")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK || len(body) != 40 || r.ProtoMajor != 2 {
			t.Fatalf("status %d, %d bytes of HTTP/%d, %v", r.StatusCode, len(body), r.ProtoMajor, err)
		}
	}
	if got := n.requests.Load(); got != 300 {
		t.Errorf("%d requests are counted, want 300", got)
	}
}

// TestOrphansAreCounted lets a command leave its work to a process that it does not
// wait for.
func TestOrphansAreCounted(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	cpus, err := usable()
	if err != nil {
		t.Fatal(err)
	}
	const work = "(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done) & exit 3"
	u, err := run(command{Args: []string{"sh", "-c", work}, CPUs: cpus[:1], Out: filepath.Join(t.TempDir(), "out"), Limit: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if u.Exit != 3 || u.CPU < 10*time.Millisecond {
		t.Errorf("it ended with %d and took %v: the orphan is missing", u.Exit, u.CPU)
	}
}
