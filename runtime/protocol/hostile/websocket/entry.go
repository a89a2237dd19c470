package websocket

import (
	"slices"
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
	Size       int      // bytes of its message; 0: any text
	Protocols  []string // that it offers
	Compressed bool     // it offers compression without context takeover
	TLS        bool
	Pause      time.Duration // between the hostile exchange and the next one
	Once       bool          // nothing can be asked afterwards: there is no server
}

// Behaviour is the server's script on its first connection. The zero value behaves well.
type Behaviour struct {
	Accept Act // instead of anything else

	Upgrade string // instead of 101; "KEY" stands for the accept key
	After   Act    // behind Upgrade or 101; nil: the connection continues

	Greeting string // said together with 101
	Answer   string // said to the first message
	Then     Act    // behind it; nil: the connection continues and behaves well
}

// Act is the rest of a behaviour. It says whether the connection continues; if not, the server
// closes it.
type Act func(s *Session) (stay bool)

// Reuse says on which connection the next exchange comes.
type Reuse uint8

// The choices.
const (
	ReuseNot    Reuse = iota // another one
	ReuseMust                // the same
	ReuseEither              // both are right
)

// Want is the client's required conclusion.
type Want struct {
	Kind    http1.Kind // KindNone: the exchange got its message
	Message string     // that it got
	Binary  bool
	Status  int // of an answer to the upgrade that is not 101
	Reuse   Reuse
}

// Late says whether the client must give up by its own clock.
func (w Want) Late() bool {
	return w.Kind == http1.KindTimeout || w.Kind == http1.KindWriteTimeout
}

// All returns the catalogue.
func All() []Entry {
	return slices.Concat(connections(), upgrades(), chosen(), frameFaults(), lengths(), texts(), compressed(), goodbyes(), odd(), oddEnds())
}

func fails(kind http1.Kind) Want { return Want{Kind: kind} }

// got is an exchange that got its message and keeps its connection.
func got(text string) Want { return Want{Message: text, Reuse: ReuseMust} }

// gone is an exchange that got its message and loses its connection.
func gone(text string) Want { return Want{Message: text} }

// answers is the most common entry: an answer to the first message, and an act after it.
func answers(name, text string, then Act, want Want) Entry {
	return Entry{Name: name, Server: Behaviour{Answer: text, Then: then}, Want: want}
}

// upgrade is an answer to the upgrade, and an act after it.
func upgrade(name, text string, after Act, want Want) Entry {
	return Entry{Name: name, Server: Behaviour{Upgrade: text, After: after}, Want: want}
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
