package workflow_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/request"
)

// clientOf loads a workflow with the given client, and files in its folder.
func clientOf(t *testing.T, client string, files map[string][]byte) (*workflow.Workflow, error) {
	t.Helper()
	p := program("test.star", "def f(vu):\n    return vu.http.get(\"http://h/\", headers = {\"X-Own\": \"o\"})\n"+
		"workflow(name = \"w\", http = "+client+", steps = [step(\"a\", http.get(\"http://h/\", headers = {\"x-team\": \"own\"})), step(f)])\n")
	//lint:orderfree found by name
	for name, data := range files {
		p.Files = append(p.Files, message.File{Name: name, Data: data})
	}
	loaded, err := workflow.Load(p)
	if err != nil {
		return nil, err
	}
	return loaded.Workflow("w"), nil
}

func TestClientNetwork(t *testing.T) {
	prefixes := func(texts ...string) (out []netip.Prefix) {
		for _, s := range texts {
			out = append(out, netip.MustParsePrefix(s))
		}
		return out
	}
	tests := []struct {
		client string
		want   request.Options
	}{
		{`http.client()`, request.Options{}},
		{`http.client(tls = tls(min_version = "1.2", max_version = "1.3", server_name = "other", resume = True))`,
			request.Options{TLS: request.TLS{MinVersion: "1.2", MaxVersion: "1.3", ServerName: "other", Resume: true}}},
		{`http.client(tls = tls(ciphers = ["TLS_RSA_WITH_AES_128_CBC_SHA"]))`,
			request.Options{TLS: request.TLS{MaxVersion: "1.2", Ciphers: []string{"TLS_RSA_WITH_AES_128_CBC_SHA"}}}},
		{`http.client(proxy = "http://ann:p%40ss@proxy")`, request.Options{Proxy: &request.Proxy{Host: "proxy", Port: 3128, User: "ann", Password: "p@ss"}}},
		{`http.client(addresses = ["127.0.0.2", "::1"])`, request.Options{Sources: prefixes("127.0.0.2/32", "::1/128")}},
		{`http.client(addresses = "10.1.2.3/28")`, request.Options{Sources: prefixes("10.1.2.0/28")}},
		{`http.client(dns = dns(ttl = "30s", rotate = "round_robin", servers = ["1.1.1.1", "[::1]:5353"], hosts = {"A.example.": ["127.0.0.1", "127.0.0.2"]}))`,
			request.Options{DNS: request.DNS{TTL: 30 * time.Second, Rotate: "round_robin", Servers: []netip.AddrPort{netip.MustParseAddrPort("1.1.1.1:53"), netip.MustParseAddrPort("[::1]:5353")},
				Hosts: []request.Host{{Name: "a.example", Addresses: []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")}}}}}},
		{`http.client(dns = dns(ttl = "answer"))`, request.Options{DNS: request.DNS{Answer: true}}},
		{`http.client(max_body = "2MiB", compression = True, keep_alive = False, user_agent = "u", headers = {"X-Team": ["a", "b"]})`,
			request.Options{MaxBody: 2 << 20, Compression: true, NoKeepAlive: true, Headers: []builtin.Pair{
				{Name: "X-Team", Value: "a"}, {Name: "X-Team", Value: "b"}, {Name: "User-Agent", Value: "u"}, {Name: "Accept-Encoding", Value: "gzip, deflate, br, zstd"}, {Name: "Connection", Value: "close"}}}},
	}
	for _, test := range tests {
		w, err := clientOf(t, test.client, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, w.HTTP, cmpopts.EquateComparable(netip.Prefix{}, netip.Addr{}, netip.AddrPort{})); diff != "" {
			t.Error(test.client, diff)
		}
	}
}

// Every request of both kinds of steps has the client's headers; its own override them.
func TestClientHeaders(t *testing.T) {
	w, err := clientOf(t, `http.client(headers = {"X-Team": "a", "Authorization": "Basic x"}, user_agent = "u")`, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []builtin.Pair{{Name: "Authorization", Value: "Basic x"}, {Name: "User-Agent", Value: "u"}, {Name: "x-team", Value: "own"}}
	if diff := cmp.Diff(want, w.Steps[0].Request.Headers); diff != "" {
		t.Error(diff)
	}
	c := &fake{}
	v := w.NewVU(1, 1, c)
	v.Begin()
	v.Call(1)
	want = []builtin.Pair{{Name: "X-Team", Value: "a"}, {Name: "Authorization", Value: "Basic x"}, {Name: "User-Agent", Value: "u"}, {Name: "X-Own", Value: "o"}}
	if diff := cmp.Diff(want, c.requests[0].Headers); diff != "" {
		t.Error(diff)
	}
	filled := load(t, "workflow(name = \"w\", http = http.client(user_agent = \"u\"), steps = [step(\"a\", http.get(\"http://h/\"), extract = {\"t\": header(\"T\")}), step(\"b\", http.get(\"http://h/${t}\"), after = [\"a\"])])")
	if got := filled.Steps[1].Request; len(got.Placeholders) != 1 || len(got.Headers) != 1 {
		t.Errorf("filled with values: %+v", got)
	}
	signed := w.HTTP.Apply(&request.Request{Auth: &request.Auth{Kind: "bearer", Token: "t"}})
	if len(signed.Headers) != 2 {
		t.Errorf("auth and a header Authorization: %v", signed.Headers)
	}
}

// A client's certificate is read with the file, together with its key.
func TestClientCertificate(t *testing.T) {
	certificate, key := identity(t)
	_, other := identity(t)
	files := map[string][]byte{"c.pem": certificate, "k.pem": key, "o.pem": other}
	w, err := clientOf(t, `http.client(tls = tls(certificate = file("c.pem"), key = file("k.pem"), ca = file("c.pem")))`, files)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.HTTP.TLS; string(got.Certificate) != string(certificate) || string(got.Key) != string(key) || string(got.CA) != string(certificate) {
		t.Errorf("got %+v", got)
	}
	//lint:orderfree each is judged by itself
	for client, want := range map[string]string{
		`http.client(tls = tls(certificate = file("c.pem"), key = file("o.pem")))`:                    "the key does not belong to the first certificate",
		`http.client(tls = tls(certificate = file("c.pem"), key = file("c.pem")))`:                    "key holds no private key",
		`http.client(tls = tls(certificate = file("k.pem"), key = file("k.pem")))`:                    "certificate holds no certificate",
		`http.client(tls = tls(key = file("k.pem")))`:                                                 "tls has a key and no certificate",
		`http.client(tls = tls(ca = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"))`: "cannot be read",
	} {
		if _, err := clientOf(t, client, files); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", client, err, want)
		}
	}
}

func identity(t *testing.T) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}
