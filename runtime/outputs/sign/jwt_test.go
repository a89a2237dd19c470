package sign

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// key makes a key of a test, and its text.
func key(t testing.TB, bits int) (*rsa.PrivateKey, string) {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	b, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return k, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: b}))
}

// openssl judges what the standard library signs: the text of the first two parts, by the public half.
func TestOpenSSLVerifiesTokens(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		if os.Getenv("HYPERSCALE_CI") != "" {
			t.Fatal(err)
		}
		t.Skip("SKIPPED: openssl is not installed")
	}
	dir := t.TempDir()
	run := func(stdin string, args ...string) (string, error) {
		command := exec.Command(openssl, args...)
		command.Dir, command.Stdin = dir, strings.NewReader(stdin)
		out, err := command.CombinedOutput()
		return string(out), err
	}
	for _, form := range [][]string{{"genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "key.pem"}, {"rsa", "-in", "key.pem", "-traditional", "-out", "key.pem"}} {
		if out, err := run("", form...); err != nil {
			t.Fatal(out)
		}
		text, err := os.ReadFile(filepath.Join(dir, "key.pem"))
		if err != nil {
			t.Fatal(err)
		}
		k, err := RSAKey(string(text))
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		if out, err := run("", "rsa", "-in", "key.pem", "-pubout", "-out", "public.pem"); err != nil {
			t.Fatal(out)
		}
		token, err := RS256(k, HeadRS256("id-1"), map[string]any{"iss": `it's "me"`, "exp": 7})
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(token, ".")
		signature, err := base64.RawURLEncoding.DecodeString(parts[2])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "signature"), signature, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := run(parts[0]+"."+parts[1], "dgst", "-sha256", "-verify", "public.pem", "-signature", "signature"); err != nil || strings.TrimSpace(out) != "Verified OK" {
			t.Fatalf("%s %v", out, err)
		}
		if out, err := run(parts[0]+".x"+parts[1], "dgst", "-sha256", "-verify", "public.pem", "-signature", "signature"); err == nil {
			t.Fatalf("another text has the same signature: %s", out)
		}
		var head map[string]string
		b, _ := base64.RawURLEncoding.DecodeString(parts[0])
		if err := json.Unmarshal(b, &head); err != nil || head["alg"] != "RS256" || head["typ"] != "JWT" || head["kid"] != "id-1" {
			t.Fatalf("%s", b)
		}
		print, err := Fingerprint(k)
		if err != nil {
			t.Fatal(err)
		}
		der, err := exec.Command(openssl, "rsa", "-in", filepath.Join(dir, "key.pem"), "-pubout", "-outform", "DER").Output()
		if err != nil {
			t.Fatal(err)
		}
		if out, err := run(string(der), "dgst", "-sha256", "-r"); err != nil || hexOf(t, print) != strings.Fields(out)[0] {
			t.Fatalf("%s, openssl has %s", print, out)
		}
	}
}

// hexOf is a fingerprint as openssl writes digests.
func hexOf(t *testing.T, print string) string {
	b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(print, "SHA256:"))
	if err != nil {
		t.Fatal(err)
	}
	const digits = "0123456789abcdef"
	out := ""
	for _, c := range b {
		out += string([]byte{digits[c>>4], digits[c&15]})
	}
	return out
}

func TestKeysThatAreNone(t *testing.T) {
	_, small := key(t, 1024)
	_, good := key(t, 2048)
	for text, want := range map[string]string{
		"":                                    "no private key of RSA in PEM",
		"-----BEGIN PRIVATE KEY-----\nsecret": "no private key of RSA in PEM",
		small:                                 "has 1024 bits: make one of 2048",
		strings.ReplaceAll(good, "PRIVATE", "PUBLIC"):            "no private key of RSA in PEM",
		strings.ReplaceAll(good, "PRIVATE", "ENCRYPTED PRIVATE"): "without one",
	} {
		if _, err := RSAKey(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// FuzzRSAKey: no text makes it panic, and no error has a part of it.
func FuzzRSAKey(f *testing.F) {
	_, good := key(f, 2048)
	f.Add([]byte(good))
	f.Add([]byte("-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		k, err := RSAKey(string(text))
		if err == nil && k == nil {
			t.Fatal("neither a key nor an error")
		}
		if err != nil && len(text) > 40 && bytes.Contains([]byte(err.Error()), text[:40]) {
			t.Fatalf("%v", err)
		}
	})
}

// The example of Microsoft's page "Access control in the Azure Cosmos DB SQL API".
func TestVectorOfCosmos(t *testing.T) {
	got, err := Cosmos("dsZQi3KtZmCv1ljt3VNWNm7sQUF1y5rJfC6kv5JiwvW0EndXdDku/dkKBp8/ufDToSxLzR4y+O/0H/t4bQtVNw==", "GET", "dbs", "dbs/ToDoList", "Thu, 27 Apr 2017 00:51:12 GMT")
	if err != nil || got != "type%3Dmaster%26ver%3D1.0%26sig%3Dc09PEVJrgp2uQRkr934kFbTqhByc7TVr3OHyqlu%2Bc%2Bc%3D" {
		t.Fatal(got, err)
	}
	if _, err := Cosmos("no base64 secret", "GET", "dbs", "", ""); err == nil || strings.Contains(err.Error(), "secret,") || strings.Contains(err.Error(), "no base64 secret") {
		t.Fatal(err)
	}
}
