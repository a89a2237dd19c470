package digest

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const (
	rfcNonce  = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
	rfcCnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
	rfcOpaque = "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
	rfcOffer  = `realm="http-auth@example.org", qop="auth, auth-int", algorithm=%s, nonce="` + rfcNonce + `", opaque="` + rfcOpaque + `"`
)

// The vectors of RFC 7616, 3.9.1, RFC 2617, 3.5, and RFC 2069, 2.4 (as its erratum has it); the
// others were computed beside this package, with another library.
func TestVectors(t *testing.T) {
	for _, c := range []struct {
		name, challenge, user, password, cnonce, method, uri string
		times                                                int
		response                                             string
	}{
		{"7616 MD5", fmt.Sprintf(rfcOffer, "MD5"), "Mufasa", "Circle of Life", rfcCnonce, "GET", "/dir/index.html", 1, "8ca523f5e9506fed4657c9700eebdbec"},
		{"7616 SHA-256", fmt.Sprintf(rfcOffer, "SHA-256"), "Mufasa", "Circle of Life", rfcCnonce, "GET", "/dir/index.html", 1, "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"},
		{"the second request", fmt.Sprintf(rfcOffer, "SHA-256"), "Mufasa", "Circle of Life", rfcCnonce, "GET", "/dir/index.html", 2, "8c8db27f49ff1c202f9fb49fa9d2e9eabf078dcc93db40dfd6527010091d1c8e"},
		{"MD5-sess", fmt.Sprintf(rfcOffer, "MD5-sess"), "Mufasa", "Circle of Life", rfcCnonce, "GET", "/dir/index.html", 1, "e783283f46242139c486a698fec7211d"},
		{"SHA-256-sess", fmt.Sprintf(rfcOffer, "sha-256-SESS"), "Mufasa", "Circle of Life", rfcCnonce, "GET", "/dir/index.html", 1, "2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7"},
		{"2617", `realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"`,
			"Mufasa", "Circle Of Life", "0a4f113b", "GET", "/dir/index.html", 1, "6629fae49393a05397450978507c4ef1"},
		{"2069", `realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"`,
			"Mufasa", "CircleOfLife", "x", "GET", "/dir/index.html", 1, "1949323746fe6a43ef61f9606e7febea"},
		{"userhash", `realm="api@example.org", qop="auth", algorithm=SHA-256, nonce="` + rfcNonce + `", charset=UTF-8, userhash=true`,
			"Jäsøn Doe", "Secret, or not?", rfcCnonce, "POST", "/doe.json", 1, "e8baaf42e86afcbc453aaeb4ca21f15d01462efd04a95f96090084e53879aa8d"},
	} {
		challenge, err := Parse([]string{"Digest " + c.challenge})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		s := NewSession(challenge, c.user, c.password, c.cnonce)
		var got string
		for range c.times {
			got = string(s.Append(nil, c.method, c.uri))
		}
		if want := `response="` + c.response + `"`; !strings.HasSuffix(got, want) {
			t.Errorf("%s: got %s, want %s", c.name, got, want)
		}
	}
}

// A whole proof, as RFC 7616, 3.9.1 has it, and the names of users.
func TestProofs(t *testing.T) {
	challenge, err := Parse([]string{"Digest " + fmt.Sprintf(rfcOffer, "SHA-256")})
	if err != nil {
		t.Fatal(err)
	}
	got := string(NewSession(challenge, "Mufasa", "Circle of Life", rfcCnonce).Append([]byte("Authorization: "), "GET", "/dir/index.html"))
	want := `Authorization: Digest username="Mufasa", realm="http-auth@example.org", nonce="` + rfcNonce + `", opaque="` + rfcOpaque +
		`", algorithm=SHA-256, qop=auth, cnonce="` + rfcCnonce + `", uri="/dir/index.html", nc=00000001, response="753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"`
	if got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	for user, want := range map[string]string{
		`a"b\c`:     `username="a\"b\\c", `,
		"Jäsøn Doe": `username*=UTF-8''J%C3%A4s%C3%B8n%20Doe, `,
		"a\r\nX: y": `username*=UTF-8''a%0D%0AX%3A%20y, `,
	} {
		if got := string(NewSession(challenge, user, "p", "c").Append(nil, "GET", "/")); !strings.HasPrefix(got, "Digest "+want) {
			t.Errorf("user %q: got %s", user, got)
		}
	}
	challenge.UserHash = true
	if got := string(NewSession(challenge, "Mufasa", "p", "c").Append(nil, "GET", "/")); strings.Contains(got, "Mufasa") || !strings.Contains(got, "userhash=true") {
		t.Errorf("hashed user: got %s", got)
	}
}

