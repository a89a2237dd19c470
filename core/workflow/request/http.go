package request

import (
	"bytes"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/secret"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
)

// RequestArguments lists the arguments of http.get and its like, after the method's.
func RequestArguments() []string {
	return []string{"url", "headers", "params", "cookies", "auth", "body", "json", "form", "multipart", "timeout", "redirects", "retry"}
}

const (
	argURL = iota
	argHeaders
	argParams
	argCookies
	argAuth
	argBody
	argJSON
	argForm
	argMultipart
	argTimeout
	argRedirects
	argRetry
	argCount
)

// redirectsMax bounds how many redirects a request may follow.
const redirectsMax = 20

// httpMethods maps the functions to the methods that they send.
func httpMethods() []builtin.Pair {
	return []builtin.Pair{{Name: "get", Value: "GET"}, {Name: "post", Value: "POST"}, {Name: "put", Value: "PUT"}, {Name: "patch", Value: "PATCH"}, {Name: "delete", Value: "DELETE"}, {Name: "head", Value: "HEAD"}, {Name: "options", Value: "OPTIONS"}}
}

// Value is a described request, as http.get returns it to a file.
type Value struct {
	language.Opaque
	Request *Request
	Asked
}

type partValue struct {
	language.Opaque
	data           []byte
	file           *File        // in place of data; nil: it is no file
	text           bool         // data was a text: it may contain values
	hidden         *secret.Text // in place of data; nil: it is not secret
	filename, kind string
}

type tlsValue struct {
	language.Opaque
	verify  bool
	options TLS
	key     *secret.Text // of options; nil: it is no secret
}

// Client is the result of http.client.
type Client struct {
	language.Opaque
	Options Options
}

// ownMax bounds the arguments that a user of Requester adds.
const ownMax = 4

// ownValues returns the values of the user's own arguments if a call has only a URL beside them;
// false: it has more.
func ownValues(names []string, args starlark.Tuple, kwargs []starlark.Tuple) (own []starlark.Value, bare bool) {
	if len(args) != 1 {
		return nil, false
	}
	for _, kv := range kwargs {
		name, _ := kv[0].(starlark.String)
		at := slices.Index(names, string(name))
		if at < 0 {
			return nil, false
		}
		if own == nil {
			own = make([]starlark.Value, len(names))
		}
		own[at] = kv[1]
	}
	return own, true
}

// Use takes a request, and the values of the arguments that its user adds; nil: none is given.
type Use = func(thread *starlark.Thread, r *Request, b *Placeholders, own []starlark.Value) (starlark.Value, error)

// Requester returns the functions get, post, ..., request, with own arguments behind those of a
// request. use gets each request that they describe. known, if not nil, may return a cached one.
func Requester(under string, own []string, known func(thread *starlark.Thread, method, url string) *Request, use Use) starlark.StringDict {
	names := append(RequestArguments(), own...)
	all := starlark.StringDict{}
	for _, m := range httpMethods() {
		fn := under + "." + m.Name
		all[m.Name] = &guard.Func{Word: m.Name, Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			given, bare := ownValues(own, args, kwargs)
			if bare && known != nil {
				if url, ok := args[0].(starlark.String); ok {
					if r := known(thread, m.Value, string(url)); r != nil {
						return use(thread, r, nil, given)
					}
				}
			}
			r, b, given, err := newRequest(thread, fn, names, m.Value, args, kwargs)
			if err != nil {
				return nil, err
			}
			r.Bare = bare
			return use(thread, r, b, given)
		}}
	}
	fn := under + ".request"
	all["request"] = &guard.Func{Word: "request", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		method, ok := starlark.String(""), false
		if len(args) > 0 {
			method, ok = args[0].(starlark.String)
		}
		if !ok || !language.IsToken(string(method)) || len(method) > 32 {
			return nil, language.Faultf("%s: the first argument must be a method such as \"GET\"", fn).In("#1")
		}
		r, b, given, err := newRequest(thread, fn, names, string(method), args[1:], kwargs)
		if err != nil {
			return nil, err
		}
		return use(thread, r, b, given)
	}}
	return all
}

func newRequest(thread *starlark.Thread, fn string, names []string, method string, args starlark.Tuple, kwargs []starlark.Tuple) (r *Request, b *Placeholders, own []starlark.Value, err error) {
	var in [argCount + ownMax]starlark.Value
	if err := language.Bind(fn, names, 1, args, kwargs, in[:]); err != nil {
		return nil, nil, nil, err
	}
	for _, v := range in[argCount:] {
		if v != nil {
			own = append(own, in[argCount:len(names)]...)
			break
		}
	}
	r, b, err = compose(thread, fn, method, (*[argCount]starlark.Value)(in[:argCount]))
	return r, b, own, err
}

