package mysql

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"testing"

	"pgregory.net/rapid"
)

// MariaDB's manual tells what the password "secret" is for its server.
func TestEd25519KnownAnswer(t *testing.T) {
	if got := base64.RawStdEncoding.EncodeToString(newEdwards("secret").public); got != "ZIgUREUg5PVgQ6LskhXmO+eZLS0nC8be6HPjYWR4YJY" {
		t.Errorf("the public key is %s", got)
	}
}

// Any proof verifies by crypto/ed25519, and is the same as its signature where the password is as long as its
// seed.
func TestEd25519(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		password := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "password")
		if rapid.Bool().Draw(t, "seed") {
			password = rapid.SliceOfN(rapid.Byte(), ed25519.SeedSize, ed25519.SeedSize).Draw(t, "seed of 32 bytes")
		}
		salt := rapid.SliceOfN(rapid.Byte(), saltEd25519, saltEd25519).Draw(t, "salt")
		e := newEdwards(string(password))
		got := e.sign(salt)
		if !ed25519.Verify(e.public, salt, got) {
			t.Fatalf("%x is no signature", got)
		}
		if len(password) == ed25519.SeedSize && !bytes.Equal(got, ed25519.Sign(ed25519.NewKeyFromSeed(password), salt)) {
			t.Fatalf("%x is another signature", got)
		}
	})
}

func BenchmarkEd25519(b *testing.B) {
	e, salt := newEdwards("secret"), make([]byte, saltEd25519)
	b.ReportAllocs()
	for b.Loop() {
		e.sign(salt)
	}
}
