package hostile

import (
	"crypto/tls"
	"strconv"
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

	Flood bool // the server sends more than a client may keep

	// Kept is the conclusion of a client that keeps bodies, if it differs: its limit is lower
	// than that of a client that counts and drops them.
	Kept *Want
}

// Ask is what the client must do to trigger the behaviour.
type Ask struct {
	Method    string // empty: GET
	Body      int    // bytes of a body
	Redirects int    // how many it follows; such a client also keeps bodies
	Pause     time.Duration
	After     int  // well-behaved requests before the hostile one
	Once      bool // nothing can be asked afterwards: there is no server
}

// Behaviour is the server's script. The zero value behaves well.
type Behaviour struct {
	Answer string // said to the hostile request, before Then
	Then   Act    // nil: Stay

	Unread bool // the request's body is left unread
	Accept Act  // instead of anything else, on the first connection
	Secure func() *tls.Config
	TLS    bool // the client speaks TLS: implied by Secure
	First  Address
}

// Act is the rest of a behaviour. It says whether the server continues to serve requests on the
// connection; if not, the server closes it.
type Act func(s *Session) (stay bool)

// Address says which address precedes the server's in its host's list.
type Address uint8

// The addresses that take no connection.
const (
	AddressNone    Address = iota
	AddressRefuses         // no process listens
	AddressDrops           // no answer to a SYN ever comes
)

// Want is the client's required conclusion.
type Want struct {
	Kind   http1.Kind // KindNone: a whole answer with a status below 400
	Status int        // of a whole answer
	Body   int64      // bytes of a whole answer, as sent
	Reused bool       // the next request comes on the same connection
	Unseen bool       // the request never reaches the server
	Hops   int        // requests that follow redirects, beyond the first
}

// Mixable says whether any GET on any connection can meet the entry, with the same meaning. A
// reset is not mixable: on a connection in use it means the connection's end.
func (e *Entry) Mixable() bool {
	b, a := &e.Server, &e.Ask
	plain := b.Accept == nil && !e.Secure() && b.First == AddressNone && !b.Unread && !e.Want.Unseen
	easy := a.Method == "" && a.Body == 0 && a.Redirects == 0 && a.Pause == 0 && a.After == 0 && !a.Once && e.Kept == nil
	return plain && easy && !e.Want.Late() && e.Want.Kind != http1.KindReset
}

// Late says whether the client must give up by its own clock.
func (w Want) Late() bool {
	switch w.Kind {
	case http1.KindTimeout, http1.KindConnectTimeout, http1.KindWriteTimeout:
		return true
	}
	return false
}

// Whole says whether the client must see a complete answer, good or bad.
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

// Secure says whether the client must speak TLS.
func (e *Entry) Secure() bool { return e.Server.scheme() == "https" }

// answers is the most common entry: a text, and an act after it.
func answers(name, text string, then Act, want Want) Entry {
	return Entry{Name: name, Server: Behaviour{Answer: text, Then: then}, Want: want}
}

// flood is an answer followed by the same text again and again. kept is the conclusion of a
// client that keeps bodies, if it differs.
func flood(name, answer, text string, want Want, kept *Want) Entry {
	e := answers(name, answer, floods(text), want)
	e.Flood, e.Kept = true, kept
	return e
}

const (
	ok      = "HTTP/1.1 200 OK\r\n"
	empty   = "Content-Length: 0\r\n\r\n"
	four    = "Content-Length: 4\r\n\r\n"
	coded   = "Transfer-Encoding: chunked\r\n\r\n"
	noChunk = "0\r\n\r\n"
)

func many(text string, n int) string { return strings.Repeat(text, n) }

// sized is a response with a Content-Length.
func sized(body string) string {
	return "HTTP/1.1 200 OK\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}

// HTTP2Entry is one behaviour of an HTTP/2 server towards concurrent requests on one
// connection, and the required conclusion for each. Their streams are 1, 3 and 5, in the order
// of Want.
type HTTP2Entry struct {
	Name   string
	Method string // empty: GET
	Body   int    // bytes of each request's body
	Server HTTP2Behaviour
	Want   []Want // of each request; Want.Reused is not looked at
	Reused bool   // the requests after them come on the same connection
	Flood  bool   // the server sends more than a client may keep
}

// HTTP2Behaviour is the server's script on its first connection. The zero value behaves well.
type HTTP2Behaviour struct {
	Behaviour          // only Accept, Secure and TLS
	Settings  []uint32 // pairs, of its first SETTINGS
	Mute      bool     // it says neither SETTINGS nor any ACK
	NoAck     bool     // it says no ACK
	When      int      // it says the script once so many requests have come; 0: all, or the first if it is mute
	Early     bool     // a request has come when its head has
	Script    frames
	Then      Act // nil: it continues and behaves well
}

// of makes an entry of a script and the outcomes of streams 1, 3 and 5.
func of(name string, script frames, want ...Want) HTTP2Entry {
	return HTTP2Entry{Name: name, Server: HTTP2Behaviour{Script: script}, Want: want, Reused: true}
}

// then adds an act after the script, on a connection that is not reused.
func (e HTTP2Entry) then(act Act) HTTP2Entry {
	e.Server.Then, e.Reused = act, false
	return e
}

// spends is a script that spends the connection: all its streams fail so.
func spends(name string, kind http1.Kind, script frames) HTTP2Entry {
	return of(name, script, fails(kind), fails(kind), fails(kind)).then(hold)
}

// spoils is a script that spoils the second of three streams: the others are answered.
func spoils(name string, kind http1.Kind, script frames) HTTP2Entry {
	return of(name, script.whole(1, 5), two, fails(kind), two)
}

// two is an answer of frames.whole.
var two = whole(200, 2)

// unseen is a failure before the request was sent.
func unseen(kind http1.Kind) Want { return Want{Kind: kind, Unseen: true} }

// nextOne is the outcome of a request that was not sent on the hostile connection, but on the
// next one.
var nextOne = whole(200, int64(len(NextBody)))

// Secure says whether the client must speak TLS.
func (e *HTTP2Entry) Secure() bool { return e.Server.scheme() == "https" }
