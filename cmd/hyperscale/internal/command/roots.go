package command

import (
	"crypto/x509"
	"os"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// rootFiles are where systems keep the certificates of authorities, as crypto/x509 looks for them; on macOS the
// system itself verifies.
func rootFiles() []string {
	return []string{
		"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/pki/tls/cacert.pem",
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
	}
}

// BringRoots gives a process the authorities that this binary has with it, where its system has none: an image
// without files, say. A user who names others, with SSL_CERT_FILE or SSL_CERT_DIR, means those alone. An executor
// starts often, so that it must not read a hundred certificates which it has on disk.
func BringRoots() {
	if pool := carriedRoots(os.Getenv, rootFiles()); pool != nil {
		x509.SetFallbackRoots(pool) // a folder that has some still wins
	}
}

// carriedRoots are the binary's own authorities; nil: the system or the user has some.
func carriedRoots(getenv func(string) string, files []string) *x509.CertPool {
	if getenv("SSL_CERT_FILE") != "" || getenv("SSL_CERT_DIR") != "" {
		return nil
	}
	for _, name := range files {
		if _, err := os.Stat(name); err == nil {
			return nil
		}
	}
	pool := x509.NewCertPool()
	for root := range bundle.Roots() {
		c, err := x509.ParseCertificate(root.Certificate)
		switch {
		case err != nil: // one that this version of Go does not take
		case root.Constraint != nil:
			pool.AddCertWithConstraint(c, root.Constraint)
		default:
			pool.AddCert(c)
		}
	}
	return pool
}
