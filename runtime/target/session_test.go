package target

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// transcript is the effect of a stream of bytes, however it is cut.
type transcript struct {
	Output  string
	Verdict verdict
	Stats   Stats
}

// play feeds a stream in pieces of a size as the loop would; waits pass at once.
func play(t testing.TB, cfg Config, stream []byte, size int) transcript {
	t.Helper()
	s := &session{site: newSite(cfg)}
	s.site.clock(time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC))
	s.open()
	var out output
	var all bytes.Buffer
	var pending []byte
	v := wantMore
	send := func() {
		all.Write(out.bytes)
		all.WriteString(strings.Repeat("f", int(out.rest)))
		s.site.sent(&out)
		out.reset()
	}
	for len(stream) > 0 && v == wantMore {
		n := min(size, len(stream))
		pending = append(pending, stream[:n]...)
		stream = stream[n:]
		for {
			var used int
			used, v = s.feed(pending, &out)
			pending = pending[used:]
			send()
			if v == wantWait {
				v = s.answer(&out)
				send()
				if v == wantMore {
					v = wantFlush
				}
			}
			if v != wantFlush {
				break
			}
		}
		if len(pending) > maxHead+size {
			t.Fatalf("%d bytes are pending", len(pending))
		}
	}
	got := transcript{all.String(), v, s.site.stats.snapshot()}
	if v == wantLinger {
		got.Stats.BytesIn = 0 // how much of a bad chunk was taken depends on the cutting
	}
	return got
}

var statusLine = regexp.MustCompile(`HTTP/1\.1 (\d+)`)

func statuses(output string) string {
	var all []string
	for _, m := range statusLine.FindAllStringSubmatch(output, -1) {
		all = append(all, m[1])
	}
	return strings.Join(all, " ")
}

