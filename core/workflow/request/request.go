package request

import (
	"hyperscale/core/workflow/builtin"
	"time"
)

// Auth proves the identity of a virtual user. Kind is "basic" (User, Password) or "bearer"
// (Token).
type Auth struct{ Kind, User, Password, Token string }

// Request describes one HTTP request. It is plain data, and shared: a reader
// must not change it.
type Request struct {
	Method, URL              string
	Headers, Params, Cookies []builtin.Pair // as written; Params go behind the URL's own
	Auth                     *Auth          // nil: none
	Body                     []byte         // json, form and multipart are encoded already
	ContentType              string         // of Body; empty: none to be sent. A header of that name wins
	Timeout                  time.Duration
	Redirects                int  // how many to follow at most
	GraphQL                  bool // a query: its answer is judged by the errors that it tells, too

	Placeholders []Placeholder // words in the texts above that values take the place of; nil: none
	Escape       Escape        // of values in Body
	Boundary     string        // of a multipart Body: no value may hold it

	Bare bool // a function gave a method and a URL and nothing else: the same ones make the same request
	Made any  // an engine's own: what it has made of the request; copies must not keep it
}
