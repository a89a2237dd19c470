package mysql

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // the protocol's own
	"strings"
	"testing"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// A password goes under the server's public key where there is no TLS, bound to the connection's salt, and
// nowhere in clear. Without a key it stays here.
func TestPublicKey(t *testing.T) {
	const salt, password = "12345678abcdefghijkl", "geheim"
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	packet := func(number byte, body string) []byte { return append([]byte{byte(len(body)), 0, 0, number}, body...) }
	hello := func(plugin string) []byte {
		return packet(0, "\x0a8.0\x00\x01\x00\x00\x00"+salt[:8]+"\x00\xff\xf7\x2d\x02\x00\xff\x81\x15"+strings.Repeat("\x00", 10)+salt[8:]+"\x00"+plugin+"\x00")
	}
	change := "\xfe" + pluginSHA256 + "\x00" + salt + "\x00"
	for _, tt := range []struct{ plugin, asks string }{{pluginSHA2, "\x01\x04"}, {pluginNative, change}, {pluginSHA256, change}} {
		for _, key := range []*rsa.PublicKey{&private.PublicKey, nil} {
			rounds, _ := codec.NewRounds(New(Config{User: "app", Password: password, Key: key, Random: rand.Reader}).Greet())
			if _, _, _, err := rounds.Feed(nil, hello(tt.plugin)); err != nil {
				t.Fatal(err)
			}
			out, _, _, err := rounds.Feed(nil, packet(2, tt.asks))
			if key == nil {
				if http1.KindOf(err) != http1.KindAuth || !strings.Contains(err.Error(), "public_key = file(") || len(out) > 0 {
					t.Errorf("%s without a key: %q, %v", tt.plugin, out, err)
				}
				continue
			}
			if err != nil || len(out) < headLength {
				t.Fatalf("%s: %v", tt.plugin, err)
			}
			text, err := rsa.DecryptOAEP(sha1.New(), nil, private, out[headLength:], nil) //nolint:gosec // the protocol's own
			if err != nil {
				t.Fatalf("%s: %v", tt.plugin, err)
			}
			for i := range text {
				text[i] ^= salt[i%len(salt)]
			}
			if string(text) != password+"\x00" {
				t.Errorf("%s: the password is %q", tt.plugin, text)
			}
			if _, _, d, err := rounds.Feed(nil, packet(4, "\x00\x00\x00\x02\x00\x00\x00")); err != nil || d == nil {
				t.Errorf("%s: %v", tt.plugin, err)
			}
		}
	}
}

// A key that is too short for a password fails, and says so.
func TestPasswordTooLongForItsKey(t *testing.T) {
	private, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	g := New(Config{Password: strings.Repeat("x", 200), Key: &private.PublicKey, Random: rand.Reader}).Greet()
	g.plugin, g.salt = pluginSHA256, make([]byte, saltLength)
	if _, err := g.prove(); http1.KindOf(err) != http1.KindAuth || strings.Contains(err.Error(), "xxx") {
		t.Error(err)
	}
}
