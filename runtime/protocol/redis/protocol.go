package redis

import (
	"strconv"

	"hyperscale/runtime/protocol/http1"
)

// AnswerMaxDefault bounds an operation's answers, in bytes. Less would cut real answers; more
// would let 1,000 users that each receive one fill the machine.
const AnswerMaxDefault = http1.BodyLimitDefault

const (
	depthMost    = 128      // aggregates in each other; Redis nests 7 deep
	lineMost     = 64 << 10 // bytes of a line, with its end
	greetingMost = 64 << 10 // bytes of the answers to a greeting
	idleMost     = 1024     // pushes and attributes in a row
)

// The versions of RESP.
const (
	Version2 = 2
	Version3 = 3
)

// Config is what a connection greets with and takes.
type Config struct {
	Version   int    // of RESP; 0: Version2
	User      string // empty: the default user
	Password  string // empty: no authentication
	Database  int
	Replicas  bool  // a replica of a cluster answers reads: READONLY
	AnswerMax int64 // 0: AnswerMaxDefault
	// Pool has the memory of all connections that one goroutine serves. Nil: one of its own.
	Pool *Pool
}

// Protocol greets for the connections of one goroutine. It is made before the clock runs.
type Protocol struct {
	answerMax int64
	pool      *Pool
	greeting  []*Operation // nil: there is nothing to say
	password  string
}

// New compiles the greeting.
func New(c Config) *Protocol {
	p := &Protocol{answerMax: c.AnswerMax, pool: c.Pool, password: c.Password}
	if p.answerMax <= 0 {
		p.answerMax = AnswerMaxDefault
	}
	p.answerMax = min(p.answerMax, 1<<62) // sums stay numbers
	if p.pool == nil {
		p.pool = new(Pool)
	}
	say := func(words ...string) {
		var command Command
		for _, w := range words {
			command = append(command, Text(w))
		}
		o := Compile([]Command{command})
		o.secret = c.Password
		p.greeting = append(p.greeting, o)
	}
	user := c.User
	if user == "" {
		user = "default"
	}
	switch {
	case c.Version == Version3 && c.Password != "":
		say("HELLO", "3", "AUTH", user, c.Password)
	case c.Version == Version3:
		say("HELLO", "3")
	case c.Password != "" && c.User != "":
		say("AUTH", c.User, c.Password)
	case c.Password != "":
		say("AUTH", c.Password) // servers before Redis 6 know no users
	}
	if c.Database != 0 {
		say("SELECT", strconv.Itoa(c.Database))
	}
	if c.Replicas {
		say("READONLY")
	}
	return p
}
