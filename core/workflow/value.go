package workflow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// opaque makes a Starlark value of a struct that embeds it: a thing that a file
// hands from one function to another and cannot look into.
type opaque struct{ kind string }

func (o opaque) String() string        { return "<" + o.kind + ">" }
func (o opaque) Type() string          { return o.kind }
func (o opaque) Freeze()               {}
func (o opaque) Truth() starlark.Bool  { return true }
func (o opaque) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: %s", o.kind) }

// namespace holds functions under a name: http, json, vu.http.
type namespace struct {
	opaque
	members starlark.StringDict
}

var _ starlark.HasAttrs = (*namespace)(nil)

func newNamespace(name string, members starlark.StringDict) *namespace {
	return &namespace{opaque{name}, members}
}

func (n *namespace) AttrNames() []string {
	return slices.DeleteFunc(n.members.Keys(), func(name string) bool { return strings.HasPrefix(name, mark) })
}

func (n *namespace) Attr(name string) (starlark.Value, error) {
	if v, ok := n.members[name]; ok {
		return v, nil
	}
	return nil, missing(n.kind, name, n.AttrNames())
}

// callable is a namespace that is a function too.
type callable struct {
	*namespace
	call *guard
}

var _ starlark.Callable = callable{}

func (c callable) Name() string { return c.call.name }
func (c callable) CallInternal(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return c.call.call(thread, args, kwargs)
}

// missing says that there is no such name below what.
func missing(what, name string, known []string) error {
	if nearest(name, known) != "" {
		return starlark.NoSuchAttrError(fmt.Sprintf("%s has no %q", what, name)) // Starlark adds which it was
	}
	return faultf("%s has no %q", what, name).meant(name, known)
}

// span of time, as response.latency.
type lapse time.Duration

var _ starlark.HasAttrs = lapse(0)
var _ starlark.Comparable = lapse(0)

func (l lapse) String() string        { return time.Duration(l).String() }
func (l lapse) Type() string          { return "duration" }
func (l lapse) Freeze()               {}
func (l lapse) Truth() starlark.Bool  { return l != 0 }
func (l lapse) Hash() (uint32, error) { return starlark.MakeInt64(int64(l)).Hash() }
func (l lapse) AttrNames() []string {
	return []string{"microseconds", "milliseconds", "nanoseconds", "seconds"}
}

func (l lapse) Attr(name string) (starlark.Value, error) {
	switch name {
	case "seconds":
		return starlark.Float(time.Duration(l).Seconds()), nil
	case "milliseconds":
		return starlark.MakeInt64(time.Duration(l).Milliseconds()), nil
	case "microseconds":
		return starlark.MakeInt64(time.Duration(l).Microseconds()), nil
	case "nanoseconds":
		return starlark.MakeInt64(int64(l)), nil
	}
	return nil, missing("duration", name, l.AttrNames())
}

func (l lapse) CompareSameType(op syntax.Token, y starlark.Value, _ int) (bool, error) {
	a, b := l, y.(lapse)
	switch op {
	case syntax.EQL:
		return a == b, nil
	case syntax.NEQ:
		return a != b, nil
	case syntax.LT:
		return a < b, nil
	case syntax.LE:
		return a <= b, nil
	case syntax.GT:
		return a > b, nil
	}
	return a >= b, nil
}

// response is a Response as functions see it.
type response struct {
	opaque
	r      *Response
	expect *Expect // of an answer to vu.graphql.query
	made   *made   // nil: nobody has looked into it
}

// made is what is made of a response once, when asked for.
type made struct {
	headers *headers
	body    starlark.Bytes
	content starlark.Value
	decoded starlark.Value
	unread  *unread // nil: it can be read
}

func (r *response) once() *made {
	if r.made == nil {
		r.made = new(made)
	}
	return r.made
}

var _ starlark.HasAttrs = (*response)(nil)

// newResponse is a part of the Response: there is one for each request of a function.
func newResponse(r *Response) *response {
	if v := &r.value; v.r != r {
		*v = response{opaque: opaque{"response"}, r: r}
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
	return []string{"body", "error", "headers", "json", "latency", "status", "text"}
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
	case "error":
		if r.r.Error != "" {
			return starlark.String(r.r.Error), nil
		}
		return starlark.String(r.r.Kind), nil
	case "latency":
		return lapse(r.r.Latency), nil
	case "headers":
		once := r.once()
		if once.headers == nil {
			once.headers = &headers{opaque{"headers"}, r.r.Pairs()}
		}
		return once.headers, nil
	case "text":
		return &guard{"text", r.text}, nil
	case "json":
		return &guard{"json", r.json}, nil
	}
	return nil, missing("response", name, r.AttrNames())
}

// read decodes the body, once. A body that cannot be decoded fails who reads it.
func (r *response) read() error {
	once := r.once()
	if decode := r.r.Decode; decode != nil && once.unread == nil {
		body, kind, why := decode(r.r.Body)
		if kind != "" {
			once.unread = &unread{kind, why}
			return once.unread
		}
		r.r.Body, r.r.Decode = body, nil
	}
	if once.unread != nil {
		return once.unread
	}
	return nil
}

// unread is why a body cannot be read: a failure of the answer, not of the script.
type unread struct{ kind, why string }

func (u *unread) Error() string { return u.kind + ": " + u.why }

func (r *response) text(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args)+len(kwargs) > 0 {
		return nil, faultf("text takes no arguments")
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	once := r.once()
	if once.content == nil {
		if err := meterOf(thread).text(thread, "text()", len(r.r.Body)); err != nil {
			return nil, err
		}
		once.content = starlark.String(strings.ToValidUTF8(string(r.r.Body), "\uFFFD"))
	}
	return once.content, nil
}

// json decodes once; what functions get is frozen, as they share it.
func (r *response) json(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args)+len(kwargs) > 0 {
		return nil, faultf("json takes no arguments")
	}
	if r.once().decoded != nil {
		return r.made.decoded, nil
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	v, err := decodeJSON(thread, string(r.r.Body))
	if err != nil {
		if r.r.Kind != "" {
			return nil, faultf("the response has no JSON: %s", r.r.Kind)
		}
		return nil, faultf("the response, status %d, is not JSON: %v", r.r.Status, err)
	}
	v.Freeze()
	r.made.decoded = v
	return v, nil
}

// headers finds headers whatever their case. Of several with one name the first
// is found; all(name) gives all.
type headers struct {
	opaque
	pairs []Pair
}

var _ starlark.Mapping = (*headers)(nil)
var _ starlark.HasAttrs = (*headers)(nil)

func (h *headers) AttrNames() []string { return []string{"all", "get", "names"} }

func (h *headers) Get(k starlark.Value) (starlark.Value, bool, error) {
	name, ok := k.(starlark.String)
	if !ok {
		return nil, false, wrongType("headers", "the name", "a text", k)
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
		return &guard{"get", h.get}, nil
	case "all":
		return &guard{"all", h.all}, nil
	case "names":
		return &guard{"names", h.list}, nil
	}
	return nil, missing("headers", name, h.AttrNames())
}

func (h *headers) get(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [2]starlark.Value
	if err := bind("headers.get", []string{"name", "default"}, 2, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	if in[0] == nil {
		return nil, faultf("headers.get: give a name")
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
	if err := bind("headers.all", []string{"name"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	name, ok := in[0].(starlark.String)
	if !ok {
		return nil, faultf("headers.all: give a name")
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
		return nil, faultf("names takes no arguments")
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
