package ping_test

import (
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/ping"
	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/hostiletest"
	hostile "hyperscale/runtime/protocol/hostile/http3"
	"hyperscale/runtime/protocol/http1"
)

// pings pings a URL, and returns the picture as well.
func pings(t *testing.T, cfg ping.Config) (*ping.Report, string) {
	t.Helper()
	if cfg.Timeout == 0 {
		cfg.Timeout = 20 * time.Second
	}
	cfg.Resolver = resolver("127.0.0.1 localhost")
	r, err := ping.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := r.Print(&b, 100); err != nil {
		t.Fatal(err)
	}
	return r, b.String()
}

// over3 is a ping of a server that tests sign.
func over3(url string) ping.Config {
	return ping.Config{HTTP: ping.HTTP3, Insecure: true, Request: http1.Request{Method: "GET", URL: url}}
}

// A server that others wrote answers: phases follow each other, TLS and QUIC are shown, and what a second connection
// would get. Over TCP it offers h3.
func TestHTTP3(t *testing.T) {
	at := caddy(t)
	r, picture := pings(t, over3("https://localhost:"+at+"/"))
	for i := 0; i < 3 && r.TLS.Resumes == nil; i++ { // on a busy machine the session comes behind the answer: nothing is known of it
		r, picture = pings(t, over3("https://localhost:"+at+"/"))
	}
	if !r.OK() || r.Answer.Protocol != "HTTP/3" || r.Answer.Status != 200 || r.Answer.BodyBytes != 12 || !r.Answer.KeepAlive || r.TLS.ALPN != "h3" || r.TLS.Resumes == nil || !*r.TLS.Resumes || r.QUIC.Version != "v1" || r.QUIC.In == 0 {
		t.Errorf("%+v\n%s", r, picture)
	}
	var names []string
	end := int64(0)
	for _, p := range r.Phases {
		if names = append(names, p.Name); p.OffsetNS != end {
			t.Errorf("%s begins at %d, and the one before ended at %d", p.Name, p.OffsetNS, end)
		}
		end = p.OffsetNS + p.NS
	}
	if !slices.Equal(names, []string{"dns", "connect", "send", "wait", "receive"}) {
		t.Errorf("phases %v", names)
	}
	for _, want := range []string{"quic      version v1, ", "ALPN h3", "resumes sessions, takes", "early data (0-RTT)", "answer    200 OK, HTTP/3, keeps the connection"} {
		if !strings.Contains(picture, want) {
			t.Errorf("no %q in\n%s", want, picture)
		}
	}
	cfg := over3("https://localhost:" + at + "/")
	cfg.HTTP = ping.HTTP2
	if _, picture = pings(t, cfg); !strings.Contains(picture, "alt-svc   h3=\":"+at+"\"") {
		t.Errorf("no alt-svc in\n%s", picture)
	}
}

// caddy starts one, and returns its port.
func caddy(t *testing.T) string {
	t.Helper()
	program := hostiletest.Need(t, "caddy", "caddy")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	dir := t.TempDir()
	certificate, key, _ := authority.Files()
	text := fmt.Sprintf("{\n\tadmin off\n\tauto_https off\n\tdefault_sni localhost\n\tstorage file_system %[1]s\n}\nhttps://127.0.0.1:%[2]s, https://localhost:%[2]s {\n\tbind 127.0.0.1\n\ttls %[1]s/cert.pem %[1]s/key.pem\n\trespond \"hello, world\"\n}\n", dir, port)
	for name, b := range map[string][]byte{"cert.pem": certificate, "key.pem": key, "Caddyfile": []byte(text)} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", dir)
	hostiletest.Start(t, program, "run", "--adapter", "caddyfile", "--config", filepath.Join(dir, "Caddyfile"))
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		r, picture := pings(t, over3("https://localhost:"+port+"/")) // it listens by TCP before it does by UDP
		if r.OK() {
			return port
		}
		if time.Since(began) > 30*time.Second {
			t.Fatalf("caddy does not answer:\n%s", picture)
		}
	}
}

// What ends a ping over HTTP/3 has its kind, and a remedy.
func TestHTTP3Fails(t *testing.T) {
	start := func(b hostile.Behaviour) string {
		s, err := hostile.Start(&hostile.Entry{Server: b})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s.URL()
	}
	for name, tt := range map[string]struct {
		url    string
		strict bool
		kind   http1.Kind
		want   string
	}{
		"held back":      {start(hostile.Behaviour{Port: hostile.PortSilent}), false, http1.KindConnectTimeout, "no packet of QUIC came from 127.0.0.1:"},
		"closed":         {start(hostile.Behaviour{Port: hostile.PortNothing}), false, http1.KindRefused, " of 127.0.0.1 is closed: ping it with http2"},
		"another over":   {start(hostile.Behaviour{TLS: func(c *tls.Config) { c.NextProtos = []string{"other"} }}), false, http1.KindTLSAlert, "(ALPN h3): ping it with http2"},
		"another signer": {start(hostile.Behaviour{}), true, http1.KindTLSAuthority, "NOT TRUSTED: x509: certificate signed by unknown authority"},
		"it ends":        {start(hostile.Behaviour{Then: func(x *hostile.Exchange) { _ = x.Conn.CloseWithError(0x102, "") }}), false, http1.KindClosed, "H3_INTERNAL_ERROR"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := over3(tt.url)
			if cfg.Insecure = !tt.strict; name == "held back" {
				cfg.Timeout = 300 * time.Millisecond
			}
			r, picture := pings(t, cfg)
			if r.OK() || r.Kind != string(tt.kind) || !strings.Contains(picture, tt.want) {
				t.Errorf("%s, want %s and %q in\n%s", r.Kind, tt.kind, tt.want, picture)
			}
		})
	}
	if _, err := ping.Run(t.Context(), ping.Config{HTTP: ping.HTTP3, Request: http1.Request{Method: "GET", URL: "http://h/"}, Timeout: time.Second}); err == nil || !strings.Contains(err.Error(), "write https://") {
		t.Errorf("without TLS: %v", err)
	}
}
