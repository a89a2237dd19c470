package engine

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/hostile/hostiletest"
)

// pythonStreams is a server that shares no line with this one: Python's own, with a thread for each
// connection. It prints its port, and how many events it wrote at the end of its input.
const pythonStreams = `
import http.server, sys, threading
lock, written = threading.Lock(), 0

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *args): pass
    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()
    def do_GET(self):
        global written
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        def chunk(data):
            self.wfile.write(b"%x\r\n" % len(data) + data + b"\r\n")
            self.wfile.flush()
        chunk(b"\xef\xbb\xbf: welcome\n")
        for i in range(20):
            event = ("event: e%d\r\nid: %d\rdata: line %d\ndata: caf\u00e9\r\n\r\n" % (i, i, i)).encode()
            chunk(event[:9]); chunk(event[9:])
            with lock: written += 1
        chunk(b"data: no blank line\n")
        self.wfile.write(b"0\r\n\r\n")

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
print(written, flush=True)
`

// Another implementation wrote what is read: line ends of all kinds, chunks that cut them, a byte
// order mark. Its own count of events is the engine's.
func TestEventsOfAnotherServer(t *testing.T) {
	t.Parallel()
	server := hostiletest.Start(t, hostiletest.Python(t), "-c", pythonStreams)
	url := "http://127.0.0.1:" + server.Line()
	w := loadFile(t, url, `workflow(name = "test", vus = 4, iterations = 40, duration = "60s", steps = [step("feed", sse.read("TARGET/", method = "POST", json = {"a": 1}), expect = [body_contains("e19")]), step("f", lambda vu: vu.sse.read("TARGET/"))])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 4, Duration: time.Minute, Timeout: time.Minute})
	got := uint64(0)
	for _, s := range r.Stats.Steps {
		got += measured(s)[plan.MeasureEvents].Count
		if s.OK != 40 {
			t.Errorf("%s: ok %d of %d: %v", s.Name, s.OK, s.Started, s.Errors)
		}
	}
	if wrote := server.Stop(); wrote != strconv.FormatUint(got, 10) || got != 80*20 {
		t.Errorf("read %d events, the server wrote %s", got, wrote)
	}
}

// BenchmarkStreams reads streams of 200 events of 100 bytes on one core, as the engine does and as
// a loop over net/http with a Scanner does, from the same server. The peer parses lines and counts
// events, nothing more. cpu-ns is what the client alone spends for an event.
func BenchmarkStreams(b *testing.B) {
	const events = 200
	event := "id: 17\nevent: price\ndata: " + strings.Repeat("x", 72) + "\n\n"
	body := strings.Repeat(event, events)
	url := streamServer(b, body)
	b.Run("engine", func(b *testing.B) {
		w := loadFile(b, url, `workflow(name = "test", vus = 16, iterations = `+fmt.Sprint(max(b.N, 16))+`, duration = "600s", steps = [step("feed", sse.read("TARGET/", events = `+fmt.Sprint(events)+`))])`)
		before := cpu()
		r := run(b, context.Background(), Config{Workflow: w, VUs: 16, Duration: 10 * time.Minute, Timeout: time.Minute})
		report(b, before, measured(r.Stats.Steps[0])[plan.MeasureEvents].Count, max(b.N, 16)*events)
	})
	b.Run("net_http", func(b *testing.B) {
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
		before := cpu()
		left, total := atomic.Int64{}, atomic.Uint64{}
		left.Store(int64(b.N))
		done := make(chan error)
		for range 16 {
			go func() {
				for left.Add(-1) >= 0 {
					n, err := readPlainly(client, url)
					if err != nil {
						done <- err
						return
					}
					total.Add(n)
				}
				done <- nil
			}()
		}
		for range 16 {
			if err := <-done; err != nil {
				b.Error(err)
			}
		}
		report(b, before, total.Load(), b.N*events)
		client.CloseIdleConnections()
	})
}

func report(b *testing.B, before time.Duration, got uint64, want int) {
	b.Helper()
	if got != uint64(want) {
		b.Fatalf("%d events of %d", got, want)
	}
	b.ReportAllocs()
	b.ReportMetric(float64(cpu()-before)/float64(got), "cpu-ns/event")
}

func readPlainly(client *http.Client, url string) (events uint64, err error) {
	r, err := client.Get(url + "/")
	if err != nil {
		return 0, err
	}
	defer r.Body.Close()
	lines, data := bufio.NewScanner(r.Body), false
	for lines.Scan() {
		switch line := lines.Text(); {
		case line == "" && data:
			events, data = events+1, false
		case strings.HasPrefix(line, "data:"):
			data = true
		}
	}
	return events, lines.Err()
}

// cpu returns what this process has spent.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// streamServer is a process that answers each request with the same stream.
func streamServer(b *testing.B, body string) string {
	b.Helper()
	const server = `
import socket, sys, threading
body = sys.stdin.buffer.read(int(sys.argv[1]))
answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(body) + body
l = socket.socket(); l.bind(("127.0.0.1", 0)); l.listen(64)
print(l.getsockname()[1], flush=True)
def serve(c):
    rest = b""
    while True:
        got = c.recv(65536)
        if not got: return
        rest += got
        while b"\r\n\r\n" in rest:
            rest = rest.split(b"\r\n\r\n", 1)[1]
            c.sendall(answer)
def accept():
    while True:
        c, _ = l.accept()
        threading.Thread(target=serve, args=(c,), daemon=True).start()
threading.Thread(target=accept, daemon=True).start()
sys.stdin.read()
`
	process := exec.Command(hostiletest.Python(b), "-c", server, fmt.Sprint(len(body)))
	input, err := process.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	output, err := process.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := process.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		input.Close()
		_ = process.Wait()
	})
	if _, err := io.WriteString(input, body); err != nil {
		b.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return "http://127.0.0.1:" + strings.TrimSpace(line)
}

// Over HTTP/2 a stream breaks with a kind of its own, and the connection's other streams go on. What
// has come before the break counts.
func TestStreamsThatBreakOverHTTP2(t *testing.T) {
	for name, tt := range map[string]struct {
		serve func(w http.ResponseWriter, r *http.Request)
		args  string
		kind  string
		event uint64 // of each stream
	}{
		"reset":        {func(w http.ResponseWriter, _ *http.Request) { say(w, "data: a\n\n"); panic(http.ErrAbortHandler) }, `events = 2`, "stream_reset", 1},
		"reset behind": {func(w http.ResponseWriter, _ *http.Request) { say(w, "data: a\n\n"); panic(http.ErrAbortHandler) }, `events = 1`, "", 1},
		"silent":       {func(w http.ResponseWriter, r *http.Request) { say(w, ": hello\n"); <-r.Context().Done() }, `events = 1, within = "200ms"`, "timeout", 0},
		"comments":     {comments, `events = 1, within = "200ms"`, "timeout", 0},
		"another type": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, "data: a\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, `events = 1`, "protocol", 0},
		"too few":        {func(w http.ResponseWriter, _ *http.Request) { say(w, "data: a\n\ndata: b\n") }, `events = 2`, "expect", 1},
		"an event alone": {func(w http.ResponseWriter, _ *http.Request) { say(w, "data: a\n\n") }, ``, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewUnstartedServer(http.HandlerFunc(tt.serve))
			s.EnableHTTP2 = true
			s.Config.ErrorLog = log.New(io.Discard, "", 0)
			s.StartTLS()
			defer s.Close()
			for _, step := range []string{`step("feed", sse.read("TARGET/", ARGS))`, `step("feed", lambda vu: vu.sse.read("TARGET/", ARGS))`} {
				w := loadFile(t, s.URL, `workflow(name = "test", iterations = 8, vus = 4, connections = 1, duration = "60s", http = http.client(version = "2", tls = tls(verify = False)), steps = [`+strings.ReplaceAll(step, "ARGS", tt.args)+`])`)
				r := run(t, context.Background(), Config{Workflow: w, VUs: 4, Duration: time.Minute, Timeout: time.Minute})
				feed := r.Stats.Steps[0]
				if bad := feed.Failed + feed.TimedOut; tt.kind == "" && feed.OK != 8 || tt.kind != "" && (bad != 8 || kinds(feed)[tt.kind] != 8) {
					t.Errorf("ok %d, failed %d, timed out %d: %v, want %q", feed.OK, feed.Failed, feed.TimedOut, feed.Errors, tt.kind)
				}
				if got := measured(r.Stats.Steps[len(r.Stats.Steps)-1])[plan.MeasureEvents].Count; got != 8*tt.event {
					t.Errorf("%d events, want %d", got, 8*tt.event)
				}
			}
		})
	}
}

func say(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, text)
	w.(http.Flusher).Flush()
}

// comments sends them until the client leaves.
func comments(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		say(w, ": nothing\n\n")
		time.Sleep(time.Millisecond)
	}
}