// compose builds a request from its arguments.
func compose(thread *starlark.Thread, fn, method string, in *[argCount]starlark.Value) (r *Request, b *Placeholders, err error) {
	r = &Request{Method: method}
	if w := wordsOf(thread); w != nil {
		b = &Placeholders{words: w, thread: thread}
	}
	var target string
	switch v := in[argURL].(type) {
	case starlark.String:
		target = string(v)
	case *secret.Text:
		if v.InHost() {
			return nil, nil, language.Faultf("%s: a secret stands in the scheme or the host of the URL", fn).In("url").Do("write them out: \"https://host/\" + secret")
		}
		if target, err = v.URL(); err != nil {
			return nil, nil, err
		}
	default:
		if in[argURL] == nil {
			return nil, nil, language.Faultf("%s: the URL is missing", fn).Do("write %s(\"http://host/path\")", fn)
		}
		return nil, nil, language.WrongType(fn, "url", "a text", in[argURL])
	}
	if r.URL, err = b.put(fn, "url", target); err != nil {
		return nil, nil, err
	}
	if err := checkURL(fn, r.URL); err != nil {
		return nil, nil, b.Explain(err)
	}
	if err := r.fields(fn, b, in); err != nil {
		return nil, nil, b.Explain(err)
	}
	if err := r.body(thread, fn, b, in); err != nil {
		return nil, nil, b.Explain(err)
	}
	return r, b, guard.MeterOf(thread).Charge(thread, 128*b.count())
}

// checkURL finds errors before any connection; the engine parses the URL itself.
func checkURL(fn, target string) error {
	wrong := func(what, remedy string) error {
		f := language.Faultf("%s: the URL %q %s", fn, language.Clip(target, 80), what).In("url")
		return f.Do("%s", remedy)
	}
	rest, ok := strings.CutPrefix(target, "http://")
	if !ok {
		rest, ok = strings.CutPrefix(target, "https://")
	}
	switch {
	case !ok && strings.HasPrefix(target, "/"):
		return wrong("has neither scheme nor host", "write \"http://host"+language.Clip(target, 80)+"\", or target + \""+language.Clip(target, 80)+"\" with a param")
	case !ok && !strings.Contains(target, "://"):
		return wrong("has no scheme", "write \"http://"+language.Clip(target, 80)+"\" or https")
	case !ok:
		return wrong("is neither http nor https", "write http:// or https://")
	case rest == "" || rest[0] == '/' || rest[0] == '?' || rest[0] == ':':
		return wrong("has no host", "write http://host/path")
	}
	for i := range len(target) {
		if target[i] <= ' ' || target[i] == 0x7f {
			return wrong("has a space or a control character in it", "escape it, or pass it by params = {...}")
		}
	}
	return nil
}

// ParseURL is the more expensive check, once for each request that a file declares.
func ParseURL(fn, target string) error {
	u, err := url.Parse(target)
	if err != nil {
		why := err.Error()
		if i := strings.LastIndex(why, ": "); i >= 0 {
			why = why[i+2:]
		}
		return language.Faultf("%s: the URL %q is not one: %s", fn, language.Clip(target, 80), why).In("url")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return language.Faultf("%s: the URL %q has port %s", fn, language.Clip(target, 80), language.Clip(port, 20)).In("url").Do("write a port from 1 to 65535")
		}
	}
	return nil
}

