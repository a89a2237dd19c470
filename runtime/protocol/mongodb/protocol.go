package mongodb

import (
	"strings"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/scram"
)

// Mechanism is how a user proves itself.
type Mechanism uint8

// The mechanisms.
const (
	None Mechanism = iota
	SCRAMSHA256
	SCRAMSHA1
	X509 // the certificate of TLS proves the user
)

// MechanismOf returns the mechanism of a name, as "mongodb-x509"; None: there is none.
func MechanismOf(name string) Mechanism {
	for m := SCRAMSHA256; m <= X509; m++ {
		if strings.EqualFold(m.name(), name) {
			return m
		}
	}
	return None
}

func (m Mechanism) hash() scram.Hash {
	if m == SCRAMSHA1 {
		return scram.SHA1
	}
	return scram.SHA256
}

func (m Mechanism) name() string {
	switch m {
	case None:
		return ""
	case X509:
		return "MONGODB-X509"
	default:
		return m.hash().Mechanism()
	}
}

// AnswerMaxDefault bounds the answers of an operation, in bytes.
const AnswerMaxDefault = http1.BodyLimitDefault

// external is the database of users that others than MongoDB know: authorities of certificates, here.
const external = "$external"

const (
	frameMost  = 48_000_000 // bytes of a message: those of MongoDB have no more
	emptyMost  = 1024       // batches without a document in a row
	wireLeast  = 6          // the version of the wire since which servers speak OP_MSG: MongoDB 3.6
	objectMost = 16 << 20   // bytes of a document, where the server does not say
	// objectBeside is how much longer than a document a command may be that has it.
	objectBeside = 16 << 10
)

// Config is what the connections to a server have in common.
type Config struct {
	Mechanism      Mechanism
	User, Password string // of X509: the certificate's subject, or nothing, and no password
	Source         string // the database that knows the user; empty: admin
	Assumed        bool   // Source gives way to the one that a TXT record names
	Set            string // of replicas; empty: any, or the one that a TXT record names
	Balanced       bool   // a load balancer stands before the servers
	Unbalanced     bool   // none does, whatever a TXT record says
	AnswerMax      int64  // bytes; 0: AnswerMaxDefault
	// Pool and Keys have the memory of all connections that one goroutine serves. Nil: their own.
	Pool *Pool
	Keys *scram.Cache
}

// Protocol begins the connections of one goroutine.
type Protocol struct{ config Config }

// New returns the protocol for connections that begin alike.
func New(c Config) *Protocol {
	if c.AnswerMax <= 0 {
		c.AnswerMax = AnswerMaxDefault
	}
	c.AnswerMax = min(c.AnswerMax, 1<<62) // sums stay numbers
	if c.Pool == nil {
		c.Pool = new(Pool)
	}
	if c.Keys == nil {
		c.Keys = new(scram.Cache)
	}
	switch {
	case c.Mechanism == X509:
		c.Source = external
	case c.Source == "":
		c.Source = "admin"
	}
	return &Protocol{config: c}
}

// Pool has the memory that connections of one goroutine hold only while an operation is under way. The zero
// value is empty.
type Pool struct {
	idle [][]byte
	size int // bytes
}

const (
	bufferLeast = 512
	bufferMost  = 64 << 10 // larger ones are not kept
	poolMost    = 4 << 20  // bytes
)

// take returns an empty buffer.
func (p *Pool) take() []byte {
	last := len(p.idle) - 1
	if last < 0 {
		return make([]byte, 0, bufferLeast)
	}
	b := p.idle[last]
	p.idle[last] = nil
	p.idle = p.idle[:last]
	p.size -= cap(b)
	return b
}

// free takes a buffer back; nil is none.
func (p *Pool) free(b []byte) {
	if n := cap(b); n > 0 && n <= bufferMost && p.size+n <= poolMost {
		p.idle = append(p.idle, b[:0])
		p.size += n
	}
}
