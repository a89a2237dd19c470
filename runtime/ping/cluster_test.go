package ping_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/runtime/ping"
	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/hostiletest"
	"hyperscale/runtime/protocol/hostile/mongodb/mongodbtest"
	"hyperscale/runtime/protocol/hostile/nats/natstest"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/mongodb"
	"hyperscale/runtime/protocol/nats"
	"hyperscale/runtime/resolve"
)

// behindTLS serves connections behind TLS that begins before anything is said.
func behindTLS(t *testing.T, config *tls.Config, serve func(net.Conn)) (address string) {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", config)
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
			go func() { serve(c); _ = c.Close() }()
		}
	}()
	return l.Addr().String()
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

// drawn runs a ping and draws its report.
func drawn(t *testing.T, cfg ping.Config) (*ping.Report, string) {
	t.Helper()
	r, err := ping.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := r.Print(&b, 80); err != nil {
		t.Fatal(err)
	}
	return r, b.String()
}

// TLS begins before the server's INFO; a server that says INFO in clear fails as tls.
func TestNATSHandshakeFirst(t *testing.T) {
	s := natstest.Start(t, "authorization { user: app, password: geheim }")
	for address, want := range map[string][]string{
		behindTLS(t, authority.Honest(), passes(s.Address())): {"server    nats-server ", "TLS 1.3", "a ping was answered after"},
		s.Address(): {"FAILED    tls: "},
	} {
		r, text := drawn(t, ping.Config{
			Request: http1.Request{Method: "GET", URL: "https://" + address + "/"}, Greeted: ping.Greeted{NATS: &nats.Config{User: "app", Password: "geheim", TLS: true, First: true}},
			Timeout: 10 * time.Second, TLS: &tls.Config{RootCAs: authority.Roots()}, Resolver: resolver(""),
		})
		for _, one := range append(want, "PING tls://"+address+"\n") {
			if !strings.Contains(text, one) {
				t.Errorf("no %q in\n%s", one, text)
			}
		}
		if good := len(want) > 1; r.OK() != good || good && !r.TLS.Verified {
			t.Errorf("%+v\n%s", r, text)
		}
	}
}

