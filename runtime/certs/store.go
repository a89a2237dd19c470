package certs

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"hyperscale/core/node"
)

// fileMax bounds each file, in bytes.
const fileMax = 1 << 20

// Files are the paths of a node's PEM files. The zero Files are none.
type Files struct {
	Cert string // its certificate, then those between it and the authority
	Key  string
	CA   string // the authorities that it trusts
}

// Given reports whether the node has certificates.
func (f Files) Given() bool { return f != Files{} }

// Check says that a path is missing.
func (f Files) Check() error {
	if !f.Given() {
		return nil
	}
	for _, one := range [...]struct{ flag, path string }{{"--tls-cert", f.Cert}, {"--tls-key", f.Key}, {"--tls-ca", f.CA}} {
		if one.path == "" {
			return fmt.Errorf("%s is missing: give --tls-cert, --tls-key and --tls-ca together", one.flag)
		}
	}
	return nil
}

// Store holds a node's certificate, its key and its authorities. Read may change them while
// streams stand: these keep what they began with.
type Store struct {
	files Files
	self  Identity
	clock func() time.Time
	seen  [3]stamp
	now   atomic.Pointer[pair]
}

// pair is what the files hold at one time.
type pair struct {
	own         tls.Certificate
	roots       *x509.CertPool
	authorities []string
	until       time.Time     // when the first certificate of its own chain ends
	life        time.Duration // of its own certificate, from its first to its last moment
}

// stamp is what tells one version of a file from another.
type stamp struct {
	mod  time.Time
	size int64
	mode os.FileMode
}

// Open reads the files of a node. The node's own certificate must fit it, by the clock.
func Open(files Files, self Identity, clock func() time.Time) (*Store, error) {
	s := &Store{files: files, self: self, clock: clock}
	if err := files.Check(); err != nil {
		return nil, err
	}
	if err := s.Read(); err != nil {
		return nil, err
	}
	return s, nil
}

// paths lists the files, as seen does.
func (s *Store) paths() [3]string { return [...]string{s.files.Cert, s.files.Key, s.files.CA} }

// Changed says whether a file differs from the one that Read saw. A file that is away has not
// changed.
func (s *Store) Changed() bool {
	for i, path := range s.paths() {
		if info, err := os.Stat(path); err == nil && stampOf(info) != s.seen[i] {
			return true
		}
	}
	return false
}

func stampOf(info os.FileInfo) stamp {
	return stamp{info.ModTime().Round(0), info.Size(), info.Mode()}
}

// Roots are the authorities as they are now.
func (s *Store) Roots() *x509.CertPool { return s.now.Load().roots }

// Until is when the node's certificate, or one that it hangs on, ends.
func (s *Store) Until() time.Time { return s.now.Load().until }

// Left is how long the certificate is still valid; below zero, it is not.
func (s *Store) Left() time.Duration { return s.Until().Sub(s.clock()) }

// soonMost bounds Soon.
const soonMost = 14 * 24 * time.Hour

// Soon is how long before its end a certificate should be renewed by now: a third of its life, 14 days at most.
func (s *Store) Soon() time.Duration { return min(soonMost, s.now.Load().life/3) }

// Read takes what stands in the files. After an error the store has what it had.
func (s *Store) Read() error {
	var texts [3][]byte
	for i, flag := range [...]string{"--tls-cert", "--tls-key", "--tls-ca"} {
		b, err := s.read(i, flag)
		if err != nil {
			return err
		}
		texts[i] = b
	}
	p := &pair{roots: x509.NewCertPool()}
	all, err := certificates(texts[2])
	if err != nil {
		return fmt.Errorf("certificates: %s: %w: give the PEM file of the cluster's authority to --tls-ca", s.files.CA, err)
	}
	for _, c := range all {
		p.roots.AddCert(c)
	}
	p.authorities = authoritiesOf(all)
	if p.own, err = tls.X509KeyPair(texts[0], texts[1]); err != nil {
		// Its texts name no part of a key.
		return fmt.Errorf("certificates: %s and %s: %w: give a PEM certificate to --tls-cert and its own key to --tls-key", s.files.Cert, s.files.Key, err)
	}
	if err := s.fits(p); err != nil {
		return fmt.Errorf("certificates: %s: %w", s.files.Cert, err)
	}
	s.now.Store(p)
	return nil
}

// fits checks the node's own certificate the way that its peers do.
func (s *Store) fits(p *pair) error {
	chain := make([]*x509.Certificate, len(p.own.Certificate))
	for i, der := range p.own.Certificate {
		var err error
		if chain[i], err = x509.ParseCertificate(der); err != nil {
			return fmt.Errorf("%w: issue it again", err)
		}
	}
	usages := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}
	if s.self.Role == node.RoleClient {
		usages = usages[:1] // it accepts no stream
	}
	for _, usage := range usages {
		until, no := p.verify(chain, usage, s.clock())
		if no != nil {
			return no
		}
		p.until = until
	}
	p.life = chain[0].NotAfter.Sub(chain[0].NotBefore)
	claims := claimsOf(chain[0])
	if no := claims.Fits(&s.self); no != nil {
		return no
	}
	return nil
}

// read reads one file, and refuses one that others may change, or a key that they may read.
func (s *Store) read(i int, flag string) ([]byte, error) {
	path := s.paths()[i]
	in, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("certificates: %w: correct %s", err, flag)
	}
	defer func() { _ = in.Close() }() // it was only read
	info, err := in.Stat()
	if err != nil {
		return nil, fmt.Errorf("certificates: %w: correct %s", err, flag)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("certificates: %s is no regular file: give the file itself to %s", path, flag)
	}
	s.seen[i] = stampOf(info)
	mode := info.Mode().Perm()
	if flag == "--tls-key" && mode&0o027 != 0 {
		return nil, fmt.Errorf("certificates: %s has mode %04o, others must neither read nor write a key: chmod 0600 %s", path, mode, path)
	}
	if mode&0o002 != 0 {
		return nil, fmt.Errorf("certificates: %s has mode %04o, others must not write it: chmod 0644 %s", path, mode, path)
	}
	b, err := io.ReadAll(io.LimitReader(in, fileMax+1))
	if err != nil {
		return nil, fmt.Errorf("certificates: %w: correct %s", err, flag)
	}
	if len(b) > fileMax {
		return nil, fmt.Errorf("certificates: %s has more than %d bytes: give a PEM file to %s", path, fileMax, flag)
	}
	return b, nil
}

// certificates reads all certificates of a PEM file.
func certificates(b []byte) (all []*x509.Certificate, err error) {
	for {
		var block *pem.Block
		if block, b = pem.Decode(b); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, errors.New("it has no certificate")
	}
	return all, nil
}

// TLS configures one connection. The peer must present a certificate and prove that it has the key.
// Verify judges that certificate before the first frame: so both ends can say why it is rejected,
// where an alert of TLS names a number.
func (s *Store) TLS() *tls.Config {
	own := &s.now.Load().own
	return &tls.Config{
		MinVersion: tls.VersionTLS13, ClientAuth: tls.RequireAnyClientCert, SessionTicketsDisabled: true,
		GetCertificate:       func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return own, nil },
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return own, nil },
		InsecureSkipVerify:   true, // of host names: Verify checks the chain, and the claims
	}
}
