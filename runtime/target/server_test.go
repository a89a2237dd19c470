package target

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"hyperscale/runtime/protocol/http1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start serves on a free port until the test ends.
func start(t *testing.T, change func(*Config)) *Server {
	t.Helper()
	cfg := Default()
	cfg.Listen = "127.0.0.1:0"
	if change != nil {
		change(&cfg)
	}
	s, err := Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return s
}

func client(t *testing.T, s *Server) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.CertificatePEM())
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ExpectContinueTimeout: 5 * time.Second}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport: transport, Timeout: 20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func ask(t *testing.T, c *http.Client, method, url string, body io.Reader, header ...string) (int, string) {
	t.Helper()
	request, err := http.NewRequest(method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := c.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode, string(text)
}

// both runs a test against the loop and against TLS.
func both(t *testing.T, test func(t *testing.T, secure bool)) {
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("tls=%v", secure), func(t *testing.T) { test(t, secure) })
	}
}

func TestAnswers(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		s := start(t, func(c *Config) { c.TLS = secure; c.Size = 300_000 })
		c := client(t, s)
		if status, body := ask(t, c, "GET", s.URL()+"/x?y=1", nil); status != 200 || len(body) != 300_000 {
			t.Errorf("GET: got %d with %d bytes, want 200 with 300000", status, len(body))
		}
		if status, body := ask(t, c, "HEAD", s.URL()+"/", nil); status != 200 || body != "" {
			t.Errorf("HEAD: got %d %q", status, body)
		}
		chunked := struct{ io.Reader }{strings.NewReader(strings.Repeat("x", 200_000))}
		if status, _ := ask(t, c, "POST", s.URL()+"/p", chunked, "Expect", "100-continue"); status != 200 {
			t.Errorf("POST of chunks: got %d", status)
		}
		_, body := ask(t, c, "POST", s.URL()+"/login", strings.NewReader(`{"user":"\u00e4 \"b"}`))
		var login struct{ Token string }
		if err := json.Unmarshal([]byte(body), &login); err != nil {
			t.Fatalf("login answered %q: %v", body, err)
		}
		if status, body := ask(t, c, "GET", s.URL()+"/me", nil, "Authorization", "Bearer "+login.Token); status != 200 || body != `{"user":"ä \"b"}`+"\n" {
			t.Errorf("GET /me: got %d %q", status, body)
		}
		_, body = ask(t, c, "GET", s.URL()+"/__stats", nil)
		var got Stats
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatalf("stats answered %q: %v", body, err)
		}
		if got.BytesOut < 600_000 || got.BytesIn < 200_000 {
			t.Errorf("bytes: got %d out, %d in", got.BytesOut, got.BytesIn)
		}
		got.BytesIn, got.BytesOut, got.Connections = 0, 0, 0
		want := Stats{Requests: 5, Responses: 5, Statuses: map[string]uint64{"200": 5}, Paths: map[string]uint64{"/x": 1, "/": 1, "/p": 1, "/login": 1, "/me": 1}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("stats (-want +got):\n%s", diff)
		}
		if status, _ := ask(t, c, "POST", s.URL()+"/__reset", nil); status != 204 || s.Stats().Requests != 0 {
			t.Errorf("reset: got %d, then %d requests", status, s.Stats().Requests)
		}
	})
}

func dial(t *testing.T, s *Server) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr())
	if err == nil && s.secure != nil {
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) // this test does not check the certificate
	}
	if err == nil {
		err = conn.SetDeadline(time.Now().Add(20 * time.Second))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

const plainGet = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

func TestFaultsAreCounted(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		s := start(t, func(c *Config) {
			c.TLS = secure
			c.ErrorEvery, c.CloseEvery, c.StallEvery, c.StallFor = 2, 5, 3, 40*time.Millisecond
		})
		conn := dial(t, s)
		begin := time.Now()
		_, _ = io.WriteString(conn, strings.Repeat(plainGet, 7)) // the read reports it
		all, err := io.ReadAll(conn)
		if got := statuses(string(all)); got != "200 500 200 500" || err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("got %q, error %v, want 200 500 200 500", got, err)
		}
		if took := time.Since(begin); took < 40*time.Millisecond {
			t.Errorf("the third request was answered after %v, want 40ms at least", took)
		}
		if got := s.Stats(); got.Requests != 5 || got.Responses != 4 || got.Connections != 1 {
			t.Errorf("got %+v, want 5 requests, 4 responses, 1 connection", got)
		}
	})
}

