package postgres

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
	TLS   bool          // it asks for TLS, with any certificate
	Size  int           // bytes of its argument; 0: any
	Pause time.Duration // between the hostile operation and the next one
	Once  bool          // nothing can be asked afterwards: there is no server
}

// User, Password and Database are those of every client.
const (
	User     = "app"
	Password = "geheim"
	Database = "shop"
)

// Behaviour is the server's script on its first connection. The zero value behaves well.
type Behaviour struct {
	Accept   Act // instead of anything else; nil: the connection continues
	Secure   Act // instead of the answer to the question for TLS; nil: TLS begins
	Greeting Act // behind the client's first message; nil: the client is welcome

	Answer func(described bool) string // said to the first operation; described: the client wants the columns
	Then   Act                         // behind it; nil: the connection continues and behaves well
}

// Act is the rest of a behaviour. It says whether the connection continues; if not, the server
// closes it.
type Act func(s *Session) (stay bool)

// Reuse says on which connection the next operation comes.
type Reuse uint8

// The choices.
const (
	ReuseNot  Reuse = iota // another one
	ReuseMust              // the same
)

// Want is the client's required conclusion.
type Want struct {
	Kind  http1.Kind // KindNone: the operation got its answer
	Body  string     // the answer, as JSON
	Reuse Reuse
}

// Late says whether the client must give up by its own clock.
func (w Want) Late() bool {
	return w.Kind == http1.KindTimeout || w.Kind == http1.KindWriteTimeout || w.Kind == http1.KindConnectTimeout
}

// All returns the catalogue.
func All() []Entry {
	return slices.Concat(connections(), greetings(), secured(), ends(), told(), wrong(), floods(), odd(), oddEnds())
}

func fails(kind http1.Kind) Want { return Want{Kind: kind} }

// answers is the most common entry: an answer to the first operation, and an act after it.
func answers(name string, text func(bool) string, then Act, want Want) Entry {
	return Entry{Name: name, Server: Behaviour{Answer: text, Then: then}, Want: want}
}

// pausing is an entry whose connection ends while it is idle.
func (e Entry) pausing() Entry {
	e.Ask.Pause = pause
	return e
}

// pause is long enough to see what happens on an idle connection, also on a busy machine.
const pause = 300 * time.Millisecond

func many(s string, n int) string { return strings.Repeat(s, n) }
