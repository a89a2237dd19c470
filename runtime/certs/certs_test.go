package certs

import (
	"crypto/x509"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/node"
)

var self = Identity{Role: node.RoleWorker, Cluster: "c", Environment: "e", Datacenter: "d", Node: "w"}

// write makes the files of a worker that fits self, after change has edited the request.
func write(t *testing.T, issuer *Issuer, change func(*Request)) Files {
	t.Helper()
	r := &Request{Name: "w", Role: "worker", Cluster: "c", Environment: "e", Datacenter: "d", From: time.Now().Add(-time.Hour), Until: time.Now().Add(time.Hour)}
	if change != nil {
		change(r)
	}
	certificate, key, err := issuer.Issue(r)
	if err != nil {
		t.Fatal(err)
	}
	authority, _, err := issuer.PEM()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	f := Files{Cert: filepath.Join(dir, "crt"), Key: filepath.Join(dir, "key"), CA: filepath.Join(dir, "ca")}
	put(t, f.Cert, certificate)
	put(t, f.Key, key)
	put(t, f.CA, authority)
	return f
}

func put(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func issuer(t *testing.T) *Issuer {
	t.Helper()
	i, err := NewIssuer("authority", time.Now().Add(-time.Hour), time.Now().Add(48*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// TestOpenRefusesAtTheStart: a node with files that its peers would reject does not start.
func TestOpenRefusesAtTheStart(t *testing.T) {
	ours, other := issuer(t), issuer(t)
	mode := func(f Files, path string, m os.FileMode) Files {
		if err := os.Chmod(path, m); err != nil {
			t.Fatal(err)
		}
		return f
	}
	with := func(change func(*Files)) Files {
		f := write(t, ours, nil)
		change(&f)
		return f
	}
	loose, public := write(t, ours, nil), write(t, ours, nil)
	for _, c := range []struct {
		what  string
		files Files
		want  string
	}{
		{"no key", with(func(f *Files) { f.Key = "" }), "--tls-key is missing: give --tls-cert, --tls-key and --tls-ca together"},
		{"no such file", with(func(f *Files) { f.CA += "x" }), "correct --tls-ca"},
		{"a directory", with(func(f *Files) { f.Cert = filepath.Dir(f.Cert) }), "no regular file: give the file itself to --tls-cert"},
		{"a key that all read", mode(loose, loose.Key, 0o644), "has mode 0644, others must neither read nor write a key: chmod 0600"},
		{"authorities that all write", mode(public, public.CA, 0o646), "has mode 0646, others must not write it"},
		{"another's key", with(func(f *Files) { f.Key = write(t, ours, nil).Key }), "private key does not match public key: give a PEM certificate to --tls-cert and its own key"},
		{"no authority", with(func(f *Files) { put(t, f.CA, []byte("x")) }), "it has no certificate: give the PEM file of the cluster's authority to --tls-ca"},
		{"another authority", with(func(f *Files) { f.CA = write(t, other, nil).CA }), `must be one signed by "authority" (`},
		{"expired", write(t, ours, func(r *Request) { r.Until = time.Now().Add(-time.Minute) }), "expired at "},
		{"another role", write(t, ours, func(r *Request) { r.Role = "manager" }), `the role is "worker", must be "manager", as its certificate claims: give it a certificate with hyperscale://role/worker`},
		{"no cluster", write(t, ours, func(r *Request) { r.Cluster = "" }), `the cluster is "c", must be none, as its certificate claims none: correct --cluster, or give it a certificate with hyperscale://cluster/c`},
		{"no datacenter", write(t, ours, func(r *Request) { r.Datacenter = "" }), `the datacenter is "d", must be none, as its certificate claims none`},
		{"another name", write(t, ours, func(r *Request) { r.Node = "x" }), `the node is "w", must be "x", as its certificate claims: correct --id`},
	} {
		if _, err := Open(c.files, self, time.Now); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.what, err, c.want)
		}
	}
	good := write(t, ours, func(r *Request) { r.Node = "w" })
	if _, err := Open(mode(good, good.Key, 0o640), self, time.Now); err != nil {
		t.Error(err)
	}
}

// TestReadAgain: files that fit replace those before, all others change nothing.
func TestReadAgain(t *testing.T) {
	old, young := issuer(t), issuer(t)
	files := write(t, old, nil)
	s, err := Open(files, self, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if s.Changed() {
		t.Error("nothing has changed")
	}
	before, later := s.now.Load(), time.Now().Add(30*time.Hour)
	fresh := write(t, young, func(r *Request) { r.Until = later })
	for i, path := range s.paths() { // one after the other, as people copy them
		put(t, path, append(read(t, []string{fresh.Cert, fresh.Key, fresh.CA}[i]), strings.Repeat("\n", i+1)...))
		if !s.Changed() {
			t.Fatalf("%s has changed", path)
		}
		err := s.Read()
		if last := i == 2; (err == nil) != last || (s.now.Load() != before) != last {
			t.Fatalf("after file %d: %v", i, err)
		}
		if s.Changed() {
			t.Fatal("Read has seen it")
		}
	}
	if got := s.Until(); got.Sub(later).Abs() > time.Second {
		t.Errorf("it ends at %v, want %v", got, later)
	}
	if err := os.Remove(files.Key); err != nil {
		t.Fatal(err)
	}
	if s.Changed() {
		t.Error("a file that is away has not changed")
	}
}

// TestTheEndOfACertificateIsThatOfItsAuthority: the first end of the chain counts.
func TestTheEndOfACertificateIsThatOfItsAuthority(t *testing.T) {
	end := time.Now().Add(time.Hour).Truncate(time.Second)
	i, err := NewIssuer("authority", time.Now().Add(-time.Hour), end)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(write(t, i, func(r *Request) { r.Until = end.Add(time.Hour) }), self, func() time.Time { return end.Add(-time.Minute) })
	if err != nil {
		t.Fatal(err)
	}
	if !s.Until().Equal(end) || s.Left() != time.Minute {
		t.Errorf("%v, left %v", s.Until(), s.Left())
	}
}

// TestAnIssuerIsReadAgain: what PEM writes, ReadIssuer reads.
func TestAnIssuerIsReadAgain(t *testing.T) {
	i := issuer(t)
	certificate, key, err := i.PEM()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ReadIssuer(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	f := write(t, again, nil)
	put(t, f.CA, certificate)
	if _, err := Open(f, self, time.Now); err != nil {
		t.Error(err)
	}
	_, other, err := issuer(t).PEM()
	if err != nil {
		t.Fatal(err)
	}
	for what, key := range map[string][]byte{"another's key": other, "no key": []byte("x"), "no PKCS 8": certificate} {
		if _, err := ReadIssuer(certificate, key); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// TestClaimsFit: an identity fits if, and only if, each of its values stands among the claims of its
// kind; a right is never more than a certificate says.
func TestClaimsFit(t *testing.T) {
	words := rapid.SampledFrom([]string{"a", "b", "c"})
	list := rapid.SliceOfN(words, 0, 2)
	roles := rapid.SampledFrom([]string{"gate", "manager", "worker", "client", "operator", "submitter", "viewer", "future"})
	rapid.Check(t, func(t *rapid.T) {
		claimed := map[string][]string{
			"role": rapid.SliceOfN(roles, 0, 3).Draw(t, "roles"), "cluster": list.Draw(t, "clusters"), "env": list.Draw(t, "environments"),
			"dc": list.Draw(t, "datacenters"), "node": list.Draw(t, "nodes"), "future": {"x"},
		}
		c := &x509.Certificate{}
		c.Subject.CommonName = rapid.SampledFrom([]string{"", "ann"}).Draw(t, "subject")
		for _, kind := range []string{"future", "node", "dc", "env", "cluster", "role"} {
			for _, v := range claimed[kind] {
				c.URIs = append(c.URIs, &url.URL{Scheme: Scheme, Host: kind, Path: "/" + v}, &url.URL{Scheme: "https", Host: kind, Path: "/other"})
			}
		}
		i := Identity{
			Role:    rapid.SampledFrom([]node.Role{node.RoleClient, node.RoleGate, node.RoleManager, node.RoleWorker}).Draw(t, "role"),
			Cluster: words.Draw(t, "cluster"), Environment: words.Draw(t, "environment"), Node: words.Draw(t, "node"),
		}
		if i.Role == node.RoleManager || i.Role == node.RoleWorker {
			i.Datacenter = words.Draw(t, "datacenter")
		}
		has := func(kind string, values ...string) bool {
			for _, got := range claimed[kind] {
				for _, v := range values {
					if got == v {
						return true
					}
				}
			}
			return false
		}
		wantRole := has("role", i.Role.String()) || i.Role == node.RoleClient && has("role", "operator", "submitter", "viewer")
		want := wantRole && has("cluster", i.Cluster) && has("env", i.Environment) &&
			(i.Datacenter == "" || has("dc", i.Datacenter)) && (len(claimed["node"]) == 0 || has("node", i.Node))
		submits := i.Role == node.RoleClient && !has("role", "operator") && has("role", "submitter")
		if submits && c.Subject.CommonName == "" {
			want = false
		}
		claims := claimsOf(c)
		no := claims.Fits(&i)
		if (no == nil) != want {
			t.Fatalf("%+v with %v: %v", i, claimed, no)
		}
		if no != nil && (no.Field == "" || no.Want == "" || no.Remedy == "" || Known(string(no.Reason)) != no.Reason) {
			t.Fatalf("%+v does not explain", no)
		}
		g := claims.Grant(&i)
		wantRight := node.RightOperate // means nothing for nodes
		if i.Role == node.RoleClient && !has("role", "operator") {
			if wantRight = node.RightView; submits {
				wantRight = node.RightSubmit
			}
		}
		if g.Right != wantRight || g.Subject != c.Subject.CommonName || g.Datacenter != i.Datacenter {
			t.Fatalf("%+v for %+v", g, claimed)
		}
	})
}
