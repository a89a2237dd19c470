package signing_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"hyperscale/core/workflow/signing"
)

// AWS's published vectors: its Signature Version 4 test suite, and the examples of S3's manual.
func TestAWS(t *testing.T) {
	at := time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)
	suite := func(method, target string) signing.AWS {
		return signing.AWS{Method: method, URL: target, Region: "us-east-1", Service: "service",
			AccessKey: "AKIDEXAMPLE", Secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", Time: at}
	}
	s3 := func(method, target string) signing.AWS {
		return signing.AWS{Method: method, URL: target, Region: "us-east-1", Service: "s3",
			AccessKey: "AKIAIOSFODNN7EXAMPLE", Secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", Time: time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC)}
	}
	const host, bucket = "https://example.amazonaws.com", "https://examplebucket.s3.amazonaws.com"
	with := func(a signing.AWS, headers ...signing.Pair) signing.AWS { a.Headers = headers; return a }
	body := func(a signing.AWS, text string) signing.AWS { a.Body = []byte(text); return a }
	form := signing.Pair{Name: "Content-Type", Value: "application/x-www-form-urlencoded"}
	tests := []struct {
		name    string
		request signing.AWS
		want    string // the signature
	}{
		{"get-vanilla", suite("GET", host+"/"), "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"get-vanilla-query-order-key-case", suite("GET", host+"/?Param2=value2&Param1=value1"), "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		{"get-unreserved", suite("GET", host+"/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"), "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
		{"get-relative-relative", suite("GET", host+"/example1/example2/../.."), "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"get-slashes", suite("GET", host+"//"), "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"post-vanilla", suite("POST", host+"/"), "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
		{"post-vanilla-query", suite("POST", host+"/?Param1=value1"), "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"},
		{"post-header-key-sort", with(suite("POST", host+"/"), signing.Pair{Name: "My-Header1", Value: "value1"}), "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"},
		{"post-x-www-form-urlencoded", body(with(suite("POST", host+"/"), form), "Param1=value1"), "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
		{"get-header-value-trim", with(suite("GET", host+"/"), signing.Pair{Name: "My-Header1", Value: " value1"}, signing.Pair{Name: "My-Header2", Value: " \"a   b   c\""}), "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
		{"S3 GET object", with(s3("GET", bucket+"/test.txt"), signing.Pair{Name: "Range", Value: "bytes=0-9"}), "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
		{"S3 PUT object", body(with(s3("PUT", bucket+"/test%24file.text"), signing.Pair{Name: "Date", Value: "Fri, 24 May 2013 00:00:00 GMT"}, signing.Pair{Name: "x-amz-storage-class", Value: "REDUCED_REDUNDANCY"}), "Welcome to Amazon S3."), "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
		{"S3 GET bucket lifecycle", s3("GET", bucket+"/?lifecycle"), "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
		{"S3 list objects", s3("GET", bucket+"/?max-keys=2&prefix=J"), "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
	}
	for _, test := range tests {
		got, err := test.request.Sign()
		if err != nil {
			t.Fatal(test.name, err)
		}
		value := got[len(got)-1].Value
		if _, signature, _ := strings.Cut(value, "Signature="); signature != test.want {
			t.Errorf("%s: got %s, want %s", test.name, signature, test.want)
		}
	}
	if _, err := suite("GET", "/path").Sign(); err == nil {
		t.Error("a URL without a host is signed")
	}
}

// The examples of RFC 7515, appendix A.1 and A.2: same keys, same texts.
func TestJWT(t *testing.T) {
	secret, _ := base64.RawURLEncoding.DecodeString("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow")
	const header, claims = "{\"typ\":\"JWT\",\r\n \"alg\":\"HS256\"}", "{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}"
	key, err := signing.ParseKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	got, err := signing.JWT("HS256", key, []byte(header), []byte(claims))
	const want = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	if err != nil || got != want {
		t.Errorf("HS256: got %s %v", got, err)
	}
}

// A signature with a PEM key verifies, and is the same when repeated.
func TestPrivateKeys(t *testing.T) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), append(make([]byte, 30), 0x30, 0x39))
	if err != nil {
		t.Fatal(err)
	}
	sec1, err := x509.MarshalECPrivateKey(curve)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{
		"RS256 PKCS1": block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(private)),
		"RS256 PKCS8": block("PRIVATE KEY", pkcs8),
		"ES256 SEC1":  block("EC PARAMETERS", []byte{6, 1, 1}) + block("EC PRIVATE KEY", sec1),
	}
	//lint:orderfree each key is judged by itself
	for name, text := range texts {
		algorithm, _, _ := strings.Cut(name, " ")
		key, err := signing.ParseKey([]byte("\n" + text))
		if err != nil {
			t.Fatal(name, err)
		}
		token, err := signing.JWT(algorithm, key, []byte("{}"), []byte(`{"a":1}`))
		again, _ := signing.JWT(algorithm, key, []byte("{}"), []byte(`{"a":1}`))
		if err != nil || token != again {
			t.Fatalf("%s: %v, or not the same again", name, err)
		}
		cut := strings.LastIndexByte(token, '.')
		digest := sha256.Sum256([]byte(token[:cut]))
		signature, _ := base64.RawURLEncoding.DecodeString(token[cut+1:])
		good := algorithm == "RS256" && rsa.VerifyPKCS1v15(&private.PublicKey, crypto.SHA256, digest[:], signature) == nil ||
			algorithm == "ES256" && len(signature) == 64 && ecdsa.Verify(&curve.PublicKey, digest[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:]))
		if !good {
			t.Errorf("%s: the signature does not verify", name)
		}
		if _, err := signing.JWT("HS256", key, nil, nil); err == nil || !strings.Contains(err.Error(), "shared secret") {
			t.Errorf("%s: HS256 takes a PEM key: %v", name, err)
		}
	}
}

func block(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func FuzzParseKey(f *testing.F) {
	f.Add([]byte("secret"))
	f.Add([]byte(block("PRIVATE KEY", []byte{48, 3, 2, 1, 0})))
	f.Add([]byte(block("RSA PRIVATE KEY", []byte{48, 3, 2, 1, 0})))
	f.Fuzz(func(t *testing.T, text []byte) {
		key, err := signing.ParseKey(text)
		if err != nil {
			return
		}
		for _, a := range signing.Algorithms() {
			_, _ = signing.JWT(a, key, []byte("{}"), []byte("{}")) // it must not panic
		}
	})
}
