package certs

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/url"
	"slices"
	"time"
)

// Issuer signs the certificates of a test cluster.
type Issuer struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// Request is a certificate to issue.
type Request struct {
	Name        string // the common name
	Role        string
	Cluster     string
	Environment string
	Datacenter  string // empty: none
	Node        string // empty: none
	From        time.Time
	Until       time.Time
}

// NewIssuer makes an authority and its key.
func NewIssuer(common string, from, until time.Time) (*Issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the key of an authority: %w", err)
	}
	t := template(common, from, until)
	t.IsCA, t.BasicConstraintsValid, t.MaxPathLenZero = true, true, true
	t.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make an authority: %w", err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make an authority: %w", err)
	}
	return &Issuer{c, key}, nil
}

// ReadIssuer reads an authority's certificate and key.
func ReadIssuer(certificate, key []byte) (*Issuer, error) {
	all, err := certificates(certificate)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(key)
	if block == nil {
		return nil, fmt.Errorf("the key of %q is no PEM", all[0].Subject.CommonName)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("the key of %q cannot be read: %w", all[0].Subject.CommonName, err)
	}
	own, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || !own.PublicKey.Equal(all[0].PublicKey) {
		return nil, fmt.Errorf("the key is not that of %q", all[0].Subject.CommonName)
	}
	return &Issuer{all[0], own}, nil
}

// PEM returns the authority's certificate and its key.
func (i *Issuer) PEM() (certificate, key []byte, err error) { return encode(i.certificate.Raw, i.key) }

// Issue returns a certificate for a request, and its key.
func (i *Issuer) Issue(r *Request) (certificate, key []byte, err error) {
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make a key: %w", err)
	}
	t := template(r.Name, r.From, r.Until)
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if !slices.Contains(clientRoles, r.Role) {
		t.ExtKeyUsage = append(t.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	for _, claim := range [...][2]string{{"role", r.Role}, {"cluster", r.Cluster}, {"env", r.Environment}, {"dc", r.Datacenter}, {"node", r.Node}} {
		if claim[1] != "" {
			t.URIs = append(t.URIs, &url.URL{Scheme: Scheme, Host: claim[0], Path: "/" + claim[1]})
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, t, i.certificate, own.Public(), i.key)
	if err != nil {
		return nil, nil, fmt.Errorf("sign the certificate of %s: %w", r.Name, err)
	}
	return encode(der, own)
}

func template(common string, from, until time.Time) *x509.Certificate {
	var serial [16]byte
	_, _ = rand.Read(serial[:]) // it never returns an error, it ends the process
	serial[0] &= 0x7f           // positive
	return &x509.Certificate{SerialNumber: new(big.Int).SetBytes(serial[:]), Subject: pkix.Name{CommonName: common}, NotBefore: from, NotAfter: until}
}

// encode returns a certificate and a key as PEM.
func encode(der []byte, key *ecdsa.PrivateKey) (certificate, secret []byte, err error) {
	plain, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("encode a key: %w", err)
	}
	var c, k bytes.Buffer
	err = pem.Encode(&c, &pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err == nil {
		err = pem.Encode(&k, &pem.Block{Type: "PRIVATE KEY", Bytes: plain})
	}
	return c.Bytes(), k.Bytes(), err
}
