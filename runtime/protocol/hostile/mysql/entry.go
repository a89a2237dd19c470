package mysql

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
	TLS    bool // it begins behind the server's greeting
	Want   Want
	Flood  bool // the server sends more than a client may keep
}

// Ask is what the client must do to trigger the behaviour.
type Ask struct {
	Prepared bool          // its statement is prepared, with one argument; else it is a text
	Plugin   string        // by which its password is proved; empty: mysql_native_password
	Full     bool          // the server ends descriptions
	Size     int           // bytes of its argument; 0: any
	Pause    time.Duration // between the hostile operation and the next one
	Once     bool          // nothing can be asked afterwards: there is no server
}

// User, Password and Database are those of the client.
const (
	User     = "app"
	Password = "geheim"
	Database = "shop"
)

// Behaviour is the server's script on its first connection. The zero value behaves well.
type Behaviour struct {
	Accept   Act // instead of anything else; nil: the connection continues
	Secure   Act // instead of TLS, behind the greeting; nil: it begins
	Greeting Act // instead of the OK to a proof; nil: it is right
	Prepare  Act // instead of the answer to a preparation; nil: it is right

	Answer string // said to the first statement
	Then   Act    // behind it; nil: the connection continues and behaves well
}

// Act is the rest of a behaviour. It says whether the connection continues; if not, the server closes
// it.
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
	Body  string     // the rows, as JSON
	Reuse Reuse
}

// Late says whether the client must give up by its own clock.
func (w Want) Late() bool {
	return w.Kind == http1.KindTimeout || w.Kind == http1.KindWriteTimeout || w.Kind == http1.KindConnectTimeout
}

// All returns the catalogue.
func All() []Entry {
	return slices.Concat(connections(), secured(), greetings(), preparations(), ends(), told(), wrong(), limits(), odd(), oddEnds())
}

func fails(kind http1.Kind) Want { return Want{Kind: kind} }

// goesOn is an error that the server told, behind which the connection goes on.
func goesOn(kind http1.Kind) Want { return Want{Kind: kind, Reuse: ReuseMust} }

// got is an operation that got its answer and keeps its connection.
func got(body string) Want { return Want{Body: body, Reuse: ReuseMust} }

// gone is an operation that got its answer and loses its connection.
func gone(body string) Want { return Want{Body: body} }

// answers is the most common entry: an answer to the first statement, and an act after it.
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
