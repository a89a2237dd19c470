package signing

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// Bounds of keys.
const (
	PEMMax     = 16 << 10 // bytes of a PEM text
	RSABitsMax = 4096     // such a signature takes 7 ms
	RSABitsMin = 1024     // crypto/rsa rejects smaller ones
)

// Key signs tokens. It can be shared.
type Key struct {
	secret []byte // of HMAC
	rsa    *rsa.PrivateKey
	ecdsa  *ecdsa.PrivateKey
}

// ParseKey parses a private key in PEM (PKCS #8, PKCS #1, SEC 1). Any other text is the secret
// of an HMAC.
func ParseKey(text []byte) (*Key, error) {
	if !looksLikePEM(text) {
		return &Key{secret: text}, nil
	}
	if len(text) > PEMMax {
		return nil, fmt.Errorf("the key has %d bytes, the limit is %d", len(text), PEMMax)
	}
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, errors.New("the PEM text holds no private key: give the text between BEGIN PRIVATE KEY and END PRIVATE KEY, both lines included")
		}
		switch block.Type {
		case "PRIVATE KEY":
			k, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			return newKey(k, err)
		case "RSA PRIVATE KEY":
			k, err := x509.ParsePKCS1PrivateKey(block.Bytes)
			return newKey(k, err)
		case "EC PRIVATE KEY":
			k, err := x509.ParseECPrivateKey(block.Bytes)
			return newKey(k, err)
		case "ENCRYPTED PRIVATE KEY":
			return nil, errors.New("the key is encrypted: decrypt it first, openssl pkey -in key.pem does")
		}
	}
}

func looksLikePEM(text []byte) bool {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\n' || text[0] == '\r' || text[0] == '\t') {
		text = text[1:]
	}
	return len(text) > 10 && string(text[:10]) == "-----BEGIN"
}

func newKey(parsed any, err error) (*Key, error) {
	if err != nil {
		return nil, fmt.Errorf("the PEM text holds no key that can be read: %w", err)
	}
	switch k := parsed.(type) {
	case *rsa.PrivateKey:
		if bits := k.N.BitLen(); bits > RSABitsMax || bits < RSABitsMin {
			return nil, fmt.Errorf("the RSA key has %d bits: take one of %d to %d", bits, RSABitsMin, RSABitsMax)
		}
		return &Key{rsa: k}, nil
	case *ecdsa.PrivateKey:
		if k.Curve != elliptic.P256() {
			return nil, fmt.Errorf("the EC key is on %s: ES256 takes one on P-256", k.Curve.Params().Name)
		}
		return &Key{ecdsa: k}, nil
	}
	return nil, fmt.Errorf("the key is a %T: take an RSA key for RS256 or an EC key on P-256 for ES256", parsed)
}

// Work returns the cost of a signature in steps of the interpreter (20 ns each).
func (k *Key) Work() uint64 {
	switch {
	case k.rsa != nil:
		n := uint64(k.rsa.N.BitLen())
		return n * n * n >> 18
	case k.ecdsa != nil:
		return 2_000
	}
	return 50
}