func TestLatency(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		s := start(t, func(c *Config) { c.TLS = secure; c.Latency, c.Jitter = 20*time.Millisecond, 5*time.Millisecond })
		conn := dial(t, s)
		begin := time.Now()
		_, _ = io.WriteString(conn, plainGet+plainGet) // the read reports it
		reader := bufio.NewReader(conn)
		for range 2 {
			response, err := http.ReadResponse(reader, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, response.Body) // the next response reports it
		}
		if took := time.Since(begin); took < 30*time.Millisecond {
			t.Errorf("two answers took %v, want 30ms at least", took)
		}
	})
}

// A peer that drips its head is cut off, one that is silent between requests is not.
func TestSlowLoris(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		s := start(t, func(c *Config) { c.TLS = secure; c.HeadTimeout = 300 * time.Millisecond })
		idle, slow := dial(t, s), dial(t, s)
		if _, err := io.WriteString(idle, plainGet); err != nil {
			t.Fatal(err)
		}
		reader := bufio.NewReader(idle)
		if _, err := http.ReadResponse(reader, nil); err != nil {
			t.Fatal(err)
		}
		cut := make(chan time.Duration, 1)
		begin := time.Now()
		go func() {
			_, _ = io.ReadAll(slow) // any end will do
			cut <- time.Since(begin)
		}()
		for _, c := range []byte(plainGet + strings.Repeat("x", 100)) {
			if _, err := slow.Write([]byte{c}); err != nil {
				break
			}
			if len(cut) > 0 {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if took := <-cut; took > 5*time.Second || s.Stats().Requests != 1 {
			t.Errorf("the slow peer was cut after %v, %d requests counted, want 300ms and 1", took, s.Stats().Requests)
		}
		if _, err := io.WriteString(idle, plainGet); err != nil {
			t.Fatal(err)
		}
		_, _ = reader.Discard(Default().Size)
		if response, err := http.ReadResponse(reader, nil); err != nil || response.StatusCode != 200 {
			t.Errorf("the idle connection: got %v, error %v", response, err)
		}
	})
}

// A peer that sends many requests and reads late gets every byte, in order.
func TestPipelinedAndReadLate(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		s := start(t, func(c *Config) { c.TLS = secure; c.Size = 20_000 })
		conn := dial(t, s)
		const n = 2000
		sent := make(chan error, 1)
		go func() {
			_, err := io.WriteString(conn, strings.Repeat("GET /"+strings.Repeat("x", 200)+" HTTP/1.1\r\nHost: h\r\n\r\n", n-1)+
				"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
			sent <- err
		}()
		time.Sleep(100 * time.Millisecond) // the kernel's buffers fill
		all, err := io.ReadAll(conn)
		if err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Fatal(err)
		}
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		line := len("hyperscale target: the quick brown fox jumps over the lazy dog.\n")
		if got, want := bytes.Count(all, []byte("fox")), n*(20_000/line); got < want || strings.Count(string(all), "HTTP/1.1 200") != n {
			t.Errorf("got %d foxes in %d answers, want at least %d in %d", got, strings.Count(string(all), "HTTP/1.1 200"), want, n)
		}
	})
}

// A peer that pipelines too much must wait: the server keeps a bounded number of bytes for it.
func TestPipelinedBytesAreBounded(t *testing.T) {
	cfg := Default()
	cfg.Latency = 5 * time.Millisecond
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLoop(newSite(cfg), listener.(*net.TCPListener))
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.run(ctx) }()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	flood := strings.Repeat(plainGet, 64<<20/len(plainGet))
	for sent := 0; sent == 0 && (err == nil || errors.Is(err, os.ErrDeadlineExceeded)); { // a slow machine misses the deadline before it writes
		_ = conn.SetDeadline(time.Now().Add(300 * time.Millisecond)) // a closed one fails below
		sent, err = io.WriteString(conn, flood)
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("writing 64 MiB: got %v, want it to block until the deadline", err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second)) // a closed one fails below
	answers := bufio.NewReader(conn)
	for range 2 { // however slow the machine is
		answer, err := http.ReadResponse(answers, nil)
		if err == nil {
			_, err = io.Copy(io.Discard, answer.Body)
		}
		if err != nil {
			t.Errorf("an answer of many: %v", err)
			break
		}
	}
	cancel()
	if err := errors.Join(l.poller.Wake(), <-done); err != nil {
		t.Fatal(err)
	}
	if c := l.conns[1]; len(c.pending) > maxHead+readSize || l.site.stats.Responses < 2 {
		t.Errorf("%d bytes are pending after %d responses, want at most %d after several", len(c.pending), l.site.stats.Responses, maxHead+readSize)
	}
}

