package ping_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/ping"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/resolve"
)

func answering() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(20 * time.Millisecond)
		w.Header().Set("X-Proto", r.Proto)
		if r.URL.Path == "/missing" {
			w.WriteHeader(404)
		}
		_, _ = io.WriteString(w, strings.Repeat("x", 1000))
	})
}

func resolver(names string) *resolve.Resolver {
	return &resolve.Resolver{Hosts: resolve.ParseHosts([]byte(names)), Config: resolve.Config{Timeout: time.Second, Attempts: 1}}
}

// A whole answer, by both protocols, plain and secured: every phase is there, without a
// gap, and the figures are those of the wire.
func TestRun(t *testing.T) {
	plain := httptest.NewServer(answering())
	defer plain.Close()
	secure := httptest.NewUnstartedServer(answering())
	secure.EnableHTTP2 = true
	secure.StartTLS()
	defer secure.Close()
	tests := []struct {
		name, url, proto, phases string
		version                  ping.Version
	}{
		{"http", plain.URL, "HTTP/1.1", "dns connect send wait receive", ping.HTTP1},
		{"https", secure.URL, "HTTP/1.1", "dns connect tls send wait receive", ping.HTTP1},
		{"http2", secure.URL, "HTTP/2", "dns connect tls send wait receive", ping.HTTP2},
	}
	for _, test := range tests {
		target := strings.Replace(test.url, "127.0.0.1", "shop.example", 1)
		r, err := ping.Run(t.Context(), ping.Config{
			Request: http1.Request{Method: "GET", URL: target + "/"}, HTTP: test.version, Timeout: 5 * time.Second, Insecure: true,
			Resolver: resolver("127.0.0.1 shop.example"),
		})
		if err != nil {
			t.Fatal(test.name, err)
		}
		if !r.OK() || r.Answer.Protocol != test.proto || r.Answer.Status != 200 || r.Answer.BodyBytes != 1000 || r.Answer.BytesIn <= 1000 || r.Answer.BytesOut == 0 || !r.Answer.KeepAlive {
			t.Fatalf("%s: %+v %s", test.name, r.Answer, r.Error)
		}
		var phases []string
		next, sum := int64(0), int64(0)
		for _, p := range r.Phases {
			phases = append(phases, p.Name)
			if p.OffsetNS != next {
				t.Errorf("%s: %s begins at %d, want %d", test.name, p.Name, p.OffsetNS, next)
			}
			next, sum = p.OffsetNS+p.NS, sum+p.NS
			if p.Name == "wait" && p.NS < int64(15*time.Millisecond) {
				t.Errorf("%s: waited %d ns", test.name, p.NS)
			}
		}
		if got := strings.Join(phases, " "); got != test.phases || sum != r.TotalNS {
			t.Errorf("%s: phases %s, %d of %d ns", test.name, got, sum, r.TotalNS)
		}
		if test.name != "http" && (r.TLS.Verified || r.TLS.Refusal == "" || len(r.TLS.Chain) != 1 || r.TLS.Version != "TLS 1.3" || r.TLS.Resumes == nil || !*r.TLS.Resumes) {
			t.Errorf("%s: %+v", test.name, r.TLS)
		}
		var b bytes.Buffer
		if err := r.Print(&b, 80); err != nil || !strings.Contains(b.String(), "200 OK, "+test.proto) || !strings.Contains(b.String(), "█") {
			t.Errorf("%s: %v\n%s", test.name, err, b.String())
		}
		for line := range strings.Lines(b.String()) {
			if strings.ContainsAny(line, "█▏─") && len([]rune(strings.TrimRight(line, "\n"))) > 80 {
				t.Errorf("%s: a bar is wider than 80 columns: %s", test.name, line)
			}
		}
	}
}