// silent is a server of a cluster that answers no SYN: the kernel drops those to a listener whose queue is full.
func silent(t *testing.T) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	port := name.(*unix.SockaddrInet4).Port
	for range 4 {
		one, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(one) })
		if err := unix.Connect(one, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil && !errors.Is(err, unix.EINPROGRESS) {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("a.shop.test:%d", port)
}

// SRV records name the servers of a set: the first one that serves is asked, by its own name in TLS.
func TestClustersOfMongoDB(t *testing.T) {
	s := mongodbtest.Start(t, "users")
	port := func(address string) string { _, p, _ := net.SplitHostPort(address); return p }
	named := func(name string, serve func(net.Conn)) string {
		return name + ":" + port(behindTLS(t, authority.Certified(func(c *x509.Certificate) { c.DNSNames, c.IPAddresses = []string{name}, nil })(), serve))
	}
	secondary := named("a.shop.test", func(c net.Conn) {
		mongodbtest.Hello(c, `{"isWritablePrimary": false, "secondary": true, "setName": "rs0", "primary": "b.shop.test:27017", "maxWireVersion": 21, "ok": 1}`)
	})
	away, primary := fmt.Sprintf("a.shop.test:%d", hostiletest.FreePort(t)), named("b.shop.test", passes(s.Address()))
	for name, tt := range map[string]struct {
		text     string
		servers  []string
		assumed  bool
		password string
		kind     http1.Kind
		tries    int
		want     []string
	}{
		"one":                   {"authSource=admin", []string{primary}, true, "geheim", "", 1, []string{"text      authSource=admin", "greeting  protocol MongoDB, wire version 21", "a ping was answered after"}},
		"behind a secondary":    {"authSource=admin", []string{secondary, primary}, true, "geheim", "", 2, []string{"not the primary of the set \"rs0\": write mongodb://b.shop.test:27017 after", "server    a server of its own"}},
		"behind one that fails": {"", []string{away, primary}, false, "geheim", "", 2, []string{"connection refused", "a ping was answered after"}},
		"behind a silent one":   {"", []string{silent(t), primary}, false, "geheim", "", 2, []string{"i/o timeout after 1.", "a ping was answered after"}},
		"a secondary alone":     {"", []string{secondary}, false, "geheim", http1.KindMoved, 1, []string{"FAILED    moved: the server is not the primary"}},
		"all fail":              {"", []string{away}, false, "geheim", http1.KindRefused, 1, []string{"FAILED    refused"}},
		"a wrong password":      {"", []string{primary, secondary}, false, "falsch", http1.KindAuth, 1, []string{"FAILED    auth"}},
		"another name":          {"", []string{"a." + strings.TrimPrefix(primary, "b."), primary}, false, "geheim", http1.KindTLSName, 1, []string{"NOT TRUSTED", "FAILED    tls_name"}},
		"two load balancers":    {"loadBalanced=true", []string{primary, secondary}, false, "geheim", http1.KindDNS, 1, []string{"has loadBalanced=true, and the SRV record of the service names 2 servers"}},
		"a foreign server":      {"", []string{"a.evil.test:1"}, false, "geheim", http1.KindDNS, 0, []string{"service   _mongodb._tcp.cluster.shop.test: ", "is not below shop.test"}},
	} {
		t.Run(name, func(t *testing.T) {
			records := []string{"--host-record=a.shop.test,127.0.0.1", "--host-record=b.shop.test,127.0.0.1", "--local=/test/"}
			for i, s := range tt.servers {
				host, port, _ := strings.Cut(s, ":")
				records = append(records, fmt.Sprintf("--srv-host=_mongodb._tcp.cluster.shop.test,%s,%s,%d,0", host, port, i))
			}
			if tt.text != "" {
				records = append(records, "--txt-record=cluster.shop.test,"+tt.text)
			}
			names := resolver("")
			names.Config = resolve.Config{Servers: []netip.AddrPort{netip.MustParseAddrPort(hostiletest.Names(t, records...))}, Timeout: 5 * time.Second, Attempts: 2}
			source := "admin"
			if tt.assumed {
				source = "shop" // which the TXT record corrects
			}
			r, text := drawn(t, ping.Config{
				Request: http1.Request{Method: "GET", URL: "https://cluster.shop.test:27017/"}, Service: "mongodb", Timeout: 20 * time.Second, TLS: &tls.Config{RootCAs: authority.Roots()}, Resolver: names,
				Greeted: ping.Greeted{MongoDB: &mongodb.Config{Mechanism: mongodb.SCRAMSHA256, User: "app", Password: tt.password, Source: source, Assumed: tt.assumed}},
			})
			if r.OK() != (tt.kind == "") || r.Kind != string(tt.kind) || len(r.Tries) != tt.tries || tt.kind == "" && (r.TLS == nil || !r.TLS.Verified || r.TLS.ServerName != "b.shop.test") {
				t.Errorf("%q after %d tries\n%s", r.Kind, len(r.Tries), text)
			}
			for _, want := range append(tt.want, "PING mongodb+srv://cluster.shop.test\n") {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			sum := int64(0)
			for _, p := range r.Phases {
				if p.OffsetNS != sum {
					t.Errorf("%s begins at %d, and the phases before it end at %d", p.Name, p.OffsetNS, sum)
				}
				sum += p.NS
			}
		})
	}
}

// The certificate of TLS proves a user; one whom the server does not know fails as auth.
func TestCertificatesOfMongoDB(t *testing.T) {
	s := mongodbtest.Start(t)
	address := s.Certified(func(name, asked string) string {
		if name == "app" && strings.Contains(asked, `"mechanism":"MONGODB-X509"`) {
			return `{"dbname": "$external", "user": "CN=app", "ok": 1}`
		}
		return `{"ok": 0, "errmsg": "Could not find user", "code": 11}`
	})
	for name, want := range map[string]string{"app": "the user of the certificate by mongodb-x509, after", "other": "FAILED    auth: MONGODB-X509 refuses the user of the certificate"} {
		certificate, key := authority.Client(name)
		own, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			t.Fatal(err)
		}
		r, text := drawn(t, ping.Config{
			Request: http1.Request{Method: "GET", URL: "https://" + address + "/"}, Timeout: 10 * time.Second, TLS: &tls.Config{RootCAs: authority.Roots(), Certificates: []tls.Certificate{own}},
			Resolver: resolver(""), Greeted: ping.Greeted{MongoDB: &mongodb.Config{Mechanism: mongodb.X509}},
		})
		if !strings.Contains(text, want) || r.OK() != (name == "app") {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
