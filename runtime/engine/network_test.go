package engine

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/dns/dnsmessage"

	"hyperscale/core/message"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/request"
)

// callers records which addresses called a server, and at which address.
type callers struct {
	mu    sync.Mutex
	from  map[string]int
	to    map[string]int
	hosts map[string]int
	tls   map[string]int
}

func (c *callers) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	from, _, _ := net.SplitHostPort(r.RemoteAddr)
	to, _, _ := net.SplitHostPort(r.Context().Value(http.LocalAddrContextKey).(net.Addr).String())
	c.from[from]++
	c.to[to]++
	c.hosts[r.Host]++
	if r.TLS != nil {
		who := "nobody"
		if len(r.TLS.PeerCertificates) > 0 {
			who = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		c.tls[fmt.Sprintf("%s %s %s resumed=%v %s", tls.VersionName(r.TLS.Version), tls.CipherSuiteName(r.TLS.CipherSuite), r.TLS.ServerName, r.TLS.DidResume, who)]++
	}
}

// told returns its records.
func (c *callers) told() *callers {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &callers{from: maps.Clone(c.from), to: maps.Clone(c.to), hosts: maps.Clone(c.hosts), tls: maps.Clone(c.tls)}
}

// everywhere listens at one port of all addresses.
func everywhere(t *testing.T, change func(*httptest.Server)) (*callers, *httptest.Server, string) {
	t.Helper()
	c := &callers{from: map[string]int{}, to: map[string]int{}, hosts: map[string]int{}, tls: map[string]int{}}
	server := httptest.NewUnstartedServer(c)
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	server.Listener.Close()
	server.Listener = l
	if change == nil {
		server.Start()
	} else {
		change(server)
	}
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return c, server, port
}

// Connections use the source addresses in turn; the engine reports an address that this machine
// does not have.
func TestSourceAddresses(t *testing.T) {
	c, _, port := everywhere(t, nil)
	w := flow(get("home", "http://127.0.0.1:"+port+"/"))
	w.HTTP.Sources = []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32"), netip.MustParsePrefix("127.0.1.0/30")}
	ended(t, run(t, context.Background(), Config{Workflow: w, VUs: 6}))
	if diff := cmp.Diff(map[string]int{"127.0.0.2": 2, "127.0.1.1": 2, "127.0.1.2": 2}, c.told().from); diff != "" {
		t.Error(diff)
	}
	w.HTTP.Sources = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1})
	if kinds(r.Stats.Steps[0])["local"] != 1 || !strings.Contains(r.Stats.Steps[0].Errors[0].Example, "is it an address of this machine?") {
		t.Errorf("%v %s", r.Stats.Steps[0].Errors, r.Error)
	}
	w.HTTP.Sources = []netip.Prefix{netip.MustParsePrefix("::1/128")}
	if r := run(t, context.Background(), Config{Workflow: w, VUs: 1}); kinds(r.Stats.Steps[0])["local"] != 1 {
		t.Errorf("IPv4 from IPv6: %v", r.Stats.Steps[0].Errors)
	}
}

