package transport

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/certs"
	"hyperscale/runtime/seal"
)

// identity is what hosts of these tests say of themselves.
func identity(id node.ID) certs.Identity {
	return certs.Identity{Role: node.RoleToy, Cluster: "c", Environment: "e", Node: string(id)}
}

// bench issues certificates for tests.
type bench struct {
	t      testing.TB
	issuer *certs.Issuer
}

func newBench(t testing.TB, name string) *bench {
	t.Helper()
	issuer, err := certs.NewIssuer(name, time.Now().Add(-1000*time.Hour), time.Now().Add(1000*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t, issuer}
}

// issue writes the files of a certificate, which change has edited.
func (b *bench) issue(change func(*certs.Request)) certs.Files {
	b.t.Helper()
	r := &certs.Request{Name: "holder", Role: "toy", Cluster: "c", Environment: "e", From: time.Now().Add(-time.Hour), Until: time.Now().Add(time.Hour)}
	if change != nil {
		change(r)
	}
	certificate, key, err := b.issuer.Issue(r)
	if err != nil {
		b.t.Fatal(err)
	}
	authority, _, err := b.issuer.PEM()
	if err != nil {
		b.t.Fatal(err)
	}
	return filed(b.t, certificate, key, authority)
}

// filed writes three files of their own.
func filed(t testing.TB, certificate, key, authority []byte) certs.Files {
	t.Helper()
	dir := t.TempDir()
	f := certs.Files{Cert: filepath.Join(dir, "node.crt"), Key: filepath.Join(dir, "node.key"), CA: filepath.Join(dir, "ca.crt")}
	for path, text := range map[string][]byte{f.Cert: certificate, f.Key: key, f.CA: authority} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// trusting adds authorities to those of files.
func trusting(t testing.TB, f certs.Files, more ...*bench) certs.Files {
	t.Helper()
	all, err := os.ReadFile(f.CA)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range more {
		one, _, err := b.issuer.PEM()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one...)
	}
	if err := os.WriteFile(f.CA, all, 0o600); err != nil {
		t.Fatal(err)
	}
	return f
}

func opened(t testing.TB, f certs.Files, self certs.Identity, at time.Duration) *certs.Store {
	t.Helper()
	s, err := certs.Open(f, self, func() time.Time { return time.Now().Add(at) })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// notes is a log to read.
type notes struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (n *notes) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(b)
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.ReplaceAll(n.text.String(), `\`, "")
}

func (n *notes) logger() *slog.Logger { return slog.New(slog.NewTextHandler(n, nil)) }

func secureWith(s *certs.Store) func(*Config) { return func(c *Config) { c.Certs = s } }

func TestAStreamUnderTLS(t *testing.T) {
	b := newBench(t, "authority")
	one := serve(t, "a", secureWith(opened(t, b.issue(nil), identity("a"), 0)))
	two := serve(t, "b", secureWith(opened(t, b.issue(nil), identity("b"), 0)))
	s := one.Open(two.addr())
	one.Send(s, pingOf(0))
	one.ear.want(t, "opened 1 b#1")
	two.ear.want(t, "opened 1 a#1", "ping 0 from a on 1")
	two.Send(1, pingOf(9))
	one.ear.want(t, "ping 9 from b on 1")
	for n := range uint64(50) { // large ones and small ones, both ways at once
		one.Send(s, &message.ExecResult{State: 1, Error: strings.Repeat("x", 90_000+int(n))})
		one.Send(s, pingOf(n))
		two.Send(1, &message.ExecResult{State: 1, Error: strings.Repeat("y", 40_000+int(n))})
		two.ear.want(t, fmt.Sprintf("result of %d bytes", 90_000+n), fmt.Sprintf("ping %d from a", n))
		one.ear.want(t, fmt.Sprintf("result of %d bytes", 40_000+n))
	}
	two.Send(1, &message.ExecResult{State: 1, Error: strings.Repeat("x", 1_000_000)})
	one.ear.want(t, "result of 1000000 bytes")
	one.Send(s, pingOf(4))
	one.Close(s)
	two.ear.want(t, "ping 4 from a", "broken 1 closed by the peer")
	if got := two.Stats().Seal.Certified; !got.Has || got.Left <= 0 || len(got.Here)+len(got.ByPeer) != 0 {
		t.Errorf("%+v", got)
	}

	s = one.Open(two.addr())
	one.ear.want(t, "opened")
	two.ear.want(t, "opened 2")
	two.Send(2, pingOf(5))
	two.Close(2)
	one.ear.want(t, "ping 5 from b", fmt.Sprintf("broken %d closed by the peer", s))
	one.Open(two.addr())
	one.ear.want(t, "opened")
	two.ear.want(t, "opened 3")
	one.Kill()
	two.ear.want(t, "broken 3 closed by the peer")
}

// TestCertificatesThatDoNotFit: each is refused, with its reason at both ends, whichever end has it.
func TestCertificatesThatDoNotFit(t *testing.T) {
	good, other := newBench(t, "authority"), newBench(t, "another")
	until := func(from, until time.Duration) func(*certs.Request) {
		return func(r *certs.Request) { r.From, r.Until = time.Now().Add(from), time.Now().Add(until) }
	}
	for _, c := range []struct {
		what   string
		reason certs.Reason
		issued certs.Files
		who    certs.Identity // as the certificate says
		as     func(*Config)  // what the node says
		skew   time.Duration  // of the node's clock
		said   string         // of the peer's field, as the good node says it
	}{
		{"another authority", certs.Authority, trusting(t, other.issue(nil), good), identity("b"), nil, 0,
			`certificate is "\"holder\", signed by \"another\" (`},
		{"expired", certs.Expired, good.issue(until(-3*time.Hour, -time.Hour)), identity("b"), nil, -2 * time.Hour,
			`certificate is "\"holder\", expired at `},
		{"not yet valid", certs.Early, good.issue(until(2*time.Hour, 4*time.Hour)), identity("b"), nil, 3 * time.Hour,
			`certificate is "\"holder\", valid from `},
		{"another role", certs.Role, good.issue(func(r *certs.Request) { r.Role = "worker"; r.Datacenter = "d" }),
			certs.Identity{Role: node.RoleWorker, Cluster: "c", Environment: "e", Datacenter: "d"}, nil, 0,
			`role is "toy", this node wants "worker", as its certificate claims: give it a certificate with hyperscale://role/toy`},
		{"another cluster", certs.Cluster, good.issue(func(r *certs.Request) { r.Cluster = "x" }),
			certs.Identity{Role: node.RoleToy, Cluster: "x", Environment: "e"}, nil, 0,
			`cluster is "c", this node wants "x", as its certificate claims: correct --cluster, or give it a certificate with hyperscale://cluster/c`},
		{"another environment", certs.Environment, good.issue(func(r *certs.Request) { r.Environment = "x" }),
			certs.Identity{Role: node.RoleToy, Cluster: "c", Environment: "x"}, nil, 0,
			`environment is "e", this node wants "x", as its certificate claims: correct --environment`},
		{"another datacenter", certs.Datacenter, good.issue(func(r *certs.Request) { r.Role, r.Datacenter = "worker", "d" }),
			certs.Identity{Role: node.RoleWorker, Cluster: "c", Environment: "e", Datacenter: "d"}, func(c *Config) { c.Self.Role, c.Datacenter = node.RoleWorker, "x" }, 0,
			`datacenter is "x", this node wants "d", as its certificate claims: correct --datacenter`},
		{"another name", certs.Node, good.issue(func(r *certs.Request) { r.Node = "n" }), identity("n"), nil, 0,
			`node is "b", this node wants "n", as its certificate claims: correct --id`},
	} {
		store := opened(t, c.issued, c.who, c.skew)
		for _, dials := range []bool{true, false} {
			log, bad := &notes{}, &notes{}
			g := serve(t, "a", func(k *Config) {
				who := identity("a")
				if c.as != nil { // managers and workers call each other
					who.Role, who.Datacenter, k.Self.Role, k.Datacenter = node.RoleManager, "m", node.RoleManager, "m"
				}
				k.Logger = log.logger()
				k.Certs = opened(t, good.issue(func(r *certs.Request) {
					r.Role, r.Datacenter, r.From, r.Until = who.Role.String(), who.Datacenter, time.Now().Add(-9*time.Hour), time.Now().Add(9*time.Hour)
				}), who, 0)
			})
			b := serve(t, "b", func(k *Config) {
				k.Certs, k.Logger = store, bad.logger()
				if c.as != nil {
					c.as(k)
				}
			})
			from, to := b, g
			if !dials {
				from, to = g, b
			}
			from.Open(to.addr())
			from.ear.want(t, "broken 1 greet")
			eventually(t, c.what, func() bool {
				return g.Stats().Seal.Certified.Here[c.reason] == 1 && b.Stats().Seal.Certified.ByPeer[c.reason] == 1
			})
			eventually(t, c.what+": the logs", func() bool {
				return strings.Contains(log.String(), "the peer's "+strings.ReplaceAll(c.said, `\`, "")) &&
					strings.Contains(bad.String(), "the peer refused this node: its "+strings.ReplaceAll(strings.ReplaceAll(c.said, `\`, ""), "this node wants", "the peer wants"))
			})
		}
	}
}

// TestOnlyTheRightUsageOpens: the certificate of a client accepts no stream.
func TestOnlyTheRightUsageOpens(t *testing.T) {
	b := newBench(t, "authority")
	client := b.issue(func(r *certs.Request) { r.Role = "client" })
	bad := serve(t, "b", secureWith(opened(t, client, certs.Identity{Role: node.RoleClient, Cluster: "c", Environment: "e"}, 0)))
	good := serve(t, "a", secureWith(opened(t, b.issue(nil), identity("a"), 0)))
	good.Open(bad.addr())
	good.ear.want(t, "broken 1 greet "+bad.Addr()+`: the peer's certificate is "\"holder\"", this node wants one for server authentication`)
	eventually(t, "the count", func() bool {
		return good.Stats().Seal.Certified.Here[certs.Usage] == 1 && bad.Stats().Seal.Certified.ByPeer[certs.Usage] == 1
	})
}

// TestStrangersOfTLS: a peer without a certificate, one that signed its own, one of TLS 1.2, and one
// without TLS learn why.
func TestStrangersOfTLS(t *testing.T) {
	b, self := newBench(t, "authority"), newBench(t, "self")
	certificate, key, err := self.issuer.PEM()
	if err != nil {
		t.Fatal(err)
	}
	own, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what   string
		reason certs.Reason
		config *tls.Config
		said   string // to the stranger
		logged string
	}{
		{"no certificate", certs.Absent, &tls.Config{}, "tls: certificate required", `the peer's certificate is "none", this node wants one of this cluster's authority`},
		{"signed by itself", certs.Authority, &tls.Config{Certificates: []tls.Certificate{own}}, "HelloRefused certificate", `"self", signed by itself", this node wants one signed by "authority" (`},
		{"TLS 1.2", certs.Version, &tls.Config{MaxVersion: tls.VersionTLS12}, "protocol version not supported", `the peer's TLS version is "1.2 or older", this node wants 1.3`},
	} {
		log := &notes{}
		h := serve(t, "a", func(k *Config) {
			k.Certs, k.Logger = opened(t, b.issue(nil), identity("a"), 0), log.logger()
			k.Limits.Linger = 50 * time.Millisecond // as the stranger does not close
		})
		c.config.InsecureSkipVerify = true
		raw := dial(t, h)
		conn := tls.Client(raw, c.config)
		_ = conn.SetDeadline(time.Now().Add(wait))
		got := ""
		if err := conn.Handshake(); err != nil {
			got = err.Error()
		} else if m, err := (&Transport{}).newReader(conn).unbounded().next(); err != nil {
			got = err.Error()
		} else if refused, ok := m.(*message.HelloRefused); ok {
			got = "HelloRefused " + refused.Field
		}
		if !strings.Contains(got, c.said) {
			t.Errorf("%s: the stranger hears %q, want %q", c.what, got, c.said)
		}
		eventually(t, c.what, func() bool {
			return h.Stats().Seal.Certified.Here[c.reason] == 1 && strings.Contains(log.String(), c.logged)
		})
	}
}

func (r *frameReader) unbounded() *frameReader {
	r.limit = message.FrameMax
	return r
}

// TestNodesOfWhichOneHasCertificates: both ends say what to give, with a secret and without.
func TestNodesOfWhichOneHasCertificates(t *testing.T) {
	b := newBench(t, "authority")
	for what, keys := range map[string]func(*Config){"without a secret": nil, "with a secret": sealing(t, seal.New())} {
		for _, dials := range []bool{true, false} {
			log := &notes{}
			plain := serve(t, "p", func(k *Config) {
				if k.Logger = log.logger(); keys != nil {
					keys(k)
				}
			})
			secure := serve(t, "s", func(k *Config) {
				k.Certs, k.Logger = opened(t, b.issue(nil), identity("s"), 0), log.logger()
				if keys != nil {
					keys(k)
				}
			})
			from, to := plain, secure
			if !dials {
				from, to = secure, plain
			}
			from.Open(to.addr())
			from.ear.want(t, "broken 1 greet")
			eventually(t, what, func() bool {
				return secure.Stats().Seal.Certified.Here[certs.Plain] == 1 && plain.Stats().Seal.Certified.Here[certs.Plain] == 1 &&
					strings.Contains(log.String(), `the peer's certificate is "one, as it speaks TLS", this node wants none`) &&
					strings.Contains(log.String(), `the peer's certificate is "none, as it does not speak TLS"`) && strings.Contains(log.String(), remedySecure)
			})
		}
	}
}

// TestAnAuthorityRotates: new streams are judged by the authorities of now, old ones stay.
func TestAnAuthorityRotates(t *testing.T) {
	old, young := newBench(t, "authority"), newBench(t, "authority")
	files := old.issue(nil)
	store := opened(t, files, identity("a"), 0)
	a := serve(t, "a", secureWith(store))
	b := serve(t, "b", secureWith(opened(t, trusting(t, old.issue(nil), young), identity("b"), 0)))
	s := b.Open(a.addr())
	b.ear.want(t, "opened 1")
	a.ear.want(t, "opened 1")

	fresh := young.issue(nil)
	for from, to := range map[string]string{fresh.Cert: files.Cert, fresh.Key: files.Key, fresh.CA: files.CA} {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Read(); err != nil {
		t.Fatal(err)
	}
	b.Open(a.addr())
	b.ear.want(t, `broken 2 greet `+a.Addr()+`: the peer refused this node: its certificate is`)
	eventually(t, "the old authority", func() bool { return a.Stats().Seal.Certified.Here[certs.Authority] == 1 })
	b.Send(s, pingOf(1))
	a.ear.want(t, "ping 1 from b on 1")
}

// TestTheGrantOfACertificate: a peer's right, subject and datacenter come from its certificate, and a
// manager registers in that datacenter alone.
func TestTheGrantOfACertificate(t *testing.T) {
	b := newBench(t, "authority")
	gate := serve(t, "g", func(k *Config) {
		k.Self.Role = node.RoleGate
		k.Certs = opened(t, b.issue(func(r *certs.Request) { r.Role = "gate" }), certs.Identity{Role: node.RoleGate, Cluster: "c", Environment: "e", Node: "g"}, 0)
	})
	manager := serve(t, "m", func(k *Config) {
		k.Self.Role, k.Datacenter = node.RoleManager, "d"
		k.Certs = opened(t, b.issue(func(r *certs.Request) { r.Role, r.Datacenter = "manager", "d" }),
			certs.Identity{Role: node.RoleManager, Cluster: "c", Environment: "e", Datacenter: "d", Node: "m"}, 0)
	})
	client := serve(t, "c", func(k *Config) {
		k.Self.Role = node.RoleClient
		k.Certs = opened(t, b.issue(func(r *certs.Request) { r.Name, r.Role = "ann", "submitter" }), certs.Identity{Role: node.RoleClient, Cluster: "c", Environment: "e", Node: "c"}, 0)
	})
	for _, c := range []struct {
		from host
		id   node.ID
		want node.Grant
	}{
		{manager, "m", node.Grant{Subject: "holder", Datacenter: "d"}},
		{client, "c", node.Grant{Subject: "ann", Right: node.RightSubmit}},
	} {
		c.from.Open(gate.addr())
		gate.ear.want(t, "opened")
		if got, _ := gate.ear.grants.Load(c.id); got != c.want {
			t.Errorf("%s is granted %+v, want %+v", c.id, got, c.want)
		}
		c.from.ear.want(t, "opened")
	}
	manager.Send(1, &message.ManagerHeartbeat{Datacenter: "d", Sequence: 1})
	gate.ear.want(t, "ManagerHeartbeat")
	manager.Send(1, &message.ManagerHeartbeat{Datacenter: "x", Sequence: 2})
	gate.ear.want(t, `broken 1 the peer sent a ManagerHeartbeat of another datacenter, and its certificate claims "d"`)
	if got := gate.Stats().Unfit.Misplaced; got != 1 {
		t.Errorf("%d were counted", got)
	}
}

// TestCertificatesOfOpenssl: those that another program makes open a stream.
func TestCertificatesOfOpenssl(t *testing.T) {
	program, err := exec.LookPath("openssl")
	if err != nil {
		if os.Getenv("HYPERSCALE_CI") != "" {
			t.Fatal("openssl is not installed: apt-get install openssl")
		}
		t.Skip("openssl is not installed")
	}
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("openssl %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	extensions := "subjectAltName=URI:hyperscale://role/toy,URI:hyperscale://cluster/c,URI:hyperscale://env/e\nextendedKeyUsage=serverAuth,clientAuth\n"
	if err := os.WriteFile(filepath.Join(dir, "ext"), []byte(extensions), 0o600); err != nil {
		t.Fatal(err)
	}
	run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=authority", "-days", "1")
	run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "node.key", "-out", "node.csr", "-subj", "/CN=node")
	run("x509", "-req", "-in", "node.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-out", "node.crt", "-days", "1", "-extfile", "ext")
	files := certs.Files{Cert: filepath.Join(dir, "node.crt"), Key: filepath.Join(dir, "node.key"), CA: filepath.Join(dir, "ca.crt")}
	a := serve(t, "a", secureWith(opened(t, files, identity("a"), 0)))
	b := serve(t, "b", secureWith(opened(t, files, identity("b"), 0)))
	a.Open(b.addr())
	a.ear.want(t, "opened 1 b#1")
}

// TestASilentClientOfTLS: who stops within its first bytes costs a place among the strangers.
func TestASilentClientOfTLS(t *testing.T) {
	b := newBench(t, "authority")
	h := serve(t, "a", func(k *Config) {
		k.Certs = opened(t, b.issue(nil), identity("a"), 0)
		k.Limits.Handshake = 20 * time.Millisecond
	})
	conn, err := net.Dial("tcp", h.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = conn.Write([]byte{0x16, 3, 1, 1})
	if !ends(conn) {
		t.Error("the connection was not closed")
	}
	eventually(t, "the count", func() bool { return h.Stats().Slow == 1 })
}
