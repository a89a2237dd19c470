package scram_test

import (
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"hash"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/scram"
)

// vectors are the exchanges of RFC 5802 and RFC 7677.
var vectors = []struct {
	hash                              scram.Hash
	nonce, first, server, final, last string
}{
	{scram.SHA1, "fyko+d2lbbFgONRv9qkxdawL", "n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL",
		"r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
		"c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
		"v=rmF9pqV8S7suAoZWja4dJRkFsKQ="},
	{scram.SHA256, "rOprNGfwEbeRWgbNEkqO", "n,,n=user,r=rOprNGfwEbeRWgbNEkqO",
		"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
		"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
		"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="},
}

// final calls Final until it is done, and returns how often.
func final(t testing.TB, c *scram.Client, server string) (out string, calls int) {
	for calls = 1; ; calls++ {
		b, done, err := c.Final(nil, []byte(server))
		if err != nil {
			t.Fatal(err)
		}
		if done {
			return string(b), calls
		}
		if len(b) > 0 || calls > 1000 {
			t.Fatalf("%q after %d calls", b, calls)
		}
	}
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		c := scram.New(v.hash, "user", "pencil", v.nonce, &scram.Cache{})
		if got := string(c.First(nil)); got != v.first {
			t.Errorf("%q, want %q", got, v.first)
		}
		if got, _ := final(t, c, v.server); got != v.final {
			t.Errorf("%q, want %q", got, v.final)
		}
		if err := c.Verify([]byte(v.last)); err != nil {
			t.Error(err)
		}
		// SCRAM-1
		wrong := scram.New(v.hash, "user", "pen", v.nonce, &scram.Cache{})
		final(t, wrong, v.server)
		if err := wrong.Verify([]byte(v.last)); http1.KindOf(err) != http1.KindAuth {
			t.Errorf("a wrong signature: %v", err)
		}
	}
}

// SCRAM-5: what is bound stands in the first and in the last message, and in the proof.
func TestBindings(t *testing.T) {
	const server = "r=noncex,s=c2FsdA==,i=1"
	proofs := map[string]bool{}
	for _, tt := range []struct {
		point, first, channel string
		offered               bool
	}{
		{"", "n,,", "biws", false}, {"", "n,,", "biws", true}, {"point", "y,,", "eSws", false},
		{"point", "p=tls-server-end-point,,", "cD10bHMtc2VydmVyLWVuZC1wb2ludCwscG9pbnQ=", true}, {"other", "p=tls-server-end-point,,", "cD10bHMtc2VydmVyLWVuZC1wb2ludCwsb3RoZXI=", true},
	} {
		c := scram.New(scram.SHA256, "user", "pencil", "nonce", &scram.Cache{})
		c.Bind([]byte(tt.point), tt.offered)
		first := string(c.First(nil))
		last, _ := final(t, c, server)
		if first != tt.first+"n=user,r=nonce" || !strings.HasPrefix(last, "c="+tt.channel+",r=noncex,p=") {
			t.Errorf("%+v: %q %q", tt, first, last)
		}
		proofs[last[strings.Index(last, ",p="):]] = true
	}
	if len(proofs) != 4 {
		t.Errorf("%d proofs of four channels", len(proofs))
	}
	if got := scram.SHA256.Plus(); got != "SCRAM-SHA-256-PLUS" {
		t.Error(got)
	}
}

// SCRAM-2, SCRAM-3: the first derivation takes several calls, another client has it at once, also in the
// middle of it, and 64 others displace it.
func TestDerivationsAreCutAndKept(t *testing.T) {
	cache := &scram.Cache{}
	begin := func(salt string) (*scram.Client, string) {
		return scram.New(scram.SHA256, "u", "p", "n", cache), "r=nx,s=" + base64.StdEncoding.EncodeToString([]byte(salt)) + ",i=10000"
	}
	a, server := begin("salt")
	if _, done, err := a.Final(nil, []byte(server)); done || err != nil {
		t.Fatalf("10,000 iterations at once: %v", err)
	}
	b, _ := begin("salt")
	_, late := final(t, b, server)
	if _, n := final(t, a, server); n != 1 || late != 4 {
		t.Errorf("%d and %d calls, want 1 and 4", n, late)
	}
	for i := range 63 {
		c, server := begin(fmt.Sprint(i))
		final(t, c, server)
	}
	c, _ := begin("salt")
	if _, n := final(t, c, server); n != 1 {
		t.Errorf("%d calls: it was displaced by 63", n)
	}
	for i := range 64 {
		c, server := begin(fmt.Sprint(-1 - i))
		final(t, c, server)
	}
	d, _ := begin("salt")
	if _, n := final(t, d, server); n != 5 {
		t.Errorf("%d calls: 64 others did not displace it", n)
	}
}