func (r *Request) fields(fn string, b *Placeholders, in *[argCount]starlark.Value) (err error) {
	if r.Headers, err = builtin.SentPairs(fn, "headers", in[argHeaders]); err != nil {
		return err
	}
	if err = b.putAll(fn, "headers", r.Headers, false); err != nil {
		return err
	}
	for _, h := range r.Headers {
		if err := b.none(fn, "headers", "a header's name", h.Name); err != nil {
			return err
		}
		if err := checkHeader(fn, h); err != nil {
			return err
		}
	}
	if r.Params, err = builtin.SentPairs(fn, "params", in[argParams]); err != nil {
		return err
	}
	if err = b.putAll(fn, "params", r.Params, true); err != nil {
		return err
	}
	if r.Cookies, err = builtin.SentPairs(fn, "cookies", in[argCookies]); err != nil {
		return err
	}
	if err = b.putAll(fn, "cookies", r.Cookies, false); err != nil {
		return err
	}
	for _, c := range r.Cookies {
		if !language.IsToken(c.Name) || strings.ContainsAny(c.Value, "\r\n\x00;") {
			return language.Faultf("%s: the cookie %q has a character that no cookie can have", fn, language.Clip(c.Name, 40)).In("cookies")
		}
	}
	if in[argAuth] != nil {
		auth, ok := in[argAuth].(*authValue)
		if !ok {
			return language.WrongType(fn, "auth", "http.basic(user, password), http.digest(user, password) or http.bearer(token)", in[argAuth])
		}
		if r.Auth = auth.shared; r.Auth == nil {
			own, err := auth.auth()
			if err != nil {
				return err
			}
			if r.Auth = &own; strings.ContainsAny(own.Token, "\r\n\x00") {
				return language.Faultf("http.bearer: the token has a line break in it").In("auth")
			}
		}
		if b != nil {
			if r.Auth, err = b.auth(fn, *r.Auth); err != nil {
				return err
			}
		}
	}
	if in[argTimeout] != nil {
		if r.Timeout, err = language.Duration(fn, "timeout", in[argTimeout]); err != nil {
			return err
		}
	}
	if in[argRedirects] != nil {
		if r.Redirects, err = language.Integer(fn, "redirects", in[argRedirects], 0, redirectsMax); err != nil {
			return err
		}
	}
	r.Retry, err = retryOf(fn, in[argRetry])
	return err
}

// body encodes the one of body, json, form and multipart that is given.
func (r *Request) body(thread *starlark.Thread, fn string, b *Placeholders, in *[argCount]starlark.Value) (err error) {
	given := -1
	for i := argBody; i <= argMultipart; i++ {
		if in[i] == nil {
			continue
		}
		if given >= 0 {
			all := RequestArguments()
			return language.Faultf("%s has both %s and %s", fn, all[given], all[i]).In(all[i]).Do("a request has one body: keep one of them")
		}
		given = i
	}
	switch given {
	case argBody:
		switch v := in[argBody].(type) {
		case starlark.String, *secret.Text:
			text, _, err := sentText(v)
			if err != nil {
				return err
			}
			if text, err = b.put(fn, "body", text); err != nil {
				return err
			}
			r.Body, r.ContentType = []byte(text), "text/plain; charset=utf-8"
		case starlark.Bytes:
			r.Body, r.ContentType = []byte(v), "application/octet-stream"
		case *File:
			r.Files, r.ContentType = []Attached{{0, v}}, "application/octet-stream"
		default:
			f := language.WrongType(fn, "body", "a text, bytes, a file or a secret", v)
			return f.Do("for a dict or a list use json = ...")
		}
		return guard.MeterOf(thread).Charge(thread, len(r.Body))
	case argJSON:
		return r.json(thread, fn, "json", b, in[argJSON])
	case argForm:
		r.Body, err = formBody(fn, b, in[argForm])
		r.ContentType = "application/x-www-form-urlencoded"
		if err != nil {
			return err
		}
		if b.count() > 0 {
			r.Escape = EscapeForm
		}
		return guard.MeterOf(thread).Charge(thread, len(r.Body))
	case argMultipart:
		return r.multipart(thread, fn, b, in[argMultipart])
	}
	return nil
}

// json encodes a body. JSON contains a $ only within a text, so its placeholders are found in
// the encoded form.
func (r *Request) json(thread *starlark.Thread, fn, argument string, b *Placeholders, v starlark.Value) (err error) {
	r.Body, err = builtin.EncodeBody(thread, v)
	r.ContentType = "application/json"
	if f, ok := err.(*language.Fault); ok {
		f.In(argument)
	}
	if err != nil || b == nil || !bytes.Contains(r.Body, []byte("${")) {
		return err
	}
	text, err := b.put(fn, argument, string(r.Body))
	r.Body, r.Escape = []byte(text), EscapeJSON
	return err
}

func formBody(fn string, b *Placeholders, v starlark.Value) ([]byte, error) {
	fields, err := builtin.SentPairs(fn, "form", v)
	if err != nil {
		return nil, err
	}
	if err := b.putAll(fn, "form", fields, true); err != nil {
		return nil, err
	}
	return builtin.EncodeForm(fields), nil
}
