package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

// Authority signs certificates.
type Authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pool *x509.CertPool
	good tls.Certificate // of an honest server
}

var theAuthority = sync.OnceValue(New)

// Good is the certificate of a server that behaves well.
func (a *Authority) Good() tls.Certificate { return a.good }

// Roots is the pool that a client must trust, and no other.
func Roots() *x509.CertPool { return theAuthority().pool }

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("make a certificate: %v", err)) // it depends on nothing but this file
	}
	return v
}

// New makes an authority outside Roots.
func New() *Authority {
	a := &Authority{key: newKey(), pool: x509.NewCertPool()}
	der := a.sign(&x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}, a.key)
	a.cert = must(x509.ParseCertificate(der))
	a.pool.AddCert(a.cert)
	a.good = a.issue(server())
	return a
}

func newKey() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) }

// sign signs with the authority's name, or with its own while there is none yet.
func (a *Authority) sign(c *x509.Certificate, key *ecdsa.PrivateKey) []byte {
	parent := a.cert
	if parent == nil {
		parent = c
	}
	return must(x509.CreateCertificate(rand.Reader, c, parent, key.Public(), a.key))
}

func (a *Authority) issue(c *x509.Certificate) tls.Certificate {
	key := newKey()
	return tls.Certificate{Certificate: [][]byte{a.sign(c, key)}, PrivateKey: key}
}

// server describes a certificate that is right for this host.
func server() *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "server"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}
}

// Honest is the configuration of a server that behaves well.
func Honest() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{theAuthority().good}, NextProtos: []string{"http/1.1"}}
}

// Secured returns an honest configuration with one change.
func Secured(change func(*tls.Config)) func() *tls.Config {
	return func() *tls.Config {
		c := Honest()
		change(c)
		return c
	}
}

// Certified returns an honest configuration with one change of its certificate.
func Certified(change func(*x509.Certificate)) func() *tls.Config {
	return Secured(func(c *tls.Config) {
		cert := server()
		change(cert)
		c.Certificates = []tls.Certificate{theAuthority().issue(cert)}
	})
}

// Files are the honest server's certificate with its key, and the authority's own, as PEM texts.
func Files() (certificate, key, authority []byte) {
	a := theAuthority()
	certificate, key = texts(a.good)
	return certificate, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// Client returns the certificate of a client called so, with its key, as PEM texts.
func Client(name string) (certificate, key []byte) {
	return texts(theAuthority().issue(&x509.Certificate{
		SerialNumber: big.NewInt(3), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}))
}

func texts(c tls.Certificate) (certificate, key []byte) {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: must(x509.MarshalPKCS8PrivateKey(c.PrivateKey))})
}
