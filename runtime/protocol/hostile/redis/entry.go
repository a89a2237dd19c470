package redis

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
	Flood  bool // the server sends more than a client may keep
}

// Ask is what the client must do to trigger the behaviour.
type Ask struct {
	Greets bool // with HELLO 3 AUTH and SELECT
	Size   int  // bytes of its key; 0: any
	TLS    bool
	Pause  time.Duration // between the hostile operation and the next one
	Once   bool          // nothing can be asked afterwards: there is no server

	For What
}

// What is what the client asks for.
type What uint8

// The choices.
const (
	Operations   What = iota
	Subscription      // a session, to Channel: see Subscriptions
)

// User, Password and Database are those of a client that greets.
const (
	User     = "app"
	Password = "geheim"
	Database = "2"
)

// Behaviour is the server's script on its first connection. The zero value behaves well.
type Behaviour struct {
	Accept   Act // instead of anything else; nil: the connection continues
	Greeting Act // instead of the answers to a greeting; nil: they are right

	Answer string // said to the first operation
	Then   Act    // behind it; nil: the connection continues and behaves well
}

// Act is the rest of a behaviour. It says whether the connection continues; if not, the server
// closes it.
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
	Kind  http1.Kind // KindNone: the operation got its answer
	Body  string     // the answer, as JSON
	Reuse Reuse

	Messages int // of the hostile part, that a session receives
}

// Late says whether the client must give up by its own clock.
func (w Want) Late() bool {
	return w.Kind == http1.KindTimeout || w.Kind == http1.KindWriteTimeout || w.Kind == http1.KindConnectTimeout
}

// All returns the catalogue.
func All() []Entry {
	return slices.Concat(connections(), greetings(), ends(), told(), wrong(), limits(), odd(), oddEnds())
}

func fails(kind http1.Kind) Want { return Want{Kind: kind} }

// got is an operation that got its answer and keeps its connection.
func got(body string) Want { return Want{Body: body, Reuse: ReuseMust} }

// gone is an operation that got its answer and loses its connection.
func gone(body string) Want { return Want{Body: body} }

// answers is the most common entry: an answer to the first operation, and an act after it.
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

func (e Entry) flooding() Entry {
	e.Flood = true
	return e
}

func many(s string, n int) string { return strings.Repeat(s, n) }
