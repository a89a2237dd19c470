package mqtt

import (
	"slices"
	"strings"
	"time"

	"hyperscale/runtime/protocol/http1"
)

// Entry is one behaviour and the conclusion that a client must draw.
type Entry struct {
	Name   string
	Ask    Ask
	Server Behaviour
	Want   Want
}

// Ask is what the client must do to trigger the behaviour.
type Ask struct {
	Older bool          // by version 3.1.1
	QoS   int           // of the hostile operation; 0: 1, as nothing answers one of 0
	Size  int           // bytes of its data; 0: any
	Pause time.Duration // between the hostile operation and the next one
	Once  bool          // nothing can be asked afterwards: there is no server

	Subscribes bool // in place of a message: see Sessions
}

// User and Password are those of the client.
const (
	User     = "app"
	Password = "geheim"
)

// Behaviour is the server's script on its first connection. The zero value behaves well.
type Behaviour struct {
	Accept   Act // instead of anything else; nil: the connection continues
	Greeting Act // instead of the CONNACK; nil: that

	Answer string // said to the first message; $I is its identifier
	Then   Act    // behind it; nil: the connection continues and behaves well
}

// Act is the rest of a behaviour. It says whether the connection continues; if not, the server closes it.
type Act func(s *Session) (stay bool)

// Reuse says on which connection the next operation comes.
type Reuse uint8

// The choices.
const (
	ReuseNot    Reuse = iota // another one
	ReuseMust                // the same
	ReuseEither              // both are right
)

// Want is the client's required conclusion.
type Want struct {
	Kind  http1.Kind // KindNone: the message was acknowledged
	Reuse Reuse
	Late  uint64 // acknowledgements that nothing waited for
	Got   uint64 // messages of a session
}

// Waits says whether the client must give up by its own clock.
func (w Want) Waits() bool {
	return w.Kind == http1.KindTimeout || w.Kind == http1.KindWriteTimeout || w.Kind == http1.KindConnectTimeout
}

// All returns the catalogue.
func All() []Entry {
	return slices.Concat(connections(), greetings(), limits(), ends(), told(), wrong(), odd())
}

func fails(kind http1.Kind) Want { return Want{Kind: kind} }

// acknowledged is an operation that keeps its connection.
func acknowledged() Want { return Want{Reuse: ReuseMust} }

// answers is the most common entry: an answer to the first message, and an act after it.
func answers(name, text string, then Act, want Want) Entry {
	return Entry{Name: name, Server: Behaviour{Answer: text, Then: then}, Want: want}
}

func (e Entry) asking(a Ask) Entry {
	e.Ask = a
	return e
}

// pausing is an entry whose connection ends while it is idle.
func (e Entry) pausing() Entry {
	e.Ask.Pause = pause
	return e
}

// pause is long enough to see what happens on an idle connection, also on a busy machine.
const pause = 300 * time.Millisecond

func many(s string, n int) string { return strings.Repeat(s, n) }
