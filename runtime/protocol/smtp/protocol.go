package smtp

import (
	"encoding/base64"
	"strings"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/reply"
)

// HelloDefault is how a client calls itself that has no name.
const HelloDefault = "localhost"

// Config is what a connection greets with.
type Config struct {
	Hello     string    // how the client calls itself; empty: HelloDefault
	Secure    bool      // TLS stands before the greeting
	StartTLS  bool      // the greeting begins TLS
	Mechanism Mechanism // that proves the user
	User      string
	Secret    string // the password, or for XOAUTH2 the token
	Each      int    // messages of a connection; 0: any number
	Pool      *Pool  // the memory of all connections that one goroutine serves; nil: one of its own
}

// Mechanism proves a user.
type Mechanism uint8

// The mechanisms. MechanismNone proves nothing.
const (
	MechanismNone Mechanism = iota
	MechanismPlain
	MechanismLogin
	MechanismCRAM
	MechanismToken
)

// String is the mechanism's name in SASL.
func (m Mechanism) String() string {
	return [...]string{"none", "PLAIN", "LOGIN", "CRAM-MD5", "XOAUTH2"}[min(m, MechanismToken)]
}

// Tells reports that the secret itself goes out.
func (m Mechanism) Tells() bool { return m != MechanismNone && m != MechanismCRAM }

// Protocol greets for the connections of one goroutine. It is made before the clock runs.
type Protocol struct {
	config  Config
	secrets []string // what nothing shows
}

// New returns the protocol of a target. Its error names the field.
func New(c Config) (*Protocol, error) {
	if c.Hello == "" {
		c.Hello = HelloDefault
	}
	if c.Pool == nil {
		c.Pool = new(Pool)
	}
	switch {
	case strings.ContainsAny(c.Hello, " \r\n\x00"):
		return nil, &http1.InputError{Field: "hello", Value: c.Hello, Remedy: "write a host's name, or an address in brackets"}
	case c.Mechanism.Tells() && !c.Secure && !c.StartTLS:
		return nil, &http1.InputError{Field: "auth", Value: c.Mechanism.String(), Remedy: "write starttls = \"required\", or smtps://: a password goes out in TLS alone"}
	case strings.ContainsRune(c.User+c.Secret, 0):
		return nil, &http1.InputError{Field: "auth", Value: c.Mechanism.String(), Remedy: "take the zero byte out of the user or the password"}
	}
	return &Protocol{config: c, secrets: c.secrets()}, nil
}

const hiddenText = "***"

// secrets are the secret, and what AUTH sends of it.
func (c *Config) secrets() []string {
	if c.Secret == "" {
		return nil
	}
	all := []string{c.Secret}
	for _, m := range [...]Mechanism{MechanismPlain, MechanismToken} {
		said := *c
		said.Mechanism = m
		all = append(all, base64.StdEncoding.EncodeToString([]byte(said.first())))
	}
	return append(all, base64.StdEncoding.EncodeToString([]byte(c.Secret)))
}

// reader reads what a server says. No error shows the secret.
func (p *Protocol) reader() reply.Reader { return reply.Reader{Secrets: p.secrets} }

const (
	bufferKept = 256 << 10 // bytes of a buffer that the pool keeps
	poolKept   = 1024      // buffers of a pool
)

// Pool has the memory of the operations under way on the connections of one goroutine.
type Pool struct{ idle [][]byte }

// take returns an empty buffer.
func (p *Pool) take() []byte {
	if last := len(p.idle) - 1; last >= 0 {
		b := p.idle[last]
		p.idle = p.idle[:last]
		return b
	}
	return make([]byte, 0, 1024)
}

// free takes a buffer back.
func (p *Pool) free(b []byte) {
	if cap(b) > 0 && cap(b) <= bufferKept && len(p.idle) < poolKept {
		p.idle = append(p.idle, b[:0])
	}
}

var (
	_ codec.Greeting = (*Greeting)(nil)
	_ codec.Securer  = (*Greeting)(nil)
)