// A failure has the kind that a load test would give it, and ping reports everything before it.
func TestFailures(t *testing.T) {
	plain := httptest.NewServer(answering())
	defer plain.Close()
	secure := httptest.NewTLSServer(answering())
	defer secure.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	missing, _ := url.JoinPath(plain.URL, "missing")
	dead := netip.MustParseAddr("127.0.0.2")
	tests := []struct {
		why  string
		cfg  ping.Config
		kind http1.Kind
	}{
		{"a status", ping.Config{Request: http1.Request{URL: missing}}, ""},
		{"no such name", ping.Config{Request: http1.Request{URL: "http://nowhere.invalid/"}}, http1.KindDNS},
		{"nobody listens", ping.Config{Request: http1.Request{URL: "http://127.0.0.1:1/"}}, http1.KindRefused},
		{"another address", ping.Config{Request: http1.Request{URL: plain.URL}, Address: dead}, http1.KindRefused},
		{"an unknown authority", ping.Config{Request: http1.Request{URL: secure.URL}}, http1.KindTLSAuthority},
		{"no HTTP/2", ping.Config{Request: http1.Request{URL: secure.URL}, HTTP: ping.HTTP2, Insecure: true}, http1.KindTLSAlert},
		{"TLS to who has none", ping.Config{Request: http1.Request{URL: strings.Replace(plain.URL, "http", "https", 1)}}, http1.KindTLS},
		{"silence", ping.Config{Request: http1.Request{URL: "http://" + silent.Addr().String()}}, http1.KindTimeout},
	}
	for _, test := range tests {
		test.cfg.Request.Method, test.cfg.Timeout, test.cfg.Resolver = "GET", 300*time.Millisecond, resolver("")
		r, err := ping.Run(t.Context(), test.cfg)
		if err != nil {
			t.Fatal(test.why, err)
		}
		if r.OK() || r.Kind != string(test.kind) || test.kind != "" && r.Error == "" {
			t.Errorf("%s: %q (%s), want %q", test.why, r.Kind, r.Error, test.kind)
		}
		if test.kind == http1.KindTLSAuthority && len(r.TLS.Chain) != 1 {
			t.Errorf("%s: the chain is not shown: %+v", test.why, r.TLS)
		}
		if test.kind == http1.KindRefused && (len(r.Tries) != 1 || r.Tries[0].Error == "") {
			t.Errorf("%s: %+v", test.why, r.Tries)
		}
		if err := r.Print(io.Discard, 10); err != nil {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, _ := ping.Run(ctx, ping.Config{Request: http1.Request{Method: "GET", URL: plain.URL}, Timeout: time.Second, Resolver: resolver("")}); r.Kind != string(http1.KindCancelled) {
		t.Errorf("cancelled: %q", r.Kind)
	}
	if _, err := ping.Run(t.Context(), ping.Config{Request: http1.Request{Method: "GET", URL: "ftp://h/"}, Timeout: time.Second}); err == nil {
		t.Error("ftp is sent")
	}
}

// Ping reports a dead address, and tries the next one.
func TestAddressesInTurn(t *testing.T) {
	plain := httptest.NewServer(answering())
	defer plain.Close()
	_, port, _ := net.SplitHostPort(plain.Listener.Addr().String())
	r, err := ping.Run(t.Context(), ping.Config{
		Request: http1.Request{Method: "GET", URL: "http://shop.example:" + port + "/"}, Timeout: 5 * time.Second,
		Resolver: resolver("127.0.0.2 shop.example\n127.0.0.1 shop.example"),
	})
	if err != nil || !r.OK() || len(r.Tries) != 2 || r.Tries[0].Error == "" || r.Tries[1].Error != "" || r.Address != "127.0.0.1:"+port {
		t.Fatalf("%v %+v", err, r.Tries)
	}
}

// An address in the URL stands once in the picture; a name stands with its addresses.
func TestPictureOfNames(t *testing.T) {
	for name, want := range map[string]string{
		"192.0.2.7":    "  name      192.0.2.7 from the URL\n",
		"2001:db8::7":  "  name      2001:db8::7 from the URL\n",
		"shop.example": "  name      shop.example from hosts\n            192.0.2.7\n",
	} {
		var b bytes.Buffer
		n := ping.Lookup(t.Context(), resolver("192.0.2.7 shop.example"), name)
		if err := n.Print(&b); err != nil || b.String() != want {
			t.Errorf("%s: %v, got\n%swant\n%s", name, err, b.String(), want)
		}
	}
}

// An event is what a ping of a stream waits for, not the stream's end.
func TestRunWaitsForAnEvent(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", map[string]string{"/html": "text/html"}[r.URL.Path])
		if r.URL.Path != "/html" {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		if r.URL.Path == "/missing" {
			w.WriteHeader(404)
			return
		}
		_, _ = io.WriteString(w, ": hello\n\n")
		if r.URL.Path == "/events" {
			_, _ = io.WriteString(w, "event: tick\nid: 7\ndata: a\x1bb\ndata: c\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done() // the stream goes on
		}
	}))
	defer s.Close()
	for _, test := range []struct{ path, kind, shown string }{
		{"/events", "", "tick, 5 bytes"},
		{"/none", "expect", "the stream ended before its first event"},
		{"/html", "protocol", "text/html"},
		{"/missing", "", "404"},
	} {
		r, err := ping.Run(t.Context(), ping.Config{Request: http1.Request{Method: "GET", URL: s.URL + test.path}, Events: true, Timeout: 10 * time.Second, Resolver: resolver("")})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := r.Print(&out, 100); err != nil {
			t.Fatal(err)
		}
		if r.Kind != test.kind || r.OK() != (r.Event != nil) || !strings.Contains(out.String(), test.shown) || strings.Contains(out.String(), "\x1b") {
			t.Errorf("%s: kind %q, event %+v, shown:\n%s", test.path, r.Kind, r.Event, out.String())
		}
		if e := r.Event; e != nil && (e.Data != "a\x1bb\nc" || e.ID != "7" || e.NS <= 0 || e.NS > r.TotalNS) {
			t.Errorf("%s: event %+v of %d", test.path, e, r.TotalNS)
		}
	}
}