func TestSession(t *testing.T) {
	const host = "Host: h\r\n"
	small := Default()
	small.Size = 5
	faulty := small
	faulty.ErrorEvery, faulty.CloseEvery, faulty.StallEvery = 2, 5, 3
	both := small
	both.CloseEvery, both.StallEvery = 1, 1
	get := "GET / HTTP/1.1\r\n" + host + "\r\n"
	for _, tt := range []struct {
		name    string
		cfg     Config
		in      string
		want    string // statuses
		verdict verdict
		count   uint64 // requests
		has     string // somewhere in the output
	}{
		{name: "a request", in: get, want: "200", count: 1, has: "Content-Length: 5\r\n\r\nhyper"},
		{name: "pipelined requests", in: get + get + get, want: "200 200 200", count: 3},
		{name: "bare line feeds and an empty line before", in: "\r\nGET / HTTP/1.1\nHost: h\n\n", want: "200", count: 1},
		{name: "half a head", in: get[:20], count: 0},
		{name: "HEAD has a length and no body", in: "HEAD / HTTP/1.1\r\n" + host + "\r\n", want: "200", count: 1, has: "Content-Length: 5\r\n\r\n"},
		{name: "HTTP/1.0 closes", in: "GET / HTTP/1.0\r\n\r\n", want: "200", count: 1, verdict: wantClose, has: "Connection: close"},
		{name: "HTTP/1.0 keeps alive when asked", in: "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + get, want: "200 200", count: 2, has: "Connection: keep-alive"},
		{name: "close is obeyed", in: "GET / HTTP/1.1\r\n" + host + "Connection: x, Close\r\n\r\n" + get, want: "200", count: 1, verdict: wantClose},
		{name: "a sized body is skipped", in: "POST / HTTP/1.1\r\n" + host + "Content-Length: 16\r\n\r\nGET / HTTP/1.1\r\n" + get, want: "200 200", count: 2},
		{name: "a chunked body is skipped", in: "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n4;x\r\nGET \r\n0\r\nT: x\r\n\r\n" + get, want: "200 200", count: 2},
		{name: "an absolute target", in: "GET http://h/json?x HTTP/1.1\r\n" + host + "\r\n", want: "200", count: 1, has: `"items":[1,2,3]`},
		{name: "garbage", in: "\x16\x03\x01\n", want: "400", verdict: wantLinger},
		{name: "no host", in: "GET / HTTP/1.1\r\n\r\n", want: "400", verdict: wantLinger, has: "exactly one Host"},
		{name: "HTTP/3", in: "GET / HTTP/3\r\n\r\n", want: "505", verdict: wantLinger},
		{name: "two lengths", in: "POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", want: "400", verdict: wantLinger},
		{name: "length and chunks", in: "POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", want: "400", verdict: wantLinger},
		{name: "an unknown coding", in: "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", want: "501", verdict: wantLinger},
		{name: "a huge body", in: "POST / HTTP/1.1\r\n" + host + "Content-Length: 99999999999999999999\r\n\r\n", want: "413", verdict: wantLinger},
		{name: "a huge chunk", in: "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", want: "400", verdict: wantLinger, count: 0},
		{name: "a huge head", in: "GET / HTTP/1.1\r\nA: " + strings.Repeat("x", 70000), want: "431", verdict: wantLinger},
		{name: "many fields", in: "GET / HTTP/1.1\r\n" + strings.Repeat("a: b\r\n", 2000), want: "431", verdict: wantLinger},
		{name: "a folded field", in: "GET / HTTP/1.1\r\n" + host + " x\r\n\r\n", want: "400", verdict: wantLinger},
		{name: "NUL", in: "GET / HTTP/1.1\r\nHost: \x00\r\n\r\n", want: "400", verdict: wantLinger},
		{name: "another expectation", in: "GET / HTTP/1.1\r\n" + host + "Expect: tea\r\n\r\n", want: "417", verdict: wantLinger},
		{name: "errors, stalls and closes", cfg: faulty, in: strings.Repeat(get, 7), want: "200 500 200 500", count: 5, verdict: wantClose},
		{name: "a stall beats a close", cfg: both, in: get, want: "200", count: 1, verdict: wantMore},
		{name: "login", in: "POST /login HTTP/1.1\r\n" + host + "Content-Length: 13\r\n\r\n{\"user\":\"u1\"}", want: "200", count: 1, has: `{"token":"user-7531"}`},
		{name: "login without a user", in: "POST /login HTTP/1.1\r\n" + host + "Content-Length: 2\r\n\r\n{}", want: "400", count: 1},
		{name: "login with too much", in: "POST /login HTTP/1.1\r\n" + host + "Content-Length: 5000\r\n\r\n" + strings.Repeat(" ", 5000), want: "413", count: 1},
		{name: "login by get", in: "GET /login HTTP/1.1\r\n" + host + "\r\n", want: "405", count: 1, has: "Allow: POST"},
		{name: "me", in: "GET /me HTTP/1.1\r\n" + host + "Authorization: bearer user-7531\r\n\r\n", want: "200", count: 1, has: `{"user":"u1"}`},
		{name: "me, unknown", in: "GET /me HTTP/1.1\r\n" + host + "Authorization: Bearer x\r\n\r\n", want: "401", count: 1, has: "WWW-Authenticate: Bearer"},
		{name: "redirect", in: "GET /redirect HTTP/1.1\r\n" + host + "\r\n", want: "302", count: 1, has: "Location: /\r\n"},
		{name: "cookie", in: "GET /cookie HTTP/1.1\r\n" + host + "\r\n", want: "200", count: 1, has: "Set-Cookie: session=target;"},
		{name: "form", in: "GET /form HTTP/1.1\r\n" + host + "\r\n", want: "200", count: 1, has: `<input type="hidden" name="csrf" value="1.316eb984">`},
		{name: "form, sent", in: "POST /form HTTP/1.1\r\n" + host + "Content-Length: 24\r\n\r\ncsrf=1.316eb984&name=a+b", want: "201", count: 1, has: "Location: /form/1\r\n"},
		{name: "form, forged", in: "POST /form HTTP/1.1\r\n" + host + "Content-Length: 15\r\n\r\ncsrf=1.316eb985", want: "403", count: 1},
		{name: "form, by put", in: "PUT /form HTTP/1.1\r\n" + host + "Content-Length: 0\r\n\r\n", want: "405", count: 1, has: "Allow: GET, HEAD, POST"},
		{name: "form with too much", in: "POST /form HTTP/1.1\r\n" + host + "Content-Length: 5000\r\n\r\n" + strings.Repeat(" ", 5000), want: "413", count: 1},
		{name: "stats are not counted", in: get + "GET /__stats HTTP/1.1\r\n" + host + "\r\n", want: "200 200", count: 1, has: `"requests":1,"responses":`},
		{name: "reset", in: get + "POST /__reset HTTP/1.1\r\n" + host + "\r\n", want: "200 204"},
		{name: "reset by get", in: "GET /__reset HTTP/1.1\r\n" + host + "\r\n", want: "405"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := tt.cfg
			if cfg.Listen == "" {
				cfg = small
			}
			whole := play(t, cfg, []byte(tt.in), 1<<20)
			if got := statuses(whole.Output); got != tt.want || whole.Verdict != tt.verdict || whole.Stats.Requests != tt.count {
				t.Errorf("got statuses %q, verdict %d, %d requests; want %q, %d, %d", got, whole.Verdict, whole.Stats.Requests, tt.want, tt.verdict, tt.count)
			}
			if !strings.Contains(whole.Output, tt.has) {
				t.Errorf("the output lacks %q:\n%s", tt.has, whole.Output)
			}
			for _, size := range []int{1, 3, 50} {
				got := play(t, cfg, []byte(tt.in), size)
				if strings.Contains(tt.in, "__stats") { // responses are sent, so counted, at other moments
					got.Output, whole.Output = "", ""
				}
				if diff := cmp.Diff(whole, got); diff != "" {
					t.Errorf("in pieces of %d (-whole +cut):\n%s", size, diff)
				}
			}
		})
	}
}

