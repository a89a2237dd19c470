package workflow

import (
	"bytes"
	"net/url"
	"strings"

	"go.starlark.net/starlark"
)

// requestArguments are those of http.get and its like, behind the method's.
func requestArguments() []string {
	return []string{"url", "headers", "params", "cookies", "auth", "body", "json", "form", "multipart", "timeout", "redirects"}
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
	argCount
)

// RedirectsMax bounds how many redirects a request may follow.
const redirectsMax = 20

// httpMethods maps the functions to the methods that they send.
func httpMethods() []Pair {
	return []Pair{{"get", "GET"}, {"post", "POST"}, {"put", "PUT"}, {"patch", "PATCH"}, {"delete", "DELETE"}, {"head", "HEAD"}, {"options", "OPTIONS"}}
}

type requestValue struct {
	opaque
	request *Request
	asked
}

type authValue struct {
	opaque
	auth Auth
}

type partValue struct {
	opaque
	data           []byte
	text           bool // data was one: values go into it
	filename, kind string
}

type tlsValue struct {
	opaque
	verify  bool
	options TLS
}

type clientValue struct {
	opaque
	options Options
}

// requester makes the functions get, post, ..., request. use gets each request
// that they describe. known, if it is not nil, may know one already.
func requester(under string, names []string, known func(thread *starlark.Thread, method, url string) *Request, use func(*starlark.Thread, *Request, *blanks) (starlark.Value, error)) starlark.StringDict {
	all := starlark.StringDict{}
	for _, m := range httpMethods() {
		fn := under + "." + m.Name
		all[m.Name] = &guard{m.Name, func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			bare := len(args) == 1 && len(kwargs) == 0
			if bare && known != nil {
				if url, ok := args[0].(starlark.String); ok {
					if r := known(thread, m.Value, string(url)); r != nil {
						return use(thread, r, nil)
					}
				}
			}
			r, b, err := newRequest(thread, fn, names, m.Value, args, kwargs)
			if err != nil {
				return nil, err
			}
			r.Bare = bare
			return use(thread, r, b)
		}}
	}
	fn := under + ".request"
	all["request"] = &guard{"request", func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		method, ok := starlark.String(""), false
		if len(args) > 0 {
			method, ok = args[0].(starlark.String)
		}
		if !ok || !isToken(string(method)) || len(method) > 32 {
			return nil, faultf("%s: the first argument must be a method such as \"GET\"", fn).in("#1")
		}
		r, b, err := newRequest(thread, fn, names, string(method), args[1:], kwargs)
		if err != nil {
			return nil, err
		}
		return use(thread, r, b)
	}}
	return all
}

func newRequest(thread *starlark.Thread, fn string, names []string, method string, args starlark.Tuple, kwargs []starlark.Tuple) (r *Request, b *blanks, err error) {
	var in [argCount]starlark.Value
	if err := bind(fn, names, 1, args, kwargs, in[:]); err != nil {
		return nil, nil, err
	}
	return compose(thread, fn, method, &in)
}

// compose makes a request of its arguments.
func compose(thread *starlark.Thread, fn, method string, in *[argCount]starlark.Value) (r *Request, b *blanks, err error) {
	r = &Request{Method: method}
	if l := meterOf(thread).loader; l != nil {
		b = &blanks{loader: l, thread: thread}
	}
	target, ok := in[argURL].(starlark.String)
	if !ok {
		if in[argURL] == nil {
			return nil, nil, faultf("%s: the URL is missing", fn).do("write %s(\"http://host/path\")", fn)
		}
		return nil, nil, wrongType(fn, "url", "a text", in[argURL])
	}
	if r.URL, err = b.put(fn, "url", string(target)); err != nil {
		return nil, nil, err
	}
	if err := checkURL(fn, r.URL); err != nil {
		return nil, nil, b.explain(err)
	}
	if err := r.fields(fn, b, in); err != nil {
		return nil, nil, b.explain(err)
	}
	if err := r.body(thread, fn, b, in); err != nil {
		return nil, nil, b.explain(err)
	}
	return r, b, meterOf(thread).charge(thread, 128*b.count())
}

