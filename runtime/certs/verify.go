package certs

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Reason says why a certificate was rejected, as metrics do.
type Reason string

// The reasons. Plain is a peer that does not speak TLS, Version one that speaks another version.
const (
	Plain       Reason = "plain"
	Version     Reason = "version"
	Absent      Reason = "absent"
	Authority   Reason = "authority"
	Expired     Reason = "expired"
	Early       Reason = "early"
	Usage       Reason = "usage"
	Invalid     Reason = "invalid"
	Role        Reason = "role"
	Cluster     Reason = "cluster"
	Environment Reason = "environment"
	Datacenter  Reason = "datacenter"
	Node        Reason = "node"
	Subject     Reason = "subject"
)

// Reasons lists all of them.
func Reasons() []Reason {
	return []Reason{Plain, Version, Absent, Authority, Expired, Early, Usage, Invalid, Role, Cluster, Environment, Datacenter, Node, Subject}
}

// Known returns a peer's reason, or none if this version has no such: reasons are labels of metrics.
func Known(text string) Reason {
	if r := Reason(text); slices.Contains(Reasons(), r) {
		return r
	}
	return ""
}

// Mismatch is why a certificate, or what its holder says, does not stand.
type Mismatch struct {
	Reason Reason
	Field  string
	Got    string // what the peer has, or says
	Want   string
	Remedy string
}

func (e *Mismatch) Error() string {
	return fmt.Sprintf("the %s is %q, must be %s: %s", e.Field, e.Got, e.Want, e.Remedy)
}

// Verify checks the certificate of a peer, and returns what it claims. Dialed says that this end
// opened the connection.
func (s *Store) Verify(c *tls.ConnectionState, dialed bool) (Claims, *Mismatch) {
	usage := x509.ExtKeyUsageClientAuth
	if dialed {
		usage = x509.ExtKeyUsageServerAuth
	}
	if len(c.PeerCertificates) == 0 {
		return Claims{}, absent()
	}
	if _, err := s.now.Load().verify(c.PeerCertificates, usage, s.clock()); err != nil {
		return Claims{}, err
	}
	return claimsOf(c.PeerCertificates[0]), nil
}

const remedyCertificate = "give it --tls-cert, --tls-key and --tls-ca, with a certificate of this cluster's authority"

func absent() *Mismatch {
	return &Mismatch{Reason: Absent, Field: "certificate", Got: "none", Want: "one of this cluster's authority", Remedy: remedyCertificate}
}

// verify checks a chain against the authorities, and returns when the first of its certificates ends.
func (p *pair) verify(chain []*x509.Certificate, usage x509.ExtKeyUsage, now time.Time) (until time.Time, no *Mismatch) {
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	leaf := chain[0]
	chains, err := leaf.Verify(x509.VerifyOptions{Roots: p.roots, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{usage}})
	if err != nil {
		return until, p.explain(err, leaf, usage, now)
	}
	for _, one := range chains {
		first := one[0].NotAfter
		for _, c := range one {
			if c.NotAfter.Before(first) {
				first = c.NotAfter
			}
		}
		if first.After(until) {
			until = first
		}
	}
	return until, nil
}

// explain tells what crypto/x509 rejects, and what to do.
func (p *pair) explain(err error, leaf *x509.Certificate, usage x509.ExtKeyUsage, now time.Time) *Mismatch {
	var invalid x509.CertificateInvalidError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && now.Before(invalid.Cert.NotBefore):
		return &Mismatch{Reason: Early, Field: "certificate", Got: fmt.Sprintf("%s, valid from %s", called(invalid.Cert), at(invalid.Cert.NotBefore)),
			Want: "one that is valid at " + at(now), Remedy: "set the clocks of both machines, or wait"}
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return &Mismatch{Reason: Expired, Field: "certificate", Got: fmt.Sprintf("%s, expired at %s", called(invalid.Cert), at(invalid.Cert.NotAfter)),
			Want: "one that is valid at " + at(now), Remedy: "renew it: the node reads --tls-cert and --tls-key again within a second"}
	case errors.As(err, &invalid) && invalid.Reason == x509.IncompatibleUsage:
		want := "one for client authentication, as its holder opened the stream"
		if usage == x509.ExtKeyUsageServerAuth {
			want = "one for server authentication, as its holder accepted the stream"
		}
		return &Mismatch{Reason: Usage, Field: "certificate", Got: called(leaf), Want: want, Remedy: "request both usages, serverAuth and clientAuth, for nodes"}
	case errors.As(err, &unknown):
		got := called(leaf) + ", signed by " + name(leaf.Issuer.CommonName, leaf.AuthorityKeyId)
		if leaf.Issuer.String() == leaf.Subject.String() {
			got = called(leaf) + ", signed by itself"
		}
		return &Mismatch{Reason: Authority, Field: "certificate", Got: got, Want: "one signed by " + strings.Join(p.authorities, " or "),
			Remedy: "give all nodes and clients certificates of one authority, and that to --tls-ca; while it rotates, both stand there"}
	}
	return &Mismatch{Reason: Invalid, Field: "certificate", Got: called(leaf), Want: "a valid one", Remedy: "issue it again: " + err.Error()}
}

// called is how texts name a certificate.
func called(c *x509.Certificate) string {
	return fmt.Sprintf("%q", c.Subject.CommonName)
}

// name is how texts name an authority: two of one common name differ in their keys.
func name(common string, key []byte) string {
	if len(key) == 0 {
		return fmt.Sprintf("%q", common)
	}
	return fmt.Sprintf("%q (%s)", common, hex.EncodeToString(key[:min(4, len(key))]))
}

func at(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// authoritiesOf names the authorities of a file.
func authoritiesOf(all []*x509.Certificate) []string {
	var names []string
	for _, c := range all {
		if n := name(c.Subject.CommonName, c.SubjectKeyId); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}
