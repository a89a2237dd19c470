package scram_test

import (
	"crypto/x509"
	"testing"

	"hyperscale/runtime/protocol/scram"
)

// RFC 5929, 4.1: the hash is that of the certificate's signature, and MD5 and SHA-1 become SHA-256.
func TestEndPoint(t *testing.T) {
	//lint:orderfree each algorithm is judged by itself
	for algorithm, want := range map[x509.SignatureAlgorithm]int{
		x509.MD5WithRSA: 32, x509.SHA1WithRSA: 32, x509.ECDSAWithSHA1: 32, x509.SHA256WithRSA: 32, x509.ECDSAWithSHA256: 32, x509.SHA256WithRSAPSS: 32,
		x509.SHA384WithRSA: 48, x509.ECDSAWithSHA384: 48, x509.SHA384WithRSAPSS: 48, x509.SHA512WithRSA: 64, x509.ECDSAWithSHA512: 64, x509.SHA512WithRSAPSS: 64,
		x509.PureEd25519: 0,
	} {
		if got := scram.EndPoint([]*x509.Certificate{{Raw: []byte("x"), SignatureAlgorithm: algorithm}}); len(got) != want {
			t.Errorf("%v: %d bytes, want %d", algorithm, len(got), want)
		}
	}
	if scram.EndPoint(nil) != nil {
		t.Error("a server without a certificate is bound")
	}
}
