package mysql

import (
	"crypto/rsa"
	"io"

	"hyperscale/runtime/protocol/http1"
)

// AnswerMaxDefault bounds an operation's answer, in bytes.
const AnswerMaxDefault = http1.BodyLimitDefault

const (
	columnsMost  = 1024    // of a row
	preparedMost = 256     // statements that an idle connection keeps
	resultsMost  = 1024    // results in a row without a row
	asideMost    = 1 << 16 // bytes of an error that answers nothing
)

// Mode says how statements are sent.
type Mode uint8

// The modes.
const (
	ModePrepared Mode = iota // prepared once a connection
	ModeUnnamed              // prepared at each use, and closed: behind a proxy
	ModeSimple               // as text, without arguments
)

// Config is what a connection begins with and takes.
type Config struct {
	User      string
	Password  string // empty: none
	Database  string // empty: none
	TLS       bool   // it begins with TLS, or not at all
	Several   bool   // a text may have several statements
	AnswerMax int64  // 0: AnswerMaxDefault
	// Key is the server's, under which a password goes where there is no TLS; nil: there is none. Random
	// is what that draws from.
	Key    *rsa.PublicKey
	Random io.Reader
	// Pool has the memory of all connections that one goroutine serves. Nil: one of its own.
	Pool *Pool
}

// Protocol begins the connections of one goroutine.
type Protocol struct {
	config Config
	pool   *Pool
	signer *edwards // nil: no server has asked for it
}

// signs returns what signs salts with the password.
func (p *Protocol) signs() *edwards {
	if p.signer == nil {
		p.signer = newEdwards(p.config.Password)
	}
	return p.signer
}

// New returns the protocol for connections that begin alike.
func New(c Config) *Protocol {
	p := &Protocol{config: c, pool: c.Pool}
	if p.config.AnswerMax <= 0 {
		p.config.AnswerMax = AnswerMaxDefault
	}
	p.config.AnswerMax = min(p.config.AnswerMax, 1<<62) // sums stay numbers
	if p.pool == nil {
		p.pool = new(Pool)
	}
	return p
}

// Begin begins a connection behind its greeting. Brief: the server leaves out the packets that end
// descriptions.
func (p *Protocol) Begin(brief bool) *Conn {
	return &Conn{pool: p.pool, in: intake{most: p.config.AnswerMax, brief: brief}}
}
