package engine

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/nats/natstest"
)

// first serves connections whose TLS begins before anything is said, as nats-server 2.10 does by handshake_first.
func first(t *testing.T, serve func(net.Conn)) (address string) {
	t.Helper()
	return behindTLS(t, authority.Honest(), serve)
}

// behindTLS serves connections behind TLS.
func behindTLS(t *testing.T, config *tls.Config, serve func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				secured := tls.Server(c, config)
				if secured.Handshake() == nil {
					serve(secured)
				}
				_ = c.Close()
			}()
		}
	}()
	return l.Addr().String()
}

// before carries connections in TLS to a server that has none.
func before(t *testing.T, s *natstest.Server) (address string) {
	return first(t, passes(s.Address()))
}

// passes carries a connection to a server.
func passes(address string) func(net.Conn) {
	return func(c net.Conn) {
		to, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		go func() { _, _ = io.Copy(to, c); _ = to.Close() }()
		_, _ = io.Copy(c, to)
	}
}

// Behind TLS that begins before INFO messages, replies and subscriptions agree with the server, with connections
// of users and with shared ones; a wrong password fails as auth.
func TestNATSHandshakeFirst(t *testing.T) {
	s := natstest.Start(t, "authorization { user: app, password: geheim }")
	s.Dial(`"user":"app","pass":"geheim"`).Echo("svc.echo", nil)
	address := before(t, s)
	for name, tt := range map[string]struct{ more, ask, kind string }{
		"flush":     {``, `nats.publish(n, "plain", "hello", flush = True)`, ""},
		"request":   {``, `nats.request(n, "svc.echo", "hello"), expect = [body_contains("hello")]`, ""},
		"shared":    {`, connections = 2`, `nats.request(n, "svc.echo", "hello"), expect = [body_contains("hello")]`, ""},
		"session":   {``, `receive`, ""},
		"a refusal": {`, token = "falsch"`, `nats.publish(n, "plain", "hello", flush = True)`, "auth"},
	} {
		t.Run(name, func(t *testing.T) {
			user := `, user = "app", password = "geheim"`
			if tt.kind != "" {
				user = ""
			}
			in, _ := s.Settled()
			w := loadFile(t, "tls://"+address, fmt.Sprintf(`
n = nats.client("TARGET", first = True%s%s)
def receive(vu):
    s = vu.nats.subscribe(n, "orders." + str(vu.id), name = "all")
    vu.nats.publish(n, "orders." + str(vu.id), "hello", flush = True, name = "send")
    if s.receive(timeout = "20s").data != "hello":
        fail("wrong")
    return s.close()
workflow(name = "test", vus = 8, iterations = 16, duration = "60s", %s, steps = [step("ask", %s)])`, user, tt.more, anyTLS, tt.ask))
			got := byName(run(t, context.Background(), Config{Workflow: w, VUs: 8, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps)
			ask := got["ask"]
			if tt.kind != "" {
				if kinds(ask)[tt.kind] != 16 {
					t.Errorf("%v", ask.Errors)
				}
				return
			}
			sent := measured(ask)[plan.MeasureMessagesSent].Count
			if name == "session" {
				sent = measured(got["send"])[plan.MeasureMessagesSent].Count
			}
			took, _ := s.Settled()
			want := uint64(16)
			if strings.Contains(tt.ask, "request") {
				want = 32 // with the replies
			}
			if ask.OK != 16 || sent != 16 || took-in != want {
				t.Errorf("ok %d, sent %d, the server took %d, want %d: %v", ask.OK, sent, took-in, want, ask.Errors)
			}
		})
	}
}

// What a server does wrong around TLS that begins before INFO.
func TestNATSHandshakeFirstFails(t *testing.T) {
	plain := natstest.Start(t, "")
	says := func(text string) func(net.Conn) {
		return func(c net.Conn) {
			_, _ = io.WriteString(c, text)
			_, _ = io.Copy(io.Discard, c)
		}
	}
	// A server whose INFO asks for TLS means what stands: a client that begins it again sends no PING.
	again := func(c net.Conn) {
		_, _ = io.WriteString(c, `INFO {"tls_required":true,"tls_available":true}`+"\r\n")
		for lines := bufio.NewScanner(c); lines.Scan(); {
			if lines.Text() == "PING" {
				_, _ = io.WriteString(c, "PONG\r\n")
			}
		}
	}
	for name, tt := range map[string]struct{ address, options, tls, kind string }{
		"INFO in clear":            {plain.Address(), `, first = True`, anyTLS, "tls"},
		"nothing behind TLS":       {first(t, says("")), `, first = True`, anyTLS, "connect_timeout"},
		"the end behind TLS":       {first(t, func(net.Conn) {}), `, first = True`, anyTLS, "closed"},
		"garbage behind TLS":       {first(t, says("220 mail\r\n")), `, first = True`, anyTLS, "protocol"},
		"an unknown authority":     {before(t, plain), `, first = True`, `tags = {}`, "tls_authority"},
		"TLS that is asked again":  {first(t, again), `, first = True`, anyTLS, ""},
		"a client that waits":      {before(t, plain), ``, anyTLS, "connect_timeout"},
		"a client that need not":   {plain.Address(), `, first = False`, anyTLS, "tls"},
		"an error in place of all": {first(t, says("-ERR 'maximum connections exceeded'\r\n")), `, first = True`, anyTLS, "server maximum connections exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			timeout := 20 * time.Second
			if tt.kind == "connect_timeout" {
				timeout = time.Second
			}
			w := loadFile(t, "tls://"+tt.address, fmt.Sprintf(`workflow(name = "test", vus = 1, iterations = 1, duration = "60s", %s, steps = [step("ask", nats.publish(nats.client("TARGET"%s), "a", flush = True))])`, tt.tls, tt.options))
			got := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: timeout}).Stats.Steps[0]
			if tt.kind == "" && got.OK != 1 || tt.kind != "" && kinds(got)[tt.kind] != 1 {
				t.Errorf("ok %d: %v", got.OK, got.Errors)
			}
		})
	}
}
