package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// The files of a cluster's folder.
const (
	authorityFile  = "ca.crt"
	serverFile     = "server.crt" // of etcd and of the API server
	serverKeyFile  = "server.key"
	clientFile     = "client.crt" // of the API server at etcd
	clientKeyFile  = "client.key"
	accountKeyFile = "accounts.key" // signs tokens of ServiceAccounts
)

// authority signs the certificates of one cluster.
type authority struct {
	certificate []byte // PEM
	parsed      *x509.Certificate
	key         *ecdsa.PrivateKey
}

// pair is a certificate and its key, in PEM.
type pair struct{ certificate, key []byte }

// newAuthority writes the authority's certificate, those of the servers, and the key of tokens into a folder.
func newAuthority(folder, address string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	a := &authority{key: key}
	template := certificate("test authority", nil)
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	a.certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if a.parsed, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	template = certificate("server", nil)
	template.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}
	template.IPAddresses = []net.IP{net.ParseIP(address), net.IPv4(127, 0, 0, 1), net.IPv4(10, 96, 0, 1)}
	// etcd's gateway is a client of etcd with the same certificate.
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	server, err := a.sign(template)
	if err != nil {
		return nil, err
	}
	client, err := a.client("etcd-client", nil)
	if err != nil {
		return nil, err
	}
	accounts, err := a.client("accounts", nil)
	if err != nil {
		return nil, err
	}
	for name, text := range map[string][]byte{
		authorityFile: a.certificate, serverFile: server.certificate, serverKeyFile: server.key,
		clientFile: client.certificate, clientKeyFile: client.key, accountKeyFile: accounts.key,
	} {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), text, 0o600))
	}
	return a, err
}

// certificate is one that is valid for a day.
func certificate(name string, groups []string) *x509.Certificate {
	number, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 100))
	if err != nil {
		panic(err) // crypto/rand never fails
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: number, Subject: pkix.Name{CommonName: name, Organization: groups},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
	}
}

// client signs a certificate of a user, whose groups are its organizations.
func (a *authority) client(user string, groups []string) (pair, error) {
	template := certificate(user, groups)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.sign(template)
}

func (a *authority) sign(template *x509.Certificate) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.parsed, key.Public(), a.key)
	if err != nil {
		return pair{}, err
	}
	text, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return pair{}, err
	}
	return pair{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: text})}, nil
}
