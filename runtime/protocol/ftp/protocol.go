package ftp

import (
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/reply"
)

// User and password of a connection that names none.
const (
	UserDefault     = "anonymous"
	PasswordDefault = "hyperscale@"
)

// KeepMaxDefault bounds data that is kept, in bytes. Less would cut real files; more would let 1,000 users
// that each read one fill the machine.
const KeepMaxDefault = http1.BodyLimitDefault

// Config is what a connection greets with and takes.
type Config struct {
	User, Password string // empty, both: UserDefault and PasswordDefault
	Secure         bool   // TLS stands before the greeting
	Explicit       bool   // the greeting begins TLS
	KeepMax        int64  // 0: KeepMaxDefault
}

// Protocol greets for the connections of one goroutine, and remembers how its server likes data connections.
type Protocol struct {
	config  Config
	secrets []string
	passive bool // the server refuses EPSV
}

// New returns the protocol of a target. Its error names the field.
func New(c Config) (*Protocol, error) {
	if c.User == "" {
		c.User = UserDefault
		if c.Password == "" {
			c.Password = PasswordDefault
		}
	}
	if c.KeepMax <= 0 {
		c.KeepMax = KeepMaxDefault
	}
	for name, text := range map[string]string{"user": c.User, "password": c.Password} {
		if reply.Breaks([]byte(text)) {
			return nil, &http1.InputError{Field: name, Value: hiddenText, Remedy: "take line breaks and zero bytes out"}
		}
	}
	return &Protocol{config: c, secrets: []string{c.Password}}, nil
}

// secures reports whether data connections have TLS.
func (p *Protocol) secures() bool { return p.config.Secure || p.config.Explicit }

const hiddenText = "***"

// reader reads what a server says. No error shows the password.
func (p *Protocol) reader() reply.Reader { return reply.Reader{Loose: true, Secrets: p.secrets} }

var (
	_ codec.Greeting = (*Greeting)(nil)
	_ codec.Securer  = (*Greeting)(nil)
)
