package engine

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"hyperscale/core/workflow/builtin"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/digest"
	"hyperscale/runtime/protocol/http1"
)

var errTooMany = errors.New("more redirects than the step follows: raise redirects, or look for a loop")

func isRedirect(status int) bool {
	switch status {
	case 301, 302, 303, 307, 308:
		return true
	}
	return false
}

// follow makes the exchange request the target of a redirect. Credentials stay at their origin.
func (x *exchange) follow(location string) (http1.Call, error) {
	none := http1.Call{}
	from, err := url.Parse(x.request.URL)
	if err != nil {
		return none, fmt.Errorf("redirect from %q: %w", x.request.URL, err)
	}
	to, err := from.Parse(location)
	if err != nil {
		return none, fmt.Errorf("redirect to %q: %w", location, err)
	}
	if to.Scheme != "http" && to.Scheme != "https" {
		return none, fmt.Errorf("redirect to %q: only http and https are followed", location)
	}
	to.Fragment = ""
	if to.User != nil && x.request.Digest() && origin(from) == origin(to) {
		to.User = nil // the step's own credentials win
	}
	if to.User == nil && origin(from) == origin(to) {
		to.User = from.User
	}
	next := *x.request
	next.Made = nil
	next.URL, next.Params = to.String(), nil // the location has its own parameters
	if dropsBody(int(x.status), next.Method) {
		next.Method, next.Body, next.Files, next.ContentType = "GET", nil, nil, ""
		next.Headers = without(next.Headers, "content-type")
	}
	if origin(from) != origin(to) {
		next.Auth, next.Cookies = nil, nil
		next.Headers = without(next.Headers, "authorization", "cookie", "proxy-authorization", "host")
	}
	call, err := compile(&next)
	if err != nil {
		return none, fmt.Errorf("redirect to %q: %w", location, err)
	}
	x.request = &next
	return call, nil
}

// dropsBody reports whether a redirect turns the method into GET (RFC 9110, 15.4).
func dropsBody(status int, method string) bool {
	switch {
	case strings.EqualFold(method, "GET") || strings.EqualFold(method, "HEAD"):
		return false
	case status == 303:
		return true
	}
	return (status == 301 || status == 302) && strings.EqualFold(method, "POST")
}

func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

func without(headers []builtin.Pair, names ...string) []builtin.Pair {
	return slices.DeleteFunc(slices.Clone(headers), func(h builtin.Pair) bool {
		return slices.Contains(names, strings.ToLower(h.Name))
	})
}

// proof is what an exchange needs for digest authentication.
type proof struct {
	plain      *http1.Call     // the call without a proof; nil: it needs none, or was not sent yet
	session    *digest.Session // of the proof that was sent last; nil: none was
	challenges int8            // that were answered since the last redirect
}

// challengesMax is how many challenges of one request are answered: the first one, also if the
// request had a proof from earlier, and one that says that the new nonce is too old already.
const challengesMax = 2

// undress returns a request to the form in which it has no proof, and notes that form.
func (x *exchange) undress(n *pool.RequestSlot) {
	if x.proof.plain == nil {
		x.proof.plain = n.Call
	}
	n.Call = x.proof.plain
}

func credential(n *pool.RequestSlot, x *exchange) digest.Credential {
	return digest.Credential{Host: n.Host.Key, User: x.request.Auth.User, Password: x.request.Auth.Password}
}

// authorization returns the field that proves a request's user; empty: there is no challenge yet.
func (q *requests) authorization(n *pool.RequestSlot, x *exchange, c *http1.Call) []byte {
	if x.proof.session = q.wallets[n.VU].Session(credential(n, x), c.Path); x.proof.session == nil {
		return nil
	}
	q.proof = x.proof.session.Append(append(q.proof[:0], "Authorization: "...), c.Method, c.Path)
	return q.proof
}

// challenged takes a 401, and reports whether to send the request again. A proof for the server's
// own nonce that it refuses is final: the password is wrong.
func (q *requests) challenged(n *pool.RequestSlot, x *exchange) (again bool, err error) {
	if int(x.status) != http.StatusUnauthorized || x.collector == nil || !x.request.Digest() {
		return false, nil
	}
	c, err := digest.Parse(x.collector.Headers("WWW-Authenticate"))
	switch {
	case errors.Is(err, digest.ErrNone):
		err = nil
	case err != nil:
	case x.proof.challenges == 0 || c.Stale && x.proof.challenges < challengesMax:
		x.proof.challenges++
		if q.wallets[n.VU] == nil {
			q.wallets[n.VU] = new(digest.Wallet)
		}
		q.wallets[n.VU].Begin(credential(n, x), n.Call.Path, c, rand.Text())
		return true, nil
	}
	q.wallets[n.VU].Drop(x.proof.session)
	return false, err
}
