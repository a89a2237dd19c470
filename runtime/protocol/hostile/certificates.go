package hostile

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

// authority signs the certificates of one process.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pool *x509.CertPool
	good tls.Certificate
}

var theAuthority = sync.OnceValue(newAuthority)

// Roots is what a client must trust, and nothing else.
func Roots() *x509.CertPool { return theAuthority().pool }

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("make a certificate: %v", err)) // it depends on nothing but this file
	}
	return v
}

func newAuthority() *authority {
	a := &authority{key: newKey(), pool: x509.NewCertPool()}
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
func (a *authority) sign(c *x509.Certificate, key *ecdsa.PrivateKey) []byte {
	parent := a.cert
	if parent == nil {
		parent = c
	}
	return must(x509.CreateCertificate(rand.Reader, c, parent, key.Public(), a.key))
}

func (a *authority) issue(c *x509.Certificate) tls.Certificate {
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

// honest is the configuration of a server that behaves well.
func honest() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{theAuthority().good}, NextProtos: []string{"http/1.1"}}
}

// secured is honest but for the change.
func secured(change func(*tls.Config)) func() *tls.Config {
	return func() *tls.Config {
		c := honest()
		change(c)
		return c
	}
}

// certified is honest but for its certificate.
func certified(change func(*x509.Certificate)) func() *tls.Config {
	return secured(func(c *tls.Config) {
		cert := server()
		change(cert)
		c.Certificates = []tls.Certificate{theAuthority().issue(cert)}
	})
}
