package command

import (
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// The binary brings authorities where neither the system nor the user has some.
func TestCarriedRoots(t *testing.T) {
	there := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(there, []byte("any"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		variables map[string]string
		files     []string
		brings    bool
	}{
		"an image without files":     {files: []string{"/no/such/file"}, brings: true},
		"a system with authorities":  {files: []string{"/no/such/file", there}},
		"a file of the user's":       {variables: map[string]string{"SSL_CERT_FILE": there}},
		"a file that does not exist": {variables: map[string]string{"SSL_CERT_FILE": "/no/such/file"}},
		"a folder of the user's":     {variables: map[string]string{"SSL_CERT_DIR": filepath.Dir(there)}},
	} {
		pool := carriedRoots(func(name string) string { return tt.variables[name] }, tt.files)
		if (pool != nil) != tt.brings {
			t.Errorf("%s: brings authorities: %t, want %t", name, pool != nil, tt.brings)
		}
		if pool == nil {
			continue
		}
		verified := 0
		for root := range bundle.Roots() {
			c, err := x509.ParseCertificate(root.Certificate)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Verify(x509.VerifyOptions{Roots: pool, CurrentTime: c.NotBefore, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}); err == nil {
				verified++
			}
		}
		if verified < 80 {
			t.Errorf("%s: %d authorities, want at least 80", name, verified)
		}
	}
}
