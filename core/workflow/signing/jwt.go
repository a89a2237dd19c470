package signing

import (
	"crypto"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/asn1"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"math/big"
)

// Algorithms lists the algorithms of JWT.
func Algorithms() []string { return []string{"HS256", "HS384", "HS512", "RS256", "ES256"} }

// JWT signs a token whose header and claims are JSON texts. The caller writes the header's
// "alg".
func JWT(algorithm string, key *Key, header, claims []byte) (string, error) {
	coding := base64.RawURLEncoding
	token := make([]byte, 0, coding.EncodedLen(len(header))+coding.EncodedLen(len(claims))+coding.EncodedLen(512)+2)
	token = coding.AppendEncode(token, header)
	token = append(token, '.')
	token = coding.AppendEncode(token, claims)
	signature, err := key.sign(algorithm, token)
	if err != nil {
		return "", err
	}
	token = append(token, '.')
	return string(coding.AppendEncode(token, signature)), nil
}

func (k *Key) sign(algorithm string, text []byte) ([]byte, error) {
	switch algorithm {
	case "HS256":
		return k.hmac(algorithm, sha256.New, text)
	case "HS384":
		return k.hmac(algorithm, sha512.New384, text)
	case "HS512":
		return k.hmac(algorithm, sha512.New, text)
	case "RS256":
		return k.pkcs1(text)
	case "ES256":
		return k.p256(text)
	}
	return nil, fmt.Errorf("unknown algorithm %q", algorithm)
}

func (k *Key) hmac(algorithm string, h func() hash.Hash, text []byte) ([]byte, error) {
	if k.secret == nil {
		return nil, fmt.Errorf("%s takes a shared secret, and the key is a private key in PEM: use RS256 or ES256", algorithm)
	}
	if len(k.secret) == 0 {
		return nil, errors.New("the key is empty: give the shared secret")
	}
	m := hmac.New(h, k.secret)
	m.Write(text)
	return m.Sum(nil), nil
}

func (k *Key) pkcs1(text []byte) ([]byte, error) {
	if k.rsa == nil {
		return nil, errors.New("RS256 takes an RSA key in PEM: give the text of BEGIN RSA PRIVATE KEY or BEGIN PRIVATE KEY")
	}
	digest := sha256.Sum256(text)
	return rsa.SignPKCS1v15(nil, k.rsa, crypto.SHA256, digest[:])
}

// p256 signs by RFC 6979: instead of a random nonce it derives one from the key and the text.
func (k *Key) p256(text []byte) ([]byte, error) {
	if k.ecdsa == nil {
		return nil, errors.New("ES256 takes an EC key on P-256 in PEM: give the text of BEGIN EC PRIVATE KEY or BEGIN PRIVATE KEY")
	}
	digest := sha256.Sum256(text)
	der, err := k.ecdsa.Sign(nil, digest[:], crypto.SHA256)
	if err != nil {
		return nil, err
	}
	var pair struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &pair); err != nil {
		return nil, err
	}
	out := make([]byte, 64)
	pair.R.FillBytes(out[:32])
	pair.S.FillBytes(out[32:])
	return out, nil
}
