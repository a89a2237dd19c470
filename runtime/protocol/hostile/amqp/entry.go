package amqp

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
	Verb  Verb          // of the hostile operation
	Size  int           // bytes of its data; 0: any
	Pause time.Duration // between the hostile operation and the next one
	Once  bool          // nothing can be asked afterwards: there is no server
}

// Verb is what the hostile operation is.
type Verb uint8

// The verbs. The operation behind it is a Get.
const (
	Get       Verb = iota // a message of a queue
	Confirm               // a publication that is confirmed
	Mandatory             // one that comes back if no queue gets it
)

// User and Password are those of the client.
const (
	User     = "app"
	Password = "geheim"
)

// Behaviour is the server's script on its first connection. The zero value behaves well.
type Behaviour struct {
	Accept   Act    // instead of anything else; nil: the connection continues
	Tune     string // the limits; empty: RabbitMQ's
	Greeting Act    // instead of what opens the virtual host

	Answer string // said to the first operation
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
	Kind  http1.Kind // KindNone: the operation got its answer
	Body  string     // the answer
	Reuse Reuse
	Late  uint64 // answers that nothing waited for
	Told  uint64 // errors that nothing waited for
}

// Waits says whether the client must give up by its own clock.
func (w Want) Waits() bool {
	return w.Kind == http1.KindTimeout || w.Kind == http1.KindWriteTimeout || w.Kind == http1.KindConnectTimeout
}

// All returns the catalogue.
func All() []Entry {
	return slices.Concat(connections(), greetings(), ends(), told(), wrong(), odd())
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

func many(s string, n int) string { return strings.Repeat(s, n) }
