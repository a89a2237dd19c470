package scram

import (
	"crypto"
	"crypto/x509"
)

// EndPoint returns what the channel binding tls-server-end-point of RFC 5929 binds: the hash of the
// server's certificate, which comes first. Nil: its signature names no hash, or there is none.
func EndPoint(chain []*x509.Certificate) []byte {
	if len(chain) == 0 {
		return nil
	}
	var h crypto.Hash
	switch chain[0].SignatureAlgorithm {
	case x509.MD5WithRSA, x509.SHA1WithRSA, x509.ECDSAWithSHA1, x509.DSAWithSHA1, // both are replaced by SHA-256
		x509.SHA256WithRSA, x509.SHA256WithRSAPSS, x509.ECDSAWithSHA256, x509.DSAWithSHA256:
		h = crypto.SHA256
	case x509.SHA384WithRSA, x509.SHA384WithRSAPSS, x509.ECDSAWithSHA384:
		h = crypto.SHA384
	case x509.SHA512WithRSA, x509.SHA512WithRSAPSS, x509.ECDSAWithSHA512:
		h = crypto.SHA512
	default:
		return nil
	}
	sum := h.New()
	sum.Write(chain[0].Raw)
	return sum.Sum(nil)
}