// checkURL finds what is wrong before any connection; how the engine takes the
// URL apart is its own.
func checkURL(fn, target string) error {
	wrong := func(what, remedy string) error {
		f := faultf("%s: the URL %q %s", fn, clip(target, 80), what).in("url")
		return f.do("%s", remedy)
	}
	rest, ok := strings.CutPrefix(target, "http://")
	if !ok {
		rest, ok = strings.CutPrefix(target, "https://")
	}
	switch {
	case !ok && strings.HasPrefix(target, "/"):
		return wrong("has neither scheme nor host", "write \"http://host"+clip(target, 80)+"\", or target + \""+clip(target, 80)+"\" with a param")
	case !ok && !strings.Contains(target, "://"):
		return wrong("has no scheme", "write \"http://"+clip(target, 80)+"\" or https")
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

// parseURL is the dearer check, once for each request that a file declares.
func parseURL(fn, target string) error {
	if _, err := url.Parse(target); err != nil {
		why := err.Error()
		if i := strings.LastIndex(why, ": "); i >= 0 {
			why = why[i+2:]
		}
		return faultf("%s: the URL %q is not one: %s", fn, clip(target, 80), why).in("url")
	}
	return nil
}

func (r *Request) fields(fn string, b *blanks, in *[argCount]starlark.Value) (err error) {
	if r.Headers, err = pairs(fn, "headers", in[argHeaders]); err != nil {
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
	if r.Params, err = pairs(fn, "params", in[argParams]); err != nil {
		return err
	}
	if err = b.putAll(fn, "params", r.Params, true); err != nil {
		return err
	}
	if r.Cookies, err = pairs(fn, "cookies", in[argCookies]); err != nil {
		return err
	}
	if err = b.putAll(fn, "cookies", r.Cookies, false); err != nil {
		return err
	}
	for _, c := range r.Cookies {
		if !isToken(c.Name) || strings.ContainsAny(c.Value, "\r\n\x00;") {
			return faultf("%s: the cookie %q has a character that no cookie can have", fn, clip(c.Name, 40)).in("cookies")
		}
	}
	if in[argAuth] != nil {
		auth, ok := in[argAuth].(*authValue)
		if !ok {
			return wrongType(fn, "auth", "http.basic(user, password) or http.bearer(token)", in[argAuth])
		}
		if r.Auth = &auth.auth; b != nil {
			if r.Auth, err = b.auth(fn, auth.auth); err != nil {
				return err
			}
		}
	}
	if in[argTimeout] != nil {
		if r.Timeout, err = duration(fn, "timeout", in[argTimeout]); err != nil {
			return err
		}
	}
	if in[argRedirects] != nil {
		if r.Redirects, err = integer(fn, "redirects", in[argRedirects], 0, redirectsMax); err != nil {
			return err
		}
	}
	return nil
}

// integer reads a number between low and high.
func integer(fn, argument string, v starlark.Value, low, high int) (int, error) {
	i, ok := v.(starlark.Int)
	if !ok {
		return 0, wrongType(fn, argument, "a whole number", v)
	}
	n, ok := i.Int64()
	if !ok || n < int64(low) || n > int64(high) {
		return 0, faultf("%s: %s = %s is not between %d and %d", fn, argument, clip(i.String(), 24), low, high).in(argument)
	}
	return int(n), nil
}

// pairs reads a dict of texts; a list of texts as a value repeats the name.
func pairs(fn, argument string, v starlark.Value) ([]Pair, error) {
	if v == nil {
		return nil, nil
	}
	d, ok := v.(*starlark.Dict)
	if !ok {
		return nil, wrongType(fn, argument, "a dict such as {\"name\": \"value\"}", v)
	}
	out := make([]Pair, 0, d.Len())
	for _, kv := range d.Items() {
		name, value := kv[0], kv[1]
		key, ok := name.(starlark.String)
		if !ok {
			return nil, faultf("%s: %s has the name %s, which is not a text", fn, argument, describe(name)).in(argument)
		}
		values := []starlark.Value{value}
		if l, ok := value.(*starlark.List); ok {
			values, _ = list(fn, argument, "texts", l)
		}
		for _, value := range values {
			switch value := value.(type) {
			case starlark.String:
				out = append(out, Pair{string(key), string(value)})
			case starlark.Int:
				out = append(out, Pair{string(key), value.String()})
			default:
				return nil, faultf("%s: %s: the value of %q must be a text, not %s", fn, argument, clip(string(key), 40), describe(value)).in(argument)
			}
		}
	}
	return out, nil
}

func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte("()<>@,;:\\\"/[]?={}", c) >= 0 {
			return false
		}
	}
	return s != ""
}

// body encodes the one of body, json, form and multipart that is given.
func (r *Request) body(thread *starlark.Thread, fn string, b *blanks, in *[argCount]starlark.Value) (err error) {
	given := -1
	for i := argBody; i <= argMultipart; i++ {
		if in[i] == nil {
			continue
		}
		if given >= 0 {
			all := requestArguments()
			return faultf("%s has both %s and %s", fn, all[given], all[i]).in(all[i]).do("a request has one body: keep one of them")
		}
		given = i
	}
	switch given {
	case argBody:
		switch v := in[argBody].(type) {
		case starlark.String:
			text, err := b.put(fn, "body", string(v))
			if err != nil {
				return err
			}
			r.Body, r.ContentType = []byte(text), "text/plain; charset=utf-8"
		case starlark.Bytes:
			r.Body, r.ContentType = []byte(v), "application/octet-stream"
		default:
			f := wrongType(fn, "body", "a text or bytes", v)
			return f.do("for a dict or a list use json = ...")
		}
		return meterOf(thread).charge(thread, len(r.Body))
	case argJSON:
		return r.json(thread, fn, b, in[argJSON])
	case argForm:
		r.Body, err = encodeForm(fn, b, in[argForm])
		r.ContentType = "application/x-www-form-urlencoded"
		if err != nil {
			return err
		}
		if b.count() > 0 {
			r.Escape = EscapeForm
		}
		return meterOf(thread).charge(thread, len(r.Body))
	case argMultipart:
		return r.multipart(thread, fn, b, in[argMultipart])
	}
	return nil
}

// json encodes a body. A $ stands nowhere in JSON but within a text, so that its holes
// are found when it is written.
func (r *Request) json(thread *starlark.Thread, fn string, b *blanks, v starlark.Value) (err error) {
	r.Body, err = encodeJSON(thread, v)
	r.ContentType = "application/json"
	if f, ok := err.(*fault); ok {
		f.in("json")
	}
	if err != nil || b == nil || !bytes.Contains(r.Body, []byte("${")) {
		return err
	}
	text, err := b.put(fn, "json", string(r.Body))
	r.Body, r.Escape = []byte(text), EscapeJSON
	return err
}

func encodeForm(fn string, b *blanks, v starlark.Value) ([]byte, error) {
	fields, err := pairs(fn, "form", v)
	if err != nil {
		return nil, err
	}
	if err := b.putAll(fn, "form", fields, true); err != nil {
		return nil, err
	}
	var out []byte
	for i, p := range fields {
		if i > 0 {
			out = append(out, '&')
		}
		out = append(append(append(out, url.QueryEscape(p.Name)...), '='), url.QueryEscape(p.Value)...)
	}
	return out, nil
}