// Our own client codec and our own server agree.
func TestCodecAgrees(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		s := start(t, func(c *Config) { c.TLS = secure })
		conn := dial(t, s)
		var p http1.Parser
		var c http1.Collector
		for _, tt := range []struct {
			request  http1.Request
			status   int
			body     string
			reusable bool
		}{
			{http1.Request{Method: "POST", URL: s.URL() + "/login", Body: []byte(`{"user":"u1"}`), ContentType: "application/json"}, 200, `{"token":"user-7531"}`, true},
			{http1.Request{Method: "GET", URL: s.URL() + "/me", Bearer: "user-7531"}, 200, `{"user":"u1"}`, true},
			{http1.Request{Method: "HEAD", URL: s.URL()}, 200, "", true},
			{http1.Request{Method: "POST", URL: s.URL() + "/__reset"}, 204, "", true},
			{http1.Request{Method: "GET", URL: s.URL() + "/redirect", Headers: []http1.Pair{{Name: "Connection", Value: "close"}}}, 302, "go to /", false},
		} {
			call, err := tt.request.Compile()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Write(call.Bytes); err != nil {
				t.Fatal(err)
			}
			p.Reset(call.Method)
			p.Collect(&c)
			for b := make([]byte, 4096); !p.Done(); {
				n, err := conn.Read(b)
				if err == nil {
					_, _, err = p.Feed(b[:n])
				}
				if err != nil {
					t.Fatalf("%s %s: %v", call.Method, call.Path, err)
				}
			}
			if body := strings.TrimSpace(string(c.Body)); p.Status() != tt.status || body != tt.body || p.Reusable() != tt.reusable {
				t.Errorf("%s %s: got %d %q reusable %v, want %d %q %v", call.Method, call.Path, p.Status(), body, p.Reusable(), tt.status, tt.body, tt.reusable)
			}
		}
	})
}

// The answer to a refused request reaches the peer although the peer keeps sending.
func TestRefusalIsReadable(t *testing.T) {
	s := start(t, nil)
	conn := dial(t, s)
	if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9999999999999\r\n\r\n"+strings.Repeat("x", 100_000)); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(conn)
	if !strings.Contains(string(all), "413 ") || err != nil {
		t.Errorf("got %q, error %v", all, err)
	}
}

func TestStatsConnectionIsUncounted(t *testing.T) {
	s := start(t, nil)
	c := client(t, s)
	ask(t, c, "GET", s.URL()+"/__stats", nil)
	if got := s.Stats().Connections; got != 0 {
		t.Errorf("after /__stats: got %d connections, want 0", got)
	}
	ask(t, c, "GET", s.URL()+"/", nil)
	if got := s.Stats().Connections; got != 1 {
		t.Errorf("after /: got %d connections, want 1", got)
	}
}

func TestListenErrorsName(t *testing.T) {
	s := start(t, nil)
	cfg := Default()
	cfg.Listen = s.Addr()
	_, err := Listen(cfg)
	if err == nil || !strings.Contains(err.Error(), "listen on "+s.Addr()+": another program holds this port: end it or choose another port with --listen") {
		t.Errorf("port in use: got %v", err)
	}
	cfg.Listen = "192.0.2.1:80"
	if _, err := Listen(cfg); err == nil || !strings.Contains(err.Error(), "use an address of this machine") {
		t.Errorf("foreign address: got %v", err)
	}
	cfg.Size = -1
	if _, err := Listen(cfg); err == nil || !strings.Contains(err.Error(), "size = -1") {
		t.Errorf("bad size: got %v", err)
	}
}

func TestPlainTextOnTLSPort(t *testing.T) {
	s := start(t, func(c *Config) { c.TLS = true })
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, plainGet) // the read reports it
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.ReadAll(conn); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v, want the connection closed", err)
	}
}