// Derivations are those of PBKDF2 in the standard library: the proof is the one that it leads to.
func TestDerivationsAreThoseOfPBKDF2(t *testing.T) {
	functions := []func() hash.Hash{sha1.New, sha256.New, sha512.New}
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.IntRange(0, 2).Draw(t, "hash")
		password, salt := rapid.StringN(1, 80, 200).Draw(t, "password"), rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "salt")
		count := rapid.SampledFrom([]int{1, 2, 511, 512, 513, 2048, 2049}).Draw(t, "count")
		want, err := pbkdf2.Key(functions[h], password, salt, count, functions[h]().Size())
		if err != nil {
			t.Fatal(err)
		}
		cache := &scram.Cache{}
		c := scram.New(scram.Hash(h), "", password, "n", cache)
		server := fmt.Sprintf("r=nx,s=%s,i=%d", base64.StdEncoding.EncodeToString(salt), count)
		for {
			_, done, err := c.Final(nil, []byte(server))
			if err != nil {
				t.Fatal(err)
			}
			if done {
				break
			}
		}
		if got := scram.SaltedOf(c); string(got) != string(want) {
			t.Fatalf("%x, want %x", got, want)
		}
	})
}

func TestChallengesThatAreWrong(t *testing.T) {
	for _, one := range []struct {
		server string
		kind   http1.Kind
	}{
		{"", http1.KindProtocol},
		{"m=x,r=nx,s=c2FsdA==,i=1", http1.KindProtocol},
		{"r=nx,i=1,s=c2FsdA==", http1.KindProtocol},
		{"r=n,s=c2FsdA==,i=1", http1.KindProtocol},
		{"r=xn,s=c2FsdA==,i=1", http1.KindProtocol},
		{"r=nx,s=c2Fsd,i=1", http1.KindProtocol},
		{"r=nx,s=,i=1", http1.KindProtocol},
		{"r=nx,s=" + strings.Repeat("AAAA", 342) + ",i=1", http1.KindProtocol},
		{"r=nx,s=c2FsdA==,i=0", http1.KindProtocol},
		{"r=nx,s=c2FsdA==,i=-1", http1.KindProtocol},
		{"r=nx,s=c2FsdA==,i=x", http1.KindProtocol},
		{"r=nx,s=c2FsdA==,i=100001", http1.KindTooLarge},
		{"r=nx,s=c2FsdA==,i=2147483647", http1.KindTooLarge},
	} {
		c := scram.New(scram.SHA256, "", "geheim", "n", &scram.Cache{})
		if _, done, err := c.Final(nil, []byte(one.server)); done || http1.KindOf(err) != one.kind || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%q: %v", one.server, err)
		}
	}
	c := scram.New(scram.SHA256, "", "geheim", "n", &scram.Cache{})
	for _, last := range []string{"v=AAAA", "", "x=1"} {
		if err := c.Verify([]byte(last)); http1.KindOf(err) != http1.KindProtocol {
			t.Errorf("%q before the proof: %v", last, err)
		}
	}
	final(t, c, "r=nx,s=c2FsdA==,i=1,x=extension")
	for _, last := range []string{"v=AAAA", "v=", "v=%", "e=invalid-proof"} {
		if err := c.Verify([]byte(last)); http1.KindOf(err) != http1.KindAuth {
			t.Errorf("%q: %v", last, err)
		}
	}
}

// A server that asks for fewer iterations than the client takes gets no proof.
func TestCheapProofsAreRefused(t *testing.T) {
	for count, want := range map[int]string{
		1: "SCRAM: the server asks for 1 iterations, fewer than 4096", scram.IterationsLeast - 1: "fewer than 4096", scram.IterationsLeast: "",
	} {
		c := scram.New(scram.SHA256, "", "geheim", "n", &scram.Cache{}).AtLeast(scram.IterationsLeast)
		_, _, err := c.Final(nil, fmt.Appendf(nil, "r=nx,s=c2FsdA==,i=%d", count))
		if got := fmt.Sprint(err); (err == nil) != (want == "") || !strings.Contains(got, want) || err != nil && http1.KindOf(err) != http1.KindProtocol {
			t.Errorf("%d iterations: %v", count, err)
		}
	}
}

// A name's comma and equals sign are escaped.
func TestNamesAreEscaped(t *testing.T) {
	c := scram.New(scram.SHA256, "a=b,c", "", "n", &scram.Cache{})
	if got := string(c.First(nil)); got != "n,,n=a=3Db=2Cc,r=n" {
		t.Error(got)
	}
	for h, want := range map[scram.Hash]string{scram.SHA1: "SCRAM-SHA-1", scram.SHA256: "SCRAM-SHA-256", scram.SHA512: "SCRAM-SHA-512"} {
		if h.Mechanism() != want {
			t.Error(h.Mechanism())
		}
	}
}

func FuzzFinal(f *testing.F) {
	for _, v := range vectors {
		f.Add([]byte(v.server), []byte(v.last))
	}
	f.Fuzz(func(t *testing.T, server, last []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c := scram.New(scram.SHA1, "", "p", "fyko+d2lbbFgONRv9qkxdawL", &scram.Cache{})
		_, _, _ = c.Final(nil, server)
		if c.Verify(last) == nil {
			t.Fatal("a server that does not know the password signs")
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(20*(len(server)+len(last)))+1<<16 {
			t.Fatalf("%d bytes for %d", n, len(server)+len(last))
		}
	})
}

func BenchmarkSlice(b *testing.B) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c := scram.New(scram.SHA256, "", "p", "n", &scram.Cache{})
		if _, _, err := c.Final(nil, []byte("r=nx,s=c2FsdA==,i=4096")); err != nil {
			b.Fatal(err)
		}
	}
}
