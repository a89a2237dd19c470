package hostile

import (
	"crypto/tls"
	"time"

	"hyperscale/runtime/protocol/http1"
)

// Entry is one behaviour and what a client must make of it.
type Entry struct {
	Name   string
	Ask    Ask
	Server Behaviour
	Want   Want

	Flood bool // the server sends more than a client may keep

	// Kept is what a client concludes that keeps bodies, where that differs: its limit is
	// lower than that of a client which counts and drops them.
	Kept *Want
}

// Ask is what the client must do to meet the behaviour.
type Ask struct {
	Method    string // empty: GET
	Body      int    // bytes of a body
	Redirects int    // how many it follows; such a client also keeps bodies
	Pause     time.Duration
	After     int  // well-behaved requests before the hostile one
	Once      bool // nothing can be asked afterwards: there is no server
}

// Behaviour is what the server does. The zero value behaves well.
type Behaviour struct {
	Answer string // said to the hostile request, before Then
	Then   Act    // nil: Stay

	Unread bool // the request's body is left unread
	Accept Act  // instead of anything else, on the first connection
	Secure func() *tls.Config
	TLS    bool // the client speaks TLS: implied by Secure
	First  Address
}

// Act is the rest of a behaviour. It tells whether the server goes on serving requests on
// the connection; else it closes it.
type Act func(s *Session) (stay bool)

// Address says what stands before the server's address in the list of its host.
type Address uint8

// The addresses that take no connection.
const (
	AddressNone    Address = iota
	AddressRefuses         // nobody listens
	AddressDrops           // no answer to a SYN ever comes
)

// Want is what the client must conclude.
type Want struct {
	Kind   http1.Kind // KindNone: a whole answer with a status below 400
	Status int        // of a whole answer
	Body   int64      // bytes of a whole answer, as sent
	Reused bool       // the next request comes on the same connection
	Unseen bool       // the request never reaches the server
	Hops   int        // requests that follow redirects, beyond the first
}

// Mixable tells whether the entry can be met at any time on any connection, by a GET, and
// means the same there. A reset does not: on a connection in use before it is an end.
func (e *Entry) Mixable() bool {
	b, a := &e.Server, &e.Ask
	plain := b.Accept == nil && !e.Secure() && b.First == AddressNone && !b.Unread && !e.Want.Unseen
	easy := a.Method == "" && a.Body == 0 && a.Redirects == 0 && a.Pause == 0 && a.After == 0 && !a.Once && e.Kept == nil
	return plain && easy && !e.Want.Late() && e.Want.Kind != http1.KindReset
}

// Late tells whether the client must give up by its own clock.
func (w Want) Late() bool {
	switch w.Kind {
	case http1.KindTimeout, http1.KindConnectTimeout, http1.KindWriteTimeout:
		return true
	}
	return false
}

// Whole tells whether the client must see a whole answer, be it good or bad.
func (w Want) Whole() bool { return w.Kind == http1.KindNone || w.Kind == http1.KindStatus }

func (b Behaviour) scheme() string {
	if b.TLS || b.Secure != nil {
		return "https"
	}
	return "http"
}

// The wants that occur most.
func whole(status int, body int64) Want { return Want{Status: status, Body: body} }

func reused(body int64) Want { return Want{Status: 200, Body: body, Reused: true} }

func fails(kind http1.Kind) Want { return Want{Kind: kind} }

// Secure tells whether the client must speak TLS.
func (e *Entry) Secure() bool { return e.Server.scheme() == "https" }