func TestChallenges(t *testing.T) {
	for _, c := range []struct {
		name   string
		fields []string
		nonce  string // of the one that is taken
		why    string // why none is
	}{
		{"none", nil, "", "no digest"},
		{"others alone", []string{`Basic realm="a, b=c", charset="UTF-8"`, "Negotiate abc==, Bearer"}, "", "no digest"},
		{"behind others", []string{`Negotiate, Basic realm="Digest nonce=x", dIgEsT realm=r, nonce="n1"`}, "n1", ""},
		{"the first that is known", []string{`Digest realm=r, algorithm=SHA-512-256, nonce="n1"`, `Digest realm=r, algorithm="SHA-256", nonce=n2, Digest realm=r, nonce=n3`}, "n2", ""},
		{"blanks and commas", []string{`Digest , realm = "r" ,, nonce = "n\"1" ,`}, `n"1`, ""},
		{"auth beside auth-int", []string{`Digest realm=r, nonce=n, qop="auth-int, AUTH"`}, "n", ""},
		{"auth-int alone", []string{`Digest realm=r, nonce=n, qop="auth-int"`}, "", `qop = "auth-int"`},
		{"another algorithm", []string{`Digest realm=r, nonce=n, algorithm=SHA-512-256`}, "", `"SHA-512-256"`},
		{"no nonce", []string{`Digest realm=r`}, "", "no nonce"},
		{"no realm", []string{`Digest nonce=n`}, "", "no realm"},
		{"twice", []string{`Digest realm=r, nonce=n, Realm=q`}, "", "twice"},
		{"an open quote", []string{`Digest realm="r, nonce=n`}, "", "malformed"},
		{"a control character", []string{"Digest realm=\"r\x01\", nonce=n"}, "", "malformed"},
		{"an escaped one", []string{"Digest realm=\"r\\\r\", nonce=n"}, "", "malformed"},
		{"no comma", []string{`Digest realm="r" nonce="n"`}, "", "malformed"},
		{"too long", []string{`Digest realm="` + strings.Repeat("r", ChallengeMax) + `", nonce=n`}, "", "more than 8192"},
		{"too many", []string{"Digest realm=r, nonce=n" + strings.Repeat(", a=b", paramsMax)}, "", "malformed"},
	} {
		got, err := Parse(c.fields)
		switch {
		case c.why == "" && (err != nil || got.Nonce != c.nonce):
			t.Errorf("%s: got %+v, %v", c.name, got, err)
		case c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why)):
			t.Errorf("%s: got %+v, %v, want an error with %q", c.name, got, err, c.why)
		}
	}
	if _, err := Parse([]string{"Basic realm=x"}); !errors.Is(err, ErrNone) {
		t.Errorf("no digest: %v", err)
	}
}

var count = regexp.MustCompile(`, nc=([0-9a-f]{8}), `)

// TestCounts: DIGEST-1.
func TestCounts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := NewSession(Challenge{Realm: "r", Nonce: "n", Auth: true, Algorithm: Algorithm(rapid.IntRange(0, 4).Draw(rt, "algorithm"))}, "u", "p", "c")
		s.count = uint32(rapid.Uint32Range(0, 1<<32-9).Draw(rt, "begin"))
		seen := map[string]bool{}
		for i := range rapid.IntRange(1, 8).Draw(rt, "times") {
			proof := string(s.Append(nil, "GET", "/"))
			nc := count.FindStringSubmatch(proof)
			if want := fmt.Sprintf("%08x", s.count); nc == nil || nc[1] != want {
				rt.Fatalf("request %d: %s, want nc=%s", i, proof, want)
			}
			response := proof[strings.LastIndex(proof, "response="):]
			if seen[nc[1]] || seen[response] {
				rt.Fatalf("request %d repeats %s %s", i, nc[1], response)
			}
			seen[nc[1]], seen[response] = true, true
		}
	})
}

// FuzzChallenge: DIGEST-2, whatever a server sends. What is read stays where it belongs: a proof
// is read back as the same texts.
func FuzzChallenge(f *testing.F) {
	f.Add("Digest "+fmt.Sprintf(rfcOffer, "MD5"), "Basic realm=x", "ann")
	f.Add(`Digest realm="a\"b\\", nonce="\n", opaque="", qop=auth, userhash=true, stale=TRUE`, "", "a\"b")
	f.Add("Negotiate a==, Digest realm=r,nonce=n,qop=\"auth-int\"", "\x00", "\r\n")
	f.Fuzz(func(t *testing.T, one, two, user string) {
		c, err := Parse([]string{one, two})
		if err != nil {
			for _, b := range []byte(err.Error()) {
				if b < ' ' || b == 0x7f {
					t.Fatalf("%q: the error has a control character", err)
				}
			}
			if len(err.Error()) > 400 {
				t.Fatalf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		proof := string(NewSession(c, user, "pass word", "cnonce").Append(nil, "GET", `/a"b`))
		if strings.Contains(proof, "pass word") && !strings.Contains(user+one+two, "pass word") {
			t.Fatalf("%s has the password", proof)
		}
		for _, b := range []byte(proof) {
			if b < ' ' || b == 0x7f {
				t.Fatalf("%q has a control character", proof)
			}
		}
		p := parser{text: proof}
		scheme, params, err := p.challenge()
		if err != nil || scheme != "Digest" || p.text != "" {
			t.Fatalf("%q is read back as %q %v, %v, with %q behind it", proof, scheme, params, err, p.text)
		}
		got := map[string]string{}
		for _, p := range params {
			if _, ok := got[p.name]; ok {
				t.Fatalf("%q has %s twice", proof, p.name)
			}
			got[p.name] = p.value
		}
		if got["realm"] != c.Realm || got["nonce"] != c.Nonce || c.Opaque != nil && got["opaque"] != *c.Opaque || got["uri"] != `/a"b` || c.Auth != (got["qop"] == "auth") {
			t.Fatalf("%q is read back as %v, want %+v", proof, got, c)
		}
	})
}

func BenchmarkProof(b *testing.B) {
	for _, a := range []Algorithm{MD5, SHA256} {
		b.Run(names()[a], func(b *testing.B) {
			s := NewSession(Challenge{Realm: "realm", Nonce: rfcNonce, Auth: true, Algorithm: a}, "user", "password", "cnonce")
			var to []byte
			b.ReportAllocs()
			for b.Loop() {
				to = s.Append(to[:0], "GET", "/some/path?with=query")
			}
		})
	}
}
