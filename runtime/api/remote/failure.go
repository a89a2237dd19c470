package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"hyperscale/runtime/api"
)

// afterMax bounds the wait that a server may ask for.
const afterMax = 10 * time.Minute

// Error is why a question has no answer, for people: what is wrong, where, and the remedy.
type Error struct {
	Setup bool // another --api, --token-file or program mends it: no retry does
	text  string
}

func (e *Error) Error() string { return e.text }

// failure is why one try had no answer, where a later one, or another gate, may have one.
type failure struct {
	text     string
	after    time.Duration // it asks to wait so long
	answered bool          // by something that speaks HTTP
	went     bool          // after an answer that was passed on
}

func (f *failure) Error() string { return f.text }

// unanswered explains a request without an answer.
func unanswered(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errSilent) {
		return &failure{text: errSilent.Error()}
	}
	return &failure{text: plain(err)}
}

// plain is an error of net/http without its method and address, which stand before it anyhow.
func plain(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var n net.Error
	if errors.As(err, &n) && n.Timeout() {
		return "no answer in time"
	}
	return clean(err.Error())
}

// clean is a text of a server as terminals may have it.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text[:min(len(text), saidMax)], "?"))
	return strings.Join(strings.Fields(text), " ")
}

// judge explains an answer that has no frames.
func (c *Client) judge(w *http.Response, kind string) error {
	b, _ := io.ReadAll(io.LimitReader(w.Body, failureMax)) // what has arrived is enough
	var said api.Failure
	ours := json.Unmarshal(b, &said) == nil && said.Error.Code != ""
	text := fmt.Sprintf("it answers %d %s", w.StatusCode, http.StatusText(w.StatusCode))
	if ours {
		text = clean(strings.TrimSpace(said.Error.Message + " " + said.Error.Detail))
	}
	at := "API " + w.Request.URL.Scheme + "://" + w.Request.URL.Host
	wrong := func(setup bool, remedy string) error {
		if ours {
			return &Error{Setup: setup, text: at + ": " + text}
		}
		return &Error{Setup: setup, text: at + ": " + text + ": " + remedy}
	}
	switch s := w.StatusCode; {
	case s == http.StatusOK:
		return &Error{Setup: true, text: fmt.Sprintf("%s answers with %q, not with %s: give --api the address of a gate's API, not of another server", at, clean(w.Header.Get("Content-Type")), kind)}
	case s >= 300 && s < 400:
		return &Error{Setup: true, text: fmt.Sprintf("%s leads to %q: give that address to --api, if you trust it with the token", at, clean(w.Header.Get("Location")))}
	case s == http.StatusTooManyRequests || s >= 500 && s != http.StatusNotImplemented:
		return &failure{text: text, after: afterOf(w.Header, time.Now()), answered: true}
	case s == http.StatusUnauthorized:
		return wrong(false, "give a token of `hyperscale token new` to --token-file, or a client's certificate to --tls-cert and --tls-key")
	case s == http.StatusForbidden:
		return wrong(false, "use a token of a role that may do it")
	case s == http.StatusNotFound || s == http.StatusMethodNotAllowed:
		if ours {
			text = "it has no /v1/ask"
		}
		return &Error{Setup: true, text: at + ": " + text + ": give --api the address of a gate's API, and use the same version of hyperscale at both ends"}
	case s == http.StatusRequestEntityTooLarge:
		return wrong(true, "make the program smaller, or let the proxy before the gate pass 1 MiB")
	}
	return wrong(true, "give --api the address of a gate's API")
}

// afterOf is how long a server asks to wait: seconds, or a date.
func afterOf(h http.Header, now time.Time) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseUint(v, 10, 31); err == nil {
		return min(time.Duration(n)*time.Second, afterMax)
	}
	if at, err := http.ParseTime(v); err == nil {
		return min(max(at.Sub(now), 0), afterMax)
	}
	return 0
}
