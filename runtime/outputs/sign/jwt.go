package sign

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
)

// rsaBits bounds a key: services take none below 2,048 bits, and one above 16,384 costs a second for each signature.
const (
	rsaMin = 2048
	rsaMax = 16384
)

var errKey = errors.New("it is no private key of RSA in PEM: write the whole text, from -----BEGIN PRIVATE KEY----- to -----END PRIVATE KEY-----")

// RSAKey reads a private key of RSA in PEM, as PKCS 8 or PKCS 1, of 2,048 to 16,384 bits. Its error has nothing of the text.
func RSAKey(text string) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errKey
	}
	switch block.Type {
	case "ENCRYPTED PRIVATE KEY":
		return nil, errors.New("the private key has a passphrase: write it without one, as openssl pkcs8 -topk8 -nocrypt does, into a file that its owner alone may read")
	case "PRIVATE KEY", "RSA PRIVATE KEY":
	default:
		return nil, errKey
	}
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		any, failed := x509.ParsePKCS8PrivateKey(block.Bytes)
		found, ok := any.(*rsa.PrivateKey)
		if failed != nil || !ok {
			return nil, errKey
		}
		key = found
	}
	if n := key.N.BitLen(); n < rsaMin || n > rsaMax {
		return nil, fmt.Errorf("the private key has %d bits: make one of 2048 to 16384", n)
	}
	return key, nil
}

// RS256 is a JSON Web Token, signed by RSA and SHA-256 (RFC 7515, 7518). Head and claims are structs of JSON.
func RS256(key *rsa.PrivateKey, head, claims any) (string, error) {
	text := ""
	for i, part := range []any{head, claims} {
		b, err := json.Marshal(part)
		if err != nil {
			return "", fmt.Errorf("part %d of a token: %w", i, err)
		}
		text += base64.RawURLEncoding.EncodeToString(b) + "."
	}
	text = text[:len(text)-1]
	digest := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, digest[:]) // without blinding by chance: a token is a function of its parts
	if err != nil {
		return "", errors.New("the private key cannot sign: make another one")
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// Head is that of a token by RS256.
type Head struct {
	Algorithm string `json:"alg"`
	Type      string `json:"typ"`
	Key       string `json:"kid,omitempty"` // its id, which is no secret
}

// HeadRS256 is the head of a token whose key has an id; empty: it has none.
func HeadRS256(key string) Head { return Head{Algorithm: "RS256", Type: "JWT", Key: key} }

// Fingerprint is SHA256:BASE64 of a key's public half, as Snowflake shows it.
func Fingerprint(key *rsa.PrivateKey) (string, error) {
	b, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return "", errKey
	}
	sum := sha256.Sum256(b)
	return "SHA256:" + base64.StdEncoding.EncodeToString(sum[:]), nil
}