// The engine does not look up names that the workflow lists, and uses their addresses in turn.
func TestHostsAndRotation(t *testing.T) {
	for rotate, want := range map[string]map[string]int{
		request.RotateNone:  {"127.0.0.1": 4},
		request.RotateRobin: {"127.0.0.1": 2, "127.0.0.2": 2},
	} {
		c, _, port := everywhere(t, nil)
		w := flow(get("home", "http://shop.invalid:"+port+"/"))
		w.HTTP.DNS = request.DNS{Rotate: rotate, Hosts: []request.Host{{Name: "shop.invalid", Addresses: []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")}}}}
		ended(t, run(t, context.Background(), Config{Workflow: w, VUs: 4}))
		if diff := cmp.Diff(want, c.told().to); diff != "" {
			t.Errorf("%s: %s", rotate, diff)
		}
		if c.told().hosts["shop.invalid:"+port] != 4 {
			t.Errorf("asked for %v", c.told().hosts)
		}
	}
	c, _, port := everywhere(t, nil)
	w := flow(get("home", "http://shop.invalid:"+port+"/"))
	w.HTTP.DNS = request.DNS{Rotate: request.RotateRandom, Hosts: []request.Host{{Name: "shop.invalid", Addresses: []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")}}}}
	ended(t, run(t, context.Background(), Config{Workflow: w, VUs: 40, Seed: 7}))
	if c.told().to["127.0.0.1"] < 5 || c.told().to["127.0.0.2"] < 5 {
		t.Errorf("by chance: %v", c.told().to)
	}
}

// nameServer answers A queries, each time with the next address, valid for so many seconds;
// without addresses the name does not exist.
func nameServer(t *testing.T, ttl uint32, addrs ...string) netip.AddrPort {
	t.Helper()
	p, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked, done := 0, make(chan struct{})
	t.Cleanup(func() { p.Close(); <-done })
	go func() {
		defer close(done)
		b := make([]byte, 2048)
		for {
			n, from, err := p.ReadFrom(b)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(b[:n]) != nil {
				continue
			}
			m.Response, m.Additionals = true, nil
			q := m.Questions[0]
			next := addrs[min(asked, len(addrs)-1)]
			switch {
			case q.Type != dnsmessage.TypeA:
			case next == "":
				m.RCode = dnsmessage.RCodeNameError
			default:
				a := netip.MustParseAddr(next).As4()
				asked++
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: ttl}, Body: &dnsmessage.AResource{A: a}}}
			}
			if out, err := m.Pack(); err == nil {
				_, _ = p.WriteTo(out, from)
			}
		}
	}()
	return p.LocalAddr().(*net.UDPAddr).AddrPort()
}

// An answer is used until it expires: then new connections go where the name points.
func TestNamesExpire(t *testing.T) {
	for _, test := range []struct {
		why    string
		ttl    uint32
		dns    request.DNS
		second bool
	}{
		{"for the whole run", 1, request.DNS{}, false},
		{"as long as told", 3600, request.DNS{TTL: 100 * time.Millisecond}, true},
		{"as long as the answer says", 0, request.DNS{Answer: true}, true},
		{"as a long answer says", 3600, request.DNS{Answer: true}, false},
	} {
		c, _, port := everywhere(t, nil)
		server := nameServer(t, test.ttl, "127.0.0.1", "127.0.0.2")
		w := flow(get("home", "http://shop.example:"+port+"/"))
		w.HTTP.DNS = test.dns
		w.HTTP.DNS.Servers = []netip.AddrPort{server}
		w.Plan.Session, w.Plan.Think = message.SessionNone, 50*time.Millisecond
		ended(t, run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: 400 * time.Millisecond}))
		if c.told().to["127.0.0.1"] == 0 && test.ttl > 0 || (c.told().to["127.0.0.2"] > 0) != test.second {
			t.Errorf("%s: %v", test.why, c.told().to)
		}
	}
}

// A later look-up that fails also fails the requests that wait for it, as dns, and not those
// with open connections.
func TestNamesFail(t *testing.T) {
	_, _, port := everywhere(t, nil)
	server := nameServer(t, 3600, "127.0.0.1", "")
	w := flow(get("home", "http://shop.example:"+port+"/"))
	w.HTTP.DNS = request.DNS{Servers: []netip.AddrPort{server}, TTL: 50 * time.Millisecond}
	w.Plan.Session, w.Plan.Think = message.SessionNone, 30*time.Millisecond
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: 300 * time.Millisecond})
	if s := r.Stats.Steps[0]; s.OK == 0 || kinds(s)["dns"] == 0 || s.OK+s.Failed+s.TimedOut != s.Started {
		t.Errorf("%+v", s.Errors)
	}
}

func TestTLSOptions(t *testing.T) {
	robot := own(t)
	for _, test := range []struct {
		why  string
		tls  request.TLS
		want string
	}{
		{"none", request.TLS{}, "TLS 1.3 TLS_AES_128_GCM_SHA256  resumed=false nobody"},
		{"an old version and a cipher", request.TLS{MaxVersion: "1.2", Ciphers: []string{"TLS_RSA_WITH_AES_128_CBC_SHA"}}, "TLS 1.2 TLS_RSA_WITH_AES_128_CBC_SHA  resumed=false nobody"},
		{"another name", request.TLS{ServerName: "example.com"}, "TLS 1.3 TLS_AES_128_GCM_SHA256 example.com resumed=false nobody"},
		{"a client's certificate", request.TLS{Certificate: robot[0], Key: robot[1]}, "TLS 1.3 TLS_AES_128_GCM_SHA256  resumed=false robot"},
	} {
		c, server, port := everywhere(t, func(s *httptest.Server) {
			s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, CipherSuites: []uint16{tls.TLS_RSA_WITH_AES_128_CBC_SHA, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}}
			s.StartTLS()
		})
		w := flow(get("home", "https://127.0.0.1:"+port+"/"))
		w.HTTP.TLS = test.tls
		w.HTTP.TLS.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
		ended(t, run(t, context.Background(), Config{Workflow: w, VUs: 1}))
		if diff := cmp.Diff(map[string]int{test.want: 1}, c.told().tls); diff != "" {
			t.Errorf("%s: %s", test.why, diff)
		}
	}
}

// own creates a certificate and its key.
func own(t *testing.T) [2][]byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	template.Subject.CommonName = "robot"
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return [2][]byte{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})}
}

// A user's later connections resume its session, and only if the workflow wants that.
func TestResumption(t *testing.T) {
	for _, resume := range []bool{false, true} {
		c, _, port := everywhere(t, func(s *httptest.Server) { s.StartTLS() })
		w := flow(get("home", "https://127.0.0.1:"+port+"/"))
		w.HTTP.Insecure, w.HTTP.TLS.Resume = true, resume
		w.HTTP.Headers = []builtin.Pair{{Name: "Connection", Value: "close"}}
		w.Steps[0].Request = w.HTTP.Apply(w.Steps[0].Request)
		w.Plan.Iterations = 6
		r := run(t, context.Background(), Config{Workflow: w, VUs: 2, Duration: 5 * time.Second})
		ended(t, r)
		resumed := 0
		for how, n := range c.told().tls {
			if strings.Contains(how, "resumed=true") {
				resumed += n
			}
		}
		if want := map[bool]int{true: 4}[resume]; resumed != want {
			t.Errorf("resume %v: %v", resume, c.told().tls)
		}
		if resume != slices.Contains(r.Stats.Logs, "tls: 4 of 6 connections resumed a session") {
			t.Errorf("resume %v: %v", resume, r.Stats.Logs)
		}
	}
}
