package amqp

import (
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// MessageMaxDefault bounds a message, in bytes, without its properties. Less would cut real messages; more
// would let 1,000 users that each receive one fill the machine.
const MessageMaxDefault = http1.BodyLimitDefault

const (
	frameMostOurs = 128 << 10 // bytes of a frame with its head and end, as RabbitMQ proposes it
	frameLeast    = 4096      // a server that takes less breaks the protocol
	frameGreeting = 64 << 10  // bytes of a frame before the size is negotiated
	idleMost      = 1024      // frames in a row that carry nothing
	bufferKept    = 512       // bytes of a buffer that an idle connection keeps
	lateMost      = 16        // publications that are given up and whose confirms are still told apart
	expectsMost   = 64        // answers that a connection waits for whose operations were given up
	channelsMost  = 1<<16 - 1
	oweMost       = 64 << 10 // bytes of answers that the server does not take
	outboxMoved   = 64 << 10 // bytes that are gone and worth to be moved over
)

// User and Password are those of a connection that names none: RabbitMQ knows them on its own host.
const (
	UserDefault     = "guest"
	PasswordDefault = "guest"
)

// HostDefault is the virtual host of a URL that names none.
const HostDefault = "/"

// Config is what a connection greets with and takes.
type Config struct {
	User, Password string // empty, both: UserDefault and PasswordDefault
	External       bool   // the certificate of TLS proves the user, by EXTERNAL
	Host           string // the virtual one; empty: HostDefault
	MessageMax     int64  // 0: MessageMaxDefault
	Consumer       *Consumer
	Trunk          bool // it carries operations on as many channels as the server allows
}

// Consumer is what a connection receives in place of operations.
type Consumer struct {
	Queue     string
	Prefetch  uint16 // messages without an acknowledgement at a time; 0: any number
	Auto      bool   // nothing is acknowledged: the server takes what it sends for received
	Exclusive bool   // the queue has no other consumer
}

// Protocol greets for the connections of one goroutine. It is made before the clock runs.
type Protocol struct {
	config Config
	most   int64
}

// New returns the protocol of a target. Its error names the field.
func New(c Config) (*Protocol, error) {
	if c.User == "" && c.Password == "" {
		c.User, c.Password = UserDefault, PasswordDefault
	}
	if c.Host == "" {
		c.Host = HostDefault
	}
	if len(c.Host) > shortMost {
		return nil, &http1.InputError{Field: "url", Value: c.Host[:40], Remedy: "name a virtual host of at most 255 bytes"}
	}
	p := &Protocol{config: c, most: c.MessageMax}
	if p.most <= 0 {
		p.most = MessageMaxDefault
	}
	p.most = min(p.most, 1<<40) // sums stay numbers
	return p, nil
}

// shortMost is how many bytes a short text has at most.
const shortMost = 255

// mechanism is what proves the user, and its proof.
func (p *Protocol) mechanism() (name, proof string) {
	if p.config.External {
		return "EXTERNAL", ""
	}
	return "PLAIN", "\x00" + p.config.User + "\x00" + p.config.Password
}

// secret is what proves the user: no error shows it. Empty: nothing does.
func (p *Protocol) secret() string {
	if p.config.External {
		return ""
	}
	return p.config.Password
}

// tag names the consumer of a connection, which has one.
const tag = "c"

var _ codec.Greeting = (*Greeting)(nil)
