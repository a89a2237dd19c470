package engine

import (
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/mongodb/mongodbtest"
)

// records of the service of a cluster, whose servers are at these ports.
func service(text string, servers ...string) (all []string) {
	for i, s := range servers {
		name, port, _ := strings.Cut(s, ":")
		all = append(all, fmt.Sprintf("--srv-host=_mongodb._tcp.cluster.shop.test,%s,%s,%d,0", name, port, i))
	}
	if text != "" {
		all = append(all, "--txt-record=cluster.shop.test,"+text)
	}
	return append(all, "--host-record=a.shop.test,127.0.0.1", "--host-record=b.shop.test,127.0.0.1", "--local=/test/")
}

// at is a name with the port of an address.
func at(name, address string) string {
	_, port, _ := net.SplitHostPort(address)
	return name + ":" + port
}

// named is TLS whose certificate is of that name.
func named(t *testing.T, name string, serve func(net.Conn)) string {
	return at(name, behindTLS(t, authority.Certified(func(c *x509.Certificate) { c.DNSNames, c.IPAddresses = []string{name}, nil })(), serve))
}

// SRV records name the servers of a set, whose primary gets all operations, each server by its own name in TLS; a
// TXT record names the database that knows the user.
func TestServicesOfMongoDB(t *testing.T) {
	t.Parallel()
	s := mongodbtest.Start(t, "users")
	_, _, ca := authority.Files()
	var asked atomic.Int64 // of a secondary
	secondary := func(c net.Conn) {
		asked.Add(1)
		mongodbtest.Hello(c, `{"isWritablePrimary": false, "secondary": true, "setName": "rs0", "maxWireVersion": 21, "ok": 1}`)
	}
	const user = `, user = "app", password = "geheim"`
	closed := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		return l.Addr().String()
	}()
	primary := named(t, "b.shop.test", passes(s.Address()))
	plain := at("b.shop.test", s.Address())
	for name, tt := range map[string]struct {
		text    string
		servers []string
		options string // of the URL
		client  string
		kind    string
		others  int64 // connections that the secondary gets
	}{
		"one server":                {"authSource=admin", []string{primary}, "", user, "", 0},
		"behind a secondary":        {"authSource=admin", []string{named(t, "a.shop.test", secondary), primary}, "", user, "", 1},
		"of functions":              {"authSource=admin", []string{named(t, "a.shop.test", secondary), primary}, "", user, "", 1},
		"shared":                    {"authSource=admin", []string{named(t, "a.shop.test", secondary), primary}, "", user + ", connections = 2", "", 1},
		"behind one that is away":   {"authSource=admin", []string{at("a.shop.test", closed), primary}, "", user, "", 0},
		"in clear":                  {"authSource=admin", []string{plain}, "?tls=false", user, "", 0},
		"without a TXT record":      {"", []string{primary}, "?authSource=admin", user, "", 0},
		"the URL goes first":        {"authSource=other", []string{primary}, "?authSource=admin", user, "", 0},
		"another database":          {"authSource=other", []string{primary}, "", user, "auth", 0},
		"secondaries alone":         {"", []string{named(t, "a.shop.test", secondary)}, "", user, "moved", 6},
		"another set":               {"replicaSet=rs1", []string{named(t, "a.shop.test", secondary)}, "", user, "moved", 6},
		"no load balancer":          {"loadBalanced=true", []string{primary}, "", user, "protocol", 0},
		"two load balancers":        {"loadBalanced=true", []string{at("a.shop.test", closed), primary}, "", user, "dns", 0},
		"a load balancer and a set": {"replicaSet=rs1", []string{primary}, "?loadBalanced=true", user, "dns", 0},
		"the URL denies that":       {"authSource=admin&loadBalanced=true", []string{at("a.shop.test", closed), primary}, "?loadBalanced=false", user, "", 0},
		"the URL names the set":     {"replicaSet=rs0", []string{named(t, "a.shop.test", secondary)}, "?replicaSet=rs1", user, "moved", 6},
		"an option that is unknown": {"readPreference=nearest", []string{primary}, "", user, "dns", 0},
		"another name in TLS":       {"", []string{at("a.shop.test", "x:"+strings.TrimPrefix(primary, "b.shop.test:"))}, "", user, "tls_name", 0},
	} {
		t.Run(name, func(t *testing.T) {
			asked.Store(0)
			ask, row := `mongodb.find(m, "orders", {})`, "ask"
			if name == "of functions" {
				ask, row = `lambda vu: vu.mongodb.find(m, "orders", {}, name = "find")`, "find"
			}
			dns := dnsmasq(t, service(tt.text, tt.servers...)...)
			w := loadFile(t, "mongodb+srv://cluster.shop.test/shop"+tt.options, fmt.Sprintf(`m = mongodb.client("TARGET"%s)
workflow(name = "test", iterations = 6, vus = 1, duration = "60s", http = http.client(tls = tls(ca = %q), dns = dns(servers = [%q])), steps = [step("ask", %s)])`, tt.client, ca, dns.RemoteAddr(), ask))
			got := byName(run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 20 * time.Second}).Stats.Steps)[row]
			if good := kinds(got)[tt.kind]; tt.kind == "" && (got.OK != 6 || measured(got)[plan.MeasureBatches].Count != 6) || tt.kind != "" && good != 6 || got.Started != 6 {
				t.Errorf("ok %d: %v", got.OK, got.Errors)
			}
			if n := asked.Load(); n != tt.others {
				t.Errorf("the secondary got %d connections, want %d", n, tt.others)
			}
		})
	}
	for name, tt := range map[string]struct {
		records []string
		want    string
	}{
		"no SRV record":            {[]string{"--local=/test/"}, "no such name"},
		"a server that is foreign": {service("", "a.evil.test:1"), "is not below shop.test"},
		"a name that ends alike":   {service("", "evilshop.test:1"), "is not below shop.test"},
		"two TXT records":          {append(service("authSource=admin", primary), "--txt-record=cluster.shop.test,replicaSet=x"), "has 2 TXT records"},
	} {
		t.Run(name, func(t *testing.T) {
			dns := dnsmasq(t, tt.records...)
			w := loadFile(t, "mongodb+srv://cluster.shop.test/shop", fmt.Sprintf(`workflow(name = "test", iterations = 1, vus = 1, duration = "60s", http = http.client(dns = dns(servers = [%q])), steps = [step("ask", mongodb.find("TARGET", "orders", {}))])`, dns.RemoteAddr()))
			if _, err := Run(context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 20 * time.Second}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}
