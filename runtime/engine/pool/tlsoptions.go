package pool

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
)

// tlsOptions returns the TLS options of all connections of a workflow.
func tlsOptions(w *workflow.Workflow) (*tls.Config, error) {
	c, err := TLSConfig(&w.HTTP.TLS, w.HTTP.Insecure)
	if err == nil {
		c.NextProtos = protocols(w)
	}
	return c, err
}

// TLSConfig returns TLS options as the library takes them. Insecure: no certificate is verified.
func TLSConfig(o *request.TLS, insecure bool) (*tls.Config, error) {
	c := &tls.Config{InsecureSkipVerify: insecure, MinVersion: tls.VersionTLS12, ServerName: o.ServerName} //nolint:gosec // the file says so
	if v := tlsVersion(o.MaxVersion); v != 0 {
		c.MaxVersion = v
		c.MinVersion = min(c.MinVersion, v)
	}
	if v := tlsVersion(o.MinVersion); v != 0 {
		c.MinVersion = v
	}
	all := append(tls.CipherSuites(), tls.InsecureCipherSuites()...)
	for _, name := range o.Ciphers {
		for _, suite := range all {
			if suite.Name == name {
				c.CipherSuites = append(c.CipherSuites, suite.ID)
			}
		}
	}
	if len(c.CipherSuites) < len(o.Ciphers) {
		return nil, fmt.Errorf("tls: ciphers = %v: this engine knows only %d of them", o.Ciphers, len(c.CipherSuites))
	}
	if len(o.CA) > 0 {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(o.CA) {
			return nil, errors.New("tls: ca holds no certificate: give a PEM text")
		}
	}
	if len(o.Certificate) > 0 {
		own, err := tls.X509KeyPair(o.Certificate, o.Key)
		if err != nil {
			return nil, fmt.Errorf("tls: certificate and key: %w", err)
		}
		c.Certificates = []tls.Certificate{own}
	}
	return c, nil
}

// AnyName makes options verify that an authority has signed a certificate, whatever name it has.
func AnyName(c *tls.Config) {
	c.InsecureSkipVerify = true
	c.VerifyConnection = func(state tls.ConnectionState) error {
		own := x509.NewCertPool()
		for _, one := range state.PeerCertificates[1:] {
			own.AddCert(one)
		}
		if _, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: c.RootCAs, Intermediates: own}); err != nil {
			return &tls.CertificateVerificationError{UnverifiedCertificates: state.PeerCertificates, Err: err}
		}
		return nil
	}
}

// Judging makes options judge a handshake beside its certificates.
func Judging(c *tls.Config, judge func(*tls.ConnectionState) error) {
	before := c.VerifyConnection
	c.VerifyConnection = func(made tls.ConnectionState) error {
		if before != nil {
			if err := before(made); err != nil {
				return err
			}
		}
		return judge(&made)
	}
}

func tlsVersion(text string) uint16 {
	switch text {
	case "1.0":
		return tls.VersionTLS10
	case "1.1":
		return tls.VersionTLS11
	case "1.2":
		return tls.VersionTLS12
	case "1.3":
		return tls.VersionTLS13
	}
	return 0
}

// sessions are the TLS sessions that one virtual user may resume, by server. Handshakes of QUIC run on
// goroutines of their own.
type sessions struct {
	mu     sync.Mutex
	states map[string]*tls.ClientSessionState
}

var _ tls.ClientSessionCache = (*sessions)(nil)

// sessionsMax bounds the servers whose sessions a user keeps, about 2 KiB each.
const sessionsMax = 16

// Get is called before a handshake.
func (s *sessions) Get(server string) (*tls.ClientSessionState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state, found := s.states[server]
	return state, found
}

// Put stores a ticket; nil: the server rejected the stored one.
func (s *sessions) Put(server string, state *tls.ClientSessionState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == nil {
		delete(s.states, server)
		return
	}
	if _, known := s.states[server]; !known && len(s.states) >= sessionsMax {
		clear(s.states)
	}
	s.states[server] = state
}

// ownSessions are those of one destination with TLS options of its own. The library does not verify a
// server again whose session it takes up: what one client trusts another one may not.
type ownSessions struct {
	*sessions
	of string
}

// Get is called before a handshake.
func (s ownSessions) Get(server string) (*tls.ClientSessionState, bool) {
	return s.sessions.Get(s.of + " " + server)
}

// Put stores a ticket.
func (s ownSessions) Put(server string, state *tls.ClientSessionState) {
	s.sessions.Put(s.of+" "+server, state)
}

// resuming gives a user's connection the sessions that it may resume.
func (a *handshakes) resuming(vu int32, h *Host, c *tls.Config) *tls.Config {
	s := a.Sessions[vu]
	if s == nil {
		s = &sessions{states: map[string]*tls.ClientSessionState{}}
		a.Sessions[vu] = s
	}
	c = c.Clone()
	if c.ClientSessionCache = s; h.tls != nil {
		c.ClientSessionCache = ownSessions{s, h.Key}
	}
	return c
}

// trunkSessions is the TLS session of one connection, which its branches take up, and no other one does.
type trunkSessions struct {
	own   *tls.ClientSessionState
	users tls.ClientSessionCache // of the user's connections, which it may take up itself; nil: it does not
}

// Get is called before a handshake.
func (s *trunkSessions) Get(server string) (*tls.ClientSessionState, bool) {
	if s.own != nil || s.users == nil {
		return s.own, s.own != nil
	}
	return s.users.Get(server)
}

// Put stores a ticket.
func (s *trunkSessions) Put(server string, state *tls.ClientSessionState) {
	if s.own = state; s.users != nil {
		s.users.Put(server, state)
	}
}

// trunk returns the TLS options of a connection that may have branches.
func trunk(c *tls.Config) *tls.Config {
	c = c.Clone()
	c.ClientSessionCache = &trunkSessions{users: c.ClientSessionCache}
	return c
}