func TestCounts(t *testing.T) {
	cfg := Default()
	cfg.Size = 100_000
	in := "GET /a?x=1 HTTP/1.1\r\nHost: h\r\n\r\nPOST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcGET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /redirect HTTP/1.1\r\nHost: h\r\n\r\n"
	got := play(t, cfg, []byte(in), 1<<20)
	want := Stats{Requests: 4, Responses: 4, BytesIn: uint64(len(in)), BytesOut: uint64(len(got.Output)), Connections: 1, Statuses: map[string]uint64{"200": 3, "302": 1}, Paths: map[string]uint64{"/a": 2, "/b": 1, "/redirect": 1}}
	if diff := cmp.Diff(want, got.Stats); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestContinueIsSentOnlyWhenAwaited(t *testing.T) {
	head, body := "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n", "hi"
	if got := statuses(play(t, Default(), []byte(head+body), len(head)).Output); got != "100 200" {
		t.Errorf("the body comes later: got %q, want 100 200", got)
	}
	if got := statuses(play(t, Default(), []byte(head+body), 1000).Output); got != "200" {
		t.Errorf("the body came along: got %q, want 200", got)
	}
}

func TestPathsAreBounded(t *testing.T) {
	c := newCounters(0)
	for i := range 1500 {
		c.request(fmt.Appendf(nil, "/%d", i), 1)
	}
	c.request([]byte("/"+strings.Repeat("x", 300)), 1)
	s := c.snapshot()
	if len(s.Paths) != 1001 || s.Paths["other"] != 501 || s.Paths["/7"] != 1 {
		t.Errorf("got %d paths, other %d, /7 %d; want 1001, 501, 1", len(s.Paths), s.Paths["other"], s.Paths["/7"])
	}
}

func TestConfigFaultsAreAllTold(t *testing.T) {
	cfg := Config{Listen: "8080", Size: -1, Jitter: time.Second, StallEvery: 3, CloseEvery: -2}
	err := cfg.Validate()
	for _, want := range []string{
		`listen = "8080" is not host:port: write it like 127.0.0.1:8080`, "size = -1", "jitter = 1s exceeds latency = 0s: raise latency",
		"stall_for = 0s makes stall_every = 3 do nothing", "close_every = -2 is negative: use 0", "idle_timeout = 0s",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to say %q", err, want)
		}
	}
	if err := Default().Validate(); err != nil {
		t.Errorf("the default is not valid: %v", err)
	}
}

func TestJitterStaysWithinBounds(t *testing.T) {
	cfg := Default()
	cfg.Latency, cfg.Jitter = 5*time.Millisecond, 2*time.Millisecond
	s := newSite(cfg)
	low, high := false, false
	for range 1000 {
		var c call
		s.judge(&c)
		if c.wait < 3*time.Millisecond || c.wait > 7*time.Millisecond {
			t.Fatalf("waits %v, want 3ms to 7ms", c.wait)
		}
		low, high = low || c.wait < 4*time.Millisecond, high || c.wait > 6*time.Millisecond
	}
	if !low || !high {
		t.Errorf("1,000 waits reach low %v, high %v: want both", low, high)
	}
}

func TestRequestAllocatesNothing(t *testing.T) {
	s := &session{site: newSite(Default())}
	in := []byte("GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: hyperscale\r\n\r\n")
	var out output
	allocs := testing.AllocsPerRun(100, func() {
		out.reset()
		if used, v := s.feed(in, &out); used != len(in) || v != wantMore {
			t.Fatalf("used %d, verdict %d", used, v)
		}
	})
	if allocs != 0 {
		t.Errorf("got %v allocations per request, want 0", allocs)
	}
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\nHost: h\r\n\r\nGET /me HTTP/1.0\r\n\r\n"), uint8(3))
	f.Add([]byte("POST /login HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"), uint8(1))
	f.Add([]byte("PUT http://h/x?y HTTP/1.1\nHost: h\nContent-Length: 2\nExpect: 100-continue\n\nhi"), uint8(9))
	f.Fuzz(func(t *testing.T, stream []byte, size uint8) {
		cfg := Default()
		cfg.Size, cfg.ErrorEvery, cfg.StallEvery = 5, 3, 2
		whole := play(t, cfg, stream, len(stream)+1)
		cut := play(t, cfg, stream, int(size)+1)
		// A 100 Continue depends on whether the body came along, and the counters in an answer
		// on the answers sent by then.
		if bytes.Contains(bytes.ToLower(stream), []byte("expect")) || bytes.Contains(stream, []byte("__stats")) {
			whole.Output, cut.Output = "", ""
			whole.Stats.BytesOut, cut.Stats.BytesOut = 0, 0
		}
		if bytes.Contains(stream, []byte("__reset")) {
			return // the output before it depends on the cuts
		}
		if diff := cmp.Diff(whole, cut); diff != "" {
			t.Fatalf("%q in pieces of %d (-whole +cut):\n%s", stream, size, diff)
		}
	})
}

func BenchmarkSession(b *testing.B) {
	b.ReportAllocs()
	s := &session{site: newSite(Default())}
	in := []byte("GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: hyperscale\r\n\r\n")
	var out output
	for b.Loop() {
		out.reset()
		s.feed(in, &out)
	}
}
