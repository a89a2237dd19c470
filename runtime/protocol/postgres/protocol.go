package postgres

import (
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/scram"
)

// AnswerMaxDefault bounds an operation's answer, in bytes.
const AnswerMaxDefault = http1.BodyLimitDefault

const (
	columnsMost  = 1024    // of a row
	preparedMost = 256     // statements of a connection
	idleMost     = 1024    // messages in a row that answer nothing
	asideMost    = 1 << 20 // bytes of a message that answers nothing
)

// Mode says how statements are sent.
type Mode uint8

// The modes.
const (
	ModePrepared Mode = iota // prepared once a connection
	ModeUnnamed              // parsed at each use: behind a pooler of transactions
	ModeSimple               // as text, without arguments
)

// Config is what a connection begins with and takes.
type Config struct {
	User      string
	Password  string // empty: none
	Database  string // empty: the user's name
	TLS       bool   // it begins with TLS, or not at all
	Direct    bool   // TLS begins at once: the client does not ask for it
	Leaves    bool   // nothing is cancelled: the server works on
	AnswerMax int64  // 0: AnswerMaxDefault
	// Pool and Keys have the memory of all connections that one goroutine serves. Nil: their own.
	Pool *Pool
	Keys *scram.Cache
}

// Protocol begins the connections of one goroutine.
type Protocol struct {
	config Config
	pool   *Pool
	keys   *scram.Cache
}

// New returns the protocol for connections that begin alike.
func New(c Config) *Protocol {
	p := &Protocol{config: c, pool: c.Pool, keys: c.Keys}
	if p.config.AnswerMax <= 0 {
		p.config.AnswerMax = AnswerMaxDefault
	}
	p.config.AnswerMax = min(p.config.AnswerMax, 1<<62) // sums stay numbers
	if p.pool == nil {
		p.pool = new(Pool)
	}
	if p.keys == nil {
		p.keys = new(scram.Cache)
	}
	return p
}

// Begin begins a connection behind its greeting.
func (p *Protocol) Begin() *Conn {
	return &Conn{pool: p.pool, in: intake{most: p.config.AnswerMax}}
}
