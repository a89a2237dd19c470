package smtp

import (
	"time"

	"hyperscale/runtime/protocol/http1"
)

// Place is where a server is hostile: the command that it answers.
type Place string

// The places. Banner is before any command, and End behind the message.
const (
	Banner Place = "banner"
	Hello  Place = "EHLO"
	Older  Place = "HELO"
	Secure Place = "STARTTLS"
	Mail   Place = "MAIL"
	Rcpt   Place = "RCPT"
	Data   Place = "DATA"
	End    Place = "END"
)

// Act is what a server does in place of its answer. It says whether the connection continues; if not, the
// server closes it.
type Act func(s *Session) (stay bool)

// Entry is one behaviour and the conclusion that a client must draw.
type Entry struct {
	Name       string
	At         map[Place]Act // on the first connection
	Without    bool          // PIPELINING
	TLS        bool          // the client begins it by STARTTLS
	Recipients int           // of the message; 0: one
	Size       int           // bytes of its body; 0: few
	Pause      time.Duration // between the hostile operation and the next one
	Gone       bool          // there is no server
	Want       Want
}

// Want is the client's required conclusion.
type Want struct {
	Kind    http1.Kind // KindNone: the message is accepted
	Refused uint64     // recipients
	Reuse   Reuse
}

// Reuse says on which connection the next operation comes.
type Reuse uint8

// The choices.
const (
	ReuseNot  Reuse = iota // another one
	ReuseMust              // the same
)

// Waits says whether the client must give up by its own clock.
func (w Want) Waits() bool {
	return w.Kind == http1.KindTimeout || w.Kind == http1.KindWriteTimeout || w.Kind == http1.KindConnectTimeout
}

// Next is what the well-behaved answer to a message says.
const Next = "next"
