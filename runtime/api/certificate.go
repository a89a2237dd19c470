package api

import (
	"crypto/tls"
	"sync"
	"time"

	"hyperscale/core/node"
	"hyperscale/runtime/api/tokens"
	"hyperscale/runtime/certs"
)

// certified begins the names of callers by certificate: no token's name has a colon.
const certified = "cert:"

// lookEvery is how old the authorities may be by which callers are verified.
const lookEvery = time.Second

// Certificates say who callers without a token are: clients of the nodes' cluster, by a certificate of its authorities.
type Certificates struct {
	store *certs.Store
	as    certs.Identity // what a caller's certificate must claim

	mu     sync.Mutex
	looked time.Time
}

// OpenCertificates reads the files of a node. Callers are clients of its cluster.
func OpenCertificates(files certs.Files, self certs.Identity, clock func() time.Time) (*Certificates, error) {
	store, err := certs.Open(files, self, clock)
	if err != nil {
		return nil, err
	}
	return &Certificates{store: store, as: certs.Identity{Role: node.RoleClient, Cluster: self.Cluster, Environment: self.Environment}, looked: clock()}, nil
}

// fresh reads the files again when they have changed. Files that cannot be read change nothing: the node warns of them.
func (c *Certificates) fresh(now time.Time) *certs.Store {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.looked) >= lookEvery {
		c.looked = now
		if c.store.Changed() {
			_ = c.store.Read()
		}
	}
	return c.store
}

// find returns whose certificate a connection has, as a token has it.
func (c *Certificates) find(state *tls.ConnectionState) (t tokens.Token, err error) {
	claims, no := c.fresh(time.Now()).Verify(state, false)
	if no == nil {
		no = claims.Fits(&c.as)
	}
	if no != nil {
		return t, no
	}
	return tokens.Token{Name: certified + claims.Subject, Right: claims.Right()}, nil
}

// demand asks callers for a certificate, and takes those that have none.
func (c *Certificates) demand(of *tls.Config) {
	of.ClientAuth = tls.RequestClientCert
	of.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		now := of.Clone()
		now.GetConfigForClient, now.ClientCAs = nil, c.fresh(time.Now()).Roots()
		return now, nil
	}
}

// admitted is who a caller without a token is.
func (s *Server) admitted(state *tls.ConnectionState) (t tokens.Token, why string) {
	switch known := s.config.Certificates; {
	case known == nil:
		return t, "no token came with the request: send Authorization: Bearer TOKEN"
	case state == nil || len(state.PeerCertificates) == 0:
		return t, "neither a token nor a certificate came with the request: send Authorization: Bearer TOKEN, or a client's certificate of the cluster"
	default:
		t, err := known.find(state)
		if err != nil {
			return t, "the certificate does not fit: " + err.Error()
		}
		return t, ""
	}
}
