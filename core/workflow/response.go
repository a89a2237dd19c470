package workflow

import (
	"fmt"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"slices"
	"strings"

	"go.starlark.net/starlark"
)

// response is a Response for functions.
type response struct {
	language.Opaque
	r    *Response
	made *made // nil: no function has read it
}

var _ starlark.HasAttrs = (*response)(nil)
var _ starlark.Mapping = (*headers)(nil)
var _ starlark.HasAttrs = (*headers)(nil)

// made holds what a response's first reading builds.
type made struct {
	headers *headers
	body    starlark.Bytes
	content starlark.Value
	decoded starlark.Value
	unread  *unread // nil: it is readable
}

func (r *response) once() *made {
	if r.made == nil {
		r.made = new(made)
	}
	return r.made
}

// newResponse returns a part of the Response: there is one for each request of a function.
func newResponse(r *Response) *response {
	if v := &r.value; v.r != r {
		*v = response{Opaque: language.Opaque{Kind: "response"}, r: r}
	}
	return &r.value
}

func (r *response) String() string {
	if r.r.Kind != "" {
		return "<response: " + r.r.Kind + ">"
	}
	return fmt.Sprintf("<response %d, %d bytes>", r.r.Status, r.r.length())
}

func (r *response) AttrNames() []string {
	return []string{"body", "code", "error", "headers", "json", "latency", "status", "text"}
}

func (r *response) Attr(name string) (starlark.Value, error) {
	switch name {
	case "status":
		return starlark.MakeInt(r.r.Status), nil
	case "body":
		if err := r.read(); err != nil {
			return nil, err
		}
		once := r.once()
		if once.body == "" && len(r.r.Body) > 0 {
			once.body = starlark.Bytes(r.r.Body)
		}
		return once.body, nil
	case "code":
		return starlark.String(r.r.Code), nil
	case "error":
		if r.r.Error != "" {
			return starlark.String(r.r.Error), nil
		}
		return starlark.String(r.r.Kind), nil
	case "latency":
		return builtin.Duration(r.r.Latency), nil
	case "headers":
		once := r.once()
		if once.headers == nil {
			once.headers = &headers{language.Opaque{Kind: "headers"}, r.r.Pairs()}
		}
		return once.headers, nil
	case "text":
		return &guard.Func{Word: "text", Call: r.text}, nil
	case "json":
		return &guard.Func{Word: "json", Call: r.json}, nil
	}
	return nil, language.Missing("response", name, r.AttrNames())
}

// read decodes the body, once. If that fails, the function that reads it fails.
func (r *response) read() error {
	once := r.once()
	if d := r.r.Decoder; d != nil && once.unread == nil {
		body, kind, why := d.Decode(r.r.Body)
		if kind != "" {
			once.unread = &unread{kind, why}
			return once.unread
		}
		r.r.Body, r.r.Decoder = body, nil
	}
	if once.unread != nil {
		return once.unread
	}
	return nil
}

// unread says why a body is unreadable: a failure of the answer, not of the script.
type unread struct{ kind, why string }

func (u *unread) Error() string { return u.kind + ": " + u.why }

func (r *response) text(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args)+len(kwargs) > 0 {
		return nil, language.Faultf("text takes no arguments")
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	once := r.once()
	if once.content == nil {
		if err := guard.MeterOf(thread).Text(thread, "text()", len(r.r.Body)); err != nil {
			return nil, err
		}
		once.content = starlark.String(strings.ToValidUTF8(string(r.r.Body), "\uFFFD"))
	}
	return once.content, nil
}

// json decodes once; functions share the result, so it is frozen.
func (r *response) json(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args)+len(kwargs) > 0 {
		return nil, language.Faultf("json takes no arguments")
	}
	if r.once().decoded != nil {
		return r.made.decoded, nil
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	v, err := builtin.DecodeJSON(thread, string(r.r.Body))
	if err != nil {
		if r.r.Kind != "" {
			return nil, language.Faultf("the response has no JSON: %s", r.r.Kind)
		}
		return nil, language.Faultf("the response, status %d, is not JSON: %v", r.r.Status, err)
	}
	v.Freeze()
	r.made.decoded = v
	return v, nil
}

// headers finds headers in any case. Of several with one name it returns the first; all(name)
// returns all.
type headers struct {
	language.Opaque
	pairs []builtin.Pair
}

func (h *headers) AttrNames() []string { return []string{"all", "get", "names"} }

func (h *headers) Get(k starlark.Value) (starlark.Value, bool, error) {
	name, ok := k.(starlark.String)
	if !ok {
		return nil, false, language.WrongType("headers", "the name", "a text", k)
	}
	for _, p := range h.pairs {
		if strings.EqualFold(p.Name, string(name)) {
			return starlark.String(p.Value), true, nil
		}
	}
	return nil, false, nil
}

func (h *headers) Attr(name string) (starlark.Value, error) {
	switch name {
	case "get":
		return &guard.Func{Word: "get", Call: h.get}, nil
	case "all":
		return &guard.Func{Word: "all", Call: h.all}, nil
	case "names":
		return &guard.Func{Word: "names", Call: h.list}, nil
	}
	return nil, language.Missing("headers", name, h.AttrNames())
}

func (h *headers) get(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [2]starlark.Value
	if err := language.Bind("headers.get", []string{"name", "default"}, 2, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	if in[0] == nil {
		return nil, language.Faultf("headers.get: give a name")
	}
	v, found, err := h.Get(in[0])
	switch {
	case err != nil:
		return nil, err
	case found:
		return v, nil
	case in[1] != nil:
		return in[1], nil
	}
	return starlark.None, nil
}

func (h *headers) all(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [1]starlark.Value
	if err := language.Bind("headers.all", []string{"name"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	name, ok := in[0].(starlark.String)
	if !ok {
		return nil, language.Faultf("headers.all: give a name")
	}
	var out []starlark.Value
	for _, p := range h.pairs {
		if strings.EqualFold(p.Name, string(name)) {
			out = append(out, starlark.String(p.Value))
		}
	}
	return starlark.NewList(out), nil
}

func (h *headers) list(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args)+len(kwargs) > 0 {
		return nil, language.Faultf("names takes no arguments")
	}
	var names []string
	for _, p := range h.pairs {
		if low := strings.ToLower(p.Name); !slices.Contains(names, low) {
			names = append(names, low)
		}
	}
	out := make([]starlark.Value, len(names))
	for i, name := range names {
		out[i] = starlark.String(name)
	}
	return starlark.NewList(out), nil
}
