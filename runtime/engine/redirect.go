package engine

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"hyperscale/core/workflow/builtin"
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
