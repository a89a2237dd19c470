package target

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestCurlProvesItsUser: another implementation of RFC 7616 gets in, with both algorithms and over
// both protocols, and each of its requests counts.
func TestCurlProvesItsUser(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		if os.Getenv("HYPERSCALE_CI") != "" {
			t.Fatal("this machine has no curl: CI installs it")
		}
		t.Skip("this machine has no curl")
	}
	for _, c := range []struct {
		args     []string
		password string
		want     string
		requests uint64
	}{
		{nil, "pass", "welcome, user\n200", 2},
		{[]string{"-k", "--http2"}, "pass", "welcome, user\n200", 2},
		{[]string{"-d", "a=b"}, "pass", "welcome, user\n200", 2},
		{nil, "nope", "prove that you are user\n401", 2},
	} {
		for _, path := range []string{"/digest?q=a%20b", "/digest-md5"} {
			s := start(t, func(cfg *Config) { cfg.TLS = c.args != nil && c.args[0] == "-k" })
			out, err := exec.Command(curl, append(c.args, "-s", "-m", "10", "--digest", "-u", "user:"+c.password, "-w", "%{http_code}", s.URL()+path)...).Output()
			if err != nil || string(out) != c.want {
				t.Errorf("%v %s: %q, %v", c.args, path, out, err)
			}
			if n := s.Stats().Requests; n != c.requests {
				t.Errorf("%v %s: %d requests", c.args, path, n)
			}
		}
	}
}

// TestProofs: a nonce serves its requests once each, in order, and is then stale.
func TestProofs(t *testing.T) {
	s := newSite(Default())
	hash := func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
	proof := func(nonce, nc, method, uri string) string {
		return fmt.Sprintf(`username="user", realm="hyperscale", nonce="%s", uri="%s", cnonce="c", qop=auth, nc=%s, response="%s"`, nonce, uri, nc,
			hash(hash("user:hyperscale:pass")+":"+nonce+":"+nc+":c:auth:"+hash(method+":"+uri)))
	}
	nonce := s.nonces.begin()
	for i, c := range []struct {
		value string
		want  proofState
	}{
		{"", proofNone}, {`username="`, proofNone}, {strings.Repeat("a=b, ", 40), proofNone},
		{proof(nonce, "00000001", "GET", "/d"), proofGood},
		{proof(nonce, "00000001", "GET", "/d"), proofNone},
		{proof(nonce, "00000003", "GET", "/d"), proofGood},
		{proof(nonce, "00000002", "GET", "/d"), proofNone},
		{proof(nonce, "00000004", "PUT", "/d"), proofNone},
		{proof(nonce, "00000004", "GET", "/e"), proofNone},
		{proof(nonce, "4", "GET", "/d"), proofNone},
		{proof(nonce, "00000065", "GET", "/d"), proofStale},
		{proof(nonceText(7), "00000001", "GET", "/d"), proofNone},
		{proof("0.0", "00000001", "GET", "/d"), proofNone},
	} {
		if got := s.prove(c.value, "GET", "/d", false); got != c.want {
			t.Errorf("%d: %s is %d, want %d", i, c.value, got, c.want)
		}
	}
	for range noncesMax {
		s.nonces.begin()
	}
	if got := s.prove(proof(nonce, "00000005", "GET", "/d"), "GET", "/d", false); got != proofStale {
		t.Errorf("an old nonce is %d", got)
	}
}

func FuzzProof(f *testing.F) {
	f.Add(`username="user", realm="hyperscale", nc=00000001, x`)
	f.Fuzz(func(t *testing.T, value string) {
		s := newSite(Default())
		s.nonces.begin()
		if s.prove(value, "GET", "/d", true) == proofGood && !strings.Contains(value, nonceText(0)) {
			t.Fatalf("%q proves the user", value)
		}
	})
}
